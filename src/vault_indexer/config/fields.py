"""What a field of the settings says about itself beyond its type: its unit, its bounds in words.

These marks stand in `Annotated[...]` beside pydantic's own constraints; `schema` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True, slots=True)
class Unit:
    """What a number counts: "characters", "seconds". Every number of the configuration has one."""

    name: str


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may stand here, in words, where the type and its bounds do not say it."""

    text: str


class DisagreementError(ValueError):
    """Values that are fine alone but not together; raised by the validators of whole tables.

    `keys` are names within the validated table, `allowed` says what must hold between them.
    """

    def __init__(self, allowed: str, *keys: str) -> None:
        super().__init__(allowed)
        self.allowed = allowed
        self.keys = keys


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
