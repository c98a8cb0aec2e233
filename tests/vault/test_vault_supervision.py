"""What the watcher does by the clock, with clocks and file systems of the test's choice: no waiting."""

from pathlib import Path

from vault_indexer.config.settings import WatchSettings
from vault_indexer.vault import Batch, DirtySet, IgnoreRules, SystemHooks, VaultWatcher
from vault_indexer.vault.sources import Sink


class QuietSource:
    """A source that never has anything to tell; written once for all tests of supervision."""

    def __init__(self) -> None:
        self.dead = False

    def start(self) -> None:
        return

    def stop(self) -> None:
        return

    def fault(self) -> str:
        return "the watching thread has ended" if self.dead else ""


class World:
    """Clocks that stand still until moved, and the sources that were opened."""

    def __init__(
        self, vault: Path, settings: WatchSettings, mounts: str = "", dirty: DirtySet | None = None
    ) -> None:
        self.now = 1000.0
        self.wall = 5000.0
        self.opened: list[QuietSource] = []
        hooks = SystemHooks(
            monotonic=lambda: self.now, wall=lambda: self.wall, mounts=lambda: mounts, source=self._open
        )
        self.watcher = VaultWatcher(vault, IgnoreRules(), settings, hooks, dirty)
        self.watcher.start()
        first = self.watcher.next_batch(0.0)
        assert first is not None
        assert first.reason == "start"

    def _open(self, _vault: Path, _rules: object, sink: Sink, _limit: object) -> QuietSource:
        self.sink = sink
        self.opened.append(QuietSource())
        return self.opened[-1]

    def after(self, seconds: float, wall: float | None = None) -> Batch | None:
        self.now += seconds
        self.wall += seconds if wall is None else wall
        return self.watcher.next_batch(0.0)


def test_nothing_happens_by_itself_until_the_regular_check(tmp_path: Path) -> None:
    world = World(tmp_path, WatchSettings(rescan_s=100))
    for _ in range(9):
        assert world.after(11) is None
    assert world.after(2) is None  # the debounce begins
    batch = world.after(2)
    assert batch is not None
    assert (batch.scan_all, batch.reason) == (True, "regular check")
    assert len(world.opened) == 2, "the watches are set again too"
    assert world.after(50) is None


def test_a_suspended_machine_scans_all(tmp_path: Path) -> None:
    world = World(tmp_path, WatchSettings())
    assert world.after(2, wall=31) is None
    assert world.after(2, wall=33) is None  # it has seen the jump; the debounce begins
    batch = world.after(2)
    assert batch is not None
    assert (batch.scan_all, batch.reason) == (True, "the clock jumped")
    assert world.after(2, wall=-40) is None
    assert (world.after(2) or Batch()).reason == "the clock jumped"
    assert world.after(9) is None


def test_a_dead_source_is_replaced(tmp_path: Path) -> None:
    world = World(tmp_path, WatchSettings())
    world.opened[0].dead = True
    assert world.after(1.5) is None
    assert (world.after(1) or Batch()).reason == "the watching thread has ended"
    assert len(world.opened) == 2


def test_a_network_file_system_is_polled_unless_told_otherwise(tmp_path: Path) -> None:
    mounts = f"/dev/sda1 / ext4 rw 0 0\nnas:/export {tmp_path} nfs4 rw 0 0\n"
    world = World(tmp_path, WatchSettings(), mounts)
    assert world.watcher.mode.name == "poll"
    assert "nfs4" in world.watcher.mode.reason
    assert World(tmp_path, WatchSettings(mode="native"), mounts).watcher.mode.name == "native"


def test_polling_tries_to_watch_again(tmp_path: Path) -> None:
    world = World(tmp_path, WatchSettings(mode="poll", poll_s=30, rescan_s=100))
    for _ in range(12):
        world.after(10)
    assert world.watcher.mode.name == "poll"
    assert world.watcher.mode.reason == "watch.mode is poll"


def test_a_batch_counts_until_it_was_read(tmp_path: Path) -> None:
    dirty = DirtySet(WatchSettings())
    world = World(tmp_path, WatchSettings(), dirty=dirty)
    watcher = world.watcher
    with dirty.reading(frozenset({""})):
        assert len(dirty) == 1
    assert len(dirty) == 0
    world.sink.file_changed("a.md")
    assert (watcher.pending, len(dirty)) == (1, 1)
    watcher.flush()
    batch = watcher.next_batch(0.0)
    assert batch is not None
    assert (watcher.pending, len(dirty)) == (0, 1)
    with dirty.reading(batch.scope):
        assert len(dirty) == 1
        world.sink.file_changed("a.md")
        assert (watcher.pending, len(dirty)) == (1, 2)
    assert len(dirty) == 1, "it was saved again while it was read"


def test_flush_and_request_scan_do_not_wait(tmp_path: Path) -> None:
    world = World(tmp_path, WatchSettings())
    world.sink.file_changed("a.md")
    assert world.watcher.next_batch(0.0) is None
    assert world.watcher.pending == 1
    world.watcher.flush()
    assert (world.watcher.next_batch(0.0) or Batch()).dirty == {"a.md"}
    world.watcher.request_scan("asked")
    assert (world.watcher.next_batch(0.0) or Batch()).reason == "asked"
