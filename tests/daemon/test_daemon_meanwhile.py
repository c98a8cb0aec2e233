"""A save while thousands of notes are going in."""

from pathlib import Path

import pytest
from vault_at_work import Place, opened, place

from vault_indexer.daemon.assembly import Assembly
from vault_indexer.daemon.sync import EVERYTHING, VaultSync
from vault_indexer.index.plan import PART_NOTES
from vault_indexer.model import SearchRequest

pytestmark = pytest.mark.long


def words_of(vault_sync: VaultSync, query: str) -> set[str]:
    """The notes found that hold the query's word."""
    assert vault_sync.current is not None
    with vault_sync.current.reader.holder.lease() as snapshot:
        found = vault_sync.current.reader.searcher.search(snapshot, SearchRequest(query))
    hits = [hit for hit in found.hits if query in hit.content]
    return {path for hit in hits for path in (hit.path, *hit.copies)}


def test_it_is_found_before_the_rest_and_all_is_as_in_a_fresh_build(tmp_path: Path) -> None:
    where = place(tmp_path)
    with opened(where):
        pass
    names = [f"Log {n:04}.md" for n in range(2 * PART_NOTES + 10)]
    for name in names:
        where.write(name, f"# {name}\n\nBread was baked. [[Oven]] [[{names[-1]}]]\n")
    vault_sync = VaultSync(Assembly.of(where.target()), live=True)
    vault_sync.open_current()
    found: list[tuple[set[str], int]] = []

    def save() -> None:
        """Of what is in already, of what is still to come, and of what is neither."""
        for name in (names[0], names[-1], "New.md"):
            where.write(name, f"# Saved\n\nSaid basalt{len(found)}. [[Oven]]\n")
        (where.vault / names[1]).unlink(missing_ok=True)
        vault_sync.sync({names[0], names[1], names[-1], "New.md"})
        assert vault_sync.current is not None
        with vault_sync.current.writer.holder.lease() as snapshot:
            notes = snapshot.catalog.counts().notes
        found.append((words_of(vault_sync, f"basalt{len(found)}"), notes))

    vault_sync.sync(EVERYTHING, between_parts=save)
    saved = {names[0], names[-1], "New.md"}
    assert len(found) > 1
    assert all(paths == saved for paths, _ in found)
    assert found[0][1] < PART_NOTES + 20, "most of the others were still to come"
    vault_sync.dirty.take_held()
    vault_sync.close()

    with opened(where) as service:
        assert service.verify() == ()
        grown = list(service.export())
    with opened(Place(where.vault, tmp_path / "fresh", where.config)) as service:
        assert grown == list(service.export())
