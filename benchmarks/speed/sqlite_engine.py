"""SQLite's FTS5 (BM25 over three columns) and sqlite-vec, fused by RRF: the engine under two known tools.

Python's own sqlite3 often cannot load extensions; `apsw` brings a SQLite that can. Where neither can, or
sqlite-vec is missing, numpy compares the vectors instead, and the name of the engine says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, cast

from vault_indexer.store.catalog.reader import CatalogReader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

from speed.material import CANDIDATES, HITS, Material, Opened, fused, texts, vectors
from speed.questions import Question

ROW_WEIGHTS = "3.0, 2.0, 1.0"
"""Title, headers, content: as ours."""

_WORD = re.compile(r"\w+")
Nearest = Callable[["Matrix"], list[int]]


class Database(Protocol):
    """What `sqlite3.Connection` and `apsw.Connection` have in common."""

    def execute(self, sql: str, values: Sequence[object] = ..., /) -> Iterator[tuple[object, ...]]:
        """Run one statement."""
        ...

    def executemany(self, sql: str, rows: Iterable[Sequence[object]], /) -> object:
        """Run one statement for each row."""
        ...


def has_sqlite_vec() -> bool:
    """Whether sqlite-vec can be loaded into some SQLite here."""
    import sqlite3

    can_load = find_spec("apsw") is not None or hasattr(sqlite3.Connection, "enable_load_extension")
    return find_spec("sqlite_vec") is not None and can_load


def engine_name() -> str:
    """What is measured here."""
    if has_sqlite_vec():
        return "SQLite FTS5 + sqlite-vec, RRF"
    return "SQLite FTS5 + numpy, RRF (no sqlite-vec, or no SQLite that loads extensions)"


@contextmanager
def sqlite_hybrid(material: Material) -> Iterator[Opened]:
    """Writes its own database, then answers from it: the ten best with their texts."""
    embedder = material.embedder()
    database = _database(str(material.folder / "peer.db"))
    with material.catalog() as catalog:
        _add_texts(database, catalog)
        nearest = _nearest(database, catalog, embedder.model.key)
    by_word = f"SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY bm25(fts, {ROW_WEIGHTS}) LIMIT {CANDIDATES}"
    wanted = f"SELECT rowid, title, headers, content FROM fts WHERE rowid IN ({', '.join('?' * HITS)})"

    def answer(question: Question) -> list[int]:
        match = " OR ".join(f'"{word}"' for word in _WORD.findall(question.text))
        words = [_key(row) for row in database.execute(by_word, (match,))] if match else []
        keys = fused(nearest(embedder.embed_query(question.text)), words)
        shown = {_key(row) for row in database.execute(wanted, [*keys, *[-1] * (HITS - len(keys))])}
        return [key for key in keys if key in shown]

    yield Opened(answer)


def _database(path: str) -> Database:
    """A new database; with sqlite-vec in it where that can be."""
    import sqlite3

    if not has_sqlite_vec():
        return sqlite3.connect(path, isolation_level=None)
    import sqlite_vec

    if find_spec("apsw") is None:
        own = sqlite3.connect(path, isolation_level=None)
        own.enable_load_extension(True)
        sqlite_vec.load(own)
        return own
    import apsw

    database = apsw.Connection(path)
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    return cast(Database, database)


def _add_texts(database: Database, catalog: CatalogReader) -> None:
    tokenizer = "porter unicode61 remove_diacritics 2"
    database.execute(f"CREATE VIRTUAL TABLE fts USING fts5(title, headers, content, tokenize='{tokenizer}')")
    database.execute("BEGIN")
    rows = ((text.key, text.title, text.headers, text.content) for text in texts(catalog))
    database.executemany("INSERT INTO fts (rowid, title, headers, content) VALUES (?, ?, ?, ?)", rows)
    database.execute("COMMIT")
    database.execute("INSERT INTO fts (fts) VALUES ('optimize')")


def _nearest(database: Database, catalog: CatalogReader, model: str) -> Nearest:
    """The keys of the chunks nearest to a vector."""
    import numpy as np

    keys, matrix = vectors(catalog, model)
    if not has_sqlite_vec():
        known = np.array(keys, np.int64)
        return lambda query: known[_best(matrix @ query)].tolist()
    database.execute(
        f"CREATE VIRTUAL TABLE vec USING vec0(embedding float[{matrix.shape[1]}] distance_metric=cosine)"
    )
    database.execute("BEGIN")
    rows = zip(keys, (vector.tobytes() for vector in matrix), strict=True)
    database.executemany("INSERT INTO vec (rowid, embedding) VALUES (?, ?)", rows)
    database.execute("COMMIT")
    sql = f"SELECT rowid FROM vec WHERE embedding MATCH ? AND k = {CANDIDATES} ORDER BY distance"
    return lambda query: [_key(row) for row in database.execute(sql, (query.tobytes(),))]


def _best(scores: Matrix) -> NDArray[np.int64]:
    import numpy as np

    count = min(CANDIDATES, len(scores))
    found = np.argpartition(-scores, count - 1)[:count]
    return found[np.argsort(-scores[found])]


def _key(row: tuple[object, ...]) -> int:
    key = row[0]
    assert isinstance(key, int)
    return key
