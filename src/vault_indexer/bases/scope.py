"""The values that the expressions of a base can use: a file, the others of the vault, and the formulas of the
base. Values that no expression uses are not read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path

from vault_indexer.bases.values import BaseFile, Link, Value, moment_of
from vault_indexer.errors import QueryTimeoutError
from vault_indexer.model import FileKind, JsonValue, LinkKind, kind_of
from vault_indexer.parse import VaultPaths, resolve
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.system import creation_time, record

_PENDING = object()


class VaultFiles:
    """The files of the vault with their properties, tags and links, for one view. Not for several threads."""

    def __init__(self, catalog: CatalogReader, vault: Path, base: str, few: int = 200) -> None:
        """`base` is the path of the file that links of expressions start from. The properties of the first
        `few` files are read one by one, then those of all the others at once."""
        self._catalog = catalog
        self._vault = vault
        self._base = base
        self._few = few
        self._read: dict[str, Mapping[str, Value]] = {}
        sql = "SELECT path, size, mtime_ns FROM files WHERE state != 'skipped'"
        self.files = {
            path: BaseFile(path, size, mtime_ns, partial(self._properties, path), partial(self._tags, path))
            for path, size, mtime_ns in catalog.rows(sql)
        }

    def created(self, file: BaseFile) -> datetime:
        """The creation time of the file; its modification time if it no longer exists."""
        try:
            return datetime.fromtimestamp(creation_time(self._vault / file.path))
        except OSError:
            return file.modified

    def _properties(self, path: str) -> Mapping[str, Value]:
        if path not in self._read:
            known = json.loads(self._frontmatter(path)) if kind_of(path) is FileKind.NOTE else {}
            self._read[path] = {name: self._typed(value, path) for name, value in known.items()}
        return self._read[path]

    def _frontmatter(self, path: str) -> str:
        if len(self._read) >= self._few:
            return self._frontmatters.get(path, "{}")
        rows = self._catalog.rows("SELECT frontmatter FROM notes WHERE path = ?", (path,))
        return rows[0][0] if rows else "{}"

    @cached_property
    def _frontmatters(self) -> Mapping[str, str]:
        return dict(self._catalog.rows("SELECT path, frontmatter FROM notes WHERE frontmatter != '{}'"))

    @cached_property
    def _all_tags(self) -> Mapping[str, str]:
        return dict(self._catalog.rows("SELECT path, tags FROM notes WHERE tags != '[]'"))

    def _tags(self, path: str) -> Sequence[str]:
        is_note = kind_of(path) is FileKind.NOTE
        return json.loads(self._all_tags.get(path, "[]")) if is_note else ()

    def _typed(self, value: JsonValue, path: str) -> Value:
        """A property as Obsidian types it: a whole wikilink is a link, an ISO date is a date."""
        if isinstance(value, list):
            return [self._typed(one, path) for one in value]
        if isinstance(value, dict):
            return {name: self._typed(inner, path) for name, inner in value.items()}
        if not isinstance(value, str):
            return value
        if value.startswith("[[") and value.endswith("]]") and value.count("[[") == 1:
            return self.link(value, source=path)
        return moment_of(value) or value

    @cached_property
    def _paths(self) -> VaultPaths:
        return VaultPaths(self.files)

    def file(self, target: str) -> BaseFile | None:
        path = self.link(target).path
        return None if path is None else self.files.get(path)

    def link(self, target: str, display: str = "", source: str = "") -> Link:
        name, _, alias = target.removeprefix("[[").removesuffix("]]").partition("|")
        name = name.partition("#")[0].strip()
        found = resolve(name, source or self._base, self._paths).path if name else source or self._base
        return Link(name, found, display or alias.strip())

    @cached_property
    def _links(self) -> Mapping[str, Sequence[tuple[bool, Link]]]:
        sql = (
            "SELECT n.path, l.kind, l.target, l.display, l.resolved FROM links l JOIN notes n USING (note_id)"
        )
        found: dict[str, list[tuple[bool, Link]]] = {}
        for path, kind, target, display, resolved in self._catalog.rows(f"{sql} ORDER BY l.note_id, l.ord"):
            link = Link(target, resolved, display or "")
            found.setdefault(path, []).append((kind == LinkKind.EMBED, link))
        return found

    @cached_property
    def _backlinks(self) -> Mapping[str, Sequence[Link]]:
        found: dict[str, dict[str, Link]] = {}
        for path, links in self._links.items():
            for _, link in links:
                if link.path is not None and link.path != path:
                    found.setdefault(link.path, {})[path] = Link(path, path)
        return {path: list(sources.values()) for path, sources in found.items()}

    def links(self, file: BaseFile) -> list[Link]:
        return [link for is_embed, link in self._links.get(file.path, ()) if not is_embed]

    def embeds(self, file: BaseFile) -> list[Link]:
        return [link for is_embed, link in self._links.get(file.path, ()) if is_embed]

    def backlinks(self, file: BaseFile) -> list[Link]:
        return list(self._backlinks.get(file.path, ()))


@record
class Evaluation:
    """The state that all rows share. `this` is the file that shows the base, `until` a monotonic time."""

    files: VaultFiles
    this: BaseFile
    now: datetime
    until: float
    formulas: Mapping[str, Callable[[Scope], Value]] = field(default_factory=dict)


@dataclass(slots=True)
class Scope:
    """A row, with the variables of an expression inside of `map()`, and the values of its formulas so far."""

    evaluation: Evaluation
    file: BaseFile
    names: Mapping[str, Value] = field(default_factory=dict)
    formulas: dict[str, Value] = field(default_factory=dict)

    def tick(self) -> None:
        """Raises QueryTimeoutError if the time is over."""
        if time.monotonic() > self.evaluation.until:
            raise QueryTimeoutError("the base was given up: its expressions take too long")

    def formula(self, name: str) -> Value:
        """The value of a formula for this row. Raises ValueError if there is none or it uses itself."""
        if name not in self.evaluation.formulas:
            raise ValueError(f"formula.{name} is not a formula of this base")
        if name not in self.formulas:
            self.formulas[name] = _PENDING
            try:
                self.formulas[name] = self.evaluation.formulas[name](self)
            finally:
                if self.formulas[name] is _PENDING:
                    del self.formulas[name]
        if self.formulas[name] is _PENDING:
            raise ValueError(f"formula.{name} uses itself")
        return self.formulas[name]
