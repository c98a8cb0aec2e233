"""What a dirty set counts, step by step: failures, deletions, and the scan that somebody waits for."""

import pytest

from vault_indexer.config.settings import WatchSettings
from vault_indexer.vault.dirty import DirtySet

SETTINGS = WatchSettings(debounce_s=0.5, folder_scan_threshold=3, full_scan_threshold=5, delete_hold_s=2.0)
WHOLE = frozenset({""})


class Kept:
    """A dirty set at a time that a test says."""

    def __init__(self) -> None:
        self.now = 0.0
        self.dirty = DirtySet(SETTINGS, lambda: self.now)

    @property
    def counts(self) -> dict[str, int]:
        """All that are not 0."""
        dirty = self.dirty
        found = {"all": len(dirty), "waiting": dirty.waiting, "left": dirty.left, "failed": dirty.failed}
        return {name: number for name, number in {**found, "held": dirty.held}.items() if number}


@pytest.fixture
def kept() -> Kept:
    return Kept()


def test_a_reading_that_fails_leaves_what_had_work(kept: Kept) -> None:
    dirty = kept.dirty
    with pytest.raises(OSError, match="full"), dirty.reading(frozenset({"a.md", "b.md"})) as reading:
        reading.found({"a.md"}, 1)
        raise OSError("the disk is full")
    assert kept.counts == {"all": 1, "failed": 1}
    with pytest.raises(OSError, match="full"), dirty.reading(frozenset({"c.md", "d.md"})):
        raise OSError("the disk is full")
    assert kept.counts == {"all": 3, "failed": 3}
    assert dirty.take_failed() is None
    kept.now = 3.0
    assert dirty.take_failed() == frozenset({"a.md"})
    with dirty.reading(frozenset({"a.md"})) as reading:
        assert kept.counts == {"all": 3, "failed": 3}, "what is tried again counts once"
        reading.found({"a.md"}, 1)
        reading.changed = True
    assert kept.counts == {"all": 2, "failed": 2}
    assert dirty.take_failed() == frozenset({"c.md", "d.md"}), "a success is a reason to try the others"


def test_what_fails_within_another_reading_is_still_to_be_done(kept: Kept) -> None:
    dirty = kept.dirty
    with dirty.reading(WHOLE) as reading:
        reading.found({"a.md", "b.md"}, 2)
        with pytest.raises(OSError, match="busy"), dirty.reading(frozenset({"a.md"})):
            raise OSError("busy")
        assert kept.counts == {"all": 3, "left": 2, "failed": 1}
    assert kept.counts == {"all": 1, "failed": 1}


def test_what_was_taken_and_not_read_has_failed(kept: Kept) -> None:
    dirty = kept.dirty
    dirty.hear("a.md", 0.0)
    dirty.take(0.5)
    dirty.fail_taken()
    assert kept.counts == {"all": 1, "failed": 1}
    dirty.fail_taken()
    kept.now = 3.0
    assert kept.counts == {"all": 1, "failed": 1}
    assert dirty.take_failed() == frozenset({"a.md"})
    other = Kept()
    other.dirty.fail_taken()
    other.now = 3.0
    assert other.dirty.take_failed() == WHOLE, "it is not known what is wrong"


def test_deletions_are_held_for_a_while(kept: Kept) -> None:
    dirty = kept.dirty
    assert dirty.next_held() is None
    dirty.hold(["a.md", "b.md", "c.md"])
    dirty.drop_held(["b.md", "c.md"])
    assert (kept.counts, dirty.next_held()) == ({"all": 1, "held": 1}, 2.0)
    kept.now = 1.9
    assert dirty.take_held() == frozenset()
    kept.now = 2.0
    assert dirty.take_held() == {"a.md"}
    assert kept.counts == {"all": 1}, "it is taken"
    with dirty.reading(frozenset({"a.md"})):
        pass
    assert kept.counts == {}


def test_the_files_saved_last_are_taken_while_others_are_read(kept: Kept) -> None:
    dirty = kept.dirty
    dirty.hear("a.md", 0.0)
    assert dirty.pop_batch(0.4) == frozenset()
    assert dirty.pop_batch(0.5) == {"a.md"}
    assert kept.counts == {"all": 1}


def test_what_somebody_waits_for_is_due_at_once(kept: Kept) -> None:
    kept.dirty.hear("a.md", 0.0)
    kept.dirty.flush()
    batch = kept.dirty.take(0.0)
    assert batch is not None and batch.scope == {"a.md"}


def waits(kept: Kept, number: int, *, gives_up: bool = True) -> bool:
    """Whether the index shows what this scan found."""
    return kept.dirty.wait_for_scan(number, 0.0, lambda: gives_up)


def test_who_waits_for_a_scan_waits_for_the_deletions_it_found(kept: Kept) -> None:
    dirty = kept.dirty
    number = dirty.hear_all("asked", 0.0)
    batch = dirty.take(99.0)
    assert batch is not None
    with dirty.reading(batch.scope):
        dirty.hold(["a.md", "b.md"])
    assert not waits(kept, number)
    dirty.drop_held(["b.md"])
    kept.now = 2.0
    due = dirty.take_held()
    assert not waits(kept, number), "it is taken"
    with pytest.raises(OSError, match="full"), dirty.reading(due) as reading:
        assert not waits(kept, number), "it is being carried out"
        reading.found(due, 0)
        raise OSError("the disk is full")
    kept.now = 99.0
    dirty.hold(["c.md"])
    with dirty.reading(dirty.take_failed() or frozenset()) as reading:
        dirty.drop_held(["c.md"])
    assert waits(kept, number)


def test_a_scan_is_not_done_while_anything_has_failed(kept: Kept) -> None:
    dirty = kept.dirty
    number = dirty.hear_all("asked", 0.0)
    batch = dirty.take(99.0)
    assert batch is not None
    with pytest.raises(OSError, match="full"), dirty.reading(batch.scope) as reading:
        reading.found({"a.md"}, 1)
        raise OSError("the disk is full")
    assert not waits(kept, number)
    with dirty.reading(frozenset({"a.md"})) as reading:
        reading.found({"a.md"}, 1)
    assert waits(kept, number)


def test_a_vault_that_cannot_be_read_is_an_answer_too(kept: Kept) -> None:
    number = kept.dirty.hear_all("asked", 0.0)
    batch = kept.dirty.take(99.0)
    assert batch is not None
    with kept.dirty.reading(batch.scope) as reading:
        reading.unreadable = True
    assert waits(kept, number)
