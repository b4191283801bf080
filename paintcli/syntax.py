"""JavaScript source becomes a tree of light nodes, walked without recursion: nesting is the sketch's to choose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

FUNCTIONS = frozenset(
    {
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "generator_function",
        "arrow_function",
        "method_definition",
    }
)
CLASSES = frozenset({"class_declaration", "class"})


class Node:
    """One node: its grammar type, byte range, 1-based line, parent, children and children by field name."""

    __slots__ = ("end", "fields", "kids", "line", "missing", "parent", "scope", "start", "type")

    def __init__(self, type: str, start: int, end: int, line: int, missing: bool, parent: Node | None):
        self.type, self.start, self.end, self.line, self.missing = type, start, end, line, missing
        self.parent = parent
        self.kids: list[Node] = []
        self.fields: dict[str, Node] = {}
        self.scope: Any = None

    def get(self, field: str) -> Node | None:
        return self.fields.get(field)

    @property
    def named(self) -> list[Node]:
        """Children that are not punctuation or keywords."""
        return [kid for kid in self.kids if kid.type[0].isalpha()]


class Tree:
    """The nodes of one source. `broken`: the grammar could not make sense of all of it; `depth`: how deep it nests."""

    def __init__(self, source: str):
        self.bytes = source.encode("utf-8", "surrogatepass")
        parsed = _parser().parse(self.bytes)  # a parser each: they are not for two threads
        self.broken: bool = parsed.root_node.has_error
        self.nodes: list[Node] = []
        self.root = self._convert(parsed)

    def _convert(self, parsed: Any) -> Node:
        cursor = parsed.walk()
        parent: Node | None = None
        nodes = self.nodes
        depth = self.depth = 0
        while True:
            raw = cursor.node
            # the keyword `class` and the expression `class {}` have one name in the grammar: keywords get a dot
            kind = raw.type if raw.is_named or not raw.type[:1].isalpha() else f".{raw.type}"
            node = Node(kind, raw.start_byte, raw.end_byte, raw.start_point[0] + 1, raw.is_missing, parent)
            if kind not in ("comment", "html_comment"):
                nodes.append(node)
                if parent is not None:
                    parent.kids.append(node)
                    field = cursor.field_name
                    if field:
                        parent.fields.setdefault(field, node)
            if cursor.goto_first_child():
                parent = node
                depth += 1
                self.depth = max(self.depth, depth)
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return nodes[0]
                parent = parent.parent if parent is not None else None
                depth -= 1

    def text(self, node: Node) -> str:
        return self.bytes[node.start : node.end].decode("utf-8", "replace")

    def name(self, node: Node) -> str:
        """An identifier as the language reads it: `\\u0065val` is eval."""
        text = self.text(node)
        return unescape(text) if "\\" in text else text

    @property
    def unclosed(self) -> bool:
        """The source stops in the middle: something opened is never closed, or its last words make no sense."""
        if not self.broken:
            return False
        end = len(self.bytes.rstrip())
        balance = {"{": 0, "(": 0, "[": 0}
        pairs = {"}": "{", ")": "(", "]": "["}
        for node in self.nodes:
            if node.missing:
                if node.end >= end:
                    return True
            elif node.type in balance:
                balance[node.type] += 1
            elif node.type == "${":
                balance["{"] += 1
            elif node.type in pairs:
                balance[pairs[node.type]] -= 1
        if any(count > 0 for count in balance.values()):
            return True
        if self.bytes[:end].endswith((b"}", b";")):
            return False  # it comes to an end; the mistake is somewhere before
        return any(node.type == "ERROR" and node.end >= end for node in (self.root, *self.root.kids))

    def postorder(self) -> Iterator[Node]:
        """Children before parents, in the order of the source."""
        stack: list[tuple[Node, int]] = [(self.root, 0)]
        while stack:
            node, at = stack.pop()
            if at < len(node.kids):
                stack.append((node, at + 1))
                stack.append((node.kids[at], 0))
            else:
                yield node


def parses(source: str) -> bool:
    """Whether it is JavaScript from end to end; ten times faster than a Tree.

    The grammar reads JSX too, in which `<plan>prose</plan>` makes sense; a browser does not.
    """
    if _parser().parse(source.encode("utf-8", "surrogatepass")).root_node.has_error:
        return False
    return not (_TAG_END.search(source) and any(node.type.startswith("jsx_") for node in Tree(source).nodes))


@cache
def _language() -> Any:
    import tree_sitter
    import tree_sitter_javascript

    return tree_sitter.Language(tree_sitter_javascript.language())


def _parser() -> Any:
    import tree_sitter

    return tree_sitter.Parser(_language())


_TAG_END = re.compile(r"/\s*>|</")
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-7]{1,3}|\r\n|.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "\n": "", "\r\n": "", "\u2028": ""}


def unescape(text: str) -> str:
    """The value of a string's or identifier's text with JavaScript's escapes."""

    def value(match: re.Match[str]) -> str:
        body = match[1]
        if body[0] in "ux" and len(body) > 1:
            code = int(body[1:].strip("{}"), 16)
            return chr(code) if code < 0x110000 else ""
        if body[0] in "01234567":
            return chr(int(body, 8))
        return _PLAIN.get(body, body)

    return _ESCAPE.sub(value, text)
