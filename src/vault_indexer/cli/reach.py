"""How a command reaches the index: through the daemon if one runs, else in this process.

The first way must be fast: it reads no configuration and loads neither engines nor models, so whatever
needs those is in `here`, loaded by name when it comes to that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

from vault_indexer.cli.app import here
from vault_indexer.cli.parameters import Place
from vault_indexer.cli.terminal import note
from vault_indexer.daemon.state import read_daemon, read_signpost
from vault_indexer.serve.client import DaemonClient, NotListeningError, Parameters
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

T = TypeVar("T")


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


def ask(place: Place, question: Callable[[Index], T]) -> T:
    """The answer of the daemon, else of the index in this process.

    A `daemon.json` whose process lives but listens nowhere (it is ending, or the pid is someone else's by
    now) is said on standard error, and the index itself answers.
    """
    try:
        return question(daemon_of(place) or here().reach(place))
    except NotListeningError as error:
        note(f"{error}: answering without it")
        return question(here().in_process(place))


def daemon_of(place: Place, environ: Mapping[str, str] = os.environ) -> DaemonClient | None:
    """The running daemon, if it can be found without reading any configuration.

    Where an index folder is named, by its `daemon.json`; where only the vault is, by the signpost that its
    daemon left. A command that names a configuration has to read it first.
    """
    index_dir = known_index_dir(place, environ)
    info = read_daemon(index_dir) if index_dir else None
    return DaemonClient(info) if info else None


def known_index_dir(place: Place, environ: Mapping[str, str]) -> Path | None:
    """The index folder as far as option, variable or signpost tell."""
    named = place.index_dir or _path(environ.get("INDEXER_INDEX_DIR"))
    if named is not None or is_pinned(place, environ):
        return named
    return read_signpost(named_vault(place, environ))


def named_vault(place: Place, environ: Mapping[str, str]) -> Path:
    """The vault of the option, the variable, or the current folder."""
    return place.vault or _path(environ.get("INDEXER_VAULT")) or Path.cwd()


def is_pinned(place: Place, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether an index folder or a configuration was named for this command alone."""
    named = (environ.get("INDEXER_INDEX_DIR"), environ.get("INDEXER_CONFIG"))
    return any((place.index_dir, place.config, *named))


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser() if text else None
