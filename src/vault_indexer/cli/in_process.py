"""The index in this process: what `reach` falls back to. Loaded only where no daemon answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import cast

from vault_indexer.bootstrap import Target, open_index, open_to_rebuild, resolve_target
from vault_indexer.cli.parameters import Place
from vault_indexer.cli.progress import showing
from vault_indexer.cli.reached import Reached
from vault_indexer.cli.vault_folder import named_or_enclosing_vault
from vault_indexer.daemon.discovery import read_daemon
from vault_indexer.daemon.local_session import WITHOUT_DAEMON
from vault_indexer.errors import DaemonError
from vault_indexer.model import Expand, SearchRequest
from vault_indexer.serve.client import Parameters
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
from vault_indexer.serve.wire import (
    NO_DAEMON,
    explain_json,
    progress_json,
    rebuild_json,
    search_json,
    status_json,
    verify_json,
)
from vault_indexer.serve.wire_links import (
    links_json,
    mentions_json,
    orphans_json,
    related_json,
    unresolved_json,
)
from vault_indexer.service import MENTIONS, VaultService


def target_of(place: Place) -> Target:
    """Which vault, index and configuration a command means. Raises UsageError, VaultError, ConfigError."""
    vault = named_or_enclosing_vault(place, os.environ)
    return resolve_target(vault, place.index_dir, place.config, environ=os.environ, options={})


@contextmanager
def open_service(target: Target, *, build: bool = True) -> Iterator[VaultService]:
    """The index in this process; a build that it needs shows its progress on standard error."""
    with showing() as show:
        service = open_index(target, lambda progress: show(progress_json(progress)), build=build)
    with closing(service):
        yield service


class InProcess:
    """Answers as the daemon's client does, from the index itself."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def search(self, parameters: Parameters) -> SearchJson:
        """Ranked hits; an index that is missing is built first."""
        request = SearchRequest(
            query=str(parameters["q"]),
            limit=int(parameters.get("limit", 0)),
            by_note=parameters.get("by") == "note",
            as_you_type=bool(parameters.get("as_you_type")),
            fresh=bool(parameters.get("fresh")),
            expand=cast(Expand, parameters.get("expand", "")),
        )
        with open_service(self._target) as service:
            return search_json(service.search(request))

    def related(self, note: str, limit: int) -> RelatedJson:
        """Notes near a note."""
        with open_service(self._target) as service:
            path = service.path_of(note)
            return related_json(path, service.related(path, limit))

    def explain(self, note: str, query: str) -> ExplainJson:
        """Where a note is in an answer, and why or why not."""
        with open_service(self._target) as service:
            return explain_json(service.explain(note, SearchRequest(query)))

    def links(self, note: str, limit: int | None) -> LinksJson:
        """The links of a note, at most `limit` in each list."""
        with open_service(self._target) as service:
            return links_json(service.links(note), limit)

    def mentions(self, note: str, limit: int | None) -> MentionsJson:
        """Places that name a note without linking it."""
        with open_service(self._target) as service:
            return mentions_json(service.mentions(note, limit or MENTIONS))

    def unresolved_links(self, limit: int | None) -> UnresolvedJson:
        """What links of the vault name and no file is."""
        with open_service(self._target) as service:
            return unresolved_json(service.unresolved_links(), limit)

    def orphans(self, limit: int | None) -> OrphansJson:
        """The notes without links."""
        with open_service(self._target) as service:
            return orphans_json(service.orphans(), limit)

    def status(self) -> StatusJson:
        """The index on disk; none is built for it."""
        with open_service(self._target, build=False) as service:
            return status_json(service.status(), NO_DAEMON)

    def pause(self, seconds: float | None) -> PauseJson:  # noqa: ARG002 - refused
        """Refused: raises DaemonError."""
        raise DaemonError(WITHOUT_DAEMON)

    def resume(self) -> PauseJson:
        """Refused: raises DaemonError."""
        raise DaemonError(WITHOUT_DAEMON)

    def verify(self, *, repair: bool) -> VerifyJson:
        """Compare everything with everything."""
        with open_service(self._target, build=False) as service:
            return verify_json(service.verify(repair=repair))

    def rebuild(self, show: Callable[[ProgressJson], None], *, refit: bool) -> RebuildJson:
        """Build here, whether or not there is an index."""
        with closing(open_to_rebuild(self._target)) as service:
            report = service.rebuild(lambda progress: show(progress_json(progress)), refit=refit)
            return rebuild_json(report)


def reach(place: Place) -> Reached:
    """The daemon of the index that the configuration names, if one runs there; else the index itself."""
    target = target_of(place)
    info = read_daemon(target.index_dir)
    return Reached.through(info) if info else _in_process(target)


def in_process(place: Place) -> Reached:
    """The index itself, whatever `daemon.json` says."""
    return _in_process(target_of(place))


def _in_process(target: Target) -> Reached:
    return Reached(InProcess(target), target.vault, target.index_dir)
