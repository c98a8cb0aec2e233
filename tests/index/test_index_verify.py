"""A check names each disagreement between the vault, the catalog and what is derived from it."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from reliability_lab import in_one_process
from vault_at_work import Place, copy_of, opened, place

from vault_indexer.daemon.local_session import LocalSession
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.model import QUARANTINED, FileRow, Problem, Progress
from vault_indexer.store import Generation, IndexDir
from vault_indexer.store.catalog import CatalogReader, CatalogWriter

NOTES = {
    "Bread.md": "# Bread\n\n[[Oven]], [[Tomatoes]] and [[Nowhere]].\n",
    "Oven.md": "# Oven\n\nError E-417 means that the fan is blocked.\n",
    "Rye.md": "# Rye\n\nIt needs a sourdough.\n",
    "Garden/Tomatoes.md": "# Tomatoes\n\nSow in March.\n",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = place(tmp_path_factory.mktemp("built"), NOTES)
    with opened(made):
        pass
    return made


@dataclass
class Checked:
    """A vault with its index, which is closed until it is checked."""

    where: Place

    @property
    def generation(self) -> Generation:
        generation = IndexDir(self.where.index_dir).current()
        assert generation is not None
        return generation

    def write(self, change: Callable[[CatalogWriter], object]) -> None:
        """A commit that the vault is no reason for."""
        with closing(CatalogWriter(self.generation.catalog)) as writer, writer.commit():
            change(writer)

    def execute(self, sql: str) -> None:
        """A change that no method of the writer makes."""
        self.write(lambda writer: writer.release().execute(sql))

    def put(self, path: str, state: str, reason: str = "", digest: str = "") -> None:
        self.write(lambda writer: writer.put_file(FileRow(path, 1, 1, 1, 1, digest, state, reason)))

    def problems(self, meanwhile: Callable[[VaultSync], object] = lambda _sync: None) -> list[Problem]:
        with closing(LocalSession(in_one_process(self.where.target()))) as session:
            vault_sync, _ = session.open_as_is()
            meanwhile(vault_sync)
            return list(vault_sync.verify(repair=False))


@pytest.fixture
def checked(built: Place, tmp_path: Path) -> Checked:
    return Checked(copy_of(built, tmp_path))


def test_an_index_that_agrees_has_no_problem_and_says_how_far_the_check_is(checked: Checked) -> None:
    seen: list[Progress] = []
    with closing(LocalSession(in_one_process(checked.where.target()))) as session:
        vault_sync, _ = session.open_as_is()
        assert vault_sync.verify(repair=False, report=seen.append) == ()
    told = [(one.stage, one.notes, one.total) for one in seen]
    notes = len(NOTES)
    assert told[0] == ("verify catalog", 0, notes)
    assert ("verify vault", 0, notes) in told
    assert told[-1] == ("verify indices", notes, notes)
    assert told == sorted(
        told, key=lambda one: ["verify catalog", "verify vault", "verify indices"].index(one[0])
    )
    assert all(0 <= one.seconds < 600 for one in seen)


def test_what_differs_from_the_vault_is_named_by_file(checked: Checked) -> None:
    checked.where.write("New.md", "# New\n")
    checked.where.write("Bread.md", "# Bread\n\nToast.\n")
    (checked.where.vault / "Oven.md").unlink()
    checked.where.write("Skipped.md", "# Skipped\n")
    checked.put("Skipped.md", "skipped", "it is too deep", digest="of another text")
    checked.put("Away.md", "skipped")
    assert checked.problems() == [
        Problem("vault", "stale", "the file has changed since it was indexed", "Bread.md"),
        Problem("vault", "missing", "in the vault, not in the index", "New.md"),
        Problem("vault", "stale", "the file has changed since it was indexed", "Skipped.md"),
        Problem("vault", "ghost", "in the index, not in the vault", "Oven.md"),
    ]


def test_a_note_that_is_set_aside_and_one_that_the_rules_treated_otherwise_are_named(
    checked: Checked,
) -> None:
    checked.where.write("Aside.md", "# Aside\n")
    checked.where.write("Linked.md", "# Linked\n")
    checked.where.write("pic.png", "x")
    checked.where.write("other.png", "x")
    checked.put("Aside.md", "skipped", f"{QUARANTINED}it took too long", digest="a")
    checked.put("Linked.md", "linked")
    checked.put("pic.png", "linked")
    checked.put("other.png", "skipped")
    assert checked.problems() == [
        Problem("vault", "set aside", "it took too long", "Aside.md"),
        Problem("vault", "rules", "the exclusions have changed since it was indexed", "Linked.md"),
        Problem("vault", "rules", "the exclusions have changed since it was indexed", "other.png"),
    ]


def test_a_note_that_cannot_be_read_is_named_with_the_reason(checked: Checked) -> None:
    def remove(progress: Progress) -> None:
        if progress.stage == "verify vault":
            (checked.where.vault / "Bread.md").unlink(missing_ok=True)

    with closing(LocalSession(in_one_process(checked.where.target()))) as session:
        vault_sync, _ = session.open_as_is()
        (problem,) = vault_sync.verify(repair=False, report=remove)
    assert (problem.store, problem.kind, problem.path) == ("vault", "unreadable", "Bread.md")
    assert problem.detail


@pytest.mark.parametrize(
    ("sql", "detail"),
    [
        ("UPDATE chunks SET end_pos = 9999 WHERE note_id = 1", "1 chunks outside the text of {path}"),
        ("UPDATE chunks SET start_pos = -1 WHERE note_id = 1", "1 chunks outside the text of {path}"),
        ("UPDATE texts SET text = x'00' WHERE note_id = 1", "index {catalog}: text of note 1: "),
    ],
)
def test_a_catalog_that_contradicts_itself_is_damaged_and_compared_with_nothing(
    checked: Checked, sql: str, detail: str
) -> None:
    checked.where.write("New.md", "# New\n")
    with CatalogReader(checked.generation.catalog) as catalog:
        path = catalog.notes([1])[1].path
    checked.execute(sql)
    (problem,) = checked.problems()
    assert (problem.store, problem.kind, problem.path) == ("catalog", "damaged", path)
    assert problem.detail.startswith(detail.format(path=path, catalog=checked.generation.catalog))


def test_a_chunk_may_be_the_whole_text(checked: Checked) -> None:
    size = len(NOTES["Rye.md"])
    of_note = "note_id = (SELECT note_id FROM notes WHERE path = 'Rye.md')"
    checked.execute(f"UPDATE chunks SET start_pos = 0, end_pos = {size} WHERE {of_note}")
    assert checked.problems() == []


def test_a_page_that_is_not_what_was_written_is_damage(checked: Checked) -> None:
    def damage(_sync: VaultSync) -> None:
        with checked.generation.catalog.open("r+b") as file:
            file.seek(-10, 2)
            file.write(b"\xff" * 5)

    pages = checked.generation.catalog.stat().st_size // 4096
    assert checked.problems(damage) == [
        Problem("catalog", "damaged", f"1 of its pages are damaged, among them {pages}")
    ]


def test_a_catalog_whose_tables_and_their_indices_differ_is_damaged(checked: Checked) -> None:
    def reverse(writer: CatalogWriter) -> None:
        """An index has another order than its definition says."""
        database = writer.release()
        database.execute("PRAGMA writable_schema = ON")
        database.execute(
            "UPDATE sqlite_master SET sql = replace(sql, ')', ' DESC)') WHERE name = 'chunks_by_note'"
        )

    checked.write(reverse)
    (problem,) = checked.problems()
    assert (problem.store, problem.kind, problem.path) == ("catalog", "damaged", "")
    assert "chunks_by_note" in problem.detail


def test_links_that_lead_elsewhere_are_named_by_note(checked: Checked) -> None:
    checked.execute("UPDATE links SET resolved = 'Bread.md' WHERE target != 'Tomatoes'")
    detail = "2 links lead elsewhere than the files say, among them [[Oven]]"
    assert checked.problems() == [Problem("links", "stale", detail, "Bread.md")]
    checked.execute("UPDATE links SET resolved = CASE target WHEN 'Oven' THEN 'Oven.md' END, ambiguous = 1")
    (problem,) = checked.problems()
    assert problem.detail.startswith("3 links lead elsewhere")


def test_chunks_that_a_derived_index_lacks_or_holds_too_much_are_named(checked: Checked) -> None:
    with CatalogReader(checked.generation.catalog) as catalog:
        keys = sorted(catalog.chunk_keys())
    here, there = ", ".join(map(str, keys[:3])), ", ".join(str(key + 7) for key in keys[:3])
    checked.execute("UPDATE chunks SET key = key + 7")
    found = [one for one in checked.problems() if one.store == "keywords"]
    assert found == [
        Problem("keywords", "missing", f"4 chunks, among them {there}"),
        Problem("keywords", "ghost", f"4 chunks, among them {here}"),
    ]


@pytest.mark.posix("a file that is open is changed")
@pytest.mark.parametrize("store", ["vectors", "keywords"])
def test_a_file_of_a_derived_index_that_is_damaged_is_named_while_memory_is_sound(
    checked: Checked, store: str
) -> None:
    def damage(_sync: VaultSync) -> None:
        generation = checked.generation
        largest = max(generation.keywords.iterdir(), key=lambda file: file.stat().st_size)
        file = generation.vectors if store == "vectors" else largest
        file.write_bytes(b"x" + file.read_bytes()[1:-1])

    (problem,) = checked.problems(damage)
    assert (problem.store, problem.kind) == (store, "damaged")
