"""Whatever is saved, read, fails or vanishes, in any order: an empty dirty set means that all was read."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from vault_indexer.config.settings import WatchSettings
from vault_indexer.vault.dirty import DirtySet

SETTINGS = WatchSettings(debounce_s=0.5, folder_scan_threshold=3, full_scan_threshold=5)
PATHS = tuple(f"{folder}{name}.md" for folder in ("", "d/") for name in "abcde")
SOON_S = 5.0
paths = st.sampled_from(PATHS)


class Vault:
    """The naive model: how often each file changed, and how often it had when it was last read."""

    def __init__(self) -> None:
        self.now = 0.0
        self.saved = dict.fromkeys(PATHS, 0)
        self.indexed = dict.fromkeys(PATHS, 0)
        self.poison: set[str] = set()
        self.is_down = False
        self.dirty = DirtySet(SETTINGS, lambda: self.now)

    def save(self, path: str) -> None:
        self.saved[path] += 1
        self.dirty.hear(path, self.now)

    def within(self, scope: frozenset[str]) -> list[str]:
        return [
            path for path in PATHS if any(part in ("", path) or fnmatch(path, f"{part}/*") for part in scope)
        ]

    @contextmanager
    def reading(self, scope: frozenset[str]) -> Iterator[None]:
        """What happens within it, happens after the files were looked at."""
        seen = {path: self.saved[path] for path in self.within(scope)}
        work = {path for path, times in seen.items() if times != self.indexed[path]}
        try:
            with self.dirty.reading(scope) as reading:
                reading.found(work, len(work))
                yield
                if (self.is_down and scope) or work & self.poison:
                    raise OSError
                self.indexed |= {path: max(times, self.indexed[path]) for path, times in seen.items()}
                reading.changed = bool(work)
        except OSError:
            assert len(self.dirty)

    @property
    def unread(self) -> set[str]:
        return {path for path in PATHS if self.indexed[path] != self.saved[path]}


class DirtyMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.vault = Vault()
        self.hostile: set[str] = set()

    @rule(path=paths, wait=st.sampled_from((0.0, 1.0, 10.0)))
    def save(self, path: str, wait: float) -> None:
        self.vault.save(path)
        self.vault.now += wait

    @rule(saved=st.sets(paths))
    def save_many(self, saved: set[str]) -> None:
        for path in saved:
            self.vault.save(path)

    @rule(folder=st.sampled_from(("", "d")))
    def hear(self, folder: str) -> None:
        if folder:
            self.vault.dirty.hear_folder(folder, self.vault.now)
        else:
            self.vault.dirty.hear_all("a test", self.vault.now)

    @rule(poison=st.sets(paths, max_size=2), is_down=st.booleans())
    def let_fail(self, poison: set[str], is_down: bool) -> None:
        self.hostile |= poison
        self._go_down(is_down=is_down)
        self.vault.poison = poison

    def _go_down(self, *, is_down: bool) -> None:
        """What fails again after others have succeeded seems to fail by itself."""
        if is_down and self.vault.dirty.failed:
            self.hostile |= {*PATHS}
        self.vault.is_down = is_down

    @rule(held=st.sets(paths, min_size=1, max_size=2))
    def hold(self, held: set[str]) -> None:
        """A look finds that these have vanished."""
        with self.vault.reading(frozenset(held)):
            for path in held:
                self.vault.saved[path] += 1
            self.vault.dirty.hold(held)

    @rule(nested=st.lists(st.sets(paths, max_size=3), max_size=2), down=st.booleans())
    def read(self, nested: list[set[str]], down: bool) -> None:
        """What is due, with saves meanwhile, of which the last are read before the rest is indexed."""
        vault = self.vault
        scope = vault.dirty.take_held()
        if not scope:
            batch = vault.dirty.take(vault.now)
            scope = batch.scope if batch is not None else vault.dirty.take_failed() or frozenset()
        with vault.reading(scope):
            before = vault.is_down
            for few in nested:
                for path in few:
                    vault.save(path)
                vault.now += 1.0
                self._go_down(is_down=down)
                with vault.reading(vault.dirty.pop_batch(vault.now)):
                    pass
            self._go_down(is_down=before)

    @rule()
    def fail_before_reading(self) -> None:
        if self.vault.dirty.take(self.vault.now) is not None:
            self.vault.dirty.fail_taken()

    @precondition(lambda self: len(self.vault.dirty) > 0)
    @rule()
    def mend_and_succeed(self) -> None:
        """The first success is enough for all that did not fail by itself; the rest takes a minute more."""
        vault = self.vault
        vault.poison, vault.is_down = set(), False
        vault.save("a.md")
        self._read_all(SOON_S)
        assert vault.unread <= self.hostile
        self._read_all(60.0)
        assert vault.unread == set()
        assert len(vault.dirty) == 0
        self.hostile.clear()

    def _read_all(self, seconds: float) -> None:
        vault, end = self.vault, self.vault.now + seconds
        while vault.now < end and len(vault.dirty):
            vault.now += 0.5
            batch = vault.dirty.take(vault.now)
            scopes = (batch.scope if batch else None, vault.dirty.take_held(), vault.dirty.take_failed())
            for scope in filter(None, scopes):
                with vault.reading(scope):
                    pass

    @invariant()
    def where_it_is_empty_all_was_read(self) -> None:
        assert len(self.vault.dirty) or not self.vault.unread


def test_an_empty_set_means_that_all_was_read() -> None:
    machine = DirtyMachine
    machine.TestCase.settings = settings(max_examples=2 * settings().max_examples, stateful_step_count=30)
    machine.TestCase("runTest").debug()


def test_what_fails_within_a_reading_of_all_stays() -> None:
    vault = Vault()
    with vault.reading(frozenset({""})):
        vault.save("a.md")
        vault.now += 1.0
        vault.poison = {"a.md"}
        with vault.reading(vault.dirty.pop_batch(vault.now)):
            pass
        vault.poison = set()
    assert vault.unread == {"a.md"}
    assert len(vault.dirty) == 1


def test_of_a_scan_that_fails_only_what_differs_is_tried_again() -> None:
    vault = Vault()
    vault.poison = {"b.md"}
    vault.saved["b.md"] += 1
    with vault.reading(frozenset({""})):
        pass
    assert len(vault.dirty) == 1
    vault.now += SOON_S
    assert vault.dirty.take_failed() == frozenset({"b.md"})


def test_a_scan_that_was_asked_for_is_done_once_all_that_failed_is_indexed() -> None:
    vault = Vault()
    vault.save("a.md")
    first = vault.dirty.hear_all("a test", vault.now)
    vault.dirty.flush()

    def is_done(number: int) -> bool:
        return vault.dirty.wait_for_scan(number, 0.0, lambda: False)

    batch = vault.dirty.take(vault.now)
    assert batch is not None
    vault.is_down = True
    with vault.reading(batch.scope):
        second = vault.dirty.hear_all("asked while it runs", vault.now)
    assert not is_done(first)
    vault.is_down = False
    vault.now += SOON_S
    with vault.reading(vault.dirty.take_failed() or frozenset()):
        pass
    assert (is_done(first), is_done(second)) == (True, False)


@pytest.mark.parametrize("unreadable", [True, False])
def test_a_vault_that_cannot_be_read_stays_in_the_set(unreadable: bool) -> None:
    dirty = DirtySet(SETTINGS)
    with dirty.reading(frozenset({""})) as reading:
        reading.unreadable = unreadable
    assert len(dirty) == unreadable


def test_only_a_reading_that_has_indexed_something_lets_all_that_failed_be_tried_again() -> None:
    dirty = DirtySet(SETTINGS, lambda: 0.0)
    with pytest.raises(OSError, match="down"), dirty.reading(frozenset({"a.md"})):
        raise OSError("down")
    with dirty.reading(frozenset({"b.md"})):
        pass
    assert dirty.take_failed() is None
    with dirty.reading(frozenset({"b.md"})) as reading:
        reading.changed = True
    assert dirty.take_failed() == frozenset({"a.md"})


def test_a_reading_that_fails_says_of_what_it_looked_at_which_is_as_it_is_indexed() -> None:
    dirty = DirtySet(SETTINGS, lambda: 0.0)

    def fail(scope: set[str], *work: str) -> None:
        with pytest.raises(OSError, match="down"), dirty.reading(frozenset(scope)) as reading:
            reading.found(work, len(work))
            raise OSError("down")

    fail({"a", "b"}, "a", "b")
    assert (dirty.failed, len(dirty)) == (2, 2)
    fail({"a", "b", "c"}, "a")
    assert dirty.failed == 1, "the other two are as they are indexed"
    fail({"c", "d"})
    assert dirty.failed == 3, "nobody knows which of these differ"
    with dirty.reading(frozenset({"c"})):
        pass
    assert dirty.failed == 2


def test_changes_are_counted_from_the_hint_to_the_end_of_the_reading() -> None:
    now = [0.0]
    dirty = DirtySet(SETTINGS, lambda: now[0])
    assert (len(dirty), dirty.waiting, dirty.left, dirty.due()) == (0, 0, 0, None)
    dirty.hear("a.md", 0.0)
    dirty.hear_control(".indexerignore", 0.0)
    dirty.hear_folder("d", 0.0)
    assert (len(dirty), dirty.waiting, dirty.due()) == (3, 3, 0.5)
    batch = dirty.take(0.5)
    assert batch is not None
    assert batch.scope == {"a.md", "d"}
    assert (len(dirty), dirty.waiting) == (2, 0)
    with dirty.reading(batch.scope) as reading:
        assert (reading.size, len(dirty), dirty.left) == (2, 2, 2)
        reading.found(["a.md", "d/1.md", "d/2.md"], 3)
        assert (reading.size, len(dirty), dirty.left) == (3, 3, 3)
        reading.left = 0
        assert (reading.size, len(dirty), dirty.left) == (1, 1, 0)
    assert len(dirty) == 0
    with dirty.reading(frozenset({""})) as reading:
        assert (reading.size, len(dirty), dirty.left) == (1, 1, 0), "a scan that may find nothing"
    dirty.hold(["x", "y"])
    assert (len(dirty), dirty.held, dirty.next_held()) == (2, 2, SETTINGS.delete_hold_s)
    dirty.drop_held(["y", "z"])
    assert dirty.take_held() == frozenset()
    now[0] = 1.0
    dirty.hold(["x"])
    assert dirty.next_held() == SETTINGS.delete_hold_s, "of two reports the first counts"
    now[0] = SETTINGS.delete_hold_s
    assert dirty.take_held() == {"x"}
    assert (len(dirty), dirty.held, dirty.next_held()) == (1, 0, None)
    dirty.fail_taken()
    assert (len(dirty), dirty.failed) == (1, 1)
    with dirty.reading(frozenset({"x"})) as reading:
        assert reading.retried == 1
        assert len(dirty) == 1, "it counts once"
    assert len(dirty) == 0
    dirty.fail_taken()
    assert (len(dirty), dirty.failed) == (1, 1), "nobody knows what is wrong: everything is read"
    dirty.fail_taken()
    assert len(dirty) == 1
    now[0] += SOON_S
    assert dirty.take_failed() == frozenset({""})


def test_scans_have_numbers_and_those_before_are_done_with_the_last() -> None:
    dirty = DirtySet(SETTINGS)
    first, second = dirty.hear_all("one", 0.0), dirty.hear_all("two", 0.0)
    assert (first, second) == (1, 2)
    dirty.flush()
    batch = dirty.take(0.0)
    assert batch is not None
    with dirty.reading(batch.scope):
        third = dirty.hear_all("three", 0.0)
        assert not dirty.wait_for_scan(first, 0.0, lambda: False)
    assert dirty.wait_for_scan(second, 0.0, lambda: False)
    assert not dirty.wait_for_scan(third, 60.0, lambda: True), "given up"
    with dirty.reading(frozenset({"a.md"})):
        pass
    assert not dirty.wait_for_scan(third, 0.0, lambda: False), "that was another reading"


def taken_scan(dirty: DirtySet) -> tuple[int, frozenset[str]]:
    """The number of a scan that somebody waits for, and what to read for it."""
    number = dirty.hear_all("asked", 0.0)
    batch = dirty.take(99.0)
    assert batch is not None
    return number, batch.scope


def test_who_waits_for_a_scan_waits_for_the_deletions_it_found() -> None:
    now = [0.0]
    dirty = DirtySet(SETTINGS, lambda: now[0])
    number, scope = taken_scan(dirty)

    def is_done() -> bool:
        return dirty.wait_for_scan(number, 0.0, lambda: True)

    with dirty.reading(scope):
        dirty.hold(["a.md", "b.md"])
    assert not is_done()
    dirty.drop_held(["b.md"])
    now[0] = SETTINGS.delete_hold_s
    due = dirty.take_held()
    assert not is_done(), "it is taken"
    with pytest.raises(OSError, match="full"), dirty.reading(due) as reading:
        assert not is_done(), "it is being carried out"
        reading.found(due, 0)
        raise OSError("the disk is full")
    now[0] = 99.0
    dirty.hold(["c.md"])
    with dirty.reading(dirty.take_failed() or frozenset()):
        dirty.drop_held(["c.md"])
    assert is_done()


def test_a_vault_that_cannot_be_read_is_an_answer_too() -> None:
    dirty = DirtySet(SETTINGS)
    number, scope = taken_scan(dirty)
    with dirty.reading(scope) as reading:
        reading.unreadable = True
    assert dirty.wait_for_scan(number, 0.0, lambda: True)


def test_who_waits_is_woken_by_the_first_hint_and_at_the_end_of_a_reading() -> None:
    dirty = DirtySet(SETTINGS)
    woken: list[str] = []

    def wakes(what: str, act: Callable[[], object]) -> None:
        ready, done = threading.Event(), threading.Event()

        def wait() -> None:
            with dirty.news:
                ready.set()
                if dirty.news.wait(60):
                    woken.append(what)
            done.set()

        threading.Thread(target=wait, daemon=True).start()
        assert ready.wait(60)
        with dirty.news:
            act()
        assert done.wait(60)

    def read() -> None:
        with dirty.reading(frozenset({"a"})):
            pass

    acts: dict[str, Callable[[], object]] = {
        "hint": lambda: dirty.hear("a", 0.0),
        "rules": lambda: dirty.hear_control(".indexerignore", 0.0),
        "folder": lambda: dirty.hear_folder("d", 0.0),
        "all": lambda: dirty.hear_all("why", 0.0),
        "flush": dirty.flush,
        "read": read,
        "wake": dirty.wake,
    }
    for what, act in acts.items():
        wakes(what, act)
    assert woken == list(acts)
