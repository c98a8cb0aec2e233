"""The one table of keys, read off the settings: what each value may be, and who may set it.

`config show`, the example file, the tables of the docs and the check of a vault's own file come from it.

Vaults are cloned and shared, so the file inside a vault is not written by the person at this machine. It may
change how this vault is split, found and watched, and leave out files. It may not name code to import, or a
model or server that gets the text, a folder to write to, what may call the API, or what the machine spends.
The settings define this for each key: a mark of the field, else the `trust` of its table, else `Trust.USER`
(see `fields.Table`). For the options of a new strategy: sizes are `VAULT`, regular expressions `PATTERN`; a
value that may be `module:function` or a path is `USER`, and so is the table of a strategy that imports code
or asks a model.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from vault_indexer.config.fields import PUBLIC, RESTART, TUNING, Allowed, Table, Trust, Unit
from vault_indexer.config.settings import Settings
from vault_indexer.config.tables.chunking_options import OPTION_TABLES, StrategyName
from vault_indexer.patterns import PatternError, check_linear
from vault_indexer.system import record

VARIABLE_PREFIX = "INDEXER_"


def variable_of(key: str) -> str:
    return VARIABLE_PREFIX + key.upper().replace(".", "_")


@record
class Key:
    """One value of the configuration: `name` is dotted (`search.weights.vector`)."""

    name: str
    default: object
    table: type[Table]
    field: FieldInfo

    @property
    def allowed(self) -> str:
        """The values that it may have, in words."""
        return describe(self.field.annotation, self.field.metadata)

    @property
    def unit(self) -> str:
        units = [mark.name for mark in self.field.metadata if isinstance(mark, Unit)]
        return units[-1] if units else ""

    @property
    def trust(self) -> Trust:
        return trust_of(self.table, self.field)

    @property
    def description(self) -> str:
        """The docstring below the field, in one line."""
        # The last of each name: `Settings` with the tables of extensions has no source of its own.
        tables = {table.__qualname__: table for table in self.table.__mro__ if issubclass(table, Table)}
        texts = (_docstrings(table).get(self.name.rpartition(".")[2]) for table in tables.values())
        return next(filter(None, texts), "")

    def value(self, settings: Settings) -> object:
        return value_of(settings, self.name)

    @property
    def variable(self) -> str:
        return variable_of(self.name)

    @property
    def is_public(self) -> bool:
        return PUBLIC in self.field.metadata

    @property
    def is_followed(self) -> bool:
        return RESTART not in self.field.metadata

    @property
    def is_list(self) -> bool:
        return get_origin(self.field.annotation) is tuple

    @property
    def is_table(self) -> bool:
        """Whether the value is a table with names of the user's."""
        return get_origin(self.field.annotation) is dict


@cache
def _docstrings(table: type[Table]) -> Mapping[str, str]:
    """The docstrings below the fields of a class. They are read from the source, and only when documents need
    them: pydantic would read the source of every table at each start."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(table))).body[0]
    assert isinstance(tree, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, text in pairwise(tree.body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(words))):
                texts[name] = " ".join(words.split())
    return texts


def describe(annotation: object, marks: Iterable[object] = ()) -> str:
    """A description of the allowed values of a field of this type, including bounds and literals."""
    marks = list(marks)
    if get_origin(annotation) is Annotated:
        inner, *own = get_args(annotation)
        return describe(inner, [*_unpack(own), *marks])
    words = [mark.text for mark in marks if isinstance(mark, Allowed)]
    if words:
        return words[-1]
    return _scalar(annotation, marks) or _compound(annotation)


def _unpack(marks: Iterable[object]) -> Iterator[object]:
    """The marks, with those inside a nested `Field(...)`."""
    for mark in marks:
        if isinstance(mark, FieldInfo):
            yield from mark.metadata
        else:
            yield mark


def _scalar(annotation: object, marks: list[object]) -> str:
    names: dict[object, str] = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a text",
    }
    name = names.get(annotation, "")
    return f"{name}{_bounds(marks)}" if annotation in (int, float) else name


def _compound(annotation: object) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return "one of: " + ", ".join(str(choice) for choice in arguments)
    if origin is tuple:
        return f"a list; each {describe(arguments[0])}"
    if origin in (Union, UnionType):
        return " or ".join(describe(part) for part in arguments if part is not NoneType)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields.items()
        parts = (f"{name} ({describe(field.annotation, field.metadata)})" for name, field in fields)
        return "a table with " + ", ".join(parts)
    raise TypeError(f"the configuration has no words for values of type {annotation}")


def _bounds(marks: list[object]) -> str:
    least = next((str(mark.ge) for mark in marks if isinstance(mark, Ge)), "")
    most = next((str(mark.le) for mark in marks if isinstance(mark, Le)), "")
    if least and most:
        return f" from {least} to {most}"
    bounds = (
        [f"at least {least}"] if least else [f"above {mark.gt}" for mark in marks if isinstance(mark, Gt)]
    )
    bounds += [f"at most {most}"] if most else [f"below {mark.lt}" for mark in marks if isinstance(mark, Lt)]
    return " " + " and ".join(bounds) if bounds else ""


def trust_of(table: type[Table], field: FieldInfo) -> Trust:
    parts = list(_parts(field.annotation))
    marks = [mark for mark in [*field.metadata, *parts] if isinstance(mark, Trust)]
    if marks:
        return marks[0]
    return Trust.USER if str in parts or Path in parts else table.trust


def _parts(annotation: object) -> Iterator[object]:
    """The types that an annotation is made of, with the marks in it; not the values of a `Literal`."""
    yield annotation
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        yield from _parts(inner)
        yield from marks
    elif get_origin(annotation) is not Literal:
        for part in get_args(annotation):
            yield from _parts(part)


def value_of(settings: Settings, name: str) -> object:
    """The value of a key, or a table, by its dotted name."""
    value: object = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _keys(table: Table, prefix: str = "") -> Iterator[Key]:
    for name, field in type(table).model_fields.items():
        default: object = getattr(table, name)
        if isinstance(default, Table):
            yield from _keys(default, f"{prefix}{name}.")
            continue
        yield Key(prefix + name, default, type(table), field)


ALL_KEYS: Mapping[str, Key] = MappingProxyType({key.name: key for key in _keys(Settings.defaults())})
"""The keys, and the tuning constants."""

SCHEMA: Mapping[str, Key] = MappingProxyType(
    {name: key for name, key in ALL_KEYS.items() if TUNING not in key.field.metadata}
)
"""The keys of the configuration."""

TUNED: frozenset[str] = frozenset(ALL_KEYS.keys() - SCHEMA.keys())
"""The tuning constants."""

FORMER: Mapping[str, str] = MappingProxyType(
    {variable_of(name): name for name in sorted(TUNED | {"search.fusion"})}
)
"""Keys of earlier versions, by their variable: where one is set, it is ignored with a warning."""

TABLES: frozenset[str] = frozenset(
    name[:at] for name in ALL_KEYS for at, letter in enumerate(name) if letter == "."
)


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that a mistyped one most likely stands for, "" if none is similar.

    A correct name in the wrong table counts as the nearest.
    """
    # The comparison takes time with the square of the length.
    known, name = list(known), name[:100]
    last = name.rpartition(".")[2]
    moved = [other for other in known if other.rpartition(".")[2] == last]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    return next(iter([*moved[:1], *close]), "")


# Which keys may stand in a configuration found inside a vault, and in a note's frontmatter.


def _trust_rows() -> Iterator[tuple[str, Trust]]:
    for name in TABLES:
        table = value_of(Settings.defaults(), name)
        if isinstance(table, Table):
            yield name, table.trust
    for key in SCHEMA.values():
        yield key.name, key.trust
        for part in get_args(key.field.annotation) if key.is_list else ():
            if isinstance(part, type) and issubclass(part, Table):
                yield from (
                    (f"{key.name}[].{name}", trust_of(part, field))
                    for name, field in part.model_fields.items()
                )


TRUST: Mapping[str, Trust] = MappingProxyType(dict(_trust_rows()))
"""Who may set each key, each table, and each field of a table in a list (`chunking.rules[].paths`)."""

USER_STRATEGIES: frozenset[str] = frozenset(
    name for name, options in OPTION_TABLES.items() if options.trust is Trust.USER
)
"""Strategies with plain names that hand over to code of someone's choice, or to a model that is paid for and
gets the text."""

OPEN_STRATEGIES: tuple[str, ...] = tuple(
    name for name in get_args(StrategyName) if name not in USER_STRATEGIES
)
"""All others: a page or an agent may also ask for them."""

_RULES = "chunking.rules[]."
"""Where the options of a rule stand; a note's choice is checked as if it were one rule."""

_NOTE_TRUST: Mapping[str, Trust] = MappingProxyType(
    {
        name: Trust.USER if trust is Trust.PATTERN or f"{name}[]." == _RULES else trust
        for name, trust in TRUST.items()
    }
)
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]*")
_DEPTH = 16
"""Of lists and tables inside a value; nothing in the schema is nearly as deep."""


def vault_may_set(key: str, value: object) -> bool:
    """Whether a file found inside a vault may give this key this value; unlisted keys it may not."""
    return _may(key, value, TRUST, Trust.USER, _DEPTH)


def refused_in_note(choice: Mapping[str, object]) -> list[str]:
    """The names in a note's own choice of chunking (`strategy`, options) that a note may not set.

    A note may set less than a vault's file: no regular expression, and no rules of its own.
    """
    return list(_refused_names(choice, _RULES))


def _refused_names(table: Mapping[str, object], prefix: str) -> Iterator[str]:
    for name, value in table.items():
        if _may(prefix + name, value, _NOTE_TRUST, Trust.NAME, _DEPTH):
            continue
        is_inside = prefix == _RULES and _rule(prefix + name, _NOTE_TRUST, Trust.NAME) is not Trust.USER
        inner = (
            list(_refused_names(value, f"{prefix}{name}."))
            if is_inside and isinstance(value, Mapping)
            else []
        )
        yield from inner or [name]


def _may(key: str, value: object, trust: Mapping[str, Trust], inherited: Trust, depth: int) -> bool:
    rule = _rule(key, trust, inherited)
    if rule is Trust.USER or depth == 0:
        return False
    if isinstance(value, list | tuple):
        return all(_may(f"{key}[]", part, trust, rule, depth - 1) for part in value)
    if isinstance(value, Mapping):
        return all(_may(f"{key}.{name}", part, trust, rule, depth - 1) for name, part in value.items())
    if not isinstance(value, str):
        return rule is not Trust.NARROW or value is not False
    if rule in (Trust.VAULT, Trust.NARROW):
        return True
    if rule is Trust.NAME:
        return _PLAIN_NAME.fullmatch(value) is not None and value not in USER_STRATEGIES
    return not pattern_fault(value)


def _rule(key: str, trust: Mapping[str, Trust], inherited: Trust) -> Trust:
    """The row of the key; of an option inside a rule, the strictest row of all options of that name."""
    if key in trust or not key.startswith(_RULES):
        return trust.get(key, inherited)
    option = "." + key.removeprefix(_RULES)
    is_contextual = option.startswith(".contextual")
    rows = {
        row
        for name, row in trust.items()
        if name.startswith("chunking.") and name.endswith(option)
        if is_contextual or not name.startswith("chunking.contextual.")
    }
    strictest = (Trust.USER, Trust.NAME, Trust.PATTERN, Trust.NARROW, Trust.VAULT)
    return next((row for row in strictest if row in rows), inherited)


def pattern_fault(value: object) -> str:
    """Why a vault's file may not contain this regular expression ("": it may). An invalid expression is
    reported elsewhere, for every file."""
    try:
        re.compile(str(value))
        check_linear(str(value))
    except re.error:
        return ""
    except PatternError as error:
        return str(error)
    return ""


def keys_to_restart_for(before: Settings, after: Settings) -> list[str]:
    """The keys that differ and that a running daemon does not follow."""
    unfollowed = (key for key in ALL_KEYS.values() if not key.is_followed)
    return [key.name for key in unfollowed if key.value(before) != key.value(after)]
