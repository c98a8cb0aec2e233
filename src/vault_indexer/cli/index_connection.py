"""What answers a command: a daemon, or the index in this process, through one protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from vault_indexer.contract.parameters import Value
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.discovery import DaemonInfo
from vault_indexer.serve.api.endpoints import Answer, Endpoint
from vault_indexer.serve.client import DaemonClient

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import ProgressJson, RebuildReportJson


class Index(Protocol):
    """The endpoints of an index, whether a daemon answers or this process.

    A rebuild has a method of its own, since a command shows its progress.
    """

    def ask(self, endpoint: Endpoint[Answer], **parameters: Value) -> Answer:
        """The answer of an endpoint. Raises VaultIndexerError."""
        ...

    def rebuild(self, show: Callable[[ProgressJson], None], options: RebuildOptions) -> RebuildReportJson:
        """Rebuild the index; `show` is called with the progress. Raises VaultIndexerError."""
        ...


@dataclass(frozen=True, slots=True)
class IndexConnection:
    """What answers, and for which vault. `index_dir` is None where a daemon answers."""

    index: Index
    vault: Path
    index_dir: Path | None = None

    @classmethod
    def through(cls, info: DaemonInfo) -> IndexConnection:
        return cls(DaemonClient(info), Path(info.vault))
