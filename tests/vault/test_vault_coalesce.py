from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.config.settings import WatchSettings
from vault_indexer.vault import CONTROL_FILES
from vault_indexer.vault.dirty import Batch, Coalescer

SETTINGS = WatchSettings(debounce_s=0.5, max_wait_s=5.0, folder_scan_threshold=3, full_scan_threshold=8)


def filled(*paths: str) -> Coalescer:
    coalescer = Coalescer(SETTINGS)
    for path in paths:
        coalescer.add(path, 0.0)
    return coalescer


def test_a_lone_save_waits_for_the_quiet_alone() -> None:
    coalescer = filled("a.md")
    assert coalescer.due() == 0.5
    assert coalescer.take(0.49) is None
    assert coalescer.take(0.5) == Batch(dirty=frozenset({"a.md"}), reason="files changed")
    assert (coalescer.due(), coalescer.take(9.0), coalescer.pending) == (None, None, 0)


def test_constant_writing_waits_at_most_max_wait() -> None:
    coalescer = Coalescer(SETTINGS)
    for tick in range(49):
        coalescer.add("log.md", tick * 0.1)
        assert coalescer.take(tick * 0.1) is None
    assert coalescer.due() == 5.0
    assert coalescer.take(5.0) is not None


@pytest.mark.parametrize("larger", ["many", "folder", "all", "rules"])
def test_the_last_saves_are_taken_before_what_is_larger_unless_rules_changed(larger: str) -> None:
    coalescer = Coalescer(WatchSettings(full_scan_threshold=1000))
    for number in range(80 if larger == "many" else 2):
        coalescer.add(f"{number}.md", 0.0)
    if larger == "folder":
        coalescer.scan_folder("d", 0.0)
    elif larger == "all":
        coalescer.scan_all("start", 0.0)
    elif larger == "rules":
        coalescer.add_control(".indexerignore", 0.0)
    saved = [f"{number}.md" for number in range(80 if larger == "many" else 2)]
    assert coalescer.pop_batch(60.0) == (set() if larger == "rules" else set(saved[-64:]))
    assert coalescer.pending
    left = coalescer.take(60.0)
    assert left is not None
    assert left.scan_all or left.scan_folders or left.control or left.dirty == set(saved[:16])


def test_a_scan_of_all_swallows_the_rest_and_keeps_every_reason() -> None:
    coalescer = filled("a.md")
    coalescer.scan_folder("d", 0.1)
    coalescer.scan_all("overflow", 0.2)
    coalescer.scan_all("clock", 0.3)
    coalescer.add("b.md", 0.4)
    batch = coalescer.take(1.0)
    assert batch == Batch(scan_all=True, control=CONTROL_FILES, reason="overflow; clock")


def test_flush_makes_only_what_waits_due() -> None:
    coalescer = filled("a.md")
    coalescer.flush()
    assert coalescer.take(0.0) is not None
    coalescer.flush()
    assert coalescer.take(0.1) is None
    coalescer.add("b.md", 0.2)
    assert coalescer.take(0.2) is None
    assert coalescer.take(0.7) is not None


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "folder", "all", "control"]),
        st.sampled_from(["a.md", "d/1.md", "d/2.md", "d/3.md", "d/4.md", "e/f/g.md", "x", "y", "z", "q"]),
        st.floats(0.0, 3.0),
    ),
    max_size=40,
)


@given(STEPS)
def test_no_hint_is_lost_and_none_is_early_or_later_than_allowed(steps: list[tuple[str, str, float]]) -> None:
    coalescer, now = Coalescer(SETTINGS), 0.0
    waiting: dict[str, float] = {}

    def check(batch: Batch | None) -> None:
        if batch is None:
            assert all(now < first + SETTINGS.max_wait_s for first in waiting.values())
            return
        covered = {
            path
            for path in waiting
            if batch.scan_all
            or path in batch.scope | batch.control
            or any(path.startswith(f"{folder}/") for folder in batch.scan_folders)
        }
        assert covered == set(waiting)
        waiting.clear()

    for kind, path, pause in steps:
        now += pause
        check(coalescer.take(now))
        if kind == "add":
            coalescer.add(path, now)
        elif kind == "folder":
            coalescer.scan_folder(path, now)
        elif kind == "control":
            coalescer.add_control(path, now)
        else:
            coalescer.scan_all("why", now)
        waiting.setdefault(path, now)
        assert coalescer.take(now) is None or waiting[path] < now
    now += SETTINGS.max_wait_s
    check(coalescer.take(now))
    assert coalescer.due() is None


def of(*paths: str) -> Batch:
    return Batch(dirty=frozenset(paths), reason="files changed")


def all_because(reason: str) -> Batch:
    return Batch(scan_all=True, control=CONTROL_FILES, reason=reason)


IN_A_FOLDER = [f"d/{number}.md" for number in range(4)]
FOLDER = Batch(scan_folders=frozenset({"d"}), reason="files changed")
FOLDERS = [f"{number}" for number in range(9)]
APART = [f"{folder}/x.md" for folder in FOLDERS]


@pytest.mark.parametrize(
    ("files", "folders", "batch"),
    [
        (IN_A_FOLDER[:3], [], of(*IN_A_FOLDER[:3])),
        (IN_A_FOLDER, [], FOLDER),
        ([*IN_A_FOLDER, "e/1.md"], [], replace(FOLDER, dirty=frozenset({"e/1.md"}))),
        ([*IN_A_FOLDER, "d/e/1.md"], [], replace(FOLDER, dirty=frozenset({"d/e/1.md"}))),
        (["1.md", "2.md", "3.md", "4.md"], [], all_because("many files changed")),
        (APART[:8], [], of(*APART[:8])),
        (APART, [], all_because("more than 8 files changed")),
        ([], FOLDERS[:8], Batch(scan_folders=frozenset(FOLDERS[:8]), reason="files changed")),
        ([], FOLDERS, all_because("more than 8 folders changed")),
        ([], [""], all_because("many files changed")),
    ],
)
def test_many_in_a_folder_are_the_folder_and_many_at_the_root_or_everywhere_are_all(
    files: list[str], folders: list[str], batch: Batch
) -> None:
    coalescer = filled(*files)
    for folder in folders:
        coalescer.scan_folder(folder, 0.0)
    taken = coalescer.take(1.0)
    assert taken == batch
    assert taken.scope == ({""} if batch.scan_all else batch.dirty | batch.scan_folders)


def test_rules_are_told_with_whatever_else_changed() -> None:
    coalescer = filled("a.md")
    coalescer.add_control(".indexer.toml", 0.2)
    assert (coalescer.pending, coalescer.due()) == (2, 0.7)
    batch = coalescer.take(0.7)
    assert batch == Batch(
        dirty=frozenset({"a.md"}), control=frozenset({".indexer.toml"}), reason="files changed"
    )
    assert batch.first == frozenset()


@pytest.mark.parametrize("count", [64, 65])
def test_of_more_than_64_files_the_last_64_are_first(count: int) -> None:
    coalescer = Coalescer(WatchSettings(folder_scan_threshold=1000, full_scan_threshold=1000))
    for number in range(count):
        coalescer.add(f"{number}.md", 0.0)
    batch = coalescer.take(60.0)
    assert batch is not None
    assert batch.first == (frozenset() if count == 64 else {f"{number}.md" for number in range(1, 65)})
    assert len(batch.dirty) == count


def test_what_was_saved_last_is_indexed_first() -> None:
    coalescer = Coalescer(WatchSettings(full_scan_threshold=1000))
    for number in (*range(65), 1, 65):
        coalescer.add(f"{number}.md", 0.0)
    coalescer.scan_all("a folder was moved", 0.2)
    batch = coalescer.take(5.0)
    assert batch is not None
    assert batch.first == {f"{number}.md" for number in (1, *range(3, 66))}


def test_saves_that_are_taken_before_the_rest_leave_it_waiting() -> None:
    coalescer = filled("a.md")
    coalescer.add("b.md", 0.3)
    assert coalescer.pop_batch(0.4) == frozenset()
    assert coalescer.pop_batch(0.5) == {"a.md"}
    assert (coalescer.pending, coalescer.due()) == (1, 0.8)
    coalescer.scan_folder("d", 0.4)
    assert coalescer.pop_batch(0.8) == {"b.md"}
    assert coalescer.pending == 1
    assert coalescer.take(0.9) == Batch(scan_folders=frozenset({"d"}), reason="files changed")
    coalescer.scan_all("why", 1.0)
    coalescer.add("c.md", 1.0)
    assert coalescer.pop_batch(1.5) == {"c.md"}
    assert coalescer.pending == 1
    assert coalescer.take(9.0) == Batch(scan_all=True, control=CONTROL_FILES, reason="why")


def test_a_storm_gives_way_to_saves_once_a_second() -> None:
    coalescer = Coalescer(SETTINGS)
    coalescer.scan_all("storm", 0.0)
    coalescer.add("a.md", 0.0)
    assert coalescer.take_early(1.9) is None
    assert coalescer.take_early(2.0) == Batch(dirty=frozenset({"a.md"}), reason="files changed")
    coalescer.add("b.md", 2.1)
    coalescer.scan_all("storm", 2.6)
    assert coalescer.take_early(2.9) is None
    assert coalescer.take_early(3.0) == Batch(dirty=frozenset({"b.md"}), reason="files changed")
    assert coalescer.take_early(9.0) is None, "no save waits"
    coalescer.add_control(".indexerignore", 9.0)
    coalescer.add("c.md", 9.0)
    assert coalescer.take_early(12.0) is None, "rules may exclude it"
    assert Coalescer(SETTINGS).take_early(99.0) is None
