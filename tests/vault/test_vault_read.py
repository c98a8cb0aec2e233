import hashlib
import os
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from unprivileged import folder_of_a_plain_user

from vault_indexer.errors import NoteError
from vault_indexer.vault import NoteVanished, open_file, read_note, resolve_in_vault
from vault_indexer.vault.files import FileStat
from vault_indexer.vault.read import is_unchanged, resolved_path

LIMIT = 100_000


def test_bytes_stat_and_hash_belong_together(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfh\xc3\xa9\r\n")
    read = read_note(tmp_path, "a.md", LIMIT)
    assert read.data == b"\xef\xbb\xbfh\xc3\xa9\r\n"
    assert read.stat.size == len(read.data)
    assert read.sha256 == hashlib.sha256(read.data).hexdigest()
    (tmp_path / "empty.md").touch()
    assert read_note(tmp_path, "empty.md", LIMIT).data == b""


@pytest.mark.posix("symbolic links")
@pytest.mark.parametrize(
    "path",
    [
        *("", "/etc/passwd", "../x.md", "a/../../x.md", "a/../b.md", "a/..", "a\0b.md", ".."),
        *("out/Secret.md", "out.md"),
    ],
)
def test_no_path_leads_out_of_the_vault(tmp_path: Path, path: str) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    vault.mkdir()
    outside.mkdir()
    (outside / "Secret.md").write_text("secret", encoding="utf-8")
    (tmp_path / "x.md").write_text("secret", encoding="utf-8")
    (vault / "out").symlink_to(outside)
    (vault / "out.md").symlink_to(outside / "Secret.md")
    with pytest.raises(NoteError) as caught:
        read_note(vault, path, LIMIT)
    assert not isinstance(caught.value, NoteVanished)


@pytest.mark.posix("symbolic links")
def test_a_sibling_with_the_same_beginning_is_outside(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault2").mkdir()
    (tmp_path / "vault2/x.md").write_text("secret", encoding="utf-8")
    (tmp_path / "vault/l.md").symlink_to(tmp_path / "vault2/x.md")
    with pytest.raises(NoteError, match="out of the vault"):
        resolve_in_vault(tmp_path / "vault", "l.md")


@pytest.mark.posix("symbolic links")
def test_a_link_within_the_vault_may_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x", encoding="utf-8")
    (tmp_path / "l.md").symlink_to("a.md")
    read = read_note(tmp_path, "l.md", LIMIT)
    assert (read.data, read.stat.path) == (b"x", "l.md")


@pytest.mark.parametrize("path", ["gone.md", "gone/a.md", "a.md/b.md", "dangling.md"])
def test_a_file_that_is_not_there_has_vanished(tmp_path: Path, path: str) -> None:
    (tmp_path / "a.md").write_text("x", encoding="utf-8")
    (tmp_path / "dangling.md").symlink_to("nowhere.md")
    with pytest.raises(NoteVanished):
        read_note(tmp_path, path, LIMIT)


@pytest.mark.posix("names of iCloud's placeholders")
@pytest.mark.parametrize("path", ["Away.md", "a/Away.md", ".indexerignore"])
def test_a_file_that_is_only_in_icloud_has_not_vanished(tmp_path: Path, path: str) -> None:
    (tmp_path / "a").mkdir()
    file = tmp_path / path
    file.with_name(f".{file.name}.icloud").write_bytes(b"bplist00")
    for read in (lambda: read_note(tmp_path, path, LIMIT), lambda: open_file(tmp_path, path)):
        with pytest.raises(NoteError, match=r"^unreadable: not downloaded$"):
            read()


def test_a_file_without_its_content_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").touch()
    status = os.lstat(tmp_path / "a.md")
    dataless = SimpleNamespace(st_mode=status.st_mode, st_size=3, st_flags=0x4000_0060)
    with monkeypatch.context() as system:
        system.setattr(os, "lstat", lambda *_, **__: dataless)
        system.setattr(os, "open", lambda *_, **__: pytest.fail("this would download it"))
        with pytest.raises(NoteError, match=r"^unreadable: not downloaded$"):
            read_note(tmp_path, "a.md", LIMIT)


@pytest.mark.posix("pipes and modes of files")
def test_the_reason_is_told(tmp_path: Path) -> None:
    (tmp_path / "big.md").write_bytes(b"x" * (LIMIT + 1))
    with pytest.raises(NoteError, match=r"too large: 100,001 bytes, the limit .* is 100,000"):
        read_note(tmp_path, "big.md", LIMIT)
    (tmp_path / "dir.md").mkdir()
    with pytest.raises(NoteError, match="not a plain file"):
        read_note(tmp_path, "dir.md", LIMIT)
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(NoteError, match="not a plain file"):
        read_note(tmp_path, "pipe.md", LIMIT)
    with folder_of_a_plain_user() as vault:
        (vault / "closed.md").touch(mode=0)
        with pytest.raises(NoteError, match="unreadable: Permission denied"):
            read_note(vault, "closed.md", LIMIT)


def test_a_file_that_is_rewritten_meanwhile_is_never_mixed(tmp_path: Path) -> None:
    """Truncate-and-write in place, at full speed: each read is one whole version or an honest refusal."""
    note = tmp_path / "a.md"
    versions = [letter * 60_000 for letter in (b"a", b"b", b"c")]
    note.write_bytes(versions[0])
    stop = threading.Event()

    def rewrite() -> None:
        while not stop.is_set():
            for version in versions:
                note.write_bytes(version)

    writer = threading.Thread(target=rewrite)
    writer.start()
    mixed, refused = 0, 0
    for _ in range(300):
        try:
            data = read_note(tmp_path, "a.md", LIMIT).data
        except NoteError:
            refused += 1
        else:
            mixed += len(set(data)) > 1
    stop.set()
    writer.join()
    assert mixed == 0
    assert read_note(tmp_path, "a.md", LIMIT).data in versions


def test_a_long_path_is_cut_in_a_message(tmp_path: Path) -> None:
    path = "/" + "x" * 300
    with pytest.raises(NoteError) as caught:
        resolve_in_vault(tmp_path, path)
    assert str(caught.value) == f"not a path in the vault: {path[:200]!r}"


def test_a_renamed_note_can_be_read(tmp_path: Path) -> None:
    """A rename changes the ctime of an open file, and on Windows not that of its path."""
    (tmp_path / "a.md").write_text("x", encoding="utf-8")
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    assert read_note(tmp_path, "b.md", LIMIT).data == b"x"


@pytest.mark.posix("symbolic links")
def test_the_vault_itself_is_in_the_vault(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    assert resolve_in_vault(tmp_path, "a/up") == tmp_path.resolve()
    assert resolved_path(tmp_path, "a/up/a") == "a"


@pytest.mark.parametrize("change", [{}, *({name: 1} for name in ("size", "mtime_ns", "inode"))])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_file_is_unchanged_if_all_that_is_known_of_it_is_the_same(
    tmp_path: Path, change: dict[str, int], sign: int
) -> None:
    (tmp_path / "a.md").write_text("x", encoding="utf-8")
    known = FileStat.of("a.md", (tmp_path / "a.md").stat())
    other = {name: getattr(known, name) + sign * more for name, more in change.items()}
    digest = hashlib.sha256(b"x").hexdigest()
    assert is_unchanged(tmp_path, replace(known, **other), digest) == (not change)
    assert not is_unchanged(tmp_path, replace(known, path="gone.md"), digest)
    assert not is_unchanged(tmp_path, replace(known, path="a\0.md"), digest)
    (tmp_path / "a.md").chmod(0o400)
    later = replace(known, ctime_ns=known.ctime_ns + sign)
    assert [is_unchanged(tmp_path, later, one) for one in (digest, "", "of another text")] == [
        True,
        True,
        False,
    ]
