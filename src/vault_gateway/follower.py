"""Publishes the index to a Milvus server in a separate thread, so that no edit or search waits for the
server."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

from vault_gateway.milvus import CollectionLayout, MilvusConnection, MilvusPublisher, MilvusVaults
from vault_gateway.owner import IdentityFile, PublishedVault
from vault_gateway.publication import CatalogPublisher, Publication, PublishedEpoch, PublishingWorker
from vault_gateway.tables import MilvusSettings
from vault_indexer.config import Settings
from vault_indexer.daemon.assembly import Assembly, OpenGeneration
from vault_indexer.daemon.retry import Retry
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.errors import IndexUnusableError, VaultIndexerError
from vault_indexer.index.workers.budget import limits_of
from vault_indexer.store import SnapshotHolder
from vault_indexer.store.catalog import CatalogReader

log = logging.getLogger("vault_indexer.daemon")

_UNSEEN_S = 0.2
"""The interval between checks whether the server returns a change."""

_CHECK_S = 60.0
"""The interval at which the state and some rows are read without changes: the collection may have been
dropped."""

_COUNT_S = 3600.0
"""The interval at which all rows are counted, which is expensive for a server with many vaults."""

_RETRY_S = 0.5
_RETRY_LATEST_S = 30.0
_END_S = 1.0


def publication_of(assembly: Assembly, opened: OpenGeneration) -> Publication | None:
    """The publication of a generation, if the settings enable it. Raises UnavailableError if the token's
    variable is not set, and IndexUnusableError if the identity of the vault cannot be written."""
    settings = assembly.settings
    if settings.index.backend != "milvus":
        return None
    milvus: MilvusSettings = settings.table("milvus")
    connection = MilvusConnection.from_settings(milvus, os.environ)
    vaults = MilvusVaults(connection, milvus.collection_prefix)
    try:
        identity = IdentityFile(assembly.root).keep(assembly.vault.name)
    except OSError as error:
        raise IndexUnusableError(f"cannot write {assembly.root / 'publication'}: {error.strerror}") from error
    published = PublishedVault.of(assembly.vault, milvus.keeper, identity)
    model = opened.reader.searcher.embedder.model
    layout = CollectionLayout(milvus.shards, milvus.partitions, milvus.index_type, milvus.index_params)
    publisher = MilvusPublisher(
        vaults, published.vault, model, store_bodies=milvus.store_bodies, layout=layout
    )
    source = PublishingWorker(opened.generation, limits_of(settings.index))
    catalog = CatalogPublisher(vaults, publisher, published, opened.generation.number, model, source)
    return Publication(catalog, PublishedEpoch(opened.generation))


class PublishTask:
    """A RemoteFollower with one thread for the active generation, which is replaced after a rebuild or a
    change of the configuration."""

    def __init__(
        self,
        vault_sync: VaultSync,
        clock: Callable[[], float] = time.monotonic,
        publication: Callable[[Assembly, OpenGeneration], Publication | None] = publication_of,
    ) -> None:
        self._vault_sync = vault_sync
        self._clock = clock
        self._publication = publication
        self._follower: _PublicationThread | None = None
        self._for: tuple[OpenGeneration | None, Settings | None] = (None, None)
        self._refused = ""

    @property
    def fault(self) -> str:
        """The reason why nothing is published at the moment."""
        reason = self._refused or (self._follower.fault if self._follower else "")
        if not reason:
            return ""
        return f"publishing to Milvus failed and will be retried; local search is not affected: {reason}"

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(filter(None, [self.fault]))

    def behind(self) -> int:
        """The number of commits that the server does not return yet; 1 while its state is unknown. Any thread
        may call it."""
        current, follower = self._vault_sync.current, self._follower
        if current is None or self._vault_sync.assembly.settings.index.backend != "milvus":
            return 0
        applied = -1 if follower is None else follower.applied_seq
        with current.writer.holder.lease() as snapshot:
            return 1 if applied < 0 else max(0, snapshot.seq - applied)

    def step(self, *, is_idle: bool) -> None:  # noqa: ARG002 - publishing takes nothing from an edit
        """Notifies the thread of the active generation about new commits."""
        current, settings = self._vault_sync.current, self._vault_sync.assembly.settings
        before, with_settings = self._for
        same = current is not None and before is not None and current.writer is before.writer
        if not same or with_settings is None or _published_by(settings) != _published_by(with_settings):
            self._follow(current, settings)
        if self._follower is not None:
            self._follower.wake()

    def end(self) -> None:
        """Stops; unpublished changes are published after the next start."""
        if self._follower is not None:
            self._follower.stop()
        self._follower, self._for = None, (None, None)

    def _follow(self, current: OpenGeneration | None, settings: Settings) -> None:
        self.end()
        self._refused = ""
        self._for = current, settings
        if current is None:
            return
        try:
            publication = self._publication(self._vault_sync.assembly, current)
        except VaultIndexerError as error:
            self._refused = str(error)
            log.error("%s", self.fault)
            return
        if publication is not None:
            self._follower = _PublicationThread(publication, current.writer.holder, current, self._clock)
            self._follower.start()


def _published_by(settings: Settings) -> tuple[object, object]:
    return settings.index.backend, settings.table("milvus")


class _PublicationThread:
    def __init__(
        self,
        publication: Publication,
        holder: SnapshotHolder,
        opened: OpenGeneration,
        clock: Callable[[], float],
    ) -> None:
        self.fault = ""
        self.applied_seq = -1
        self._publication = publication
        self._holder = holder
        self._catalog = opened.generation.catalog
        self._clock = clock
        self._retry = Retry(_RETRY_S, _RETRY_LATEST_S, clock)
        self._checked = self._counted = clock()
        self._stopping = False
        self._news = threading.Event()
        self._ended = threading.Event()
        name = f"indexer-publish {opened.generation.folder}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Reports that there may be something to publish."""
        with self._holder.lease() as snapshot:
            if snapshot.seq != self.applied_seq:
                self._news.set()

    def stop(self) -> None:
        """Ends soon. A call in progress is interrupted and repeated after the next start."""
        self._stopping = True
        self._news.set()
        self._ended.set()
        self._publication.close()
        self._thread.join(_END_S)

    def _run(self) -> None:
        while not self._stopping:
            self._news.clear()
            seconds = self._round()
            if self.fault:  # edits do not make it query an unavailable server more often
                self._ended.wait(seconds)
            # After a full interval without news, the worker process is released.
            elif not self._stopping and not self._news.wait(seconds) and seconds >= _CHECK_S:
                self._publication.rest()
        self._publication.close()
        self._publication.rest()

    def _round(self) -> float:
        """Takes one step towards the catalog. Returns the time until the next one."""
        now = self._clock()
        if now - self._counted >= _COUNT_S:
            self._checked = self._counted = now
            self._publication.check()
        elif now - self._checked >= _CHECK_S:
            self._checked = now
            self._publication.look()
        try:
            # A reader per round: a long-lived transaction would keep the log from being truncated.
            with CatalogReader(self._catalog) as catalog:
                done = self._publication.step(catalog)
        except (VaultIndexerError, OSError) as error:
            return self._failed(error)
        except Exception as error:
            log.error("publishing failed", exc_info=error)
            return self._failed(error)
        if self.fault:
            log.info("publishing works again")
        self.fault = ""
        self._retry.reset()
        if not done:
            return _UNSEEN_S
        self.applied_seq = self._publication.applied_seq
        return _CHECK_S

    def _failed(self, error: Exception) -> float:
        if self._stopping:
            return 0.0
        if not self.fault:
            log.warning("the index is not published: %s", error)
        self.fault = str(error)
        self._retry.record_failure()
        return self._retry.remaining_s
