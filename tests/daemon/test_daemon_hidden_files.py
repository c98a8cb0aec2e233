"""Notes that are there and cannot be read for a while: below a folder without permission, or in iCloud."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from reliability_lab import assembly_of, told_by, told_by_a_fresh_build, unheard
from unprivileged import permissions_count
from vault_at_work import Place, place

from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.index.writer import KEPT
from vault_indexer.model import SkippedFile

pytestmark = pytest.mark.long

NOTES = {
    "a.md": "Alpha [[n]] and [[Cloud]] and ![[p.png]].\n",
    "Cloud.md": "Beryl.\n\n" + "One quince more.\n\n" * 40,
    "sub/n.md": "Cobalt [[a]].\n\n- [ ] task ^id\n\n# Heading\n\ntext #tag\n",
    "sub/deep/m.canvas": '{"nodes":[{"id":"1","type":"text","text":"Dysprosium","x":0,"y":0}],"edges":[]}',
    "sub/p.png": "-",
}
HIDDEN = {"Cloud.md", "sub/n.md", "sub/deep/m.canvas"}


def hide(vault: Path) -> None:
    (vault / "Cloud.md").rename(vault / ".Cloud.md.icloud")
    (vault / "sub").chmod(0)


def show(vault: Path) -> None:
    (vault / "sub").chmod(0o700)
    (vault / ".Cloud.md.icloud").rename(vault / "Cloud.md")


@pytest.fixture
def where(tmp_path: Path) -> Iterator[Place]:
    """A vault with an index that was built before its notes were hidden."""
    made = place(tmp_path, NOTES)
    with closing(opened(made)):
        pass
    with permissions_count():
        hide(made.vault)
        yield made
        (made.vault / "sub").chmod(0o700)


def opened(where: Place, **options: int) -> LocalSession:
    session = LocalSession(
        assembly_of(where.vault, where.index_dir, {key.replace("_", ".", 1): v for key, v in options.items()})
    )
    session.open(unheard, build=True)
    return session


def notes_told(export: list[str]) -> list[str]:
    """Each note with its chunks and links; not what is known of its file."""
    return [line for line in export if '"note":' in line]


def notes_of(session: LocalSession) -> set[str]:
    with session.reader().holder.lease() as snapshot:
        return set(snapshot.catalog.note_paths())


@pytest.mark.parametrize("by_itself", [pytest.param(True, marks=pytest.mark.long), False])
def test_a_rebuild_keeps_them_and_says_so(where: Place, by_itself: bool) -> None:
    options = {"chunking_max_chunk_chars": 200} if by_itself else {}
    with closing(opened(where, **options)) as session:
        before = told_by(session).export
        if not by_itself:
            for _ in range(2):
                session.rebuild(unheard, RebuildOptions(refit=False))
            assert notes_told(told_by(session).export) == notes_told(before)
        status = session.status()
        assert (notes_of(session), status.generation) == ({"a.md"} | HIDDEN, 2 if by_itself else 3)
        reasons = {skipped.path: skipped.reason for skipped in status.skipped}
        assert reasons.pop("sub").startswith("unreadable folder")
        assert reasons == dict.fromkeys(HIDDEN, KEPT)
        with session.reader().holder.lease() as snapshot:
            links = {link.target: link.resolved for link in snapshot.catalog.links_from("a.md")}
            found = snapshot.keywords.keys_containing(["dysprosium"])
            assert snapshot.missing_vectors == 0
        assert links == {"n": "sub/n.md", "Cloud": "Cloud.md", "p.png": "sub/p.png"}
        assert len(found) == 1
        assert session.verify(repair=False) == ()
        show(where.vault)
        session.wait_fresh(0)
        now = told_by(session)
        assert [skipped.path for skipped in session.status().skipped] == []
    fresh = replace(where, index_dir=where.index_dir.parent / "fresh")
    with closing(opened(fresh, **options)) as session:
        assert now.export == told_by(session).export != before


@pytest.mark.parametrize("is_changed", [True, False])
def test_a_note_without_permission_stays_as_it_was_until_it_can_be_read(
    tmp_path: Path, is_changed: bool
) -> None:
    where = place(tmp_path, NOTES)
    with closing(opened(where)) as session, permissions_count():
        before = notes_told(told_by(session).export)
        if is_changed:
            where.write("Cloud.md", "Quartz.\n")
        (where.vault / "Cloud.md").chmod(0)
        session.wait_fresh(0)
        for _ in range(2):
            assert notes_told(told_by(session).export) == before
            (skipped,) = session.status().skipped
            assert skipped == SkippedFile("Cloud.md", "unreadable: Permission denied", is_indexed=True)
            session.rebuild(unheard, RebuildOptions(refit=False))
        (where.vault / "Cloud.md").chmod(0o600)
        session.wait_fresh(0)
        assert (notes_told(told_by(session).export) == before) != is_changed
        assert (session.status().skipped, session.verify(repair=False)) == ((), ())


@pytest.mark.parametrize(
    ("name", "text", "gone"),
    [
        (".indexerignore", "deep/\nCloud.md\n", {"Cloud.md", "sub/deep/m.canvas"}),
        (".obsidian/app.json", '{"userIgnoreFilters": ["Cloud", "sub/n"]}', {"Cloud.md", "sub/n.md"}),
    ],
)
def test_an_exclusion_counts_for_them_at_once_and_in_a_rebuild(
    where: Place, name: str, text: str, gone: set[str]
) -> None:
    left = {"a.md"} | HIDDEN - gone
    with closing(opened(where)) as session:
        assert notes_of(session) == {"a.md"} | HIDDEN
        where.write(name, text)
    with closing(opened(where)) as session:
        assert notes_of(session) == left
        session.rebuild(unheard, RebuildOptions(refit=False))
        assert notes_of(session) == left
        show(where.vault)
        session.wait_fresh(0)
        assert notes_of(session) == left
        assert (
            told_by(session).export == told_by_a_fresh_build(where.vault, where.index_dir.parent / "f").export
        )
