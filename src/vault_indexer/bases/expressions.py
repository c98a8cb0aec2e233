"""Parses the expressions of filters and formulas into functions of a row."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from types import MappingProxyType

from vault_indexer.bases.functions import (
    FIELDS,
    FILE_FIELDS,
    GLOBALS,
    LIST_EXPRESSIONS,
    METHODS,
    call_method,
    checked,
)
from vault_indexer.bases.scope import Scope
from vault_indexer.bases.values import (
    Duration,
    Elapsed,
    Pattern,
    Value,
    check_size,
    duration_of,
    is_equal,
    is_in_order,
    kind_of_value,
    limited,
    moment_of,
    number_of,
    shifted,
    shown,
    whole,
)
from vault_indexer.errors import UsageError
from vault_indexer.patterns import PatternError, compile_javascript
from vault_indexer.system import record

MAX_CHARACTERS = 4_000
"""Of one expression."""

ANY_FORMULA = ""
"""In `Expression.formulas` if the name of a formula is calculated: it may be any of them."""

_MAX_DEPTH = 24
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<string>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<name>[^\W\d]\w*)|(?P<sign>&&|\|\||[=!<>]=|[-+*/%!<>()\[\]{}:.,]))",
    re.DOTALL,
)
_REGEX = re.compile(r"\s*/((?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/([a-z]*)")
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
_LEVEL = MappingProxyType({sign: level for level, signs in enumerate(_LEVELS) for sign in signs})


Node = Callable[[Scope], Value]


@record
class Expression:
    """Calculates a value for a row. `place` names the key of the base, and `formulas` are those it uses.
    Raises UsageError, which names the expression and the error, and QueryTimeoutError."""

    text: str
    place: str
    node: Node
    formulas: frozenset[str] = frozenset()

    def __call__(self, scope: Scope) -> Value:
        try:
            return self.node(scope)
        except (ValueError, OverflowError) as error:
            raise UsageError(f"{self.place}: {error} (in {self.text[:200]!r})") from None
        except RecursionError:
            raise UsageError(f"{self.place}: nested too deeply: {self.text[:80]!r}") from None


def parse_expression(text: str, place: str, names: Sequence[str] = ()) -> Expression:
    """Returns the expression at a place of the base. `names` are variables. Raises UsageError, which names
    the unsupported part."""
    try:
        if len(text) > MAX_CHARACTERS:
            raise ValueError(f"longer than {MAX_CHARACTERS:,} characters")
        parser = _Parser(text, frozenset(names))
        node = parser.binary(0)
        parser.expect_end()
    except (ValueError, PatternError) as error:
        raise UsageError(f"{place}: {error} (in {text[:200]!r})") from None
    return Expression(text, place, node, frozenset(parser.formulas))


class _Parser:
    def __init__(self, text: str, names: frozenset[str]) -> None:
        self._text = text.rstrip()
        self._names = names
        self.formulas: set[str] = set()
        self._at = 0
        self._depth = 0
        self._next()

    def _next(self) -> None:
        """Reads the next token: its kind ("" at the end) and its text."""
        self._start = self._at
        match = _TOKEN.match(self._text, self._at)
        if match is None and self._text[self._at :].strip():
            raise ValueError(f"{self._text[self._at :].split()[0][:20]!r} is not supported")
        self.kind = (match and match.lastgroup) or ""
        self.word = match[self.kind] if match and self.kind else ""
        self._at = match.end() if match else len(self._text)

    def expect_end(self) -> None:
        if self.kind:
            raise ValueError(f"unexpected {self.word!r} at character {self._at - len(self.word) + 1}")

    def _takes(self, *signs: str) -> str:
        word = self.word
        if self.kind != "sign" or word not in signs:
            return ""
        self._next()
        return word

    def _expect(self, sign: str) -> None:
        if not self._takes(sign):
            raise ValueError(f"{sign!r} is missing {f'before {self.word!r}' if self.kind else 'at the end'}")

    def binary(self, least: int) -> Node:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError(f"nested more than {_MAX_DEPTH} deep")
        left = self._unary()
        while self.kind == "sign" and _LEVEL.get(self.word, -1) >= least:
            sign = self.word
            self._next()
            left = _operation(sign, left, self.binary(_LEVEL[sign] + 1))
        self._depth -= 1
        return left

    def _unary(self) -> Node:
        signs = ""
        while sign := self._takes("!", "-"):
            signs += sign
        if len(signs) > _MAX_DEPTH:
            raise ValueError(f"more than {_MAX_DEPTH} signs before a value")
        node = self._postfix()
        for sign in reversed(signs):
            node = _negation(sign, node)
        return node

    def _postfix(self) -> Node:
        root = self.word if self.kind == "name" and self.word not in self._names else ""
        node = self._primary()
        while True:
            if self._takes("."):
                name = self.word
                if self.kind != "name":
                    raise ValueError("a name is missing after the point")
                self._next()
                is_call = self.kind == "sign" and self.word == "("
                self._note_formula(root, name)
                node = self._method(node, name) if is_call else _field_of(root, node, name)
                root = "file" if (root, name) == ("this", "file") else ""
            elif self._takes("["):
                written = _text_of(self.word) if self.kind == "string" else ANY_FORMULA
                key = self.binary(0)
                self._note_formula(root, written)
                self._expect("]")
                node, root = _element_of(root, node, key), ""
            else:
                return node

    def _note_formula(self, root: str, name: str) -> None:
        if root == "formula":
            self.formulas.add(name)

    def _method(self, owner: Node, name: str) -> Node:
        if name in LIST_EXPRESSIONS:
            names = self._names
            self._names |= {"value", "index", "acc"} if name == "reduce" else {"value", "index"}
            arguments = self._arguments()
            self._names = names
            if len(arguments) != (2 if name == "reduce" else 1):
                raise ValueError(
                    f"{name}() takes {'two expressions' if name == 'reduce' else 'one expression'}"
                )
            return _list_expression(name, owner, arguments)
        if name not in METHODS:
            raise ValueError(f"{name}() is not supported")
        arguments = self._arguments()

        def call(scope: Scope) -> Value:
            scope.tick()
            return limited(call_method(scope, name, owner(scope), [one(scope) for one in arguments]))

        return call

    def _arguments(self) -> list[Node]:
        self._expect("(")
        return list(self._until(")"))

    def _until(self, end: str) -> Iterator[Node]:
        while not self._takes(end):
            yield self.binary(0)
            if not (self.kind == "sign" and self.word == end):
                self._expect(",")

    def _primary(self) -> Node:
        kind, word = self.kind, self.word
        # The tokenizer takes the slash for a division. Where a value must begin, it begins an expression.
        if kind == "sign" and word == "/" and (match := _REGEX.match(self._text, self._start)):
            self._at = match.end()
            self._next()
            return _constant(_pattern(match[1], match[2]))
        self._next()
        if kind == "number":
            return _constant(whole(float(word)))
        if kind == "string":
            return _constant(_text_of(word))
        if kind == "name":
            return self._named(word)
        match word:
            case "(":
                inner = self.binary(0)
                self._expect(")")
                return inner
            case "[":
                items = list(self._until("]"))
                return lambda scope: limited([item(scope) for item in items])
            case "{":
                return self._object()
        raise ValueError(f"a value is missing {f'before {word!r}' if word else 'at the end'}")

    def _object(self) -> Node:
        pairs: list[tuple[str, Node]] = []
        while not self._takes("}"):
            if self.kind not in ("string", "name"):
                raise ValueError("an object takes `name: value`")
            key = self.word.strip("\"'")
            self._next()
            self._expect(":")
            pairs.append((key, self.binary(0)))
            if self.word != "}":
                self._expect(",")
        return lambda scope: limited({key: node(scope) for key, node in pairs})

    def _named(self, name: str) -> Node:
        if self.kind == "sign" and self.word == "(":
            return self._global(name)
        if name in self._names:
            return lambda scope: scope.names.get(name)
        match name:
            case "true" | "false" | "null":
                return _constant({"true": True, "false": False}.get(name))
            case "file":
                return lambda scope: scope.file
            case "note":
                return lambda scope: dict(scope.file.properties())
            case "this":
                return lambda scope: scope.evaluation.this
            case "formula" if self.word in (".", "["):
                return _constant(None)
        return lambda scope: scope.file.note_property(name)

    def _global(self, name: str) -> Node:
        if name not in GLOBALS and name != "if":
            raise ValueError(f"{name}() is not supported")
        arguments = self._arguments()
        if name == "if":
            if len(arguments) not in (2, 3):
                raise ValueError("if() takes a condition and one or two results")
            condition, then, otherwise = [*arguments, _constant(None)][:3]
            return lambda scope: then(scope) if condition(scope) else otherwise(scope)
        function, types = GLOBALS[name]
        return lambda scope: limited(checked(name, function, types, scope, [one(scope) for one in arguments]))


_ESCAPES = MappingProxyType({"n": "\n", "t": "\t", "r": "\r"})


def _text_of(word: str) -> str:
    """The text that a string literal in an expression represents."""
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), word[1:-1], flags=re.DOTALL)


def _constant(value: Value) -> Node:
    return lambda _scope: value


def _pattern(source: str, flags: str) -> Pattern:
    if unknown := set(flags) - set("gimu"):
        raise ValueError(f"the flag {min(unknown)!r} of a regular expression is not supported")
    program = compile_javascript(source, ignore_case="i" in flags, by_line="m" in flags)
    return Pattern(source, "g" in flags, program)


def _field_of(root: str, node: Node, name: str) -> Node:
    if root == "formula":
        return lambda scope: scope.formula(name)
    if root == "note":
        return lambda scope: scope.file.note_property(name)
    if root == "this" and name != "file":
        return lambda scope: scope.evaluation.this.note_property(name)
    if root in ("file", "this") and name not in FILE_FIELDS:
        raise ValueError(f"file.{name} is not supported")
    if root == "this":
        return node

    def read(scope: Scope) -> Value:
        owner = node(scope)
        if owner is None or isinstance(owner, dict):
            return owner and owner.get(name)
        kind = "duration" if isinstance(owner, Elapsed) else kind_of_value(owner)
        if name not in FIELDS.get(kind, {}):
            raise ValueError(f".{name} of a {kind} is not supported")
        return FIELDS[kind][name](scope, owner)

    return read


def _element_of(root: str, node: Node, key: Node) -> Node:
    def read(scope: Scope) -> Value:
        chosen = key(scope)
        if isinstance(chosen, str) and root == "formula":
            return scope.formula(chosen)
        owner = dict(scope.evaluation.this.properties()) if root == "this" else node(scope)
        if isinstance(owner, dict) and isinstance(chosen, str):
            return owner.get(chosen)
        at = number_of(chosen)
        if isinstance(owner, list | str) and at is not None:
            return owner[int(at)] if 0 <= at < len(owner) and at.is_integer() else None
        if owner is None:
            return None
        raise ValueError(f"[{shown(chosen)[:40]}] of a {kind_of_value(owner)} is not supported")

    return read


def _list_expression(name: str, owner: Node, arguments: Sequence[Node]) -> Node:
    def call(scope: Scope) -> Value:
        values = owner(scope)
        if values is None:
            return None
        if not isinstance(values, list):
            raise ValueError(f"{name}() of a {kind_of_value(values)} is not supported")
        found: list[Value] = []
        result = arguments[1](scope) if name == "reduce" else None
        for index, value in enumerate(values):
            scope.tick()
            inner = {**scope.names, "value": value, "index": index, "acc": result}
            result = arguments[0](Scope(scope.evaluation, scope.file, inner, scope.formulas))
            if name == "map" or (name == "filter" and result):
                found.append(result if name == "map" else value)
        return result if name == "reduce" else limited(found)

    return call


# Operators.


def _negation(sign: str, inner: Node) -> Node:
    if sign == "!":
        return lambda scope: not inner(scope)
    return lambda scope: _arithmetic("-", 0, inner(scope))


def _operation(sign: str, left: Node, right: Node) -> Node:
    if sign == "||":
        return lambda scope: left(scope) or right(scope)
    if sign == "&&":
        return lambda scope: left(scope) and right(scope)
    function = _OPERATIONS.get(sign) or partial(_arithmetic, sign)
    return lambda scope: function(left(scope), right(scope))


_OPERATIONS: Mapping[str, Callable[[Value, Value], Value]] = MappingProxyType(
    {
        "==": is_equal,
        "!=": lambda left, right: not is_equal(left, right),
        "<": partial(is_in_order, operator.lt),
        "<=": partial(is_in_order, operator.le),
        ">": partial(is_in_order, operator.gt),
        ">=": partial(is_in_order, operator.ge),
    }
)
_CALCULATIONS: Mapping[str, Callable[[float, float], float]] = MappingProxyType(
    {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": math.fmod}
)


def _arithmetic(sign: str, left: Value, right: Value) -> Value:
    kinds = {kind_of_value(left), kind_of_value(right)}
    if isinstance(left, Duration) and sign in "*/" and (factor := number_of(right)):
        return left.times(factor if sign == "*" else 1 / factor)
    if sign == "+" and kinds & {"string", "link"} and not _is_shift(left, right):
        text = shown(left) + shown(right)
        check_size(len(text))
        return text
    if left is None or right is None:
        return None
    if sign in "+-" and (kinds & {"date", "duration"} or _is_shift(left, right)):
        return _with_dates(sign, left, right)
    first, second = number_of(left), number_of(right)
    if first is None or second is None:
        kind, other = kind_of_value(left), kind_of_value(right)
        raise ValueError(f"{sign} takes two numbers, not a {kind} and a {other}")
    try:
        return whole(_CALCULATIONS[sign](first, second))
    except (ZeroDivisionError, ValueError):  # as in JavaScript
        return math.nan if sign == "%" or not first else math.copysign(math.inf, first)


def _is_shift(left: Value, right: Value) -> bool:
    """Whether a sum adds to a date or a duration."""
    if isinstance(left, datetime | Duration) or isinstance(right, Duration):
        return True
    return isinstance(right, str) and moment_of(left) is not None


def _with_dates(sign: str, left: Value, right: Value) -> Value:
    moment, other = moment_of(left), moment_of(right)
    if sign == "-" and moment and other:
        return Elapsed(round((moment - other).total_seconds() * 1000))
    if moment:
        return shifted(moment, duration_of(right), 1 if sign == "+" else -1)
    first, second = duration_of(left), duration_of(right).times(1 if sign == "+" else -1)
    return Duration(first.months + second.months, first.seconds + second.seconds)
