"""The table of measured watcher failures, row by row, with real files and the real watchdog."""

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from unprivileged import folder_of_a_plain_user, permissions_count
from waiting import DEADLINE_S as SOON

from vault_indexer.config.settings import FilesSettings, WatchSettings
from vault_indexer.model import SizeLimits
from vault_indexer.vault import CONTROL_FILES, Decision, IgnoreRules, load_ignore_rules, scan
from vault_indexer.vault.dirty import Batch
from vault_indexer.vault.ignore import PathRules
from vault_indexer.vault.watch import ObserverSource, Sink, Source, SystemHooks, VaultWatcher, native_source

QUICK = WatchSettings(debounce_s=0.1, max_wait_s=2.0)


def recursive_observer(
    root: Path, rules: PathRules, sink: Sink, watch_limit: Callable[[], int | None]
) -> Source:
    return ObserverSource(root, sink)


SOURCES = {"one watch a folder": native_source, "recursive observer": recursive_observer}


@contextmanager
def watching(
    vault: Path,
    *,
    rules: PathRules | None = None,
    settings: WatchSettings = QUICK,
    hooks: SystemHooks | None = None,
) -> Iterator[VaultWatcher]:
    """A running watcher whose first batch, the scan at the start, has been taken."""
    watcher = VaultWatcher(vault, rules or IgnoreRules(), settings, hooks)
    watcher.start()
    try:
        first = watcher.next_batch(SOON)
        assert first is not None
        assert (first.scan_all, first.reason) == (True, "start")
        yield watcher
    finally:
        watcher.stop()


@pytest.fixture(params=SOURCES)
def hooks(request: pytest.FixtureRequest) -> SystemHooks:
    return SystemHooks(source=SOURCES[request.param])


def until(watcher: VaultWatcher, condition: Callable[[Batch], bool]) -> list[Batch]:
    """All batches up to the first that meets the condition."""
    batches: list[Batch] = []
    deadline = time.monotonic() + SOON
    while time.monotonic() < deadline:
        batch = watcher.next_batch(deadline - time.monotonic())
        if batch is not None:
            batches.append(batch)
            if condition(batch):
                return batches
    raise AssertionError(f"not seen within {SOON} s; the batches were {batches}")


def tells_of(*paths: str) -> Callable[[Batch], bool]:
    return lambda batch: batch.scan_all or batch.scope >= set(paths)


def scan_because(reason: str) -> Callable[[Batch], bool]:
    return lambda batch: batch.scan_all and reason in batch.reason


def write(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_new_edited_and_deleted_notes_are_told(tmp_path: Path, hooks: SystemHooks) -> None:
    write(tmp_path / "d/old.md")
    with watching(tmp_path, hooks=hooks) as watcher:
        write(tmp_path / "new.md")
        assert until(watcher, tells_of("new.md"))[-1].dirty == {"new.md"}
        write(tmp_path / "d/old.md", "y")
        until(watcher, tells_of("d/old.md"))
        (tmp_path / "d/old.md").unlink()
        until(watcher, tells_of("d/old.md"))
        assert watcher.pending == 0


def test_saving_like_vim_is_one_batch_of_the_note(tmp_path: Path, hooks: SystemHooks) -> None:
    """moved to `~`, created, closed, deleted `~`."""
    note, backup = tmp_path / "note.md", tmp_path / "note.md~"
    write(note)
    with watching(tmp_path, hooks=hooks) as watcher:
        note.rename(backup)
        write(note, "new")
        backup.unlink()
        assert [batch.scope for batch in until(watcher, tells_of("note.md"))] == [{"note.md"}]


@pytest.mark.posix("a rename that replaces")
def test_write_and_rename_over_is_told_as_the_note(tmp_path: Path, hooks: SystemHooks) -> None:
    write(tmp_path / "note.md")
    with watching(tmp_path, hooks=hooks) as watcher:
        write(tmp_path / ".note.md.tmp", "new")
        (tmp_path / ".note.md.tmp").rename(tmp_path / "note.md")
        assert [batch.scope for batch in until(watcher, tells_of("note.md"))] == [{"note.md"}]


def test_a_renamed_note_is_told_under_both_names(tmp_path: Path, hooks: SystemHooks) -> None:
    write(tmp_path / "a.md")
    with watching(tmp_path, hooks=hooks) as watcher:
        (tmp_path / "a.md").rename(tmp_path / "b.md")
        until(watcher, tells_of("a.md", "b.md"))


@pytest.mark.long
def test_ten_thousand_files_at_once_are_all_found_in_time(tmp_path: Path) -> None:
    rules = IgnoreRules()
    with watching(tmp_path, settings=WatchSettings()) as watcher:
        for number in range(10_000):
            write(tmp_path / f"d{number % 100}/n{number}.md")
        done, found = time.monotonic(), 0
        while found < 10_000 and time.monotonic() < done + SOON:
            batch = watcher.next_batch(1.0)
            if batch is not None:
                assert len(batch.scope) <= 2 * 512
                found = len(scan(tmp_path, rules, limits=SizeLimits(9999)).files)
        assert found == 10_000
        until_quiet(watcher)
        # The folders that came with the storm are watched.
        write(tmp_path / "d99/late.md")
        until(watcher, tells_of("d99/late.md"))


def until_quiet(watcher: VaultWatcher) -> None:
    """Takes all batches until none comes for some debounces."""
    deadline = time.monotonic() + SOON
    while watcher.next_batch(4 * QUICK.debounce_s) is not None or watcher.pending:
        assert time.monotonic() < deadline, "the watcher never becomes quiet"


class SlowRules:
    """Rules that hold up the watching thread until told, as a busy machine does."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def decide(self, path: str, is_dir: bool) -> Decision:  # noqa: ARG002 - the port has it
        if threading.current_thread() is not threading.main_thread():
            self.go.wait(SOON)
        return Decision.INDEX


@pytest.mark.long
def test_an_overflow_of_the_systems_queue_scans_all_and_mends_the_watch(tmp_path: Path) -> None:
    queue = Path("/proc/sys/fs/inotify/max_queued_events")
    if not queue.exists() or int(queue.read_text()) > 50_000:
        pytest.skip("no queue of this system that a test could fill")
    rules = SlowRules()
    with watching(tmp_path, rules=rules) as watcher:
        for number in range(int(queue.read_text()) * 2 // 3):
            (tmp_path / f"n{number}.md").touch()
        (tmp_path / "folder").mkdir()  # this event is lost
        rules.go.set()
        until(watcher, scan_because("overflow"))
        until_quiet(watcher)
        assert watcher.mode.name == "native"
        write(tmp_path / "folder/late.md")
        until(watcher, tells_of("folder/late.md"))


@pytest.mark.long
def test_more_folders_than_watches_means_polling_and_says_so(tmp_path: Path) -> None:
    for number in range(30):
        write(tmp_path / f"d{number}/n.md")
    settings = WatchSettings(poll_s=1.0)
    with watching(tmp_path, settings=settings, hooks=SystemHooks(watch_limit=lambda: 11)) as watcher:
        assert watcher.mode.name == "poll"
        assert "11 watches" in watcher.mode.reason
        write(tmp_path / "d29/new.md")
        until(watcher, scan_because("poll"))


class RulesThatRaise:
    def decide(self, path: str, is_dir: bool) -> Decision:  # noqa: ARG002 - the port has it
        if path == "bad.md":
            raise RuntimeError("a fault in the rules")
        return Decision.INDEX


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_raising_handler_is_survived(tmp_path: Path, hooks: SystemHooks) -> None:
    with watching(tmp_path, rules=RulesThatRaise(), hooks=hooks) as watcher:
        write(tmp_path / "bad.md")
        until(watcher, scan_because("thread has ended"))
        write(tmp_path / "good.md")
        until(watcher, tells_of("good.md"))
        assert watcher.mode.name == "native"


@pytest.mark.long
def test_a_root_deleted_and_made_again_is_watched_again(tmp_path: Path, hooks: SystemHooks) -> None:
    vault = tmp_path / "vault"
    write(vault / "d/a.md")
    with watching(vault, hooks=hooks) as watcher:
        shutil.rmtree(vault)
        until(watcher, scan_because("folder is gone"))
        assert watcher.mode.reason == "the vault is not there"
        write(vault / "b.md")
        until(watcher, scan_because("folder is new"))
        write(vault / "c.md")
        until(watcher, tells_of("c.md"))


@pytest.mark.posix("symbolic links")
def test_a_root_behind_a_symbolic_link_is_watched(tmp_path: Path, hooks: SystemHooks) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with watching(tmp_path / "link", hooks=hooks) as watcher:
        write(tmp_path / "real/d.md")
        assert until(watcher, tells_of("d.md"))[-1].dirty == {"d.md"}


@pytest.mark.posix("what was removed is known as a folder")
def test_a_folder_moved_out_scans_all_and_is_heard_no_more(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    write(vault / "d/sub/a.md")
    with watching(vault) as watcher:
        (vault / "d").rename(tmp_path / "out")
        until(watcher, scan_because("moved or deleted"))
        write(tmp_path / "out/sub/a.md", "later")
        write(vault / "mark.md")
        batches = until(watcher, tells_of("mark.md"))
        assert [batch.scope for batch in batches] == [{"mark.md"}]


@pytest.mark.posix("what was removed is known as a folder")
def test_a_folder_renamed_within_is_heard_under_its_new_name(tmp_path: Path, hooks: SystemHooks) -> None:
    write(tmp_path / "old/sub/a.md")
    with watching(tmp_path, hooks=hooks) as watcher:
        (tmp_path / "old").rename(tmp_path / "new")
        until(watcher, scan_because("moved or deleted"))
        until_quiet(watcher)
        write(tmp_path / "new/sub/a.md", "later")
        until(watcher, tells_of("new/sub/a.md"))


def test_a_tree_moved_in_is_scanned_and_heard(tmp_path: Path, hooks: SystemHooks) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    vault.mkdir()
    write(outside / "x/y/a.md")
    with watching(vault, hooks=hooks) as watcher:
        outside.rename(vault / "in")
        until(watcher, lambda batch: batch.scan_all or "in" in batch.scan_folders)
        until_quiet(watcher)
        write(vault / "in/x/y/b.md")
        until(watcher, tells_of("in/x/y/b.md"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are Unicode")
def test_a_name_that_is_not_utf_8_has_its_folder_scanned(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with watching(tmp_path) as watcher:
        Path(f"{tmp_path}/d/\udcff.md").touch()
        until(watcher, lambda batch: "d" in batch.scan_folders)


def test_ignored_files_and_folders_are_silent(tmp_path: Path, hooks: SystemHooks) -> None:
    write(tmp_path / ".git/objects/aa/x")
    write(tmp_path / ".indexerignore", "Drafts/\n")
    with watching(tmp_path, rules=load_ignore_rules(tmp_path, FilesSettings()), hooks=hooks) as watcher:
        write(tmp_path / ".git/objects/bb/y")
        write(tmp_path / "Drafts/deep/d.md")
        write(tmp_path / ".note.md.swp")
        shutil.rmtree(tmp_path / ".git")
        write(tmp_path / "note.md")
        assert [batch.scope for batch in until(watcher, tells_of("note.md"))] == [{"note.md"}]


@pytest.mark.parametrize("path", sorted(CONTROL_FILES))
def test_an_edit_of_the_rules_is_told(tmp_path: Path, path: str) -> None:
    write(tmp_path / path, "")
    with watching(tmp_path) as watcher:
        write(tmp_path / path, "changed")
        batch = until(watcher, lambda batch: path in batch.control)[-1]
        assert batch.scan_all is (path != ".indexer.toml")


@pytest.mark.long
def test_a_root_that_is_swapped_is_watched_anew(tmp_path: Path) -> None:
    vault, spare = tmp_path / "vault", tmp_path / "spare"
    write(vault / "a.md")
    write(spare / "b.md")
    with watching(vault) as watcher:
        vault.rename(tmp_path / "away")
        spare.rename(vault)
        until(watcher, scan_because("folder is new"))
        write(vault / "c.md")
        until(watcher, tells_of("c.md"))


@pytest.mark.posix("a rename that replaces")
def test_a_folder_that_replaces_another_is_heard(tmp_path: Path) -> None:
    write(tmp_path / "a/n.md")
    (tmp_path / "b").mkdir()
    with watching(tmp_path) as watcher:
        (tmp_path / "a").rename(tmp_path / "b")
        until_quiet(watcher)
        write(tmp_path / "b/late.md")
        until(watcher, tells_of("b/late.md"))


def test_new_rules_watch_other_folders(tmp_path: Path) -> None:
    write(tmp_path / "Drafts/a.md")
    write(tmp_path / ".indexerignore", "Drafts/\n")
    with watching(tmp_path, rules=load_ignore_rules(tmp_path, FilesSettings())) as watcher:
        watcher.use_rules(IgnoreRules())
        until(watcher, scan_because("rules changed"))
        write(tmp_path / "Drafts/a.md", "y")
        until(watcher, tells_of("Drafts/a.md"))


def test_git_checkout_of_many_files_ends_in_the_final_text(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")

    def git(*words: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "-b", "one")
    for number in range(600):
        write(tmp_path / f"d{number % 7}/n{number}.md", "one")
    git("add", ".")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "two")
    for number in range(600):
        write(tmp_path / f"d{number % 7}/n{number}.md", "two!")
    git("commit", "-qam", "two")
    with watching(tmp_path) as watcher:
        git("checkout", "-q", "one")
        until(watcher, lambda batch: batch.scan_all or len(batch.scan_folders) == 7)
        until_quiet(watcher)
        sizes = {file.stat.size for file in scan(tmp_path, IgnoreRules(), limits=SizeLimits(9999)).files}
        assert sizes == {3}


@pytest.mark.posix("modes of files")
def test_unreadable_folders_do_not_stop_the_watch_of_the_others() -> None:
    with folder_of_a_plain_user() as vault:
        for name in ("one", "two"):
            (vault / name).mkdir(mode=0)
        write(vault / "open/a.md")
        with watching(vault) as watcher:
            assert watcher.mode.name == "native"
            write(vault / "open/a.md", "y")
            until(watcher, tells_of("open/a.md"))


@pytest.mark.long
@pytest.mark.posix("modes of files")
@pytest.mark.parametrize("is_scanned_first", [False, True])
def test_a_folder_that_can_be_read_again_is_watched_and_looked_at(
    tmp_path: Path, is_scanned_first: bool
) -> None:
    write(tmp_path / "closed/a.md")
    (tmp_path / "closed").chmod(0)
    with permissions_count(), watching(tmp_path) as watcher:
        watcher.report_unreadable(frozenset({"closed", "gone"}))
        write(tmp_path / "b.md")
        until(watcher, tells_of("b.md"))
        if is_scanned_first:
            watcher.report_unreadable(frozenset())
        (tmp_path / "closed").chmod(0o700)
        until(watcher, lambda batch: "can be read again" in batch.reason)
        write(tmp_path / "closed/a.md", "y")
        until(watcher, tells_of("closed/a.md"))


def test_stop_wakes_who_waits_and_ends_every_thread(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with watching(tmp_path) as watcher:
        got: list[Batch | None] = []
        waiter = threading.Thread(target=lambda: got.append(watcher.next_batch(2 * SOON)))
        waiter.start()
        watcher.stop()
        waiter.join(SOON)
        assert got == [None]
        assert watcher.mode.name == "stopped"
    assert set(threading.enumerate()) <= before


@pytest.mark.posix("descriptors in /proc")
def test_a_restarted_watch_leaks_no_descriptor(tmp_path: Path) -> None:
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("descriptors cannot be counted on this system")
    with watching(tmp_path):
        pass
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        with watching(tmp_path) as watcher:
            watcher.use_rules(IgnoreRules())
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
