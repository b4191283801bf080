"""A reply becomes a Sketch: the source that is to be painted, its syntax, and an inventory of its calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from paintcli.errors import UsageError
from paintcli.resolution import Resolution
from paintcli.syntax import Tree, parses

SUFFIXES = (".js", ".txt", ".md")
"""Of sketches, and of replies that hold one."""

BYSTANDERS = ("README", "LICENSE", "LICENCE", "NOTICE", "CHANGELOG")
"""Texts that lie in a folder of sketches without being one, whatever their suffix."""

MOST_BYTES = 1_000_000
"""What a file may hold. The longest sketch with a length term above 0 has 24,000 characters."""

MOST_NESTING = 1_000
"""How deep a syntax tree may be that is looked at; a name in it is looked up through every scope around it."""


@dataclass(frozen=True)
class Inventory:
    """Call sites of the brush, aliases followed, comments and strings not counted (the published columns).

    `n_shapes` counts sites that call brush.beginShape, `n_vertices` brush.vertex, `n_circles` brush.circle,
    `n_fill_calls` brush.fill. `brush_methods_used` is sorted and also has methods that are handed on, not called.
    """

    n_shapes: int = 0
    n_vertices: int = 0
    n_circles: int = 0
    n_fill_calls: int = 0
    brush_methods_used: tuple[str, ...] = ()
    code_chars: int = 0


@dataclass(frozen=True)
class Sketch:
    """JavaScript to be painted, and the reply it came in. `source` is "" when the reply holds no sketch.

    Newlines in `source` are LF; lines are counted in it. `truncated`: the source ends in the middle.
    """

    source: str
    reply: str
    name: str = "sketch"
    truncated: bool = False

    @cached_property
    def tree(self) -> Tree:
        """The syntax tree. About 3 s a megabyte."""
        return Tree(self.source)

    @cached_property
    def resolution(self) -> Resolution:
        """What the names in the source resolve to."""
        return Resolution(self.tree)

    @cached_property
    def too_much(self) -> str | None:
        """Why the source is not analysed at all, as part of a sentence; None for anything that could be a sketch."""
        if len(self.source) > MOST_BYTES:
            return f"{len(self.source):,} characters are more than a sketch may have ({MOST_BYTES:,})"
        if self.tree.depth > MOST_NESTING:
            return f"the code nests {self.tree.depth:,} deep, more than a sketch may ({MOST_NESTING:,})"
        return None

    @cached_property
    def inventory(self) -> Inventory:
        """Counted once, on demand; all zero for a source that is too much to analyse."""
        if self.too_much:
            return Inventory(code_chars=len(self.source))
        sites: dict[str, int] = {}
        for node in self.tree.nodes:
            if node.type == "call_expression":
                for kind, method in self.resolution.callee(node)[0]:
                    if kind == "brush_method":
                        sites[method] = sites.get(method, 0) + 1
        used = set(sites)
        for access in self.resolution.accesses():
            if access.objects & {("brush", None), ("brush_copy", None)} and not access.written:
                used.update(
                    method
                    for kind, method in self.resolution.members(frozenset({("brush", None)}), access.keys)
                    if kind == "brush_method"
                )
        return Inventory(
            n_shapes=sites.get("beginShape", 0),
            n_vertices=sites.get("vertex", 0),
            n_circles=sites.get("circle", 0),
            n_fill_calls=sites.get("fill", 0),
            brush_methods_used=tuple(sorted(used)),
            code_chars=len(self.source),
        )


def named(path: str | Path) -> bool:
    """Whether a file is a sketch or a reply, by its name."""
    return Path(path).suffix.lower() in SUFFIXES


def files_in(folder: Path) -> list[Path]:
    """Every sketch and reply below `folder`, sorted by path."""
    return sorted(p for p in folder.rglob("*") if named(p) and p.stem.upper() not in BYSTANDERS)


def read(data: bytes, name: str = "sketch") -> Sketch:
    """A file's or stream's bytes as a Sketch. Raises UsageError in one sentence for what cannot be one.

    UTF-8, with or without a mark, or UTF-16 with one. Nothing at all is a reply without a sketch: the gate says so.
    """
    if len(data) > MOST_BYTES:
        raise UsageError(
            f"{name} has {len(data) / 1e6:.1f} MB, more than any sketch: {MOST_BYTES / 1e6:.0f} MB is the limit."
        )
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" in data:
            raise UsageError(f"{name} is a binary file, not a sketch.") from None
        raise UsageError(f"{name} is not UTF-8 text (byte {error.start:,}).") from None
    if "\0" in text:
        raise UsageError(f"{name} is a binary file, not a sketch.")
    return extract(text, name)


def extract(reply: str, name: str = "sketch") -> Sketch:
    """The sketch in a model's reply, or plain JavaScript as it is. Never raises.

    Thinking is left out. Of several code blocks the one that is a sketch counts: it defines `setup`, makes a
    canvas, paints; where two are equal, the one that is whole, then the later. Without a block the JavaScript
    that stands between prose counts.
    """
    # a model may write what no text file holds: half of a surrogate pair, or a zero byte, the mark of a binary file
    text = reply.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    whole = _Candidate(text)
    if name.endswith((".js", ".mjs")) or len(text) > MOST_BYTES or (whole.clean and whole.defines_setup):
        plain = whole if not (name.endswith((".js", ".mjs")) and _FENCE.match(text.lstrip())) else None
        if plain:
            return Sketch(text, reply, name, len(text) <= MOST_BYTES and whole.unclosed)
    answer, thinking = _without_thinking(_END_TOKENS.sub("\n", text))
    found = _best(_blocks(answer)) or _best(_scripts(answer))
    if not found and thinking is not None:
        # A model that never closed its thinking may still have answered: then a whole sketch is the last thing it said.
        final = [c for c in _blocks(thinking) if c.closed and c.end >= len(thinking.rstrip())]
        found = _best([c for c in final if c.clean and c.defines_setup])
    if found and not found.closed and not found.clean:  # no closing fence: prose may follow the code
        found = _unfenced(found.source) or found
    if not found:
        found = _unfenced(answer)
    if not found:
        return Sketch("", reply, name)
    return Sketch(found.source, reply, name, found.unclosed or not (found.closed or found.clean))


class _Candidate:
    """A piece of the reply that may be the sketch. `end`: where it ends in the reply, its fence included."""

    def __init__(self, source: str, label: str = "", closed: bool = True, end: int = 0):
        self.source, self.label, self.closed, self.end = source, label, closed, end

    @cached_property
    def tree(self) -> Tree:
        return Tree(self.source)

    @cached_property
    def clean(self) -> bool:
        return parses(self.source)

    @property
    def unclosed(self) -> bool:
        return not self.clean and self.tree.unclosed

    @cached_property
    def words(self) -> frozenset[str]:
        """Identifiers and member names in the code: neither comments nor strings."""
        tree = self.tree
        return frozenset(tree.name(node) for node in tree.nodes if node.type in ("identifier", "property_identifier"))

    @property
    def defines_setup(self) -> bool:
        return "setup" in self.words

    @property
    def is_code(self) -> bool:
        kinds = {"call_expression", "function_declaration", "lexical_declaration", "variable_declaration"}
        return self.clean and any(node.type in kinds for node in self.tree.nodes)

    @cached_property
    def rank(self) -> tuple[bool, bool, bool, bool]:
        words = self.words
        return ("setup" in words, "createCanvas" in words, bool({"brush", "draw"} & words), self.clean)

    @property
    def is_sketch(self) -> bool:
        """Enough of a sketch to be judged; a block of another language is not, whatever words are in it."""
        setup, canvas, paints, _ = self.rank
        return (setup or canvas or paints) and (self.label in _SCRIPTS or self.clean)


_SCRIPTS = frozenset({"", "js", "javascript", "jsx", "mjs", "ecmascript", "p5", "p5js", "p5.js", "typescript", "ts"})
_FENCE = re.compile(r"(?P<before>.*?)(?P<fence>`{3,}|~{3,})[ \t]*(?P<label>[\w.+#-]*)[^`\n]*$")
_QUOTED = re.compile(r"^> ?(```|~~~)", re.MULTILINE)
_TAG = "think|thinking|thought|reasoning|reflection|scratchpad|analysis"
# A tag after `//` or other words is text. Thinking that the prompt opened has only its end in the reply.
_OPEN = re.compile(
    rf"^[ \t]*(<({_TAG})>|\[THINK\]|◁think▷|<\|channel\|>analysis<\|message\|>)", re.IGNORECASE | re.MULTILINE
)
_CLOSE = re.compile(
    rf"^(?:(?!//).)*(</({_TAG})>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>)", re.IGNORECASE | re.MULTILINE
)
_END_TOKENS = re.compile(r"(\s*(<\|[\w ]+\|>|</s>|<eos>))+\s*\Z")
_SCRIPT = re.compile(
    r"<script\b(?P<attributes>[^>]*)>(?P<code>.*?)(?P<close></script\s*>|\Z)", re.IGNORECASE | re.DOTALL
)
_START = re.compile(
    r"[ \t]*(//|/\*|['\"]use strict['\"]|(async\s+)?function\b|(let|const|var|class)\s+[\w$\[{]"
    r"|(window|globalThis)\.\w+\s*=|\w+\s*=\s*(async\s*)?(function\b|\())"
)

_CODE = re.compile(rf"{_START.pattern}|[ \t]*(brush\.\w+\(|for \(|if \(|push\(\)|pop\(\)|translate\()")


def _without_thinking(text: str) -> tuple[str, str | None]:
    """The answer, and the thinking that was never closed (None when all of it was)."""
    start = max((closed.end() for closed in _CLOSE.finditer(text)), default=0)
    opened = _OPEN.search(text, start)
    before = _OPEN.search(text, 0, start)
    said = text[: before.start()] if before else ""  # what came ahead of the thinking
    if opened is None:
        return said + text[start:], None
    return said + text[start : opened.start()], text[opened.end() :]


def _blocks(text: str) -> list[_Candidate]:
    """Fenced blocks, in order. A fence may follow words on its line; the last may lack its end."""
    found: list[_Candidate] = []
    if _QUOTED.search(text):
        text = re.sub(r"^> ?", "", text, flags=re.MULTILINE)
    lines: list[str] = []
    fence, label, at = "", "", 0
    for line in text.split("\n"):
        at += len(line) + 1
        if fence:
            stripped = line.strip()
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                found.append(_Candidate("\n".join(lines), label, True, at))
                fence, lines = "", []
            elif stripped.endswith(fence) and stripped.count(fence) == 1:  # the fence follows the last brace
                found.append(_Candidate("\n".join([*lines, line[: line.rindex(fence)]]), label, True, at))
                fence, lines = "", []
            else:
                lines.append(line)
        else:
            opened = _FENCE.match(line)
            if opened:
                fence, label = opened["fence"], opened["label"].lower()
    if fence:
        found.append(_Candidate("\n".join(lines), label, False, at))
    nested = [block for c in found if c.label in ("markdown", "md") for block in _blocks(c.source)]
    inner = [script for c in found if c.label in ("html", "xml", "") for script in _scripts(c.source)]
    return [*(c for c in found if c.label != "html"), *nested, *inner]


def _scripts(text: str) -> list[_Candidate]:
    """The scripts of an HTML page that carry their code with them."""
    return [
        _Candidate(match["code"], "js", bool(match["close"]), match.end())
        for match in _SCRIPT.finditer(text)
        if not re.search(r"\bsrc\s*=", match["attributes"])
    ]


def _best(candidates: list[_Candidate]) -> _Candidate | None:
    sketches = [c for c in candidates if c.source.strip() and c.is_sketch]
    best: _Candidate | None = None
    for candidate in sketches:
        if best is None or candidate.rank >= best.rank:
            best = candidate
    return best


def _unfenced(text: str) -> _Candidate | None:
    """JavaScript with prose before or after it, or none; cut where it parses, whole lines only."""
    if _blocks(text):  # what a fence holds has been looked at, and was no sketch
        return None
    lines = text.split("\n")
    whole = _Candidate(text)
    if whole.is_code:
        return whole
    tries = 20_000_000 // (len(text) + 100_000)  # the parser reads some 5 MB a second
    starts = [i for i, line in enumerate(lines) if _START.match(line)][:12]
    ends = [i + 1 for i, line in enumerate(lines) if line.rstrip().endswith(("}", ";", ")", "*/"))][-40:]
    for start in starts:
        for end in reversed(ends):
            tries -= 1
            if end <= start or tries < 0:
                break
            piece = _Candidate("\n".join(lines[start:end]))
            if piece.clean and piece.is_code and piece.is_sketch:
                if any(_CODE.match(line) for line in lines[end:]):
                    break  # more code follows that does not parse: cut off, or a mistake
                return piece
    for start in starts:  # nothing parses: code that was cut off, or has a mistake
        rest = _Candidate("\n".join(lines[start:]), closed=False)
        if rest.defines_setup or {"createCanvas", "brush"} & rest.words:
            return rest
    return None
