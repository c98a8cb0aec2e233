"""What names and stats alone say of a file, and where the bounds of a reading lie."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from vault_indexer.config.settings import FilesSettings
from vault_indexer.errors import ExclusionError, NoteError
from vault_indexer.model import FileKind
from vault_indexer.vault import (
    MAX_PICTURE_BYTES,
    Decision,
    FileStat,
    IgnoreRules,
    RootIdentity,
    Scan,
    is_picture_name,
    is_sync_conflict,
    load_ignore_rules,
    picture_type,
    read_note,
    resolve_in_vault,
    resolved_path,
    scan,
)
from vault_indexer.vault.files import evicted_by_flags, icloud_placeholder_of, is_regular, is_utf8_name
from vault_indexer.vault.ignore import ObsidianFilters, compile_ignore_list
from vault_indexer.vault.read import is_unchanged, too_large


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
    assert evicted_by_flags(flags=flags, attributes=attributes) is is_away


def test_names_that_can_be_shown_and_names_of_conflicts() -> None:
    assert is_utf8_name("Ñandú 土.md")
    assert not is_utf8_name("caf\udce9.md")
    assert is_sync_conflict("N.sync-conflict-20240101-101010-ABCDEFG.md")
    assert not is_sync_conflict("N.md")


def test_a_stat_is_that_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"abc")
    status = file.stat()
    assert is_regular(status)
    assert not is_regular(tmp_path.stat())
    stat = FileStat.of("x/a.md", status)
    assert stat == FileStat("x/a.md", 3, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    assert RootIdentity.of(status) == RootIdentity(status.st_dev, status.st_ino)


@pytest.mark.parametrize("field", ["size", "mtime_ns", "ctime_ns", "inode"])
def test_a_file_is_unchanged_while_its_stat_is(tmp_path: Path, field: str) -> None:
    (tmp_path / "a.md").write_bytes(b"abc")
    known = FileStat.of("a.md", (tmp_path / "a.md").stat())
    assert is_unchanged(tmp_path, known)
    other = {name: getattr(known, name) for name in FileStat.__slots__}
    other[field] += 1
    assert not is_unchanged(tmp_path, FileStat(**other))
    assert not is_unchanged(tmp_path, FileStat("none.md", 0, 0, 0, 0))
    assert not is_unchanged(tmp_path, FileStat("a\0.md", 0, 0, 0, 0))


@pytest.mark.parametrize(("size", "is_read"), [(99, True), (100, True), (101, False)])
def test_a_note_may_be_as_large_as_the_limit(tmp_path: Path, size: int, is_read: bool) -> None:
    (tmp_path / "a.md").write_bytes(b"x" * size)
    found = scan(tmp_path, IgnoreRules(), max_file_bytes=100)
    assert found.files[0].decision is (Decision.INDEX if is_read else Decision.LINK_ONLY)
    assert bool(found.skipped) is not is_read
    if is_read:
        assert read_note(tmp_path, "a.md", 100).data == b"x" * size
    else:
        with pytest.raises(NoteError, match="too large"):
            read_note(tmp_path, "a.md", 100)
    assert too_large(1_234, 1_000) == "too large: 1,234 bytes, the limit (files.max_file_bytes) is 1,000"


def test_a_file_of_many_pieces_is_read_whole(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    (tmp_path / "a.md").write_bytes(content)
    found = read_note(tmp_path, "a.md", 1 << 30)
    assert found.data == content
    assert found.stat == FileStat.of("a.md", (tmp_path / "a.md").stat())


@pytest.mark.parametrize("path", ["", "/a.md", "a/../b.md", "..", "a\0.md"])
def test_a_path_that_is_none_of_the_vault_is_named(tmp_path: Path, path: str) -> None:
    with pytest.raises(NoteError, match="not a path in the vault"):
        resolve_in_vault(tmp_path, path)


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


def test_what_is_found_and_skipped_is_sorted_and_timed(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "c/d.canvas", "c/a.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    for name in ("z", "y"):
        (tmp_path / f"{name}.md").symlink_to("nowhere")
    started = time.perf_counter()
    found = scan(tmp_path, IgnoreRules(), max_file_bytes=9)
    took = time.perf_counter() - started
    assert [(file.path, file.kind) for file in found.files] == [
        ("a.md", FileKind.NOTE),
        ("b.md", FileKind.NOTE),
        ("c/a.png", FileKind.ATTACHMENT),
        ("c/d.canvas", FileKind.CANVAS),
    ]
    assert found.skipped == (("y.md", "dangling symbolic link"), ("z.md", "dangling symbolic link"))
    assert found.within == {""}
    assert 0 < found.seconds <= took
    assert (found.evicted, found.unreadable_folders) == ((), frozenset())


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("a.JPEG", b"\xff\xd8\xff", "image/jpeg"),
        ("a.gif", b"GIF87a", "image/gif"),
        ("a.gif", b"GIF89b", None),
        ("a.webp", b"RIFFsizeWEBP", "image/webp"),
        ("a.webp", b"RIFFsizeWAVE", None),
        ("a.webp", b"RIFXsizeWEBP", None),
        ("a.avif", b"sizeftypavis", "image/avif"),
        ("a.avif", b"sizeftypmif1", "image/avif"),
        ("a.avif", b"sizeftypisom", None),
        ("a.avif", b"sizemoovavif", None),
        ("a.svg", b" " * 4092 + b"<svg", "image/svg+xml"),
        ("a.svg", b" " * 4093 + b"<svg", None),
        ("d.png/a", b"\x89PNG\r\n\x1a\n", None),
    ],
)
def test_the_type_of_a_picture_is_in_its_first_bytes(name: str, data: bytes, media_type: str | None) -> None:
    assert picture_type(name, data) == media_type
    assert is_picture_name(name) is ("/" not in name)
    assert MAX_PICTURE_BYTES == 8 * 1024 * 1024


def rules_of(vault: Path, ignore: str = "", **files: object) -> IgnoreRules:
    (vault / ".indexerignore").write_text(ignore)
    return load_ignore_rules(vault, FilesSettings(**files))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "decision"),
    [
        ("~$Note.md", Decision.IGNORE),
        ("a~/Note.md", Decision.IGNORE),
        ("~Note.md", Decision.INDEX),
        ("tool.py", Decision.INDEX),
        ("Tool.PY", Decision.INDEX),
        ("tool.rs", Decision.LINK_ONLY),
        ("drafts/tool.py", Decision.IGNORE),
        ("other/tool.py", Decision.INDEX),
    ],
)
def test_source_files_are_notes_where_they_are_asked_for(
    tmp_path: Path, path: str, decision: Decision
) -> None:
    rules = rules_of(tmp_path, "drafts/\n", sources=(".py",))
    assert rules.decide(path, is_dir=False) is decision


def test_rules_say_the_same_of_a_folder_each_time(tmp_path: Path) -> None:
    rules = rules_of(tmp_path, "b/\n")
    for _ in range(2):
        assert rules.decide("a/b/c/d", is_dir=True) is Decision.IGNORE
        assert rules.decide("a", is_dir=True) is Decision.INDEX
        assert rules.decide("a/b", is_dir=True) is Decision.IGNORE
        assert rules.decide("", is_dir=True) is Decision.INDEX
    for number in range(100_001):
        assert rules.decide(f"a/{number}", is_dir=True) is Decision.INDEX
    assert rules.decide("a/b/c", is_dir=True) is Decision.IGNORE


def test_fingerprints_tell_kinds_of_rules_apart(tmp_path: Path) -> None:
    prints = {
        rules_of(tmp_path).fingerprint,
        rules_of(tmp_path, "x/\n").fingerprint,
        rules_of(tmp_path, include=("x/",)).fingerprint,
        rules_of(tmp_path, exclude=("x/",)).fingerprint,
        rules_of(tmp_path, sources=(".py",)).fingerprint,
        rules_of(tmp_path, sources=(".py", ".rs")).fingerprint,
    }
    assert len(prints) == 6
    assert {len(one) for one in prints} == {16}


@pytest.mark.parametrize(
    ("filters", "path", "is_excluded"),
    [
        ((), "a.md", False),
        (("",), "a.md", False),
        (("a",), "ab.md", True),
        (("b", "a/"), "a/x.md", True),
        (("/x/",), "a/x.md", True),
        (("/x/",), "a/y.md", False),
        (("//",), "//a", True),
        (("//",), "a.md", False),
        (("/",), "a.md", False),
        (("/^b/", "/c$/"), "abc", True),
        (("/^b/", "/^c/"), "abc", False),
    ],
)
def test_filters_are_beginnings_or_expressions(
    filters: tuple[str, ...], path: str, is_excluded: bool
) -> None:
    assert ObsidianFilters(filters).matches(path) is is_excluded


@pytest.mark.parametrize(
    "filters", [["a"] * 1000, ["a" * 32_768, "b" * 32_768]], ids=["most filters", "most characters"]
)
def test_as_many_filters_as_are_understood(filters: list[str]) -> None:
    assert ObsidianFilters(filters).matches("a" * 32_768)
    with pytest.raises(ExclusionError, match=r"at most 1,000 filters of 65,536 characters together"):
        ObsidianFilters([*filters, "c"])


def test_each_filter_that_is_not_understood_is_named_with_its_line() -> None:
    source = '{"userIgnoreFilters": [\n"a/",\n"/(?=x)/",\n"/é(?=y)/"\n]}'
    with pytest.raises(ExclusionError) as caught:
        ObsidianFilters(["a/", "/(?=x)/", "/é(?=y)/", "/(?=z)/"], source)
    assert [problem.key for problem in caught.value.problems] == ["line 3", "line 4", "userIgnoreFilters"]
    assert {problem.source for problem in caught.value.problems} == {".obsidian/app.json"}


def test_each_line_that_is_not_understood_is_named_and_long_ones_are_cut() -> None:
    with pytest.raises(ExclusionError) as caught:
        compile_ignore_list(["a/", "[" + "x" * 100, "b/", "[" + "y" * 79], "files.exclude")
    problems = caught.value.problems
    assert [(problem.key, problem.source) for problem in problems] == [
        ("line 2", "files.exclude"),
        ("line 4", "files.exclude"),
    ]
    assert [problem.value for problem in problems] == [ascii("[" + "x" * 79 + "…"), ascii("[" + "y" * 79)]
    assert compile_ignore_list(["a/"]).matches("a", is_dir=True)
    assert not compile_ignore_list([]).matches("a", is_dir=True)
