"""The keys of the configuration as data, read off the settings: one `Key` for every value that can be set."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from vault_indexer.config.fields import PUBLIC, RESTART, TUNING, Allowed, Unit
from vault_indexer.config.settings import Settings

VARIABLE_PREFIX = "INDEXER_"


def variable_of(key: str) -> str:
    return VARIABLE_PREFIX + key.upper().replace(".", "_")


@dataclass(frozen=True, slots=True)
class Key:
    """One value of the configuration: `name` is dotted (`search.weights.vector`), `allowed` is in words."""

    name: str
    default: object
    allowed: str
    unit: str
    description: str
    field: FieldInfo

    @property
    def variable(self) -> str:
        return variable_of(self.name)

    @property
    def is_public(self) -> bool:
        """Whether it is one of the keys that most people need."""
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


def describe(annotation: object, marks: Iterable[object] = ()) -> str:
    """What a field of this type may hold, in words; bounds and literals included."""
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


def _keys(table: BaseModel, prefix: str = "") -> Iterator[Key]:
    for name, field in type(table).model_fields.items():
        default: object = getattr(table, name)
        if isinstance(default, BaseModel):
            yield from _keys(default, f"{prefix}{name}.")
            continue
        units = [mark.name for mark in field.metadata if isinstance(mark, Unit)]
        yield Key(
            name=prefix + name,
            default=default,
            allowed=describe(field.annotation, field.metadata),
            unit=units[-1] if units else "",
            description=field.description or "",
            field=field,
        )


def _tables(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        parts = name.split(".")
        yield from (".".join(parts[:length]) for length in range(1, len(parts)))


ALL_KEYS: Mapping[str, Key] = MappingProxyType({key.name: key for key in _keys(Settings())})
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

TABLES: frozenset[str] = frozenset(_tables(ALL_KEYS))


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name a mistyped one most likely means, "" if none is near.

    A name that is right but stands in the wrong table counts as nearest of all.
    """
    known, name = list(known), name[:100]
    last = name.rpartition(".")[2]
    moved = [other for other in known if other.rpartition(".")[2] == last]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    return next(iter([*moved[:1], *close]), "")
