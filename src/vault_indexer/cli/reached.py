"""Who answers a command: a daemon, or the index in this process; both can be asked the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vault_indexer.daemon.discovery import DaemonInfo
from vault_indexer.serve.client import DaemonClient, Parameters
from vault_indexer.serve.shapes import (
    ExplainJson,
    LinksJson,
    MentionsJson,
    OrphansJson,
    ProgressJson,
    RebuildJson,
    RelatedJson,
    SearchJson,
    StatusJson,
    UnresolvedJson,
    VerifyJson,
)
from vault_indexer.serve.shapes_pause import PauseJson


class Index(Protocol):
    """What can be asked, of the daemon or of the index itself."""

    def search(self, parameters: Parameters) -> SearchJson:
        """Ranked hits."""
        ...

    def related(self, note: str, limit: int) -> RelatedJson:
        """Notes near a note."""
        ...

    def explain(self, note: str, query: str) -> ExplainJson:
        """Where a note is in an answer, and why or why not."""
        ...

    def links(self, note: str, limit: int | None) -> LinksJson:
        """The links of a note, at most `limit` in each list."""
        ...

    def mentions(self, note: str, limit: int | None) -> MentionsJson:
        """Places that name a note without linking it."""
        ...

    def unresolved_links(self, limit: int | None) -> UnresolvedJson:
        """What links of the vault name and no file is."""
        ...

    def orphans(self, limit: int | None) -> OrphansJson:
        """The notes without links."""
        ...

    def status(self) -> StatusJson:
        """State of index and daemon."""
        ...

    def pause(self, seconds: float | None) -> PauseJson:
        """Let indexing rest."""
        ...

    def resume(self) -> PauseJson:
        """Let it go on."""
        ...

    def rebuild(self, show: Callable[[ProgressJson], None], *, refit: bool) -> RebuildJson:
        """Build anew."""
        ...

    def verify(self, *, repair: bool) -> VerifyJson:
        """Compare everything with everything."""
        ...


@dataclass(frozen=True, slots=True)
class Reached:
    """Who answers, for which vault. `index_dir` is None where a daemon answers."""

    index: Index
    vault: Path
    index_dir: Path | None = None

    @classmethod
    def through(cls, info: DaemonInfo) -> Reached:
        """The daemon as the one who answers."""
        return cls(DaemonClient(info), Path(info.vault))
