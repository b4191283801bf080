"""What every name in a sketch resolves to: scopes as JavaScript has them, and values as far as they can be known.

A value is a pair (kind, detail). Kinds:

    window              the global object, however it was named
    this                `this` of a plain function: the window, or an object of the sketch
    brush, brush_copy   the brush; an object that has its methods and may have others
    brush_method        detail: its name
    p5                  the class; "instance": p5.prototype or a p5 instance
    p5_function         detail: its name
    canvas, event       p5's renderer, which createCanvas returns; what a listener is given
    canvas_method       one that returns the canvas again
    text, number        detail: the text
    own                 a function, class, object or array of the sketch; detail: its Node
    builtin, method     detail: a path such as "Object.keys"; any other built-in method
    function_prototype, constructor, unknown

Every name has a set of them: the order in which a sketch assigns is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from paintcli import names
from paintcli.names import words
from paintcli.syntax import CLASSES, FUNCTIONS, Node, Tree, unescape

Value = tuple[str, Any]
Values = frozenset[Value]

UNKNOWN: Value = ("unknown", None)
NOTHING: Values = frozenset()
_UNKNOWN: Values = frozenset({UNKNOWN})
_WINDOW: Values = frozenset({("window", None)})
_INSTANCE: Values = frozenset({("instance", None)})
_EVENT: Values = frozenset({("event", None)})
_METHOD: Values = frozenset({("method", None)})

MOST_VALUES = 32  # beyond, a set says "unknown" as well and stops growing
MOST_DEPTH = 60  # of definitions followed; beyond lies the page's own witness

CALLABLE = frozenset({"brush_method", "p5_function", "canvas_method", "method", "builtin", "constructor"})
ITERATORS = words("forEach map filter some every find findIndex flatMap findLast reduce")
EVENT_FUNCTIONS = words(
    "setup draw preload windowResized mousePressed mouseReleased mouseClicked mouseMoved mouseDragged doubleClicked"
    " keyPressed keyReleased keyTyped touchStarted touchMoved touchEnded"
)
_CONSTANTS = {"WEBGL": "webgl", "P2D": "p2d", "WEBGL2": "webgl2", "WEBGPU": "webgpu", "P2DP3": "p2d-p3"}
_CALLS_BACK = ITERATORS | words("sort then catch finally setTimeout setInterval queueMicrotask requestAnimationFrame")
_BUILTINS = words("Object Reflect Array Proxy setTimeout setInterval Symbol String Promise")


class Source(NamedTuple):
    """Where a binding gets a value: an expression and the steps into it. `node` None: the values are given."""

    node: Node | None
    steps: tuple[tuple[str, Any], ...] = ()
    given: Values = NOTHING


@dataclass(eq=False)
class Binding:
    name: str
    lexical: bool = False
    sources: list[Source] = field(default_factory=list)


class Scope:
    """One scope. Kinds: "global", "function" (var lands here), "block", "with"."""

    __slots__ = ("kind", "names", "parent", "strict", "subject")

    def __init__(self, kind: str, parent: Scope | None, strict: bool = False, subject: Node | None = None):
        self.kind, self.parent, self.subject = kind, parent, subject
        self.strict: bool = strict or (parent is not None and parent.strict)
        self.names: dict[str, Binding] = {}

    def declare(self, name: str, lexical: bool = False) -> Binding:
        return self.names.setdefault(name, Binding(name, lexical))

    @property
    def var_scope(self) -> Scope:
        scope = self
        while scope.kind not in ("function", "global") and scope.parent:
            scope = scope.parent
        return scope


class Access(NamedTuple):
    """A member taken from something: by dot, by bracket or by destructuring. `keys` empty: the name is not known."""

    node: Node
    objects: Values
    keys: frozenset[str]
    certain: bool  # every possible name is known
    written: bool  # assigned, not read


class Resolution:
    """Scopes, bindings and values of one tree."""

    def __init__(self, tree: Tree):
        self.tree = tree
        self.globals = Scope("global", None)
        self.own_members: set[str] = set()  # every member name that the sketch itself defines somewhere
        self.implicit: dict[str, Binding] = {}  # globals that are only assigned, by name or as window.name
        self.quiet: set[Node] = set()  # identifiers that are declared or assigned, not read
        self._patterns: list[tuple[Node, Source, Node | str | None]] = []  # destructured: pattern, of what, which key
        self._assignments: list[tuple[Node, Scope, Source]] = []
        self._member_writes: list[tuple[Node, Source]] = []
        self._fields: dict[str, list[Source]] = {}  # what is assigned to members of this name, on whatever object
        self._returns: dict[Node, list[Node]] = {}
        self._called: set[Node] = set()  # functions that are called by their name alone, or by the browser
        self._constructed: set[Node] = set()
        self._memo: dict[Any, Values] = {}
        self._busy: set[Any] = set()
        self._scopes()
        self._link_assignments()
        self._link_calls()
        for node in tree.postorder():  # bottom-up, so that nesting costs no recursion
            if node.type in _EVALUATED:
                self.values(node)

    # -- scopes ------------------------------------------------------------------------------------------------------

    def _scopes(self) -> None:
        """One walk from the top: every node learns its scope, every declaration where its values come from."""
        self.globals.strict = self._is_strict(self.tree.root)
        stack: list[tuple[Node, Scope]] = [(self.tree.root, self.globals)]
        while stack:
            node, scope = stack.pop()
            node.scope = scope
            stack.extend((kid, inner) for kid, inner in reversed(self._enter(node, scope)))

    def _is_strict(self, body: Node) -> bool:
        for kid in body.named:
            if kid.type != "expression_statement" or not kid.named or kid.named[0].type != "string":
                return False
            if self.tree.text(kid.named[0])[1:-1] == "use strict":
                return True
        return False

    def _enter(self, node: Node, scope: Scope) -> list[tuple[Node, Scope]]:
        kind = node.type
        if kind in FUNCTIONS:
            return self._enter_function(node, scope)
        if kind in CLASSES:
            inner = Scope("block", scope, strict=True)
            name = node.get("name")
            if name:
                self.quiet.add(name)
                for place in (inner, scope) if kind == "class_declaration" else (inner,):
                    place.declare(self.tree.name(name), lexical=True).sources.append(own(node))
            return [(kid, inner) for kid in node.kids]
        if kind == "class_static_block":
            inner = Scope("function", scope)
            return [(kid, inner) for kid in node.kids]
        if kind in ("statement_block", "for_statement", "switch_body", "catch_clause"):
            inner = Scope("block", scope)
            parameter = node.get("parameter") if kind == "catch_clause" else None
            if parameter:
                self._bind(parameter, Source(None, (), _UNKNOWN), inner, lexical=True)
            return [(kid, inner) for kid in node.kids]
        if kind == "for_in_statement":
            inner = Scope("block", scope)
            left, right, word = node.get("left"), node.get("right"), node.get("kind")
            is_of = any(kid.type == ".of" for kid in node.kids)
            source = Source(right, (("each", None),)) if is_of else Source(None, (), _UNKNOWN)
            if left and word:
                place = scope.var_scope if word.type == ".var" else inner
                self._bind(left, source, place, lexical=word.type != ".var")
            elif left:
                self._assign(left, source, scope)
            return [(kid, inner) for kid in node.kids]
        if kind == "with_statement":
            subject, body = node.get("object"), node.get("body")
            inner = Scope("with", scope, subject=subject)
            return [(kid, inner if kid is body else scope) for kid in node.kids]
        if kind == "variable_declarator":
            lexical = bool(node.parent and node.parent.type == "lexical_declaration")
            name, value = node.get("name"), node.get("value")
            if name:
                source = Source(value) if value else Source(None)
                self._bind(name, source, scope if lexical else scope.var_scope, lexical)
        elif kind in ("assignment_expression", "augmented_assignment_expression"):
            left, right = node.get("left"), node.get("right")
            if left and right:
                plain = kind == "assignment_expression" or self.tree.text(node.kids[1]) in ("||=", "&&=", "??=")
                source = Source(right) if plain else Source(None, (), _UNKNOWN)
                self._assign(left, source, scope, reads=kind != "assignment_expression")
        elif kind == "update_expression":
            left = node.get("argument")
            if left:
                self._assign(left, Source(None, (), _UNKNOWN), scope, reads=True)
        elif kind == "return_statement" and node.named:
            function = enclosing(node, FUNCTIONS)
            if function:
                self._returns.setdefault(function, []).append(node.named[0])
        elif kind in ("pair", "field_definition", "method_definition"):
            key = node.get("key") or node.get("property") or node.get("name")
            if key:
                self.own_members.update(self._literal_key(key))
        elif kind == "shorthand_property_identifier":
            self.own_members.add(self.tree.name(node))
        return [(kid, scope) for kid in node.kids]

    def _enter_function(self, node: Node, scope: Scope) -> list[tuple[Node, Scope]]:
        kind, name, body = node.type, node.get("name"), node.get("body")
        outer = scope
        if name:
            self.quiet.add(name)
        if kind == "method_definition":
            if name:
                self.own_members.update(self._literal_key(name))
        elif kind in ("function_declaration", "generator_function_declaration"):
            if name:
                text = self.tree.name(name)
                scope.declare(text, lexical=scope.kind == "block").sources.append(own(node))
                if scope.kind == "block" and not scope.strict:  # sloppy mode: seen in the whole function too
                    scope.var_scope.declare(text).sources.append(own(node))
        elif name:
            outer = Scope("block", scope)
            outer.declare(self.tree.name(name)).sources.append(own(node))
        strict = bool(body and body.type == "statement_block" and self._is_strict(body))
        around = Scope("function", outer, strict=strict)  # parameters and their defaults see no var of the body
        if kind != "arrow_function":
            around.declare("arguments").sources.append(Source(None, (), _UNKNOWN))
        single, several = node.get("parameter"), node.get("parameters")
        for parameter in [single] if single else several.named if several else []:
            # what callers pass is added by _link_calls; a caller nobody sees may pass anything
            self._bind(parameter, Source(None, (), _UNKNOWN), around)
        inside = Scope("function", around)
        if kind == "arrow_function" and body and body.type != "statement_block":
            self._returns.setdefault(node, []).append(body)
        places: list[tuple[Node, Scope]] = []
        for kid in node.kids:
            if kid is body:
                if kid.type == "statement_block":  # its own scope is the function's
                    kid.scope = inside
                    places += [(inner, inside) for inner in kid.kids]
                else:
                    places.append((kid, inside))
            elif kid is name:
                places.append((kid, scope))
            else:
                places.append((kid, around))
        return places

    def _bind(self, pattern: Node, source: Source, place: Scope, lexical: bool = False) -> None:
        for target, found in self._targets(pattern, source):
            if target.type in _PATTERN_NAMES:
                self.quiet.add(target)
                place.declare(self.tree.name(target), lexical).sources.append(found)

    def _assign(self, pattern: Node, source: Source, scope: Scope, *, reads: bool = False) -> None:
        for target, found in self._targets(pattern, source):
            if target.type in _PATTERN_NAMES:
                if not reads:
                    self.quiet.add(target)
                self._assignments.append((target, scope, found))
            elif target.type in ("member_expression", "subscript_expression"):
                key = target.get("property") or target.get("index")
                if key:
                    self.own_members.update(self._literal_key(key))
                    self._member_writes.append((target, found))

    def _targets(self, pattern: Node, source: Source) -> Iterator[tuple[Node, Source]]:
        """The names (or members) that a pattern fills, each with where its value comes from."""
        stack = [(pattern, source)]
        while stack:
            node, at = stack.pop()
            kind = node.type
            if kind in ("assignment_pattern", "object_assignment_pattern"):
                left, right = node.get("left"), node.get("right")
                if left:
                    stack.append((left, at))
                    if right:
                        stack.append((left, Source(right)))
            elif kind == "object_pattern":
                for kid in node.named:
                    if kid.type == "pair_pattern":
                        key, value = kid.get("key"), kid.get("value")
                        if key and value:
                            self._patterns.append((kid, at, key))
                            stack.append((value, self._step(at, ("member", key))))
                    elif kid.type == "rest_pattern":
                        stack.extend((inner, at) for inner in kid.named)
                        self._patterns.append((kid, at, None))
                    else:
                        inner = kid.get("left") if kid.type == "object_assignment_pattern" else kid
                        if inner and inner.type in _PATTERN_NAMES:
                            self._patterns.append((inner, at, self.tree.name(inner)))
                            found = self._step(at, ("member", self.tree.name(inner)))
                            default = kid.get("right")
                            stack.append((inner, found))
                            if default:
                                stack.append((inner, Source(default)))
            elif kind == "array_pattern":
                index = 0
                for kid in node.kids:
                    if kid.type == ",":
                        index += 1
                    elif kid.type == "rest_pattern":
                        stack.extend((inner, self._step(at, ("rest", index))) for inner in kid.named)
                    elif kid.type[0].isalpha():
                        stack.append((kid, self._step(at, ("index", index))))
            elif kind in ("rest_pattern", "parenthesized_expression", "spread_element"):
                stack.extend((inner, Source(None, (), _UNKNOWN)) for inner in node.named)
            else:
                yield node, at

    @staticmethod
    def _step(at: Source, step: tuple[str, Any]) -> Source:
        return Source(at.node, (*at.steps, step), at.given)

    # -- links: who assigns to what, who calls whom ------------------------------------------------------------------

    def _link_assignments(self) -> None:
        for target, scope, source in self._assignments:
            name = self.tree.name(target)
            binding = self.lookup(name, scope)
            if binding is None:
                binding = self.implicit.setdefault(name, Binding(name))
            binding.sources.append(source)
        for target, source in self._member_writes:
            for key in self.keys(target)[0]:
                self._fields.setdefault(key, []).append(source)

    def _link_calls(self) -> None:
        """Parameters learn what the calls that can be seen pass to them."""
        for node in self.tree.nodes:
            if node.type not in ("call_expression", "new_expression"):
                continue
            called = bare(node.get("function") or node.get("constructor"))
            arguments = node.get("arguments")
            if not called or not arguments or arguments.type != "arguments":
                continue
            passed = arguments.named
            if node.type == "new_expression":
                self._constructed.update(self._functions(called))
            elif called.type == "identifier":
                self._called.update(self._functions(called))
            if passed and self._last_name(called) in _CALLS_BACK and (len(passed) == 1 or called.type == "identifier"):
                self._called.update(self._functions(passed[0]))
            if self._last_name(called) == "addEventListener" and len(passed) > 1:
                for function in self._functions(passed[1]):
                    self._pass(function, 0, Source(None, (), _EVENT))
            elif (
                called.type == "identifier"
                and self.tree.name(called) == "p5"
                and self.lookup("p5", called.scope) is None
            ):
                for function in self._functions(passed[0]) if passed else ():
                    self._pass(function, 0, Source(None, (), _INSTANCE))
            elif called.type == "member_expression":
                way, of = called.get("property"), called.get("object")
                word = self.tree.name(way) if way else ""
                if of and word == "call":
                    for function in self._functions(of):
                        self._pass_all(function, passed[1:])
                elif of and word == "then" and passed:  # what is awaited is taken for what comes of it
                    for function in self._functions(passed[0]):
                        self._pass(function, 0, Source(of))
                elif word in names.CANVAS_EVENTS and passed:
                    for function in self._functions(passed[0]):
                        self._pass(function, 0, Source(None, (), _EVENT))
                elif of and word in ITERATORS and passed:
                    for function in self._functions(passed[0]):
                        self._pass(function, 1 if word == "reduce" else 0, Source(of, (("each", None),)))
            else:
                for function in self._functions(called):
                    self._pass_all(function, passed)
            for name, value in self.assigned_to_window(node).items():
                self.implicit.setdefault(name, Binding(name)).sources.append(Source(value))
        for name, binding in [*self.globals.names.items(), *self.implicit.items()]:
            if name.startswith("on") or name in EVENT_FUNCTIONS:
                for function in self._assigned(binding):
                    self._pass(function, 0, Source(None, (), _EVENT))
        for target, source in self._member_writes:
            if self._last_name(target).startswith("on") and source.node and not source.steps:
                for function in self._functions(source.node):
                    self._pass(function, 0, Source(None, (), _EVENT))
            object_node = target.get("object")
            if object_node and ("window", None) in self.values(object_node):
                for key in self.keys(target)[0]:
                    self.implicit.setdefault(key, Binding(key)).sources.append(source)

    def assigned_to_window(self, call: Node) -> dict[str, Node]:
        """The globals that `Object.assign(window, {a, b: 1})` makes, by name; none when they cannot all be read."""
        arguments = call.get("arguments")
        passed = arguments.named if arguments else []
        function = call.get("function")
        if len(passed) < 2 or not function or function.type != "member_expression":
            return {}
        if function.kids[0].type != "identifier" or self.tree.text(function) != "Object.assign":
            return {}
        if passed[0].type != "identifier" or self.tree.name(passed[0]) not in names.WINDOW_NAMES:
            return {}
        found: dict[str, Node] = {}
        for part in passed[1:]:
            if part.type != "object":
                return {}
            for kid in part.named:
                key = kid if kid.type == "shorthand_property_identifier" else kid.get("key") or kid.get("name")
                names_of = [self.tree.name(kid)] if key is kid else self._literal_key(key) if key else []
                if not names_of or any(word.type in (".get", ".set") for word in kid.kids):
                    return {}
                found[names_of[0]] = kid.get("value") or kid
        return found

    def _last_name(self, node: Node) -> str:
        """`f` of f and of a.f."""
        name = node if node.type == "identifier" else node.get("property")
        return self.tree.name(name) if name else ""

    def _functions(self, node: Node) -> list[Node]:
        """The functions of the sketch that an expression plainly is: written here, or named."""
        plain = bare(node)
        if plain is None:
            return []
        if plain.type in FUNCTIONS:
            return [plain]
        binding = self.lookup(self.tree.name(plain), plain.scope) if plain.type == "identifier" else None
        return self._assigned(binding) if binding else []

    @staticmethod
    def _assigned(binding: Binding) -> list[Node]:
        """The functions that are declared as, or plainly assigned to, a binding."""
        declared = [detail for source in binding.sources for kind, detail in source.given if kind == "own"]
        assigned = [bare(source.node) for source in binding.sources if source.node and not source.steps]
        return [node for node in [*declared, *assigned] if node and node.type in FUNCTIONS]

    def _pass_all(self, function: Node, passed: list[Node]) -> None:
        for index, argument in enumerate(passed):
            if argument.type == "spread_element":
                return
            self._pass(function, index, Source(argument))

    def _pass(self, function: Node, index: int, source: Source) -> None:
        parameters = parameters_of(function)
        if index < len(parameters) and parameters[index].type != "rest_pattern":
            self._bind(parameters[index], source, parameters[index].scope)

    def alias_of(self, call: Node, argument: Node) -> bool:
        """Whether `argument` of `call` only becomes a parameter of a function of the sketch that can be followed."""
        called, arguments = bare(call.get("function") or call.get("constructor")), call.get("arguments")
        if not called or not arguments:
            return False
        index = arguments.named.index(argument)
        functions = self._functions(called)
        if called.type == "member_expression":
            way = called.get("property")
            word = self.tree.name(way) if way else ""
            if word in ("call", "apply", "bind"):
                return index == 0
            return word in ITERATORS and index == 1  # what `this` is inside
        return bool(functions) and all(
            index < len(parameters_of(f)) and parameters_of(f)[index].type != "rest_pattern" for f in functions
        )

    # -- names -------------------------------------------------------------------------------------------------------

    def lookup(self, name: str, scope: Scope) -> Binding | None:
        """The declaration that `name` means in `scope`; None for what the sketch does not declare."""
        at: Scope | None = scope
        while at is not None:
            if name in at.names:
                return at.names[name]
            at = at.parent
        return None

    def _within(self, name: str, scope: Scope) -> Values:
        """What a surrounding `with` makes of `name`; nothing when there is none that has it."""
        at: Scope | None = scope
        while at is not None and name not in at.names:
            if at.kind == "with" and at.subject:
                subject = self.values(at.subject)
                if ("brush", None) in subject and (name in names.BRUSH_METHODS or name in names.BRUSH_CLASSES):
                    return frozenset({("brush_method", name)})
                if name in self.own_members and any(kind in ("own", "unknown") for kind, _ in subject):
                    return _UNKNOWN
            at = at.parent
        return NOTHING

    def is_global(self, node: Node) -> bool:
        """Whether an identifier means something the sketch did not declare: p5's, p5.brush's or the browser's."""
        name = self.tree.name(node)
        return self.lookup(name, node.scope) is None and not self._within(name, node.scope)

    def global_value(self, name: str) -> Values:
        if name in names.WINDOW_NAMES:
            return _WINDOW
        if name in ("brush", "p5"):
            return frozenset({(name, None)})
        if name in _CONSTANTS:
            return frozenset({("text", _CONSTANTS[name])})
        if names.is_p5(name):
            return frozenset({("p5_function", name)})
        if name in _BUILTINS:
            return frozenset({("builtin", name)})
        if name in self.implicit:
            return self._binding(self.implicit[name])
        return _UNKNOWN

    def entry(self, name: str) -> bool:
        """Whether the sketch makes a property `name` of the window, which is where p5 looks for setup and draw."""
        declared = self.globals.names.get(name)
        return (declared is not None and not declared.lexical) or name in self.implicit

    # -- values ------------------------------------------------------------------------------------------------------

    def values(self, node: Node) -> Values:
        """What an expression can be. Never raises; where it cannot be known the set holds "unknown"."""
        return self._guarded(node, lambda: self._value(node))

    def _binding(self, binding: Binding) -> Values:
        return self._guarded(binding, lambda: union(self._source(source) for source in binding.sources))

    def _guarded(self, key: Any, compute: Any) -> Values:
        known = self._memo.get(key)
        if known is not None:
            return known
        if key in self._busy:
            return NOTHING  # a circle: what it adds is already being counted
        if len(self._busy) >= MOST_DEPTH:
            return _UNKNOWN
        self._busy.add(key)
        try:
            found: Values = compute()
        finally:
            self._busy.discard(key)
        self._memo[key] = found
        return found

    def _source(self, source: Source) -> Values:
        found = source.given or (self.values(source.node) if source.node else NOTHING)
        for kind, detail in source.steps:
            if kind == "member":
                keys, certain = ({detail}, True) if isinstance(detail, str) else self._key(detail)
                found = self.members(found, frozenset(keys), certain)
            elif kind == "index":
                found = union(self._member(value, str(detail)) for value in found)
            elif kind == "each":
                found = union(self._elements(value) for value in found)
            else:
                found = _UNKNOWN
        return found

    def _value(self, node: Node) -> Values:
        kind, tree = node.type, self.tree
        if kind in ("identifier", "shorthand_property_identifier"):
            name = tree.name(node)
            within = self._within(name, node.scope)
            if within:
                return within
            binding = self.lookup(name, node.scope)
            return self._binding(binding) if binding else self.global_value(name)
        if kind in ("member_expression", "subscript_expression"):
            of = node.get("object")
            keys, certain = self.keys(node)
            return self.members(self.values(of), keys, certain) if of else _UNKNOWN
        if kind in FUNCTIONS or kind in CLASSES or kind in ("object", "array"):
            return frozenset({("own", node)})
        if kind == "string":
            return frozenset({("text", unescape(tree.text(node)[1:-1]))})
        if kind == "number":
            return frozenset({("number", tree.text(node))})
        if kind == "template_string":
            return self._template(node)
        if kind in ("parenthesized_expression", "sequence_expression", "await_expression", "spread_element"):
            return self.values(node.named[-1]) if node.named else _UNKNOWN
        if kind == "ternary_expression":
            return union(self.values(part) for part in (node.get("consequence"), node.get("alternative")) if part)
        if kind == "binary_expression":
            return self._binary(node)
        if kind in ("assignment_expression", "augmented_assignment_expression"):
            right = node.get("right")
            return self.values(right) if right else _UNKNOWN
        if kind == "this":
            return self._this(node)
        if kind == "call_expression":
            return self._call(node)
        if kind == "regex":
            return frozenset({("number", None)})
        return _UNKNOWN

    def _template(self, node: Node) -> Values:
        parts: list[list[str]] = []
        for kid in node.named:
            if kid.type == "template_substitution":
                texts = texts_of(self.values(kid.named[0])) if kid.named else None
                if texts is None:
                    return _UNKNOWN
                parts.append(texts)
            else:
                raw = self.tree.text(kid)
                parts.append([unescape(raw) if kid.type == "escape_sequence" else raw])
        return concatenated(parts)

    def _binary(self, node: Node) -> Values:
        left, right, sign = node.get("left"), node.get("right"), node.get("operator")
        if not left or not right or not sign:
            return _UNKNOWN
        if sign.type in ("||", "&&", "??"):
            return self.values(left) | self.values(right)
        if sign.type == "+":
            parts = [texts_of(self.values(left)), texts_of(self.values(right))]
            if parts[0] is not None and parts[1] is not None:
                return concatenated([parts[0], parts[1]])
        return _UNKNOWN

    def _this(self, node: Node) -> Values:
        at = node.parent
        while at is not None:
            kind = at.type
            if kind == "class_body":
                return _UNKNOWN
            if kind in FUNCTIONS and kind != "arrow_function":
                body = at.get("body")
                if body and body.scope.strict:
                    return _UNKNOWN
                name = at.get("name")
                if at.type == "function_declaration" and name and self.tree.name(name) in EVENT_FUNCTIONS:
                    return _WINDOW
                caller = at.parent
                while caller is not None and caller.type == "parenthesized_expression":
                    caller = caller.parent
                if caller is not None and caller.type == "call_expression" and bare(caller.get("function")) is at:
                    return _WINDOW  # called where it is written
                owner = self._owner(at)
                if not owner and at in self._called and at not in self._constructed:
                    return _WINDOW
                return owner | {("this", None)}
            at = at.parent
        return _WINDOW

    def _owner(self, function: Node) -> Values:
        """The object that a function is written into as a method: what `this` is when it is called as one."""
        holder = function if function.type == "method_definition" else function.parent
        if holder is None:
            return NOTHING
        literal = holder.parent
        if holder.type in ("method_definition", "pair") and literal is not None and literal.type == "object":
            spread = union(self.values(kid) for kid in literal.named if kid.type == "spread_element")
            return frozenset({("own", literal)}) | copied(spread)
        left = holder.get("left") if holder.type == "assignment_expression" else None
        of = left.get("object") if left else None
        return copied(self.values(of)) if of else NOTHING

    def keys(self, node: Node) -> tuple[frozenset[str], bool]:
        """The member names that a member or subscript expression can mean, and whether these are all."""
        key = node.get("property") or node.get("index")
        if key is None:
            return frozenset(), False
        return self._key(key, dotted=node.type == "member_expression")

    def _key(self, key: Node, dotted: bool = True) -> tuple[frozenset[str], bool]:
        if dotted and key.type in ("property_identifier", "identifier", "private_property_identifier"):
            return frozenset({self.tree.name(key)}), True
        if key.type == "computed_property_name":
            if not key.named:
                return frozenset(), False
            key = key.named[0]
        found = self.values(key)
        texts = texts_of(found)
        if texts is not None:
            return frozenset(texts), bool(texts)
        return frozenset(str(detail) for kind, detail in found if kind in ("text", "number")), False

    def _literal_key(self, key: Node) -> list[str]:
        """A member name as far as it can be read without knowing any value."""
        if key.type == "computed_property_name" and key.named:
            key = key.named[0]
        if key.type in ("property_identifier", "private_property_identifier"):
            return [self.tree.name(key)]
        if key.type == "string":
            return [unescape(self.tree.text(key)[1:-1])]
        return []

    def members(self, objects: Values, keys: Iterable[str], certain: bool = True) -> Values:
        found = union(self._member(value, key) for value in objects for key in keys)
        return found if certain else found | _UNKNOWN

    def _member(self, value: Value, key: str) -> Values:
        kind, detail = value
        if kind == "window":
            binding = self.globals.names.get(key)
            return self._binding(binding) if binding and not binding.lexical else self.global_value(key)
        if kind == "this":
            return self._field(key) if key in self.own_members else self.global_value(key)
        if kind in ("brush", "brush_copy"):
            known = key in names.BRUSH_METHODS or key in names.BRUSH_CLASSES
            return frozenset({("brush_method", key)}) if known else self._field(key)
        if kind == "p5":
            return _INSTANCE if key in ("prototype", "instance") else _UNKNOWN
        if kind == "instance":
            if key in _CONSTANTS:
                return frozenset({("text", _CONSTANTS[key])})
            return frozenset({("p5_function", key)}) if names.is_p5(key) else _UNKNOWN
        if kind == "canvas" and key in names.CANVAS_CHAIN:
            return frozenset({("canvas_method", key)})
        if kind == "own":
            return self._own_member(detail, key)
        if kind == "builtin" and "." not in detail and key not in ("constructor", "prototype"):
            return frozenset({("builtin", f"{detail}.{key}")})
        if kind in CALLABLE or kind in ("function_prototype", "text", "number"):
            return frozenset({_FUNCTION_MEMBERS.get(key, ("method", None))})
        if key == "constructor":
            return frozenset({("constructor", None)})
        return self._field(key)

    def _own_member(self, node: Node, key: str) -> Values:
        if node.type in FUNCTIONS or node.type in CLASSES:
            if key in _FUNCTION_MEMBERS:
                return frozenset({_FUNCTION_MEMBERS[key]})
            return _METHOD if key in ("call", "apply", "bind") else self._field(key)
        found: set[Value] = set()
        if node.type == "array":
            if key.isdigit():
                return self._elements(("own", node), int(key))
            return frozenset({_FUNCTION_MEMBERS.get(key, ("method", None))}) | self._field(key)
        for kid in node.named:
            if kid.type == "pair":
                name, part = kid.get("key"), kid.get("value")
                texts, certain = self._key(name) if name else (frozenset(), False)
                if part and (key in texts or not certain):
                    found |= self.values(part)
            elif kid.type == "method_definition":
                name = kid.get("name")
                if not name or key not in self._key(name)[0]:
                    continue
                if any(word.type == ".get" for word in kid.kids):
                    found |= union(self.values(returned) for returned in self._returns.get(kid, ()))
                else:
                    found.add(("own", kid))
            elif kid.type == "shorthand_property_identifier" and self.tree.name(kid) == key:
                found |= self.values(kid)
            elif kid.type == "spread_element":
                found |= self.members(self.values(kid), [key])
        if not found and key == "constructor":
            return frozenset({("constructor", None)})
        return frozenset(found) | self._field(key)

    def _field(self, key: str) -> Values:
        """A member of an object that cannot be followed: what the sketch hides under that name, or nobody knows."""
        sources = self._fields.get(key)
        if not sources:
            return _UNKNOWN
        found = self._guarded(("field", key), lambda: union(self._source(source) for source in sources))
        return frozenset(v for v in found if v[0] in _FOLLOWED) | _UNKNOWN

    def _elements(self, value: Value, index: int | None = None) -> Values:
        kind, node = value
        if kind != "own" or node.type != "array":
            return _UNKNOWN
        parts = node.named
        spread = any(part.type == "spread_element" for part in parts)
        if index is None or spread:
            return union(self.values(part) for part in parts[:MOST_VALUES]) | (_UNKNOWN if spread else NOTHING)
        return self.values(parts[index]) if index < len(parts) else _UNKNOWN

    # -- calls -------------------------------------------------------------------------------------------------------

    def callee(self, node: Node) -> tuple[Values, list[Node] | None]:
        """What a call calls, through call, apply, bind and Reflect.apply, and its arguments (None: cannot be known)."""
        function, arguments = bare(node.get("function") or node.get("constructor")), node.get("arguments")
        if function is None:
            return _UNKNOWN, None
        passed = arguments.named if arguments and arguments.type == "arguments" else []
        known: list[Node] | None = None if any(a.type == "spread_element" for a in passed) else passed
        if function.type in ("member_expression", "subscript_expression"):
            of = function.get("object")
            keys, _ = self.keys(function)
            target = self.values(of) if of else NOTHING
            if of and keys & {"call", "apply", "bind"} and any(self.is_function(v) for v in target):
                if "call" in keys:
                    return target, None if known is None else known[1:]
                return target, self._listed(known[1]) if "apply" in keys and known and len(known) > 1 else None
        target = self.values(function)
        if ("builtin", "Reflect.apply") in target and passed:
            return self.values(passed[0]), self._listed(passed[2]) if len(passed) > 2 else None
        return target, None if function.type == "call_expression" else known

    def _listed(self, node: Node) -> list[Node] | None:
        found = self.values(node)
        if len(found) != 1:
            return None
        kind, array = next(iter(found))
        if kind != "own" or array.type != "array" or any(p.type == "spread_element" for p in array.named):
            return None
        return array.named

    def _call(self, node: Node) -> Values:
        function = bare(node.get("function"))
        target, passed = self.callee(node)
        if function is not None and function.type == "member_expression":
            way, of = function.get("property"), function.get("object")
            word = self.tree.name(way) if way else ""
            if word == "bind" and of and any(self.is_function(value) for value in target):
                return target
            if word == "join" and of:
                return self._joined(of, passed)
        plainly = function is not None and function.type == "identifier"
        found: set[Value] = set()
        for kind, detail in target:
            if kind == "own" and detail.type in FUNCTIONS:
                for returned in self._returns.get(detail, ()):
                    found |= {_PLAIN_THIS if v == ("this", None) and plainly else v for v in self.values(returned)}
            elif kind == "canvas_method" or (kind == "p5_function" and detail in names.P5_GIVES_RENDERER):
                found.add(("canvas", None))
            elif kind == "p5_function" and detail in names.P5_GIVES_ITSELF:
                found.add(("instance", None))
            elif kind == "builtin" and passed:
                found |= self._builtin(detail, passed)
            else:
                found.add(UNKNOWN)
        return frozenset(found) or _UNKNOWN

    def _joined(self, of: Node, passed: list[Node] | None) -> Values:
        parts = [texts_of(self.values(part)) for part in self._listed(of) or ()]
        between = texts_of(self.values(passed[0])) if passed else [","]
        if not parts or between is None or any(part is None for part in parts):
            return _UNKNOWN
        mixed: list[list[str]] = []
        for part in parts:
            mixed += [part or [], between]
        return concatenated(mixed[:-1])

    def _builtin(self, path: str, passed: list[Node]) -> Values:
        first = self.values(passed[0])
        if path == "Object.assign":
            return first | copied(union(self.values(argument) for argument in passed[1:]))
        if path == "Object.create":
            return copied(first)
        if path in ("Object.freeze", "Object.seal"):
            return first
        if path in ("Object.getPrototypeOf", "Reflect.getPrototypeOf"):
            of_functions = ("function_prototype", None) in first or any(map(self.is_function, first))
            return frozenset({("function_prototype", None)}) if of_functions else _UNKNOWN
        if path == "Reflect.get" and len(passed) > 1:
            return self.members(first, *self._key(passed[1], dotted=False))
        return _UNKNOWN

    @staticmethod
    def is_function(value: Value) -> bool:
        kind, detail = value
        return kind in CALLABLE or (kind == "own" and (detail.type in FUNCTIONS or detail.type in CLASSES))

    # -- what is taken from what -------------------------------------------------------------------------------------

    def accesses(self) -> Iterator[Access]:
        """Every member that is taken from anything, in no particular order."""
        written = {target for target, _ in self._member_writes}
        for node in self.tree.nodes:
            if node.type in ("member_expression", "subscript_expression"):
                of = node.get("object")
                if of:
                    yield Access(node, self.values(of), *self.keys(node), node in written)
            elif node.type == "call_expression":
                target = self.values(bare(node.get("function")) or node)
                arguments = node.get("arguments")
                if ("builtin", "Reflect.get") in target and arguments and len(arguments.named) > 1:
                    object_node, name = arguments.named[:2]
                    yield Access(node, self.values(object_node), *self._key(name, dotted=False), False)
        for pattern, source, key in self._patterns:
            objects = self._source(source)
            if key is None:
                yield Access(pattern, objects, frozenset(), False, False)
            elif isinstance(key, str):
                yield Access(pattern, objects, frozenset({key}), True, False)
            else:
                yield Access(pattern, objects, *self._key(key), False)

    def replaced(self) -> Iterator[tuple[Node, str, Values]]:
        """Every global that is assigned, by its name or as a member of the window: where, which, and what it gets."""
        for target, scope, source in self._assignments:
            name = self.tree.name(target)
            if self.lookup(name, scope) is None:
                yield target, name, self._source(source)
        for target, source in self._member_writes:
            of = target.get("object")
            if of and ("window", None) in self.values(of):
                for key in self.keys(target)[0]:
                    yield target, key, self._source(source)

    def use(self, node: Node) -> str:
        """What becomes of the value of an expression: "member", "alias", "test", "written" or "handed on"."""
        at, parent = node, node.parent
        while parent is not None:
            kind = parent.type
            if kind in ("member_expression", "subscript_expression"):
                return "member" if parent.get("object") is at else "test"
            if kind == "ternary_expression" and parent.get("condition") is at:
                return "test"
            if kind == "binary_expression":
                sign = parent.get("operator")
                if not sign or sign.type not in ("||", "&&", "??"):
                    return "test"
            elif kind == "sequence_expression":
                if parent.named[-1] is not at:
                    return "test"
            elif kind == "assignment_expression":
                left = parent.get("left")
                if left is at:
                    return "written"
                if not left or left.type not in ("identifier", "object_pattern"):
                    return "handed on"
            elif kind == "variable_declarator":
                name = parent.get("name")
                return "alias" if name and name.type in ("identifier", "object_pattern") else "handed on"
            elif kind in ("assignment_pattern", "object_assignment_pattern"):
                return "alias"
            elif kind == "arguments":
                call = parent.parent
                return "alias" if call and self.alias_of(call, at) else "handed on"
            elif kind == "parenthesized_expression":
                if parent.parent and parent.parent.type in ("if_statement", "while_statement", "do_statement"):
                    return "test"
            elif kind in ("call_expression", "new_expression"):
                return "called"
            elif kind in ("unary_expression", "expression_statement"):
                return "test"
            elif kind != "ternary_expression":
                return "handed on"
            at, parent = parent, parent.parent
        return "test"


_PATTERN_NAMES = frozenset({"identifier", "shorthand_property_identifier_pattern"})
_FOLLOWED = frozenset({"brush", "brush_copy", "brush_method", "window", "instance", "canvas"})
_PLAIN_THIS: Value = ("window", None)  # what `this` is in a function that is called by its name alone
_FUNCTION_MEMBERS: dict[str, Value] = {
    "constructor": ("constructor", None),
    "prototype": ("function_prototype", None),
    "__proto__": ("function_prototype", None),
}
_EVALUATED = frozenset(
    {
        "identifier",
        "member_expression",
        "subscript_expression",
        "parenthesized_expression",
        "sequence_expression",
        "ternary_expression",
        "binary_expression",
        "template_string",
        "assignment_expression",
        "call_expression",
    }
)


def copied(values: Values) -> Values:
    """The same values where an object is made from the brush, not the brush itself."""
    return frozenset(("brush_copy", None) if value == ("brush", None) else value for value in values)


def own(node: Node) -> Source:
    return Source(None, (), frozenset({("own", node)}))


def bare(node: Node | None) -> Node | None:
    """An expression without its parentheses; of `(0, f)` the f."""
    while node is not None and node.type in ("parenthesized_expression", "sequence_expression") and node.named:
        node = node.named[-1]
    return node


def enclosing(node: Node, types: frozenset[str]) -> Node | None:
    at = node.parent
    while at is not None and at.type not in types:
        at = at.parent
    return at


def parameters_of(function: Node) -> list[Node]:
    single, several = function.get("parameter"), function.get("parameters")
    return [single] if single else several.named if several else []


def union(sets: Iterable[Values]) -> Values:
    found: set[Value] = set()
    for one in sets:
        found |= one
        if len(found) > MOST_VALUES:
            return frozenset([*list(found)[:MOST_VALUES], UNKNOWN])
    return frozenset(found)


def texts_of(values: Values) -> list[str] | None:
    """The strings that a value can be when it can be nothing else."""
    if not values or any(kind not in ("text", "number") or detail is None for kind, detail in values):
        return None
    return [str(detail) for _, detail in values]


def concatenated(parts: list[list[str]]) -> Values:
    found = [""]
    for part in parts:
        found = [start + end for start in found for end in part][:MOST_VALUES]
        if len(found[0]) > 200:
            return _UNKNOWN
    return frozenset(("text", text) for text in found)
