"""What names and stats alone say of a file, and where the bounds of a reading lie."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from vault_indexer.config.settings import FilesSettings
from vault_indexer.errors import NoteError
from vault_indexer.model import DOCUMENT_KINDS, SizeLimits
from vault_indexer.vault import (
    Decision,
    IgnoreRules,
    Scan,
    ignore,
    load_ignore_rules,
    read_note,
    resolve_in_vault,
    resolved_path,
    scan,
)
from vault_indexer.vault.files import FileStat, RootIdentity, icloud_placeholder_of, is_evicted
from vault_indexer.vault.read import too_large


@pytest.mark.parametrize(
    ("name", "stands_for"),
    [
        (".Note.md.icloud", "Note.md"),
        (".x.icloud", "x"),
        ("..icloud", None),
        (".icloud", None),
        ("Note.md.icloud", None),
        (".Note.md", None),
    ],
)
def test_a_placeholder_stands_for_a_file(name: str, stands_for: str | None) -> None:
    assert icloud_placeholder_of(name) == stands_for


@pytest.mark.parametrize(
    ("flags", "attributes", "is_away"),
    [
        (0, 0, False),
        (0x4000_0000, 0, True),
        (0xBFFF_FFFF, 0, False),
        (0xC000_0000, 0, True),
        (0, 0x1000, True),
        (0, 0x40_0000, True),
        (0, 0xFFBF_EFFF, False),
    ],
)
def test_files_that_are_only_in_the_cloud(flags: int, attributes: int, is_away: bool) -> None:
    status = SimpleNamespace(st_flags=flags, st_file_attributes=attributes)
    assert is_evicted(cast("os.stat_result", status)) is is_away


@pytest.mark.parametrize(("size", "is_read"), [(99, True), (100, True), (101, False)])
def test_a_note_may_be_as_large_as_the_limit(tmp_path: Path, size: int, is_read: bool) -> None:
    (tmp_path / "a.md").write_bytes(b"x" * size)
    found = scan(tmp_path, IgnoreRules(), limits=SizeLimits(100))
    assert found.files[0].decision is (Decision.INDEX if is_read else Decision.LINK_ONLY)
    assert bool(found.skipped) is not is_read
    if is_read:
        assert read_note(tmp_path, "a.md", 100).data == b"x" * size
    else:
        with pytest.raises(NoteError, match="too large"):
            read_note(tmp_path, "a.md", 100)


@pytest.mark.parametrize(
    ("suffix", "table"),
    [(".md", "files"), (".canvas", "files"), (".py", "files")]
    + [(suffix, "documents") for kind in DOCUMENT_KINDS for suffix in kind.suffixes],
)
def test_every_document_has_the_limit_of_documents(suffix: str, table: str) -> None:
    said = f"too large: 1,234 bytes, the limit ({table}.max_file_bytes) is 1,000"
    assert too_large(f"a{suffix}", 1_234, 1_000) == said
    assert SizeLimits(1, documents=2).of(f"a{suffix}") == {"files": 1, "documents": 2}[table]


def test_a_file_of_many_pieces_is_read_whole(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    (tmp_path / "a.md").write_bytes(content)
    found = read_note(tmp_path, "a.md", 1 << 30)
    assert found.data == content
    assert found.stat == FileStat.of("a.md", (tmp_path / "a.md").stat())


@pytest.mark.posix("symbolic links")
def test_a_path_leads_to_its_real_place(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "self").symlink_to(".")
    root = Path(os.path.realpath(tmp_path))
    assert resolve_in_vault(tmp_path, "link/n.md") == root / "a" / "n.md"
    assert resolve_in_vault(tmp_path, "self") == root
    assert resolved_path(tmp_path, "link/n.md") == "a/n.md"
    assert resolved_path(tmp_path, "..a/n..md") == "..a/n..md"
    with pytest.raises(NoteError, match=f"'{'a' * 200}'"):
        resolve_in_vault(tmp_path, "a" * 300 + "\0")


@pytest.mark.parametrize(
    ("within", "unreadable", "path", "covers"),
    [
        ({""}, (), "a/b.md", True),
        ({"a"}, (), "a/b/c.md", True),
        ({"a"}, (), "a", True),
        ({"a"}, (), "ab.md", False),
        ({"a/b"}, (), "a/c.md", False),
        ({"a/b.md"}, (), "a/b.md", True),
        ({""}, {"a"}, "a/b.md", False),
        ({""}, {"a/b"}, "a/c.md", True),
        ({""}, {"a"}, "ab.md", True),
        (set(), (), "a.md", False),
        ({""}, (), "cloud.md", False),
    ],
)
def test_a_scan_vouches_for_what_it_has_seen(
    within: set[str], unreadable: tuple[str, ...], path: str, covers: bool
) -> None:
    found = Scan(
        RootIdentity(1, 1),
        frozenset(within),
        unreadable_folders=frozenset(unreadable),
        _evicted_paths=frozenset({"cloud.md"}),
    )
    assert found.covers(path) is covers


def rules_of(vault: Path, ignore: str = "", **files: object) -> IgnoreRules:
    (vault / ".indexerignore").write_text(ignore)
    return load_ignore_rules(vault, FilesSettings(**files))  # type: ignore[arg-type]


def test_rules_say_the_same_of_a_folder_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = rules_of(tmp_path, "b/\n")
    for _ in range(2):
        assert rules.decide("a/b/c/d", is_dir=True) is Decision.IGNORE
        assert rules.decide("a", is_dir=True) is Decision.INDEX
        assert rules.decide("a/b", is_dir=True) is Decision.IGNORE
        assert rules.decide("", is_dir=True) is Decision.INDEX
    monkeypatch.setattr(ignore, "_MAX_CACHED_FOLDERS", 50)
    for number in range(51):
        assert rules.decide(f"a/{number}", is_dir=True) is Decision.INDEX
    assert rules.decide("a/b/c", is_dir=True) is Decision.IGNORE
