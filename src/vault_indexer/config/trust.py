"""Which keys may stand in a configuration found inside a vault, and in a note's frontmatter.

Vaults are cloned and shared, so whoever wrote that file is not the person at this machine. It may change how
this vault is split, found and watched, and leave out files. It may not name code to import, a model or a
server that gets the text, a folder to write to, what may call the API, or what the machine spends.

The settings say it at each key: a mark of the field, else the `trust` of its table, else `Trust.USER`
(see `fields.Table`). A new strategy's options: sizes are `VAULT`, regular expressions `PATTERN`; whatever may
be `module:function` or a path is `USER`, and so is the table of a strategy that imports code or asks a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, TypeGuard, get_args, get_origin

from pydantic.fields import FieldInfo

from vault_indexer.config.fields import TUNING, Table, Trust
from vault_indexer.config.settings import Settings
from vault_indexer.config.tables.chunking_options import OPTION_TABLES, StrategyName
from vault_indexer.patterns import PatternError, check_linear


def trust_of(table: type[Table], field: FieldInfo) -> Trust:
    """Who may set this field of the table."""
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


def _rows(table: type[Table], prefix: str = "") -> Iterator[tuple[str, Trust]]:
    for name, field in table.model_fields.items():
        key, annotation = prefix + name, field.annotation
        if TUNING in field.metadata:
            continue
        if _is_table(annotation):
            yield key, annotation.trust
            yield from _rows(annotation, f"{key}.")
            continue
        yield key, trust_of(table, field)
        for item in get_args(annotation) if get_origin(annotation) is tuple else ():
            if _is_table(item):
                yield from _rows(item, f"{key}[].")


def _is_table(annotation: object) -> TypeGuard[type[Table]]:
    return isinstance(annotation, type) and issubclass(annotation, Table)


TRUST: Mapping[str, Trust] = MappingProxyType(dict(_rows(Settings)))
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


def vault_may_set(key: str, value: object, trust: Mapping[str, Trust] = TRUST) -> bool:
    """Whether a file found inside a vault may give this key this value; unlisted keys it may not."""
    return _may(key, value, trust, Trust.USER, _DEPTH)


def refused_in_note(choice: Mapping[str, object]) -> list[str]:
    """What in a note's own choice of chunking (`strategy`, options) a note may not set, by name.

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
    return _is_plain_name(value) if rule is Trust.NAME else not pattern_fault(value)


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


def _is_plain_name(value: str) -> bool:
    return _PLAIN_NAME.fullmatch(value) is not None and value not in USER_STRATEGIES


def pattern_fault(value: object) -> str:
    """Why a vault's file may not hold this regular expression ("": it may). One that is no regular
    expression is a mistake, whichever file has it."""
    try:
        re.compile(str(value))
        check_linear(str(value))
    except re.error:
        return ""
    except PatternError as error:
        return str(error)
    return ""
