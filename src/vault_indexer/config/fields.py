"""Metadata of the fields of the settings: unit, bounds in words, and the sources that may set the field.

These marks are in `Annotated[...]`, next to pydantic's own constraints. `schema` reads the unit and the
words, `trust` reads who may set a key, and `documents` writes all of it down for people.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from vault_indexer.patterns import parse_pattern
from vault_indexer.system import record


@record
class Unit:
    """The unit of a number, such as "characters" or "seconds". Every number of the configuration has one."""

    name: str


@record
class Allowed:
    """What may stand here, in words, where the type and its bounds do not say it."""

    text: str


class Trust(Enum):
    """Who may set a key; a mark of a field, or the `trust` of a whole table."""

    VAULT = "vault"
    """Anyone, also the vault's own file."""

    NAME = "name"
    """The vault's file only where the value is the plain name of something built in: no `module:function`, no
    path, no strategy whose table is `USER`."""

    PATTERN = "pattern"
    """The vault's file only where RE2 can match the regular expression, which takes linear time: with others,
    a few notes can keep a processor busy for years."""

    NARROW = "narrow"
    """The vault's file only so that fewer files count: its list stands beside the user's, and it may turn a
    switch on."""

    USER = "user"
    """The user alone: user's file, a file named by --config, environment, option."""


class Mark(Enum):
    """A property of a key."""

    TUNING = "tuning"
    """A constant that no configuration sets: `INDEXER_TUNING`, tests and evaluation may."""

    PUBLIC = "public"
    """One of the keys that most people need; the others are on the page of advanced keys."""

    RESTART = "restart"
    """It takes effect only after a restart of the daemon, which then asks for one."""


TUNING, PUBLIC, RESTART = Mark

_T = TypeVar("_T")
Tuned = Annotated[_T, TUNING]


class Table(BaseModel):
    """Base of every table of the configuration.

    Unknown keys are mistakes, and values never change once read. `trust` says who may set the keys that have
    no mark of their own; a table that does not state it belongs to the user. A key that can hold free text
    (a `str` or a path, also inside a list) ignores `trust` and needs a mark of its own, because free text can
    name code, a server or a folder. The docstring's first paragraph describes the table in
    `config.example.toml` and `indexer init`'s file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    trust: ClassVar[Trust] = Trust.USER

    @classmethod
    def defaults(cls) -> Self:
        """The table with the default of each key, not validated: the validators of all tables together take a
        tenth of the start of a process."""
        return cls.model_construct()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self  # pydantic copies each default, but a table never changes


class VaultTable(Table):
    """A table whose keys the file inside the vault may set, too, but for those whose mark says otherwise."""

    trust: ClassVar[Trust] = Trust.VAULT


class ExtensionTable(Table):
    """Base of the table of an optional package, as `extensions` has it."""

    @classmethod
    def with_defaults(cls, tables: Mapping[str, object]) -> Mapping[str, object]:
        """The values that were set, by table and key, with other defaults for tables of the core."""
        return tables

    def check(self, settings: Any) -> None:
        """Raises DisagreementError with dotted keys if other values of the `Settings` do not fit."""


class DisagreementError(ValueError):
    """Values that are fine alone but not together; raised by the validators of whole tables.

    `keys` are names within the validated table, `allowed` says what must hold between them.
    """

    def __init__(self, allowed: str, *keys: str) -> None:
        super().__init__(allowed)
        self.allowed = allowed
        self.keys = keys


def folder_of_text(value: object) -> object:
    """Converts a string to a path. TOML has no null, so an empty string means "not set"."""
    return (Path(value) if value else None) if isinstance(value, str) else value


def _glob(value: str) -> str:
    if parse_pattern(value) is None:
        raise ValueError("a glob pattern, as in .gitignore, and no comment")
    return value


Glob = Annotated[
    str, Field(min_length=1), AfterValidator(_glob), Allowed("a glob pattern, as in .gitignore"), Trust.VAULT
]
Url = Annotated[
    str,
    Field(pattern=r"^(https?://[^\s/]+\S*)?$"),
    Allowed("a URL that begins with http:// or https://, or nothing"),
]
VariableName = Annotated[
    str,
    Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$"),
    Allowed("the name of an environment variable (not the key itself), or nothing"),
]

OptionalFolder = Annotated[
    Path | None, BeforeValidator(folder_of_text), Allowed("a path to a folder, or nothing")
]
