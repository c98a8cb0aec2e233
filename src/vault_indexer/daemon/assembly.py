"""What the daemon asks of the composition root: it builds and opens generations without knowing of what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from vault_indexer.config import Manifest, Settings
from vault_indexer.index.build import Pool
from vault_indexer.index.publishing import Publication
from vault_indexer.index.writer import IndexWriter
from vault_indexer.model import Progress, RebuildReport
from vault_indexer.search import IndexReader
from vault_indexer.store import Generation, IndexDir

Report = Callable[[Progress], None]

LLM_CACHE = "llm-cache"
"""The folder in the index folder where answers of the language model are kept."""


@dataclass(frozen=True, slots=True)
class OpenGeneration:
    """A generation open for edits and searches. `settings` are those it was built with.

    `reasons` tell why it no longer fits the configuration (empty: it does). `advice` tells how to get a model
    that suits the notes better (empty: none is needed). `spare` is one worker process for what is done beside
    edits.
    """

    generation: Generation
    manifest: Manifest
    settings: Settings
    writer: IndexWriter
    reader: IndexReader
    reasons: tuple[str, ...]
    spare: Pool
    close: Callable[[], None]
    advice: str = ""


class Assembly(Protocol):
    """One vault, one index folder, one configuration. Can be pickled: a build runs in its own process."""

    @property
    def vault(self) -> Path:
        """The folder of the notes."""
        ...

    @property
    def settings(self) -> Settings:
        """The active configuration."""
        ...

    @property
    def index_dir(self) -> IndexDir:
        """Where the generations are."""
        ...

    def open_generation(self, generation: Generation) -> OpenGeneration:
        """Open and heal. Raises IndexUnusableError if the generation cannot be used at all."""
        ...

    def open_to_read(self, generation: Generation) -> IndexReader:
        """Open without writing anything, for a process that does not hold the lock."""
        ...

    def build_next(
        self, report: Report, *, refit: bool, soon: bool = False
    ) -> tuple[Generation, RebuildReport]:
        """Build the next generation from the vault; it is not yet active. With `soon` it answers within
        seconds: of a large vault it holds what changed last, and vectors that take long may be owed."""
        ...

    def config_files(self) -> tuple[Path, ...]:
        """The files that can hold configuration, whether or not they exist."""
        ...

    def reconfigure(self, opened: OpenGeneration) -> OpenGeneration:
        """An open generation under this configuration: searched by it, and with what no longer fits."""
        ...

    def publication(self, opened: OpenGeneration) -> Publication | None:
        """What a generation is published as on a server; None where it is not. Nothing is connected yet.
        Raises VaultIndexerError."""
        ...

    def with_reloaded_config(self) -> Assembly:
        """The same with the configuration read again. Raises ConfigError."""
        ...
