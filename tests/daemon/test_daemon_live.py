"""What happens in the vault shows in searches, with nobody doing anything."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from vault_at_work import Place, daemon, hits, holding, opened, place, wait_for
from waiting import DEADLINE_S

from vault_indexer.errors import LockedError, UsageError
from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return place(tmp_path_factory.mktemp("live"))


@pytest.fixture(scope="module")
def service(where: Place) -> Iterator[VaultService]:
    with daemon(where) as running:
        yield running


def test_a_new_note_is_found(where: Place, service: VaultService) -> None:
    where.write("New/Quokka.md", "# Quokka\n\nLives on Rottnest.\n")
    wait_for(lambda: "New/Quokka.md" in holding(service, "Rottnest"))


def test_what_a_start_finds_is_pending_until_it_is_in(tmp_path: Path) -> None:
    """Else `status` would say ready and nothing pending while the first look is under way."""
    where = place(tmp_path)
    with opened(where):
        pass
    where.write("Unseen.md", "Written while no daemon ran: promethium.\n")
    with daemon(where, ready=False) as service:
        # No pause between two looks: a moment of "ready" before the first look at the vault counts.
        deadline = time.monotonic() + DEADLINE_S
        while (status := service.status()).state != "ready" or status.pending:
            assert time.monotonic() < deadline
        assert holding(service, "promethium") == {"Unseen.md"}


def test_an_edit_shows_the_new_text_and_never_the_old(where: Place, service: VaultService) -> None:
    where.write("Edited.md", "The first word was zirconium.\n")
    wait_for(lambda: "Edited.md" in holding(service, "zirconium"))
    where.write("Edited.md", "The second word is vanadium.\n")
    wait_for(lambda: "Edited.md" in holding(service, "vanadium"))
    assert holding(service, "zirconium") == set()


def test_a_save_by_write_and_rename_is_an_edit(where: Place, service: VaultService) -> None:
    where.write("Saved.md", "Before: ytterbium.\n")
    wait_for(lambda: "Saved.md" in holding(service, "ytterbium"))
    (where.vault / ".Saved.tmp").write_text("After: praseodymium.\n")
    (where.vault / ".Saved.tmp").replace(where.vault / "Saved.md")
    wait_for(lambda: "Saved.md" in holding(service, "praseodymium"))


def test_a_rename_moves_the_note_and_its_links_follow(where: Place, service: VaultService) -> None:
    where.write("Source.md", "See [[Renamed target]].\n")
    where.write("Old name.md", "Contains gadolinium.\n")
    wait_for(lambda: "Old name.md" in holding(service, "gadolinium"))
    assert [link.resolved for link in service.links("Source").outgoing] == [None]
    (where.vault / "Old name.md").rename(where.vault / "Renamed target.md")
    wait_for(lambda: "Renamed target.md" in holding(service, "gadolinium"))
    wait_for(lambda: "Old name.md" not in holding(service, "gadolinium"))
    assert [link.resolved for link in service.links("Source").outgoing] == ["Renamed target.md"]
    assert [link.path for link in service.links("Renamed target").backlinks] == ["Source.md"]


def test_a_deleted_note_goes(where: Place, service: VaultService) -> None:
    where.write("Gone.md", "Contains lutetium.\n")
    wait_for(lambda: "Gone.md" in holding(service, "lutetium"))
    (where.vault / "Gone.md").unlink()
    wait_for(lambda: "Gone.md" not in holding(service, "lutetium"))


def test_a_heading_moved_to_another_level_changes_the_header_path(
    where: Place, service: VaultService
) -> None:
    body = "thulium " * 40
    where.write("Levels.md", f"# Top\n\n{body}\n\n## Under\n\n{body} erbium\n")
    wait_for(lambda: any(hit.header_path == "Top > Under" for hit in hits(service, "erbium")))
    where.write("Levels.md", f"# Top\n\n{body}\n\n# Under\n\n{body} erbium\n")
    wait_for(lambda: any(hit.header_path == "Under" for hit in hits(service, "erbium")))


def test_a_fresh_search_waits_for_what_was_just_written(where: Place, service: VaultService) -> None:
    where.write("Fresh.md", "Contains dysprosium.\n")
    answer = service.search(SearchRequest("dysprosium", fresh=True), fresh_deadline_s=DEADLINE_S)
    assert "Fresh.md" in [hit.path for hit in answer.results]


def test_a_bad_note_is_named_and_indexed_once_it_is_mended(where: Place, service: VaultService) -> None:
    (where.vault / "Bad.md").write_bytes(b"caf\xe9 with holmium\n")
    wait_for(lambda: any(skipped.path == "Bad.md" for skipped in service.status().skipped))
    reasons = {skipped.path: skipped.reason for skipped in service.status().skipped}
    assert reasons["Bad.md"].startswith("line 1: some bytes are not UTF-8"), "the path is not said twice"
    where.write("Bad.md", "café with holmium\n")
    wait_for(lambda: "Bad.md" in holding(service, "holmium"))
    wait_for(lambda: not service.status().skipped)


def test_a_second_daemon_says_who_holds_the_index(where: Place, service: VaultService) -> None:
    del service
    with pytest.raises(LockedError, match=r"in use by process \d+ \(the daemon\)"), daemon(where):
        pass


def test_every_way_of_writing_a_note_name_finds_its_links(where: Place, service: VaultService) -> None:
    for name in ("Bread", "Bread.md", "./Bread.md", "bread"):
        assert service.links(name).outgoing[0].resolved == "Oven.md"
    with pytest.raises(UsageError, match="no such note"):
        service.links("Nowhere")


def test_an_edit_made_while_no_daemon_ran_is_found(tmp_path: Path) -> None:
    made = place(tmp_path)
    with opened(made):
        pass
    made.write("Late.md", "Contains scandium.\n")
    (made.vault / "Bread.md").unlink()
    with daemon(made) as service:
        wait_for(lambda: "Late.md" in holding(service, "scandium"))
        wait_for(lambda: "Bread.md" not in holding(service, "dough"))
