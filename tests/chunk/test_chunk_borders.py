"""The borders of the default configuration, frozen: they change on purpose or not at all.

The golden has a line for each note of Obsidian's help and of the first 500 of the large vault: how many
chunks, a digest of what divides them (ids, spans, headings, overlap, what is embedded), and the path.
"""

import hashlib
import json
import os
import tarfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from vault_indexer.chunk import ChoosingChunker, chunks_of
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.errors import NoteError
from vault_indexer.index.reading import note_from

VAULTS = Path(__file__).resolve().parents[3] / "shared" / "data" / "vaults"
HELP, LARGE = VAULTS / "obsidian-help", VAULTS / "large.tar.xz"
GOLDEN = Path(__file__).parent / "fixtures" / "borders.txt"
OF_LARGE = 500

pytestmark = [
    pytest.mark.data,
    pytest.mark.long,
    pytest.mark.skipif(not (HELP.is_dir() and LARGE.is_file()), reason="no ../shared/data"),
]


def notes() -> Iterator[tuple[str, bytes]]:
    for file in sorted(HELP.rglob("*.md"), key=lambda file: file.parts):
        yield file.relative_to(HELP).as_posix(), file.read_bytes()
    with tarfile.open(LARGE) as archive:
        members = (one for one in archive if one.isfile() and one.name.endswith(".md"))
        for one in islice(members, OF_LARGE):
            content = archive.extractfile(one)
            assert content is not None
            yield one.name, content.read()


def line(chunker: ChoosingChunker, path: str, data: bytes) -> str:
    try:
        chunks = list(chunks_of(chunker, note_from(path, data)))
    except NoteError as error:
        return f"{error}  {path}"
    borders = [
        [one.chunk_id, one.start_pos, one.end_pos, one.header_path, one.overlap, one.context, one.embed]
        for one in chunks
    ]
    digest = hashlib.blake2b(json.dumps(borders).encode(), digest_size=6).hexdigest()
    return f"{len(chunks):4}  {digest}  {path}"


def test_the_borders_are_those_of_the_golden() -> None:
    chunker = ChoosingChunker(ChunkingSettings())
    made = [line(chunker, path, data) for path, data in notes()]
    if os.environ.get("UPDATE_GOLDEN") == "1":
        GOLDEN.write_text("\n".join(made) + "\n", "utf-8")
    assert made == GOLDEN.read_text("utf-8").splitlines()
