"""Which files are read again, which are only named, and in which parts."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from vault_indexer.index.plan import Applied, Plan, count_notes, is_linkable, linked_row, plan
from vault_indexer.model import FileKind, FileRow
from vault_indexer.vault import IgnoreRules
from vault_indexer.vault.files import FileStat, RootIdentity
from vault_indexer.vault.ignore import Decision, ObsidianFilters, compile_ignore_list
from vault_indexer.vault.walk import Scan, ScannedFile

OLD_NS = 1_000_000_000_000


def note(path: str, size: int = 10, decision: Decision = Decision.INDEX) -> ScannedFile:
    return ScannedFile(FileStat(path, size, 5, 6, 7), FileKind.NOTE, decision)


def row(path: str, state: str = "note", **more: object) -> FileRow:
    return replace(FileRow(path, 10, 5, 6, 7, "digest", state, "", OLD_NS), **more)  # type: ignore[arg-type]


def seen(files: Iterable[ScannedFile], **more: object) -> Scan:
    return Scan(RootIdentity(1, 1), files=tuple(files), **more)  # type: ignore[arg-type]


def test_a_vault_that_is_as_it_was_needs_nothing() -> None:
    same = plan(
        [row("a.md"), row("b.png", "linked"), row("c.md", "skipped")],
        seen([note("a.md"), note("b.png", decision=Decision.LINK_ONLY), note("c.md")]),
    )
    assert same == Plan()
    assert not same


def test_what_came_went_and_changed_is_told_apart() -> None:
    known = [row("a.md"), row("b.md"), row("c.md"), row("d.png", "linked"), row("e.md", "linked")]
    link = Decision.LINK_ONLY
    found = seen(
        [note("a.md", 11), note("c.md", decision=link), note("d.png", 3, link), note("e.md"), note("f.md")]
    )
    made = plan(known, found)
    assert made.read == ("a.md", "e.md", "f.md")
    assert made.linked == (
        FileRow("c.md", 10, 5, 6, 7, "", "linked"),
        FileRow("d.png", 3, 5, 6, 7, "", "linked"),
    )
    assert made.removed == ("b.md",)
    assert made
    assert Plan(read=("a",)) and Plan(linked=(row("a"),)) and Plan(removed=("a",))


@pytest.mark.parametrize(
    ("mtime_ns", "ctime_ns", "seen_ns", "is_read"),
    [
        (5, 6, 2_000_000_006, False),
        (5, 6, 2_000_000_005, True),
        (9, 6, 2_000_000_008, True),
        (9, 6, 2_000_000_009, False),
    ],
)
def test_two_seconds_after_its_last_change_a_file_is_trusted(
    mtime_ns: int, ctime_ns: int, seen_ns: int, is_read: bool
) -> None:
    stat = FileStat("a.md", 10, mtime_ns, ctime_ns, 7)
    found = seen([ScannedFile(stat, FileKind.NOTE, Decision.INDEX)])
    known = row("a.md", mtime_ns=mtime_ns, ctime_ns=ctime_ns, seen_ns=seen_ns)
    assert bool(plan([known], found).read) is is_read
    attachment = seen([ScannedFile(stat, FileKind.ATTACHMENT, Decision.LINK_ONLY)])
    assert not plan([replace(known, state="linked")], attachment)


def test_a_file_that_is_only_linked_may_have_a_reason() -> None:
    found = seen([note("big.md", decision=Decision.LINK_ONLY)], skipped=(("big.md", "too large"),))
    (linked,) = plan([], found).linked
    assert linked == linked_row(found.files[0].stat, "too large")
    assert (linked.state, linked.reason) == ("linked", "too large")
    assert not plan([linked], found)


def test_what_cannot_be_listed_is_named_once() -> None:
    found = seen([], skipped=(("odd", "not a file"), ("cloud.md", "in the cloud")))
    named = [
        FileRow("odd", 0, 0, 0, 0, "", "skipped", "not a file"),
        FileRow("cloud.md", 0, 0, 0, 0, "", "skipped", "in the cloud"),
    ]
    assert plan([], found) == Plan(linked=tuple(named))
    assert not plan(named, found)
    assert plan([replace(named[0], reason="another"), named[1]], found) == Plan(linked=(named[0],))
    assert plan([row("odd", reason="not a file"), named[1]], found).linked == (named[0],)


def test_a_file_in_the_cloud_stays_as_it_is_indexed() -> None:
    skipped = (("cloud.md", "in the cloud"),)
    outside = seen([], within=frozenset({"other"}), skipped=skipped)
    assert not plan([row("cloud.md")], outside)
    evicted = seen([], skipped=skipped, _evicted_paths=frozenset({"cloud.md"}))
    assert not plan([row("cloud.md")], evicted)


def test_a_note_that_is_not_downloaded_says_so_once_and_is_read_when_it_is_there_again() -> None:
    evicted = seen([], skipped=(("a.md", "not downloaded"),), _evicted_paths=frozenset({"a.md"}))
    (named,) = plan([row("a.md")], evicted).linked
    assert (named.state, named.reason, named.digest) == ("note", "not downloaded", row("a.md").digest)
    assert not plan([named], evicted)
    assert plan([named], seen([note("a.md")])) == Plan(read=("a.md",))
    other = row("a.md", reason="what could not be read of it")
    assert not plan([other], evicted)


def test_what_a_scan_could_not_see_goes_where_the_rules_exclude_it() -> None:
    """Below a folder that cannot be read, and in the cloud: a file there is no deleted one."""
    rules = IgnoreRules(
        exclude=(compile_ignore_list(["secret/", "*.draft.md"]),),
        obsidian=ObsidianFilters(["sub/l", "cloud"]),
    )
    found = seen(
        [],
        skipped=(("cloud.md", "not downloaded"), ("sub", "unreadable folder")),
        unreadable_folders=frozenset({"sub"}),
        _evicted_paths=frozenset({"cloud.md"}),
    )
    paths = ["cloud.md", "gone.md", "sub/a.md", "sub/l.md", "sub/secret/n.md", "sub/x.draft.md"]
    known = [*map(row, paths), row("sub/z.png", "linked")]
    work = plan(known, found, rules)
    assert work.removed == ("gone.md", "sub/secret/n.md", "sub/x.draft.md")
    assert work.read == ()
    assert {one.path: (one.state, one.reason) for one in work.linked} == {
        "cloud.md": ("skipped", "not downloaded"),
        "sub": ("skipped", "unreadable folder"),
        "sub/l.md": ("linked", ""),
    }
    left = {one.path: one for one in known if one.path not in work.removed}
    left |= {one.path: one for one in work.linked}
    assert not plan(sorted(left.values(), key=lambda one: one.path), found, rules)


def test_only_notes_to_index_are_counted() -> None:
    assert count_notes(seen([note("a.md"), note("b.md", decision=Decision.LINK_ONLY), note("c.md")])) == 2


@pytest.mark.parametrize(
    ("state", "inode", "linkable"),
    [("note", 0, True), ("linked", 0, True), ("skipped", 0, False), ("skipped", 3, True)],
)
def test_links_lead_to_what_was_listed(state: str, inode: int, linkable: bool) -> None:
    assert is_linkable(row("a.md", state, inode=inode)) is linkable


@pytest.mark.parametrize(
    ("seconds", "sizes"),
    [
        ([], [64]),
        ([0.5], [64, 128]),
        ([0.5, 0.5, 0.5, 0.5, 0.5], [64, 128, 256, 512, 512, 512]),
        ([1.0, 2.0], [64, 64, 64]),
        ([2.1], [64, 32]),
        ([2.1, 2.1, 2.1], [64, 32, 16, 16]),
        ([2.1, 0.9, 1.5], [64, 32, 64, 64]),
    ],
)
def test_parts_grow_where_they_are_quick_and_shrink_where_they_are_slow(
    seconds: list[float], sizes: list[int]
) -> None:
    clock = [0.0]
    whole = Plan(tuple(map(str, range(sum(sizes)))), (row("a.png"),), ("gone.md",))
    parts = []
    for at, part in enumerate(whole.parts(lambda: clock[0])):
        parts.append(part)
        clock[0] += seconds[at] if at < len(seconds) else 0.0
    assert [len(part.read) for part in parts] == sizes
    assert tuple(path for part in parts for path in part.read) == whole.read
    assert (parts[0].linked, parts[0].removed) == (whole.linked, whole.removed)
    assert all(not part.linked and not part.removed for part in parts[1:])


def test_a_plan_without_notes_is_one_part() -> None:
    only = Plan(removed=("gone.md",))
    assert list(only.parts()) == [only]


def test_what_two_edits_did_is_added_up() -> None:
    one = Applied(("a",), ("b",), ("c",), 1, frozenset({"x"}))
    other = Applied(("d",), ("e",), ("f",), 2, frozenset({"x", "y"}))
    assert one + other == Applied(("a", "d"), ("b", "e"), ("c", "f"), 3, frozenset({"x", "y"}))
    assert Applied() == Applied((), (), (), 0, frozenset())


def test_only_documents_that_were_moved_are_removed_after_all_have_been_read() -> None:
    gone = ("a.md", "excluded.pdf", "moved.md", "moved.pdf")
    whole = Plan(read=("b.md", "c.pdf", "new.pdf"), removed=gone, moved=frozenset({"moved.md", "moved.pdf"}))
    removed = [part.removed for part in whole.parts()]
    assert removed == [("a.md", "excluded.pdf", "moved.md"), (), ("moved.pdf",)]
    assert whole.paths_left(2, "documents") == ("c.pdf", "new.pdf", "moved.pdf")
    assert whole.paths_left(3, "documents") == whole.paths_left(2, "") == ()
    assert whole.paths_left(3, "all") == ("b.md", "c.pdf", "new.pdf", "moved.pdf")
