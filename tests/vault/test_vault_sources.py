"""What events of the system become hints, told to the sources by hand; and which systems are not watched."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, TypeVar, cast

import pytest
from golden_cases import check_golden
from waiting import wait_until

from vault_indexer.vault import IgnoreRules
from vault_indexer.vault.watch import (
    InotifySource,
    ObserverSource,
    Sink,
    Source,
    TooFewWatchesError,
    system_mounts,
    system_watch_limit,
)

if TYPE_CHECKING:
    from watchdog.observers.inotify_c import InotifyEvent

T = TypeVar("T", bound=Source)


@dataclass
class Told:
    """Implements Sink: a list of what was told."""

    hints: list[tuple[str, str]] = field(default_factory=list)

    def file_changed(self, path: str) -> None:
        self.hints.append(("file", path))

    def folder_appeared(self, path: str) -> None:
        self.hints.append(("appeared", path))

    def folder_gone(self, path: str) -> None:
        self.hints.append(("gone", path))

    def events_lost(self, reason: str) -> None:
        self.hints.append(("lost", reason))


@pytest.mark.posix("paths with slashes")
@pytest.mark.parametrize("kind", [str, os.fsencode])
def test_events_of_the_recursive_observer(kind: Callable[[str], object]) -> None:
    def told_of(event: str) -> str:
        event_type, *paths = event.split()
        places = [kind(os.path.normpath(f"/vault/{path}")) for path in paths] + [kind("")]
        told = Told()
        seen = SimpleNamespace(
            event_type=event_type, src_path=places[0], dest_path=places[1], is_directory=event.endswith("/")
        )
        ObserverSource(Path("/vault"), told).on_event(cast("object", seen))  # type: ignore[arg-type]
        return ", ".join(map(" ".join, told.hints)) or "nothing"

    check_golden(Path(__file__).parent / "fixtures" / "events.md", {"": told_of})
    assert told_of("deleted caf\udce9.md") == "nothing"


def has_a_fault_unless_it_runs(source: Source) -> None:
    ended = "the watching thread has ended"
    assert source.fault() == ended
    source.start()
    assert source.fault() == ""
    source.stop()
    source.stop()
    assert source.fault() == ended


def test_a_source_that_was_not_started_or_has_ended_reports_nothing(tmp_path: Path) -> None:
    has_a_fault_unless_it_runs(ObserverSource(tmp_path, Told()))
    assert not [thread for thread in threading.enumerate() if "watchdog" in type(thread).__module__]


ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="inotify is of Linux")


def inotify(vault: Path, told: Sink, limit: int | None = None) -> InotifySource:
    return InotifySource(vault, IgnoreRules(), told, lambda: limit)


@contextmanager
def started(source: T) -> Iterator[T]:
    source.start()
    try:
        yield source
    finally:
        source.stop()


@ON_LINUX
def test_it_has_a_fault_until_it_is_started_and_after_it_has_ended(tmp_path: Path) -> None:
    has_a_fault_unless_it_runs(inotify(tmp_path, Told()))


@ON_LINUX
def test_a_queue_that_overflows_is_a_fault(tmp_path: Path) -> None:
    told = Told()
    with started(inotify(tmp_path, told)) as source:
        source.on_queue_overflow()
    assert source.fault() == "the system's queue of changes overflowed"
    assert told.hints == [("lost", "the system's queue of changes overflowed")]


@ON_LINUX
@pytest.mark.parametrize(("limit", "is_enough"), [(2, False), (4, True), (None, True)])
def test_each_folder_takes_a_watch(tmp_path: Path, limit: int | None, is_enough: bool) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    source = inotify(tmp_path, Told(), limit)
    if is_enough:
        source.start()
    else:
        with pytest.raises(
            TooFewWatchesError, match="the system allows 2 watches, the vault has more folders"
        ):
            source.start()
    assert (source.fault() == "") is is_enough
    source.stop()


@ON_LINUX
def test_a_vault_that_is_not_there_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none cannot be watched"):
        inotify(tmp_path / "none", Told()).start()


@ON_LINUX
def test_a_link_in_the_place_of_obsidians_folder_is_not_followed(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    vault.mkdir()
    outside.mkdir()
    (vault / ".obsidian").symlink_to(outside)
    told = Told()
    with started(inotify(vault, told)):
        (outside / "app.json").write_text("{}")
        (outside / "note.md").write_text("x")
        (vault / "a.md").write_text("x")
        wait_until(lambda: ("file", "a.md") in told.hints)
    assert set(told.hints) == {("file", "a.md")}


class Delayed(InotifySource):
    """Keeps events back while it is told to."""

    is_held = False

    def __init__(self, vault: Path, told: Sink) -> None:
        super().__init__(vault, IgnoreRules(), told, lambda: None)
        self.held: list[InotifyEvent] = []

    def on_event(self, event: InotifyEvent) -> None:
        if self.is_held:
            self.held.append(event)
        else:
            super().on_event(event)


@ON_LINUX
@pytest.mark.filterwarnings("ignore:Callback with id")
def test_a_folder_that_was_renamed_before_its_event_came_keeps_its_watch(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    told = Told()
    with started(Delayed(tmp_path, told)) as source:
        source.is_held = True
        (tmp_path / "old").rename(tmp_path / "new")
        wait_until(lambda: len(source.held) == 2)
        source.is_held = False
        source.on_event(next(event for event in source.held if event.is_moved_to))
        (tmp_path / "old").mkdir()
        wait_until(lambda: ("appeared", "old") in told.hints)
        (tmp_path / "new" / "a.md").write_text("x")
        (tmp_path / "old" / "b.md").write_text("x")
        wait_until(lambda: ("file", "old/b.md") in told.hints)
    assert ("file", "new/a.md") in told.hints


@ON_LINUX
def test_a_folder_tells_of_itself_once_and_its_files_by_their_paths(tmp_path: Path) -> None:
    told = Told()
    with started(Delayed(tmp_path, told)) as source:
        source.is_held = True
        (tmp_path / "d" / "e").mkdir(parents=True)
        wait_until(lambda: source.held)
        source.is_held = False
        source.on_event(source.held[0])
        assert told.hints == [("appeared", "d")]
        (tmp_path / "d" / "e" / "a.md").write_text("x")
        wait_until(lambda: ("file", "d/e/a.md") in told.hints)
        (tmp_path / ".git").mkdir()
        (tmp_path / "d" / "e" / "a.md").unlink()
        (tmp_path / "d" / "e").rmdir()
        wait_until(lambda: ("gone", "d/e") in told.hints)
        (tmp_path / ".obsidian").mkdir()
        wait_until(lambda: ("file", ".obsidian/app.json") in told.hints)
        told.hints.clear()
        (tmp_path / ".obsidian" / "app.json").write_text("{}")
        wait_until(lambda: ("file", ".obsidian/app.json") in told.hints)
        (tmp_path / ".obsidian").rename(tmp_path / "d" / "other")
        wait_until(lambda: ("appeared", "d/other") in told.hints)
        (tmp_path / "d" / "other" / "app.json").write_text("{ }")
        wait_until(lambda: ("file", "d/other/app.json") in told.hints)
    assert not [path for _, path in told.hints if path.startswith(".git")]


@pytest.mark.skipif(sys.platform != "linux", reason="the files of Linux")
def test_the_system_tells_its_mounts_and_its_limit() -> None:
    assert " / " in system_mounts()
    limit = system_watch_limit()
    assert limit is None or limit > 0
