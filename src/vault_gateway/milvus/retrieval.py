"""The values of a search on the server, and the filter expressions that they become.

A query is limited to the vaults of a `VaultScope`, which every method requires: it is not possible to search
without specifying the vaults.
"""

from __future__ import annotations

from collections.abc import Iterable

from vault_indexer.errors import UsageError
from vault_indexer.system import record
from vault_indexer.text.fold import tag_name

MAX_LIMIT = 1000
"""The maximum number of hits of one query. A rule of thumb."""


@record
class VaultScope:
    """The ids of the vaults that a query may read; the requester has already been authorised. An empty scope
    finds nothing. Create one with `of`."""

    vaults: tuple[str, ...]

    @classmethod
    def of(cls, vaults: Iterable[str]) -> VaultScope:
        """The scope of these vaults, without duplicates. Raises TypeError for a single text, which is one
        vault's id and not a list of letters."""
        if isinstance(vaults, str):
            raise TypeError("a scope takes a list of vaults")
        return cls(tuple(sorted(set(vaults))))


@record
class Selection:
    """Selects the chunks of a scope that may be found, and their number.

    Of `folders`, `paths`, `note_ids` and `kinds`, one must match, of `tags` all; an empty one matches
    everything. A folder is a path in the vault without a slash at the end, and includes its subfolders. A tag
    is without `#`, in any case, and includes the tags below it (`a` for `a/b`). A kind is a value of
    `vault.FileKind`. `note_ids` are those of the vault's catalog: they are meaningful in a scope of one
    vault.
    """

    limit: int = 10
    folders: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    note_ids: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MAX_LIMIT:
            raise UsageError(f"limit = {self.limit}: 1 to {MAX_LIMIT}")


@record
class FoundChunk:
    """A chunk in an answer, by its key and the id of its note in the catalog of its vault. `score` is a
    cosine or a BM25 score: comparable only within one answer."""

    vault: str
    key: int
    note_id: int
    path: str
    score: float


def in_order(found: Iterable[FoundChunk]) -> list[FoundChunk]:
    """Best first; equal scores by vault and key."""
    return sorted(found, key=lambda one: (-one.score, one.vault, one.key))


def tags_above(tags: Iterable[str]) -> list[str]:
    """The tags and their parents, without duplicates, in order: `a`, `a/b` of `a/b`."""
    return list(
        dict.fromkeys(
            "/".join(parts[: depth + 1])
            for tag in tags
            for parts in [tag.split("/")]
            for depth in range(len(parts))
        )
    )


# Filter expressions of Milvus, built only from values: no text of a user is ever part of the syntax.
#
# Milvus has templates for this (`filter_params`); Milvus Lite does not, so values are quoted here.


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
"""The escapes that the grammars of Milvus and Milvus Lite both support inside double quotes."""


def text_literal(value: str) -> str:
    """The text as a literal. Raises UsageError for text that no server can store: half a surrogate pair, a
    zero."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("a filter contains text that is not valid Unicode") from error
    if "\0" in value:
        raise UsageError("a filter contains the character U+0000")
    return f'"{value.translate(_ESCAPES)}"'


def text_in(field: str, values: Iterable[str]) -> str:
    return f"{field} in [{', '.join(map(text_literal, values))}]"


def number_in(field: str, values: Iterable[int]) -> str:
    return f"{field} in [{', '.join(str(int(value)) for value in values)}]"


def selection_parts(selection: Selection) -> list[str]:
    parts = [f"array_contains(tags, {text_literal(tag)})" for tag in map(tag_name, selection.tags)]
    if selection.folders:
        parts.append(" or ".join(map(_in_folder, selection.folders)))
    if selection.paths:
        parts.append(text_in("path", selection.paths))
    if selection.note_ids:
        parts.append(number_in("note_id", selection.note_ids))
    if selection.kinds:
        parts.append(text_in("kind", selection.kinds))
    return parts


def _in_folder(folder: str) -> str:
    """A condition that the path begins with the folder: a range of an indexed field, which costs less than a
    scan of all rows. "0" follows "/"."""
    return f"(path >= {text_literal(folder + '/')} and path < {text_literal(folder + '0')})"


def all_of(parts: Iterable[str]) -> str:
    return " and ".join(f"({part})" for part in parts)
