"""What the watcher does by the clock, with clocks, mounts and sources of the test's choice: no waiting."""

from collections.abc import Callable
from pathlib import Path
from typing import Self

import pytest
from golden_cases import check_golden

from vault_indexer.config.settings import FilesSettings, WatchSettings
from vault_indexer.vault import CONTROL_FILES, IgnoreRules, load_ignore_rules
from vault_indexer.vault.dirty import Batch, DirtySet
from vault_indexer.vault.watch import Sink, SystemHooks, VaultWatcher, WatchMode


class Quiet:
    """A source with nothing to tell; it fails to start where it is told to."""

    def __init__(self, error: OSError | None) -> None:
        self.error = error
        self.stops = 0
        self.reason = ""

    def start(self) -> None:
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        self.stops += 1

    def fault(self) -> str:
        return self.reason


class World:
    """A watcher whose clocks, mounts and sources are the test's."""

    def __init__(self, vault: Path, settings: WatchSettings | None = None, mounts: str = "") -> None:
        self.now, self.wall = 1000.0, 5000.0
        self.error: OSError | None = None
        self.opened: list[Quiet] = []
        self.given: list[tuple[Path, object, object]] = []
        hooks = SystemHooks(lambda: self.now, lambda: self.wall, lambda: 7, lambda: mounts, self._open)
        self.settings = settings or WatchSettings()
        self.dirty = DirtySet(self.settings, lambda: self.now)
        self.watcher = VaultWatcher(vault, IgnoreRules(), self.settings, hooks, self.dirty)

    def _open(self, vault: Path, rules: object, sink: Sink, limit: Callable[[], int | None]) -> Quiet:
        self.sink = sink
        self.given.append((vault, rules, limit()))
        self.opened.append(Quiet(self.error))
        return self.opened[-1]

    def start(self) -> Self:
        self.watcher.start()
        assert (self.watcher.next_batch(0.0) or Batch()).reason.endswith("start")
        return self

    def after(self, seconds: float, wall: float | None = None) -> Batch | None:
        self.now += seconds
        self.wall += seconds if wall is None else wall
        return self.watcher.next_batch(0.0)


def test_how_changes_are_noticed_is_told(tmp_path: Path) -> None:
    world = World(tmp_path)
    assert world.watcher.mode == WatchMode("stopped", "")
    assert world.watcher.next_batch(60.0) is None, "it does not run"
    world.start()
    assert world.watcher.mode == WatchMode("native", "")
    ((vault, _, limit),) = world.given
    assert (vault, limit) == (tmp_path.resolve(), 7)
    world.watcher.stop()
    assert world.watcher.mode == WatchMode("stopped", "")
    assert world.opened[0].stops == 1
    assert world.watcher.next_batch(60.0) is None


def test_a_vault_that_cannot_be_watched_is_polled_with_the_reason(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.error = OSError(28, "no space left")
    world.start()
    assert world.watcher.mode == WatchMode("poll", "the system cannot watch the vault: no space left")
    world.error = OSError("odd")
    world.watcher.use_rules(IgnoreRules())
    assert world.watcher.mode == WatchMode("poll", "the system cannot watch the vault: odd")
    missing = World(tmp_path / "none").start()
    assert (missing.watcher.mode, missing.opened) == (WatchMode("native", "the vault is not there"), [])


def test_a_vault_that_goes_and_comes_back_is_looked_at_both_times(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    world = World(vault).start()
    vault.rmdir()
    assert world.after(0.9) is None, "it is looked at once a second"
    assert world.after(0.1) is None
    assert world.after(1.0) == all_because("the vault's folder is gone")
    assert world.watcher.mode.reason == "the vault is not there"
    assert world.opened[0].stops == 1
    vault.mkdir()
    world.after(1.0)
    assert (world.after(1.0) or Batch()).reason == "the vault's folder is new"
    assert len(world.opened) == 2
    assert world.after(5.0) is None


@pytest.mark.parametrize("tells", [True, False])
def test_a_source_with_a_fault_is_replaced_at_once_where_it_tells_and_else_soon(
    tmp_path: Path, tells: bool
) -> None:
    world = World(tmp_path).start()
    world.opened[0].reason = "overflow"
    if tells:
        world.sink.events_lost("overflow")
    assert world.after(0.0 if tells else 1.5) is None
    world.watcher.flush()
    batch = world.after(0.0) or Batch()
    assert (batch.scan_all, batch.reason, len(world.opened)) == (True, "overflow", 2)


def test_new_rules_reach_the_source_and_everything_is_looked_at(tmp_path: Path) -> None:
    world = World(tmp_path)
    rules = IgnoreRules(fingerprint="new")
    world.watcher.use_rules(rules)
    assert world.opened == [], "it does not run yet"
    world.start()
    newer = IgnoreRules(fingerprint="newer")
    world.watcher.use_rules(newer)
    assert [given[1] for given in world.given] == [rules, newer]
    assert world.after(0.0) == all_because("the rules changed")


@pytest.mark.parametrize(("scan_s", "interval"), [(0.0, 100), (10.0, 100), (20.0, 200)])
def test_polling_takes_a_tenth_of_the_time_at_most(tmp_path: Path, scan_s: float, interval: float) -> None:
    world = World(tmp_path, WatchSettings(mode="poll", poll_s=100, rescan_s=3600)).start()
    world.watcher.record_scan_time(scan_s)
    assert world.after(interval - 1.5) is None
    assert (world.after(1.5) or Batch()).reason == "poll"


def all_because(reason: str) -> Batch:
    return Batch(scan_all=True, control=CONTROL_FILES, reason=reason)


def test_what_the_rules_do_not_ignore_becomes_a_hint(tmp_path: Path) -> None:
    def batch_of(told: str) -> str:
        world = World(tmp_path).start()
        method, path = told.split()
        getattr(world.sink, method)(path)
        batch = world.after(0.5)
        if batch is None:
            return "nothing"
        parts = {"files": batch.dirty, "folders": batch.scan_folders, "rules": batch.control}
        said = [f"{name} {' '.join(sorted(paths))}" for name, paths in parts.items() if paths]
        return ", ".join(["everything"] * batch.scan_all + said) + f": {batch.reason}"

    check_golden(Path(__file__).parent / "fixtures" / "hints.md", {"": batch_of})


def test_a_pattern_for_folders_silences_folders_and_no_file_of_that_name(tmp_path: Path) -> None:
    world = World(tmp_path)
    (tmp_path / ".indexerignore").write_text("Drafts/\n")
    world.watcher.use_rules(load_ignore_rules(tmp_path, FilesSettings()))
    world.start()
    world.sink.folder_appeared("Drafts")
    world.sink.folder_gone("Drafts")
    world.sink.file_changed("Drafts/a.md")
    assert world.watcher.pending == 0
    world.sink.file_changed("Drafts")
    assert world.after(0.5) == Batch(dirty=frozenset({"Drafts"}), reason="files changed")


def test_nothing_happens_by_itself_until_the_regular_check(tmp_path: Path) -> None:
    world = World(tmp_path, WatchSettings(rescan_s=100)).start()
    for _ in range(9):
        assert world.after(11) is None
    assert world.after(2) is None  # the debounce begins
    assert world.after(2) == all_because("regular check")
    assert len(world.opened) == 2, "the watches are set again too"
    assert world.after(50) is None


def test_a_suspended_machine_scans_all(tmp_path: Path) -> None:
    world = World(tmp_path).start()
    assert world.after(2, wall=31) is None
    assert world.after(2, wall=33) is None  # it has seen the jump; the debounce begins
    assert world.after(2) == all_because("the clock jumped")
    assert world.after(2, wall=-40) is None
    assert (world.after(2) or Batch()).reason == "the clock jumped"
    assert world.after(9) is None


def test_a_network_file_system_is_polled_unless_told_otherwise(tmp_path: Path) -> None:
    mounts = f"/dev/sda1 / ext4 rw 0 0\nnas:/export {tmp_path} nfs4 rw 0 0\n"
    world = World(tmp_path, mounts=mounts).start()
    assert world.watcher.mode.name == "poll"
    assert "nfs4" in world.watcher.mode.reason
    assert World(tmp_path, WatchSettings(mode="native"), mounts).start().watcher.mode.name == "native"


def test_a_batch_counts_until_it_was_read(tmp_path: Path) -> None:
    world = World(tmp_path).start()
    watcher, dirty = world.watcher, world.dirty
    with dirty.reading(frozenset({""})):
        assert len(dirty) == 1
    assert len(dirty) == 0
    world.sink.file_changed("a.md")
    assert (watcher.pending, len(dirty)) == (1, 1)
    watcher.flush()
    batch = watcher.next_batch(0.0) or Batch()
    assert (watcher.pending, len(dirty)) == (0, 1)
    with dirty.reading(batch.scope):
        assert len(dirty) == 1
        world.sink.file_changed("a.md")
        assert (watcher.pending, len(dirty)) == (1, 2)
    assert len(dirty) == 1, "it was saved again while it was read"
