"""The parameters of a request, derived from the fields of its named tuple, and the validation of their
values.

The error messages are those of pydantic, whose core is loaded when a server validates its first value.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast, get_args, get_origin, get_type_hints

from vault_indexer.contract import Json
from vault_indexer.contract.marks import (
    HIDDEN,
    MAX_PATH_BYTES,
    MAX_QUERY_BYTES,
    PLAIN,
    Key,
    Says,
    Words,
    split_marks,
)
from vault_indexer.errors import UsageError

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

Value = str | int | float | bool | None
"""A parameter's value; None if it is not given."""

Request = TypeVar("Request")

ALIASES: Mapping[str, str] = MappingProxyType({"query": "q", "q": "query"})
"""Alternative names of parameters, which other search servers use."""

_VALUE_CHARS = 60


class Range(TypedDict):
    """The bounds under typer's names."""

    min: int | None
    max: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of an endpoint. Without `required` and `default`, a missing value is None."""

    name: str
    field: str = ""
    """The field of the request, if there is one."""

    kind: type[str] | type[int] | type[float] | type[bool] = str
    holds: Literal["", "query", "note", "strategy"] = ""
    """The kind of a text, as in `marks.Says`."""

    help: str
    required: bool = False
    default: Value = None
    choices: tuple[str, ...] = ()
    yes: str = ""
    """The word for true, if a boolean is sent as one of two words."""

    minimum: int | None = None
    above: int | None = None
    """Like `minimum`, but exclusive."""

    maximum: int | None = None
    min_chars: int | None = None
    max_chars: int | None = None
    """The maximum length over HTTP of a text that has no limit in bytes."""

    @property
    def max_bytes(self) -> int | None:
        """The maximum size in bytes of UTF-8. The service checks it, so that all interfaces return the same
        message."""
        return {"query": MAX_QUERY_BYTES, "note": MAX_PATH_BYTES}.get(self.holds)

    @property
    def range(self) -> Range:
        return {"min": self.minimum, "max": self.maximum}

    @property
    def schema(self) -> Json:
        """The JSON schema of the values. It limits characters, so it never rejects a text within the limit in
        bytes."""
        own_minimum = 1 if self.max_bytes and self.required else None
        bounds = {
            "minimum": self.minimum,
            "exclusiveMinimum": self.above,
            "maximum": self.maximum,
            "minLength": self.min_chars or own_minimum,
            "maxLength": self.max_bytes or self.max_chars,
        }
        return {
            **({"enum": list(self.choices)} if self.choices else {}),
            "type": PLAIN[self.kind],
            **{name: bound for name, bound in bounds.items() if bound is not None},
        }


class WrongRequestError(Exception):
    """Describes all invalid values of a request on one line."""


@cache
def parameters_of(kind: Any) -> tuple[Parameter, ...]:
    hints, defaults = get_type_hints(kind, include_extras=True), kind._field_defaults
    fields = {name: split_marks(hints[name]) for name in kind._fields}
    return tuple(
        _parameter(name, inner, marks, defaults.get(name), name not in defaults)
        for name, (inner, marks) in fields.items()
        if HIDDEN not in marks
    )


def own_name(name: str, names: Collection[str]) -> str:
    """Returns the parameter's own name for an alternative one."""
    own = ALIASES.get(name, name)
    return own if own in names else name


def request_of(kind: type[Request], values: Mapping[str, Value]) -> Request:
    return kind(
        **{
            one.field: values[one.name] == one.yes if one.yes else values[one.name]
            for one in parameters_of(cast("Any", kind))
        }
    )


def validate(
    parameters: Sequence[Parameter], given: Mapping[str, object], *, is_strict: bool
) -> dict[str, Value]:
    """Returns a value for each parameter. A strict check requires the type of the parameter, as JSON has
    types; otherwise texts are converted, as in a query string.

    Raises WrongRequestError with all invalid, missing and unknown values, separated by "; ".
    """
    values: dict[str, Value] = {}
    problems = []
    known = {one.name for one in parameters}
    owned = {name: own_name(name, known) for name in given}
    given = {name if owned[name] in given else owned[name]: value for name, value in given.items()}
    for one in parameters:
        if one.name not in given:
            values[one.name] = one.default
            allowed = f": one of {', '.join(one.choices)}" if one.choices else ""
            problems += [f"{one.name}: is required{allowed}"] if one.required else []
            continue
        value = given[one.name]
        if one.kind is int and isinstance(value, float) and value.is_integer():
            value = int(value)  # 2.0 and 2 are the same integer in JSON
        try:
            values[one.name] = _value(one, value, is_strict=is_strict)
        except ValueError as error:
            shown = f" = {json.dumps(value)[:_VALUE_CHARS]}" if isinstance(value, str | int | float) else ""
            problems.append(f"{one.name}{shown}: {error}")
    problems += [f"unknown key {name!r}" for name in given if name not in known]
    if problems:
        raise WrongRequestError("; ".join(problems))
    return values


def check_bounds(request: object) -> None:
    """Raises UsageError for a number of a request that is out of bounds, and a text that is no choice."""
    kind: Any = type(request)
    for one in parameters_of(kind):
        value = getattr(request, one.field)
        if one.choices and not one.yes and value is not None and value not in one.choices:
            raise UsageError(f"{one.name} {value!r}: choose one of {', '.join(filter(None, one.choices))}")
        low, high = one.minimum, one.maximum
        if low is None or high is None or value is None or low <= value <= high:
            continue
        least = max(1, low) if one.name == "limit" else low  # 0 means the configured number
        raise UsageError(f"{one.name} {value:g}: must be from {least} to {high}")


def _parameter(field: str, kind: Any, marks: Sequence[object], default: Any, required: bool) -> Parameter:
    says = next(mark for mark in marks if isinstance(mark, Says))
    words = next((mark for mark in marks if isinstance(mark, Words)), None)
    parts = [part for part in get_args(kind) if part is not NoneType]
    choices = tuple(map(str, parts)) if get_origin(kind) is Literal else ()
    if words:
        choices, default = (words.no, words.yes), words.yes if default else words.no
    return Parameter(
        name=next((mark.name for mark in marks if isinstance(mark, Key)), field),
        field=field,
        kind=str if choices else parts[0] if parts else kind,
        required=required,
        default=default,
        choices=choices,
        yes=words.yes if words else "",
        **says._asdict(),
    )


def _value(parameter: Parameter, value: object, *, is_strict: bool) -> Value:
    """Converts the value to the type of the parameter. Raises ValueError."""
    from pydantic_core import ValidationError

    if parameter.kind in (int, float) and isinstance(value, str) and not value.isascii():
        value = ""  # which is refused as no number, while a space of another alphabet would be ignored
    try:
        return cast("Value", _validator(parameter, is_strict).validate_python(value))
    except ValidationError as error:
        (problem,) = error.errors(include_url=False, include_context=False, include_input=False)
        raise ValueError(problem["msg"]) from None


@cache
def _validator(parameter: Parameter, is_strict: bool) -> SchemaValidator:
    from pydantic_core import SchemaValidator, core_schema

    limits = {"ge": parameter.minimum, "gt": parameter.above, "le": parameter.maximum}
    bounds: Any = {name: bound for name, bound in limits.items() if bound is not None}
    if parameter.choices:
        schema: core_schema.CoreSchema = core_schema.literal_schema([*parameter.choices])
    elif parameter.kind is int:
        schema = core_schema.int_schema(strict=is_strict, **bounds)
    elif parameter.kind is float:
        schema = core_schema.float_schema(strict=is_strict, allow_inf_nan=False, **bounds)
    elif parameter.kind is bool:
        schema = core_schema.bool_schema(strict=is_strict)
    else:
        shortest, longest = parameter.min_chars, parameter.max_chars
        schema = core_schema.str_schema(strict=True, min_length=shortest, max_length=longest)
    may_be_null = not parameter.required and parameter.default is None
    return SchemaValidator(core_schema.nullable_schema(schema) if may_be_null else schema)
