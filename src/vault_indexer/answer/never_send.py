"""Which notes no language model may read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from vault_indexer.model import Hit, JsonValue
from vault_indexer.patterns import GitignorePatterns

_PROPERTY = re.compile(r"\[([^\]:]+)(?::([^\]]*))?\]")


@dataclass(frozen=True, slots=True)
class NeverSend:
    """The notes of `ask.never_send`: by path, or by a property that they have. Any thread may ask."""

    paths: GitignorePatterns
    properties: tuple[tuple[str, str | None], ...]

    @classmethod
    def from_entries(cls, entries: Iterable[str]) -> NeverSend:
        """From patterns as in .gitignore, `[property]` and `[property:value]`."""
        entries = tuple(entries)
        properties = [match for one in entries if (match := _PROPERTY.fullmatch(one))]
        paths = [one for one in entries if not _PROPERTY.fullmatch(one)]
        return cls(
            GitignorePatterns(paths),
            tuple((match[1].strip().casefold(), _plain(match[2])) for match in properties),
        )

    def covers(self, hit: Hit) -> bool:
        """Whether the note of the hit stays away from models. `[property]` covers every value but false."""
        if self.paths.selects(hit.path):
            return True
        values = {name.casefold(): value for name, value in hit.frontmatter.items()}
        return any(name in values and _agrees(values[name], wanted) for name, wanted in self.properties)


def _agrees(value: JsonValue, wanted: str | None) -> bool:
    if wanted is None:
        return value is not False
    found = value if isinstance(value, list) else [value]
    return any(_plain(str(one)) == wanted for one in found)


def _plain(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split()).casefold()
