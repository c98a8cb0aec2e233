"""How one value is read and shown, and which places values come from."""

import json
import re
from pathlib import Path

import pytest
from golden_cases import check_golden, of_parts

from vault_indexer.config.settings import DocumentsSettings
from vault_indexer.config.sources import (
    MAX_CONFIG_BYTES,
    ConfigFile,
    from_environment,
    from_file,
    unknown_variables,
)
from vault_indexer.config.values import RawValue, check, format_value, printable, toml_text
from vault_indexer.errors import ConfigProblem

HOME = Path.home().absolute()


def nested(depth: int) -> list[object]:
    found: list[object] = []
    for _ in range(depth):
        found = [found]
    return found


def test_a_value_is_shown_in_one_short_line_and_no_secret_is() -> None:
    def shown(key: str, value: str, kind: str) -> str:
        return format_value(key, json.loads(value), kind == "text")

    def escaped(text: str) -> str:
        found = printable(re.sub(r"x\{(\d+)\}", lambda count: "x" * int(count[1]), json.loads(text)))
        return re.sub(r"x{9,}", lambda run: f"x{{{len(run[0])}}}", found)

    check_golden(
        Path(__file__).parent / "fixtures" / "values.md",
        {"Values": of_parts(shown), "What is not printable is escaped, but joiners within a word": escaped},
    )
    assert printable("abcdef", 4) == "abc…"
    assert format_value("a.x", Path("a"), False) == '"a"'
    assert format_value("a.x", nested(100_000), False) == "(a list)"


def test_values_are_written_as_toml_writes_them() -> None:
    assert toml_text('a"\x7f\x9bé') == '"a\\"\\u007f\\u009bé"'
    assert (toml_text(1.5), toml_text((1, "a")), toml_text(None)) == ("1.5", '[1, "a"]', '""')


@pytest.mark.parametrize(
    ("written", "base", "path"),
    [
        ("x/y", Path("/b"), Path("/b/x/y")),
        ("/x", Path("/b"), Path("/x")),
        ("~/x", Path("/b"), HOME / "x"),
        ("x", None, Path.cwd() / "x"),
    ],
    ids=["relative", "absolute", "home", "no base"],
)
def test_a_path_starts_from_the_folder_of_its_file(written: str, base: Path | None, path: Path) -> None:
    assert check(RawValue("index.dir", written, "here", base)) == (path, [])


def test_a_path_with_a_nul_is_a_mistake() -> None:
    (problem,) = check(RawValue("index.dir", "a\0b", "here", Path("/b")))[1]
    assert (problem.key, problem.value) == ("index.dir", '"a\\u0000b"')


@pytest.mark.parametrize(
    ("text", "value"), [('["a", "b"]', ("a", "b")), ('["a"]\nother = 1', None), ('["a"', None)]
)
def test_the_text_of_a_list_is_one_value_of_toml(text: str, value: object) -> None:
    found, problems = check(RawValue("files.include", text, "here", is_text=True))
    assert (found, len(problems)) == (value, int(value is None))


@pytest.mark.parametrize(("ocr", "chosen"), [(False, ("pdf",)), (True, ("pdf", "image"))])
def test_pictures_are_read_where_their_text_is_recognised(ocr: bool, chosen: tuple[str, ...]) -> None:
    assert DocumentsSettings(kinds=("pdf", "image"), ocr=ocr).chosen == chosen


def problems_of(path: Path, *, named: bool = False) -> list[str] | None:
    parsed = from_file(ConfigFile(path, "a file", trusted=True, named=named), Path("user.toml"))
    return None if parsed is None else [one.allowed for one in parsed if isinstance(one, ConfigProblem)]


@pytest.mark.posix("symbolic links")
def test_a_file_that_is_not_there_is_a_mistake_only_where_it_is_named(tmp_path: Path) -> None:
    assert problems_of(tmp_path / "no.toml") is None
    assert problems_of(tmp_path / "no.toml", named=True) == ["there is no such file"]
    (tmp_path / "link.toml").symlink_to(tmp_path / "nowhere")
    assert problems_of(tmp_path / "link.toml") == ["there is no such file"]
    (tmp_path / "file").write_text("")
    assert problems_of(tmp_path / "file" / "no.toml") is None
    assert problems_of(tmp_path) == ["is not a file"]
    (tmp_path / ".evicted.toml.icloud").write_bytes(b"bplist00")
    assert problems_of(tmp_path / "evicted.toml") == ["is not downloaded"]
    assert problems_of(tmp_path / "a\0b") == ["cannot be read: invalid path"]


def test_a_file_of_256_kib_is_read_and_a_larger_one_is_not(tmp_path: Path) -> None:
    assert MAX_CONFIG_BYTES == 256 * 1024
    file = tmp_path / "c.toml"
    file.write_bytes(b"#" * MAX_CONFIG_BYTES)
    assert problems_of(file) == []
    file.write_bytes(b"#" * (MAX_CONFIG_BYTES + 1))
    assert problems_of(file) == ["is larger than 262144 bytes"]


@pytest.mark.parametrize(
    ("content", "where", "said"),
    [
        (b"a = 1\nb = '\xff'", "line 2", "is not UTF-8 text (byte 11)"),
        (b"a = 1\n b", "line 2, column 3", "is not valid TOML: "),
        (b"a = " + b"[" * 100_000, "TOML", "is nested too deeply"),
        (b"a = " + b"9" * 5_000, "TOML", "contains a value that cannot be read: "),
    ],
    ids=["encoding", "syntax", "nesting", "number"],
)
def test_a_file_that_is_no_toml_says_where(tmp_path: Path, content: bytes, where: str, said: str) -> None:
    (tmp_path / "c.toml").write_bytes(content)
    parsed = from_file(
        ConfigFile(tmp_path / "c.toml", "a file", trusted=True, named=False), Path("user.toml")
    )
    assert parsed is not None
    (problem,) = parsed
    assert isinstance(problem, ConfigProblem)
    assert problem.key == where and problem.allowed.startswith(said)
    assert problem.source == f"file {tmp_path / 'c.toml'}"


def test_tuning_constants_are_toml_and_nothing_else_is_one() -> None:
    origin = "environment INDEXER_TUNING"
    found = list(from_environment({"INDEXER_TUNING": "search.deadline_s = 1\nfoo.bar = 2"}))
    assert found == [
        RawValue("search.deadline_s", 1, origin),
        ConfigProblem("foo.bar", "", "unknown key", origin),
    ]
    (problem,) = from_environment({"INDEXER_TUNING": "x ="})
    assert isinstance(problem, ConfigProblem)
    assert problem.allowed.startswith("is not valid TOML: ")


def test_a_variable_that_sets_nothing_is_warned_of() -> None:
    environ = {
        "INDEXER_ZZZZZZZZ": "1",
        "INDEXER_SERCH_LIMIT": "1",
        "INDEXER_EMPTY": "",
        "INDEXER_VAULT": "a",
        "INDEXER_KEY": "k",
        "INDEXER_SEARCH_LIMIT": "3",
        "OTHER": "1",
    }
    assert unknown_variables(environ, frozenset({"INDEXER_KEY"})) == (
        "the variable INDEXER_SERCH_LIMIT is unknown and ignored; did you mean INDEXER_SEARCH_LIMIT?",
        "the variable INDEXER_ZZZZZZZZ is unknown and ignored",
    )
