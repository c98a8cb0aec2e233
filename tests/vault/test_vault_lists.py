"""Lists of exclusions in a vault: bounds, mistakes, what they match; and which file systems are remote."""

import json
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.config.settings import FilesSettings
from vault_indexer.errors import ExclusionError
from vault_indexer.vault import Decision, IgnoreRules, load_ignore_rules
from vault_indexer.vault.ignore import (
    ExclusionLists,
    ObsidianFilters,
    compile_ignore_list,
    read_ignore_list,
    read_obsidian_filters,
)
from vault_indexer.vault.watch import remote_file_system


@pytest.mark.parametrize(
    ("filters", "path", "is_excluded"),
    [
        (["Old/"], "Old/a.md", True),
        (["Old/"], "x/Old/a.md", False),
        (["Old"], "Older.md", True),
        (["/q/"], "a/y.md", False),
        (["/^b/", "/c$/"], "abc", True),
        (["/^b/", "/^c/"], "abc", False),
        (["A/", "Old/"], "Old/a.md", True),
        (["/a.c/"], "x/abc.md", True),
        (["/^a/"], "x/a.md", False),
        (["/q/", "/z/"], "z.md", True),
        (["/q/", "z"], "z.md", True),
        (["//"], "//x", True),  # nothing between the slashes: a beginning
        (["//"], "a//x", False),
        (["/"], "/x", True),
        (["/a"], "a", False),
        ([""], "a", False),
        ([], "a", False),
    ],
)
def test_obsidians_filters_are_beginnings_and_expressions_between_slashes(
    filters: list[str], path: str, is_excluded: bool
) -> None:
    assert ObsidianFilters(filters).matches(path) is is_excluded


@pytest.mark.parametrize(
    ("filters", "fits"),
    [
        (["a"] * 1_000, True),
        (["a"] * 1_001, False),
        (["a" * 32_768] * 2, True),
        (["a" * 32_768, "a" * 32_769], False),
    ],
)
def test_a_thousand_filters_of_64_kib_are_understood(filters: list[str], fits: bool) -> None:
    if fits:
        assert ObsidianFilters(filters).matches("a" * 40_000)
    else:
        with pytest.raises(ExclusionError, match="at most 1,000 filters of 65,536 characters together"):
            ObsidianFilters(filters)


def app_file(vault: Path, content: bytes) -> None:
    (vault / ".obsidian").mkdir(exist_ok=True)
    (vault / ".obsidian/app.json").write_bytes(content)


def said_of_app(vault: Path) -> list[str]:
    with pytest.raises(ExclusionError) as caught:
        read_obsidian_filters(vault)
    return [
        f"{one.source}|{one.key}|{one.value}|{one.allowed.partition(';')[0]}" for one in caught.value.problems
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": 1,\n\n x}', ["line 3||is not valid JSON"]),
        (b"[" * 100_000, ["the file||is not valid JSON"]),
        (b"\xff", ["the file||is not UTF-8"]),
        (b"3", ["userIgnoreFilters||is not a list of texts"]),
        (b'{"userIgnoreFilters": {"a": 1}}', ["userIgnoreFilters||is not a list of texts"]),
        (b'{"userIgnoreFilters": ["a", null]}', ["userIgnoreFilters||is not a list of texts"]),
        (
            b'{"userIgnoreFilters": [\n"/(?=a)/",\n"b/",\n"/(?=c)/"]}',
            [
                "line 2|'/(?=a)/'|lookahead ((?=…) is not supported in a regular expression",
                "line 4|'/(?=c)/'|lookahead ((?=…) is not supported in a regular expression",
            ],
        ),
        (
            b'{"userIgnoreFilters": [\n"/(?=a)/",\n"\\u002f(?=c)/"]}',
            [
                "line 2|'/(?=a)/'|lookahead ((?=…) is not supported in a regular expression",
                "userIgnoreFilters|'/(?=c)/'|lookahead ((?=…) is not supported in a regular expression",
            ],
        ),
        (
            b'{"userIgnoreFilters": ["\\u002f(?=a)/"]}',  # not as JSON.stringify writes it
            ["userIgnoreFilters|'/(?=a)/'|lookahead ((?=…) is not supported in a regular expression"],
        ),
        (
            b'{"userIgnoreFilters": ["/(a)\\\\1/"]}',
            [r"line 1|'/(a)\\1/'|a backreference (\1) is not supported in a regular expression"],
        ),
    ],
)
def test_each_mistake_of_the_app_file_says_where_it_is(
    tmp_path: Path, content: bytes, said: list[str]
) -> None:
    app_file(tmp_path, content)
    assert said_of_app(tmp_path) == [f".obsidian/app.json|{one}" for one in said]


def test_an_app_file_may_begin_with_a_mark_and_of_none_nothing_is_read(tmp_path: Path) -> None:
    assert read_obsidian_filters(tmp_path)[0] == ()
    app_file(tmp_path, b"\xef\xbb\xbf" + json.dumps({"userIgnoreFilters": ["a", "/b/"]}).encode())
    filters, compiled = read_obsidian_filters(tmp_path)
    assert filters == ("a", "/b/")
    assert [compiled.matches(path) for path in ("a.md", "xb.md", "c.md")] == [True, True, False]


def test_an_app_file_of_4_mib_is_read_and_an_ignore_file_of_256_kib(tmp_path: Path) -> None:
    for size, is_read in ((4 * 1024 * 1024, True), (4 * 1024 * 1024 + 1, False)):
        app_file(tmp_path, b"{}" + b" " * (size - 2))
        if is_read:
            assert read_obsidian_filters(tmp_path)[0] == ()
        else:
            assert "too large" in said_of_app(tmp_path)[0]
    ignore = tmp_path / ".indexerignore"
    ignore.write_bytes(b"#" * 256 * 1024)
    assert len(read_ignore_list(tmp_path)[0][0]) == 256 * 1024
    ignore.write_bytes(b"#" * (256 * 1024 + 1))
    with pytest.raises(ExclusionError, match="too large"):
        read_ignore_list(tmp_path)


def test_the_lines_of_an_ignore_file_are_kept_as_they_are(tmp_path: Path) -> None:
    assert read_ignore_list(tmp_path)[0] == ()
    (tmp_path / ".indexerignore").write_bytes(b"\xef\xbb\xbfa/\r\n\nb\r\r\n")
    lines, patterns = read_ignore_list(tmp_path)
    assert lines == ("a/", "", "b\r", "")
    assert patterns.matches("a", is_dir=True) and not patterns.matches("b", is_dir=False)


def test_a_mistake_in_a_list_names_its_line_and_shows_eighty_characters_of_it() -> None:
    with pytest.raises(ExclusionError) as caught:
        compile_ignore_list(["a", "[" + "b" * 79, "[" + "b" * 80], "files.exclude")
    assert [(one.source, one.key, one.value) for one in caught.value.problems] == [
        ("files.exclude", "line 2", repr("[" + "b" * 79)),
        ("files.exclude", "line 3", ascii("[" + "b" * 79 + "…")),
    ]


@pytest.mark.parametrize(
    ("path", "is_dir", "decision"),
    [
        ("a~", True, Decision.IGNORE),
        ("~$a.md", False, Decision.IGNORE),
        ("a~/b.md", False, Decision.IGNORE),
        ("~a.md", False, Decision.INDEX),
        ("a.b/c.md", False, Decision.INDEX),
        ("a.PY", False, Decision.INDEX),
        ("a.pyx", False, Decision.LINK_ONLY),
        ("a.rs", False, Decision.LINK_ONLY),
        ("drafts/a.py", False, Decision.IGNORE),
        ("a.py.png", False, Decision.LINK_ONLY),
        ("", True, Decision.INDEX),
    ],
)
def test_temporary_names_are_ignored_and_suffixes_of_sources_indexed(
    path: str, is_dir: bool, decision: Decision
) -> None:
    rules = IgnoreRules(sources=(".py",), exclude=(compile_ignore_list(["drafts/"]),))
    assert rules.decide(path, is_dir=is_dir) is decision


def test_both_lists_of_a_vault_are_kept_and_their_problems_told_together(tmp_path: Path) -> None:
    (tmp_path / ".indexerignore").write_text("a/\n")
    app_file(tmp_path, b'{"userIgnoreFilters": ["b/"]}')
    rules = load_ignore_rules(tmp_path, FilesSettings())
    assert rules.lists == ExclusionLists(("a/", ""), ("b/",))
    assert (rules.problems, rules.fault, rules.known, len(rules.fingerprint)) == ((), "", None, 16)
    (tmp_path / ".indexerignore").write_text("[\n")
    app_file(tmp_path, b"{")
    both = load_ignore_rules(tmp_path, FilesSettings(), rules)
    assert [problem.source for problem in both.problems] == [".indexerignore", ".obsidian/app.json"]
    assert both.lists == rules.lists
    without = load_ignore_rules(tmp_path, FilesSettings(use_obsidian_filters=False), rules)
    assert [problem.source for problem in without.problems] == [".indexerignore"]
    assert without.lists == ExclusionLists(("a/", ""), ())
    with pytest.raises(ExclusionError) as caught:
        load_ignore_rules(tmp_path, FilesSettings())
    assert len(caught.value.problems) == 2


@pytest.mark.posix("/proc/mounts")
def test_the_innermost_and_last_mount_tells_whether_a_folder_is_remote() -> None:
    def kind(folder: str, mounts: str) -> str:
        return remote_file_system(Path(folder), mounts) or "local"

    check_golden(Path(__file__).parent / "fixtures" / "mounts.md", {"": of_parts(kind)})
