"""A generation of two notes that is made without a vault, and notes to change it with."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from vault_indexer.index.derived import rebuild_vectors
from vault_indexer.index.jobs import rebuild_keywords
from vault_indexer.model import Chunk, FileKind, FileRow, Note
from vault_indexer.store import Generation
from vault_indexer.store.catalog import CatalogReader, CatalogWriter, PreparedNote, ResolvedLink, note_rows
from vault_indexer.vault.files import FileStat, RootIdentity
from vault_indexer.vault.ignore import Decision
from vault_indexer.vault.walk import Scan, ScannedFile

MODEL = "test/model/2"


def vector(number: int) -> bytes:
    return np.array([np.cos(number), np.sin(number)], np.float16).tobytes()


def prepared(path: str, *words: str, owed: Sequence[str] = ()) -> PreparedNote:
    """A note with a parent that is context, and a chunk for each word; those `owed` get no vector."""
    text = "".join(f"{word}\n" for word in words)
    note = Note(path, text, path.removesuffix(".md"), "en", tags=("soil",))
    starts = [sum(len(one) + 1 for one in words[:at]) for at in range(len(words))]
    parent = Chunk(f"{path}_0", 0, "", 0, len(text), 1, 1, text, "none", extra={"level": 0}, embed=False)
    children = (
        Chunk(f"{path}_{n}", n, "", at, at + len(word), 1, 1, word, "none", extra={"child_index": n - 1})
        for n, (word, at) in enumerate(zip(words, starts, strict=True), start=1)
    )
    digests = [None, *(word.encode() for word in words)]
    made = {word.encode(): vector(len(word)) for word in words if word not in owed}
    file = FileRow(path, len(text), 1, 0, 0, f"digest of {text!r}", "note")
    return PreparedNote(file, note_rows(note, [parent, *children], digests), made, 0, 0)


def nowhere(target: str, _source: str) -> ResolvedLink:
    return ResolvedLink(target, None, ambiguous=False)


def put(writer: CatalogWriter, *notes: PreparedNote) -> None:
    with writer.commit():
        for note in notes:
            writer.put_note(note, nowhere, MODEL)


def scan_of(*sizes: int, attachment: int | None = None) -> Scan:
    """Notes `0.md`, `1.md` … of these sizes, the oldest first, and maybe an attachment."""
    files = [
        ScannedFile(FileStat(f"{n}.md", size, n, n, n), FileKind.NOTE, Decision.INDEX)
        for n, size in enumerate(sizes)
    ]
    if attachment is not None:
        picture = FileStat("z.png", attachment, 0, 0, 1)
        files.append(ScannedFile(picture, FileKind.ATTACHMENT, Decision.LINK_ONLY))
    return Scan(RootIdentity(1, 1), files=tuple(files))


def small_generation(folder: Path) -> Generation:
    """Notes 1 and 2 with words and vectors, as a build leaves them; the second one's vector is owed."""
    (folder / "0001").mkdir()
    made = Generation(1, folder / "0001")
    with closing(CatalogWriter(made.catalog, bulk=True)) as writer:
        put(writer, prepared("a.md", "oak", "maple"), prepared("b.md", "willow", owed=["willow"]))
    with CatalogReader(made.catalog) as catalog:
        rebuild_vectors(made, catalog, MODEL, 2)
    rebuild_keywords(made)
    return made
