"""Both backends behind one face, for tests that hold them to one contract."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
from embedded_retriever import EmbeddedRetriever
from notes_here import NotesHere
from reliability_lab import in_one_process
from vault_at_work import Place, place, silent
from waiting import wait_until

from vault_gateway.milvus import MilvusConnection, MilvusPublisher, MilvusRetriever, MilvusVaults
from vault_gateway.milvus.retrieval import ChunkRetriever, FoundChunk, VaultScope
from vault_gateway.owner import PublishedVault
from vault_gateway.publication import CatalogPublisher, Publication, PublishedEpoch
from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.ports import EmbeddingModel
from vault_indexer.store import Generation, IndexDir
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm

VAULT = 'it\'s "my" vault \\ 1'
SCOPE = VaultScope.of([VAULT])

NOTES = {
    "Garden/Compost.md": "---\ntags: [area/garden, Soil]\n---\n# Compost\n\nDry leaves rot to black earth.\n",
    "Garden/Beds/Beans.md": "---\ntags: [area/garden]\n---\n# Beans\n\nBeans climb a pole of hazel.\n",
    "Gardening.md": "# Gardening\n\nA spade, a rake and a hoe hang in the shed.\n",
    "Sky/Saturn.md": "---\ntags: [planet]\n---\n# Saturn\n\nThe rings of Saturn are ice and rock.\n",
    "Sky/土星.md": "# 土星\n\n土星的光环由冰块和岩石组成。\n",
    "Sky/Map.canvas": '{"nodes": [{"id": "a", "type": "text", "text": "Saturn beside Jupiter, seen in June", '
    '"x": 0, "y": 0, "width": 9, "height": 9}], "edges": []}',
    "Long.md": "# Long\n\n"
    + "".join(f"## Part {n}\n\n{'The kiln burns hazel and oak at night. ' * 30}\n\n" for n in range(6)),
}


class Backend(Protocol):
    """A vault's derived index: brought up to date, searched, lost and healed."""

    where: Place

    def follow(self) -> None: ...

    def retriever(self) -> ChunkRetriever: ...

    def applied_seq(self) -> int: ...

    def lose(self) -> None: ...


@dataclass
class EmbeddedBackend:
    """The index in the folder."""

    where: Place
    session: LocalSession

    def follow(self) -> None:
        self.session.wait_fresh(60)

    def retriever(self) -> ChunkRetriever:
        return EmbeddedRetriever(VAULT, self.session.reader().holder)

    def applied_seq(self) -> int:
        with self.session.reader().holder.lease() as snapshot:
            return min(snapshot.vectors.seq, snapshot.keywords.seq)

    def lose(self) -> None:
        """The files of the derived indices are gone, and the vault is gone: the catalog has to do."""
        generation = IndexDir(self.where.index_dir).current()
        assert generation is not None
        self.session.close()
        generation.vectors.unlink()
        shutil.rmtree(generation.keywords)
        self.session = LocalSession(in_one_process(self.where.target()))
        self.session.open(silent, build=False)


@dataclass
class MilvusBackend:
    """The index on a server."""

    where: Place
    session: LocalSession
    vaults: MilvusVaults
    publication: Publication | None = None

    def generation(self) -> Generation:
        generation = IndexDir(self.where.index_dir).current()
        assert generation is not None
        return generation

    def model(self) -> EmbeddingModel:
        return self.session.reader().searcher.embedder.model

    def publisher(self) -> MilvusPublisher:
        return MilvusPublisher(self.vaults, VAULT, self.model(), store_bodies=True)

    def opened(self) -> Publication:
        """As a daemon that has just started sees the server."""
        generation = self.generation()
        model = self.model()
        published = PublishedVault(VAULT, "my vault", "keeper", "place", "owner")
        catalog = CatalogPublisher(
            self.vaults, self.publisher(), published, generation.number, model, NotesHere(generation)
        )
        return Publication(catalog, PublishedEpoch(generation))

    def follow(self) -> None:
        self.session.wait_fresh(60)
        self.publish()

    def publish(self) -> None:
        self.publication = self.publication or self.opened()
        catalog = CatalogReader(self.generation().catalog)
        try:
            wait_until(partial(self.publication.step, catalog), "Milvus answers with all that was published")
        finally:
            catalog.close()

    def retriever(self) -> ChunkRetriever:
        return MilvusRetriever(
            self.vaults.connection, self.publisher().collection, self.vaults.all().values()
        )

    def applied_seq(self) -> int:
        state = self.vaults.state(VAULT)
        return -1 if state is None else state.seq

    def lose(self) -> None:
        """The collection is gone from the server, and the vault from this machine."""
        collection = self.publisher().collection
        self.vaults.connection.call("drop_alias", collection)
        self.vaults.connection.call("drop_collection", f"{collection}_1")
        self.publication = self.opened()
        self.publish()


@contextmanager
def backend(
    kind: str, folder: Path, uri: str = "", prefix: str = "", notes: Mapping[str, str] = NOTES
) -> Iterator[Backend]:
    folder.mkdir(exist_ok=True)
    where = place(folder, notes)
    session = LocalSession(in_one_process(where.target()))
    made: EmbeddedBackend | MilvusBackend
    if kind == "embedded":
        made = EmbeddedBackend(where, session)
    else:
        made = MilvusBackend(where, session, MilvusVaults(MilvusConnection(uri), prefix))
    try:
        session.open(silent, build=True)
        made.follow()
        yield made
    finally:
        made.session.close()


def vector(of: Backend, text: str) -> np.ndarray:
    assert isinstance(of, EmbeddedBackend | MilvusBackend)
    return of.session.reader().searcher.embedder.embed_query(text)


def terms(text: str) -> list[QueryTerm]:
    return analyze_query(text, ("en", "zh"))


def paths(found: list[FoundChunk]) -> list[str]:
    return [one.path for one in found]
