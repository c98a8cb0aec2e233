"""A vault of given notes with its index, open to be asked and to be read."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from reliability_lab import in_one_process, opened

from vault_indexer.bootstrap import resolve_target
from vault_indexer.search.searcher import IndexReader
from vault_indexer.service import VaultService


def write_notes(folder: Path, notes: Mapping[str, str]) -> Path:
    """The folder, made, with these notes by name."""
    folder.mkdir()
    for name, text in notes.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@contextmanager
def indexed_vault(
    vault: Path, index_dir: Path, provider: str = "wordllama"
) -> Iterator[tuple[VaultService, IndexReader]]:
    """The vault's service, and the same index opened to be read. It is built in this process, since to start
    another takes a second each time."""
    options: dict[str, int | str] = {"index.workers": 1, "embedding.provider": provider}
    assembly = in_one_process(resolve_target(vault, index_dir, None, environ={}, options=options))
    with opened(assembly) as session:
        generation = assembly.index_dir.current()
        assert generation is not None
        yield VaultService(session, assembly.chunker), assembly.open_to_read(generation)
