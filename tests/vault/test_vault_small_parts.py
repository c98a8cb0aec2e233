"""Deletions that are believed, notes set aside, pictures by their bytes, differences: each at its bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from vault_indexer.vault.deletion import (
    DeleteHold,
    DeletionDecision,
    VaultObservation,
    assess_deletions,
)
from vault_indexer.vault.diff import FileChanges, diff
from vault_indexer.vault.dirty import Quarantine
from vault_indexer.vault.files import (
    FileStat,
    RootIdentity,
    is_picture_name,
    is_sync_conflict,
    is_utf8_name,
    picture_type,
)

HOME, OTHER = RootIdentity(1, 2), RootIdentity(1, 3)


def seen(known: int, gone: int, root: RootIdentity | None = HOME, at: float = 100.0) -> VaultObservation:
    return VaultObservation(root, known, gone, at)


@pytest.mark.parametrize(
    ("observation", "home", "reason"),
    [
        (seen(10, 0), HOME, ""),
        (seen(0, 0), HOME, ""),
        (seen(10, 9), HOME, ""),
        (seen(10, 10), HOME, "the vault looks empty (10 files expected). The index is kept."),
        (seen(1, 1), HOME, "the vault looks empty (1 files expected). The index is kept."),
        (seen(20, 18), HOME, ""),
        (seen(20, 19), HOME, "19 of 20 files are gone at once. The index is kept."),
        (seen(19, 18), HOME, ""),
        (seen(100, 90), HOME, ""),
        (seen(100, 91), HOME, "91 of 100 files are gone at once. The index is kept."),
        (
            seen(10, 1, OTHER),
            HOME,
            "the vault is another folder or disk than before, and 1 files are gone. The index is kept.",
        ),
        (seen(10, 1, OTHER), None, ""),
        (seen(10, 0, OTHER), HOME, ""),
        (seen(10, 0, None), HOME, "the vault cannot be read"),
        (replace(seen(10, 0, None), error="no such folder"), HOME, "no such folder"),
    ],
)
def test_losses_are_doubted_where_they_are_sudden(
    observation: VaultObservation, home: RootIdentity | None, reason: str
) -> None:
    assert assess_deletions(observation, home, None) == DeletionDecision(ok=not reason, reason=reason)


@pytest.mark.parametrize(
    ("earlier", "is_believed"),
    [
        (seen(10, 10, at=98.0), True),
        (seen(10, 10, at=98.1), False),
        (seen(10, 11, at=90.0), True),
        (seen(10, 9, at=90.0), False),
        (seen(10, 10, OTHER, at=90.0), False),
    ],
)
def test_a_second_look_confirms_the_losses_of_a_first(earlier: VaultObservation, is_believed: bool) -> None:
    assert assess_deletions(seen(10, 10), HOME, earlier).ok is is_believed
    assert not assess_deletions(seen(10, 10, None), HOME, earlier).ok


def test_deletions_become_due_in_their_time_and_of_two_reports_the_first_counts() -> None:
    now = [10.0]
    held = DeleteHold(2.0, lambda: now[0])
    assert (len(held), held.next_due(), held.take_due()) == (0, None, ())
    held.hold("b")
    now[0] = 11.0
    for path in ("b", "a", "c"):
        held.hold(path)
    held.drop("c")
    held.drop("nothing")
    assert (len(held), "a" in held, "c" in held, held.next_due()) == (2, True, False, 12.0)
    now[0] = 11.9
    assert held.take_due() == ()
    now[0] = 12.0
    assert held.take_due() == ("b",)
    held.hold("b")
    now[0] = 20.0
    assert held.take_due() == ("a", "b")
    assert len(held) == 0


def test_a_note_set_aside_is_read_again_after_two_seconds_then_twice_as_many_up_to_an_hour() -> None:
    now = [0.0]
    kept = Quarantine(lambda: now[0])
    assert kept.next_due() is None
    kept.use({"a": (1, "x")})
    assert kept.untried == 1
    waits = []
    for _ in range(14):
        begun = now[0]
        while kept.next_due() is None:
            now[0] += 1.0
        waits.append(now[0] - begun)
    assert waits == [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, *[3600.0] * 3]
    kept.record_try("a")
    kept.record_try("unknown")
    assert kept.untried == 0


def test_another_note_that_is_indexed_ends_the_first_wait_alone() -> None:
    now = [0.0]
    kept = Quarantine(lambda: now[0], first_s=10.0)
    kept.use({"a": (1, "x"), "b": (1, "y")})
    now[0] = 1.0
    assert kept.next_due() is None
    kept.use({"a": (1, "x"), "b": (1, "y")})  # none of them is new
    assert {kept.next_due(), kept.next_due()} == {"a", "b"}
    assert kept.next_due() is None
    kept.use({"a": (1, "x"), "b": (1, "y")})
    assert kept.next_due() is None
    kept.use({"a": (1, "x"), "b": (2, "y")}, tried=True)  # another change of b begins a wait of its own
    assert kept.untried == 1
    now[0] = 10.9
    assert kept.next_due() is None
    now[0] = 11.0
    assert kept.next_due() == "b"
    kept.use({})
    assert (kept.untried, kept.next_due()) == (0, None)


@pytest.mark.parametrize(
    ("path", "data", "media_type"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("a.png", b"\x89PNG\r\n\x1a", None),
        ("a.PNG", b"x\x89PNG\r\n\x1a\n", None),
        ("a.jpg", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("a.jpeg", b"\xff\xd8\xfe", None),
        ("a.gif", b"GIF87a", "image/gif"),
        ("a.gif", b"GIF89a", "image/gif"),
        ("a.gif", b"GIF88a", None),
        ("a.webp", b"RIFFxxxxWEBP", "image/webp"),
        ("a.webp", b"RIFFxxxxWEBQ", None),
        ("a.webp", b"XIFFxxxxWEBP", None),
        ("a.avif", b"xxxxftypavif", "image/avif"),
        ("a.avif", b"xxxxftypmif1", "image/avif"),
        ("a.avif", b"xxxxftypheic", None),
        ("a.avif", b"xxxxftyqavif", None),
        ("a.svg", b" " * 4092 + b"<svg", "image/svg+xml"),
        ("a.svg", b" " * 4093 + b"<svg", None),
        ("a.txt", b"<svg", None),
        ("png", b"\x89PNG\r\n\x1a\n", None),
        ("a.png/b", b"\x89PNG\r\n\x1a\n", None),
    ],
)
def test_a_picture_is_what_name_and_content_say(path: str, data: bytes, media_type: str | None) -> None:
    assert picture_type(path, data) == media_type
    if media_type:
        assert is_picture_name(path)


def test_a_name_tells_a_copy_of_syncthing_and_whether_it_can_be_stored() -> None:
    assert is_sync_conflict("d/a.sync-conflict-20240101.md")
    assert not is_sync_conflict("d.sync-conflict-1/a.md")
    assert is_utf8_name("é") and not is_utf8_name("a\udcff")


def stat(path: str, mtime_ns: int = 1) -> FileStat:
    return FileStat(path, 2, mtime_ns, 3, 4)


def test_two_lists_of_files_differ_by_what_was_added_modified_and_removed() -> None:
    known = [stat("a"), stat("b"), stat("d"), stat("e")]
    found = [stat("A"), stat("b", 9), stat("c"), stat("d"), stat("f")]
    assert diff(known, found) == FileChanges(
        (stat("A"), stat("c"), stat("f")), (stat("b", 9),), (stat("a"), stat("e"))
    )
    assert diff(known, found, covers=lambda path: path != "a").removed == (stat("e"),)
    assert diff([], []) == FileChanges()
    for changed in (
        replace(stat("a"), size=9),
        replace(stat("a"), ctime_ns=9),
        replace(stat("a"), inode=9),
        replace(stat("a"), mtime_ns=0),
    ):
        assert diff([stat("a")], [changed]).modified == (changed,)


@pytest.mark.parametrize("paths", ["ba", "aa", "aca"])
def test_a_list_that_does_not_ascend_is_refused(paths: str) -> None:
    files = [stat(path) for path in paths]
    for known, found in ((files, []), ([], files)):
        with pytest.raises(ValueError, match="paths must ascend: 'a' after"):
            diff(known, found)
