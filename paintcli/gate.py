"""The gate: what a sketch may not do, found in its syntax before it is painted and in the page's counts afterwards.

A cheat is what a name resolves to, not how it is spelt. What syntax cannot decide (a method whose name is computed, a
member of an object that cannot be followed) passes `check` and is left to `check_painting`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from paintcli import names
from paintcli.domains import Domain
from paintcli.painting import Painting
from paintcli.resolution import Access, Resolution, bare, texts_of
from paintcli.sketch import Sketch
from paintcli.syntax import Node

CODES = (
    "no_sketch_in_response",
    "truncated",
    "missing_entry_points",
    "not_webgl",
    "external_access",
    "text_label",
    "bare_primitives",
    "pixel_access",
    "unknown_brush_method",
    "off_allowlist",
    "no_painting_calls",
    "render_failed",
    "render_timeout",
    "blank_canvas",
)


@dataclass(frozen=True)
class Violation:
    """One thing a sketch may not do. `line` is 1-based in the extracted source, None where there is no one line."""

    code: str
    line: int | None
    detail: str


@dataclass(frozen=True)
class Verdict:
    """All violations, by line; those without a line come last."""

    violations: tuple[Violation, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.violations


def verdict(*violations: Iterable[Violation]) -> Verdict:
    """Violations in order, each once: the same code on the same line for the same reason is one."""
    found = dict.fromkeys(violation for group in violations for violation in group)
    return Verdict(tuple(sorted(found, key=lambda v: (v.line is None, v.line or 0))))


# -- before painting: syntax -------------------------------------------------------------------------------------------


def check(sketch: Sketch, domain: Domain) -> Verdict:
    """What the syntax of a sketch shows. Never raises; no browser is needed."""
    if not sketch.source.strip():
        return Verdict((Violation("no_sketch_in_response", None, "the reply holds no JavaScript sketch"),))
    if sketch.too_much:
        return Verdict((Violation("render_failed", None, sketch.too_much),))
    cut = Violation("truncated", sketch.source.count("\n") + 1, "the code ends in the middle")
    return verdict([cut] if sketch.truncated else [], _Reading(sketch, domain).violations())


def _p5_detail(name: str, code: str) -> str:
    what = {
        "bare_primitives": "draws with p5 instead of the brush",
        "text_label": "writes text",
        "pixel_access": "reaches pixels, images or another canvas",
        "external_access": "loads, saves or makes elements of the page",
    }
    return f"p5's {name} {what[code]}"


def _browser_detail(name: str) -> str:
    return f"{name} is the browser's, outside of what a sketch may touch"


class _Reading:
    """One pass over a resolved sketch."""

    def __init__(self, sketch: Sketch, domain: Domain):
        self.tree = sketch.tree
        self.names: Resolution = sketch.resolution
        self.domain = domain

    def violations(self) -> Iterator[Violation]:
        self.paints = False
        self.told = False
        yield from self._structure()
        for node in self.tree.nodes:
            kind = node.type
            if kind in ("identifier", "shorthand_property_identifier"):
                yield from self._identifier(node)
            elif kind in ("call_expression", "new_expression"):
                yield from self._call(node)
            elif kind == "this" and ("window", None) in self.names.values(node):
                yield from self._handed_on(node, "the window")
            elif kind in ("import_statement", "export_statement") and node.get("source"):
                yield self._at(node, "external_access", "import loads code from elsewhere")
            elif kind == "import" or (kind == "meta_property" and self.tree.text(node).startswith("import")):
                yield self._at(node, "external_access", "import reaches modules")
        for access in self.names.accesses():
            yield from self._access(access)
        for node, name, value in self.names.replaced():
            if name == "location":
                yield self._at(node, "external_access", _browser_detail(name))
            elif name in names.KEYSTONES and value != self.names.global_value(name):
                yield self._at(node, "pixel_access", f"{name} is replaced by the sketch's own")
        if not self.paints:
            yield Violation("no_painting_calls", None, "nothing in the code paints with the brush")

    def _at(self, node: Node, code: str, detail: str) -> Violation:
        return Violation(code, node.line, detail)

    def _structure(self) -> Iterator[Violation]:
        if not self.names.entry("setup"):
            declared = self.names.globals.names.get("setup")
            why = "setup is declared with let, const or class, where p5 does not see it" if declared else "no setup"
            yield Violation("missing_entry_points", None, why)
        canvases = 0
        for node in self.tree.nodes:
            if node.type == "identifier" and self.tree.name(node) == "createCanvas" and self.names.is_global(node):
                canvases += 1
            elif node.type == "call_expression":
                target, passed = self.names.callee(node)
                if ("p5_function", "createCanvas") not in target:
                    continue
                canvases += 1
                if passed is None or any(argument.type == "spread_element" for argument in passed):
                    continue
                modes = texts_of(self.names.values(passed[2])) if len(passed) > 2 else [""]
                if modes is not None and "webgl" not in modes:
                    yield self._at(node, "not_webgl", "createCanvas is not given WEBGL")
        if not canvases:
            yield Violation("not_webgl", None, "createCanvas is never called")

    # -- names -------------------------------------------------------------------------------------------------------

    def _identifier(self, node: Node) -> Iterator[Violation]:
        name = self.tree.name(node)
        if node in self.names.quiet:
            return
        if not self.names.is_global(node):
            values = self.names.values(node)
            if ("brush", None) in values and self.names.use(node) == "handed on":
                self.paints = True
            if ("window", None) in values and self.names.use(node) == "handed on":
                yield self._at(node, "external_access", f"{name} is the window, handed on")
            return
        if self._only_tested(node):
            return
        yield from self._global(node, name)

    def _only_tested(self, node: Node) -> bool:
        """`typeof fetch`, `x instanceof Function`: looked at, not used."""
        parent = node.parent
        if parent is None:
            return False
        if parent.type == "unary_expression":
            return self.tree.text(parent.kids[0]) == "typeof"
        return (
            parent.type == "binary_expression"
            and parent.get("right") is node
            and self.tree.text(parent.kids[1]) == "instanceof"
        )

    def _global(self, node: Node, name: str) -> Iterator[Violation]:
        """A name of p5's, p5.brush's or the browser's, used as such or as a member of the window."""
        code = names.p5_code(name)
        if code:
            yield self._at(node, code, _p5_detail(name, code))
        elif names.is_p5(name):
            return
        elif name in names.WINDOW_NAMES:
            yield from self._handed_on(node, "the window")
        elif name == "brush":
            if self.names.use(node) == "handed on":
                self.paints = True
        elif name == "p5":
            yield from self._handed_on(node, "p5")
        else:
            code = names.browser_code(name)
            if code:
                yield self._at(node, code, _browser_detail(name))

    def _handed_on(self, node: Node, what: str) -> Iterator[Violation]:
        call = node.parent.parent if node.parent and node.parent.type == "arguments" else None
        made = self.names.assigned_to_window(call) if call else {}
        if made and not made.keys() & (names.KEYSTONES | {"location"}):
            return
        if self.names.use(node) == "handed on":
            yield self._at(node, "external_access", f"{what} as a whole is handed on")

    # -- members -----------------------------------------------------------------------------------------------------

    def _access(self, access: Access) -> Iterator[Violation]:
        node = access.node
        if access.keys & names.SINKS and access.written:
            yield self._at(node, "external_access", f"{', '.join(sorted(access.keys))} of the browser is assigned")
        for kind, detail in sorted(access.objects, key=lambda value: value[0]):
            if kind == "window" and not access.keys and not access.certain:
                yield self._at(node, "external_access", "a member of the window under a computed name")
            elif kind == "window" or kind == "this":
                for key in access.keys:
                    yield from self._window_member(access, key, certain=kind == "window")
                if kind == "window" and not access.certain:
                    yield self._at(node, "external_access", "a member of the window under a computed name")
            elif kind in ("brush", "brush_copy"):
                yield from self._brush_member(access, copy=kind == "brush_copy")
            elif kind == "p5":
                yield from self._p5_static(access)
            elif kind == "instance":
                yield from self._instance_member(access)
            elif kind == "event":
                if access.keys & names.EVENT_REACHES or not access.certain:
                    yield self._at(node, "external_access", "an event gives away the document")
            elif kind == "canvas":
                for key in access.keys:
                    code = names.canvas_code(key)
                    if code:
                        yield self._at(node, code, f"{key} of the canvas")
                if not access.certain and access.node.type != "rest_pattern":
                    yield self._at(node, "pixel_access", "a member of the canvas under a computed name")
            elif kind == "unknown" and access.keys & names.REACHES.keys() - self.names.own_members:
                for key in access.keys & names.REACHES.keys() - self.names.own_members:
                    yield self._at(node, names.REACHES[key], f"{key} leads out of the sketch")
            elif (kind, detail) == ("builtin", "Object") and "prototype" in access.keys:
                if self.names.use(node) == "handed on":
                    yield self._at(node, "external_access", "the prototype of all objects is handed on")
            elif "caller" in access.keys and self.names.is_function((kind, detail)):
                yield self._at(node, "external_access", "the caller of a function is not the sketch's")
            elif "constructor" in access.keys and not access.written:
                reaches = kind in ("constructor", "function_prototype") or self.names.is_function((kind, detail))
                if reaches:
                    yield self._at(node, "external_access", "the constructor of a function evaluates code")

    def _window_member(self, access: Access, key: str, *, certain: bool) -> Iterator[Violation]:
        declared = self.names.globals.names.get(key)
        if not certain and (key in self.names.own_members or ("brush_copy", None) in access.objects):
            return  # `this.text` in a function that makes objects with a text of their own, `this.circle` of a brush
        if declared is not None and not declared.lexical:
            return
        if not access.written and not self._only_tested(access.node):
            yield from self._global(access.node, key)

    def _brush_member(self, access: Access, *, copy: bool) -> Iterator[Violation]:
        node = access.node
        if access.written:
            if not copy:
                yield self._at(node, "pixel_access", "a method of the brush is overridden")
            return
        if not access.certain:
            self.paints = True  # which method it is, the page will see
        known = {key for key in access.keys if key in names.BRUSH_METHODS or key in names.BRUSH_CLASSES}
        if known & names.BRUSH_PAINTERS:
            self.paints = True
        if self._only_tested(node):
            return
        if not known and access.certain and not copy and not access.keys <= _OBJECT_MEMBERS:
            for key in access.keys:
                yield self._at(node, "unknown_brush_method", f"brush.{key} does not exist{self._instead(key)}")
        if self.domain.enforce_allowlist and (access.certain or not access.keys - known):
            for key in sorted(known - self.domain.methods):
                detail = f"brush.{key} is not among the methods of this domain{self._instead(key)}"
                yield self._at(node, "off_allowlist", detail)
        if "constructor" in access.keys and node.parent and node.parent.type == "member_expression":
            yield self._at(node, "external_access", "the constructor of a function evaluates code")

    def _instead(self, key: str) -> str:
        """What may have been meant; the first time also everything that is allowed."""
        allowed = self.domain.methods if self.domain.enforce_allowlist else names.BRUSH_METHODS | self.domain.methods
        near = get_close_matches(key, sorted(allowed), n=1)
        words = f"; did you mean {near[0]}?" if near else ""
        if not self.told:
            self.told = True
            which = "allowed are" if self.domain.enforce_allowlist else "this domain asks for"
            words += f"{' ' if near else '; '}{which} {', '.join(sorted(self.domain.methods))}"
        return words

    def _p5_static(self, access: Access) -> Iterator[Violation]:
        for key in access.keys:
            code = names.P5_STATICS_REFUSED.get(key)
            if code:
                yield self._at(access.node, code, f"p5.{key} is outside of what a sketch may use")
            elif key in ("prototype", "instance", "constructor", "sketchCount"):
                yield self._at(access.node, "external_access", f"p5.{key} reaches all of p5")
        if not access.certain:
            yield self._at(access.node, "external_access", "a member of p5 under a computed name")

    def _instance_member(self, access: Access) -> Iterator[Violation]:
        for key in access.keys:
            code = names.p5_code(key) or ("pixel_access" if names.P5_PRIVATE.fullmatch(key) else None)
            if access.written:
                if names.is_p5(key) or code:
                    yield self._at(access.node, "pixel_access", f"p5's {key} is overridden")
            elif code:
                yield self._at(access.node, code, _p5_detail(key, code))
        if not access.certain:
            yield self._at(access.node, "external_access", "a member of p5 under a computed name")

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: Node) -> Iterator[Violation]:
        target, passed = self.names.callee(node)
        function = bare(node.get("function") or node.get("constructor"))
        if node.type == "new_expression":
            if ("p5", None) in target:
                yield self._at(node, "external_access", "new p5 starts a second p5 beside the sketch")
        else:
            named = function is not None and "constructor" in self.names.keys(function)[0]
            if (named or ("constructor", None) in target) and passed != []:
                yield self._at(node, "external_access", "a constructor called with code")
        changes = any(kind == "builtin" and path in _MUTATORS for kind, path in target)
        if changes and passed and ("brush", None) in self.names.values(passed[0]):
            yield self._at(node, "pixel_access", "a method of the brush is overridden")
        for timer in ("setTimeout", "setInterval"):
            if ("builtin", timer) in target and passed and self._is_text(passed[0]):
                yield self._at(node, "external_access", f"{timer} with a string evaluates code")

    def _is_text(self, node: Node) -> bool:
        plain = bare(node)
        if plain is None:
            return False
        if any(kind == "text" for kind, _ in self.names.values(plain)) or plain.type == "template_string":
            return True
        if plain.type != "binary_expression" or self.tree.text(plain.kids[1]) != "+":
            return False
        return any(kid.type in ("string", "template_string") for kid in plain.named)


_MUTATORS = names.words(
    "Object.assign Object.defineProperty Object.defineProperties Object.setPrototypeOf"
    " Reflect.set Reflect.defineProperty Reflect.deleteProperty Reflect.setPrototypeOf"
)

_OBJECT_MEMBERS = frozenset(
    {"hasOwnProperty", "toString", "valueOf", "constructor", "__proto__", "propertyIsEnumerable"}
)


# -- after painting: what the page saw ---------------------------------------------------------------------------------


def check_painting(painting: Painting, sketch: Sketch, domain: Domain) -> Verdict:
    """What the painting and the page's counts show.

    Where nobody counted (`painting.calls` is None) only the fault, the errors and the coverage are judged.
    Violations have no line: the page knows that something ran, not where it is written.
    """
    found: list[Violation] = []
    if painting.calls is not None:
        found += _calls(painting.calls, domain)
    if painting.fault:
        detail = painting.fault_detail or (painting.js_errors[0] if painting.js_errors else painting.fault)
        return verdict([*found, Violation(painting.fault, None, _reason(detail, painting.js_errors))])
    if painting.coverage < domain.paint_floor:
        if painting.js_errors:
            detail = _reason(painting.js_errors[0], painting.js_errors)
            return verdict([*found, Violation("render_failed", None, detail)])
        share = f"{painting.coverage:.2%} of the canvas is painted, {domain.paint_floor:.2%} is the least"
        found.append(Violation("blank_canvas", None, share))
    if painting.calls is not None and not any(f"brush.{name}" in painting.calls for name in names.BRUSH_PAINTERS):
        found.append(Violation("no_painting_calls", None, "nothing was painted with the brush"))
    return verdict(found)


def _calls(calls: dict[str, int], domain: Domain) -> Iterator[Violation]:
    for call, times in calls.items():
        owner, _, name = call.partition(".")
        code: str | None = None
        if owner == "brush":
            if domain.enforce_allowlist and name not in domain.methods:
                code = "off_allowlist"
        elif owner == "p5":
            code = names.p5_code(name) or ("external_access" if name in ("p5", "instance") else None)
        elif owner == "canvas":
            code = names.canvas_code(name)
        elif owner == "page":
            code = "pixel_access" if name in names.PAGE_PIXELS else "external_access"
        if code:
            yield Violation(code, None, f"{call} ran {times} times" if times > 1 else f"{call} ran")


_REDEFINED = re.compile(r"Cannot redefine property: (\w+)")


def _reason(detail: str, errors: Iterable[str]) -> str:
    """A failure in words that help: p5 does not start when a global of the sketch has the name of one of its own."""
    for error in (detail, *errors):
        taken = _REDEFINED.search(error)
        if taken and names.is_p5(taken[1]):
            return f"the sketch has a global named {taken[1]}, which is p5's own name, so p5 could not start"
    return detail
