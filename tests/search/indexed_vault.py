"""A vault of given notes with its index, open to be asked and to be read."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.daemon.assembly import Assembly
from vault_indexer.search.index_reader import IndexReader
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
    """The vault's service, and the same index opened to be read."""
    options: dict[str, int | str] = {"index.workers": 1, "embedding.provider": provider}
    target = resolve_target(vault, index_dir, None, environ={}, options=options)
    with closing(open_index(target, lambda _: None)) as service:
        assembly = Assembly.of(target)
        generation = assembly.index_dir.current()
        assert generation is not None
        yield service, assembly.open_to_read(generation)
