"""How one value is read and shown, and which places values come from."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from vault_indexer.config.sources import (
    MAX_CONFIG_BYTES,
    ConfigFile,
    OptionValue,
    config_files,
    from_environment,
    from_file,
    from_options,
    option_name,
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


@pytest.mark.parametrize(
    ("key", "value", "is_text", "shown"),
    [
        ("llm.api_key", "x", False, "(hidden)"),
        ("a.API", "x", True, "(hidden)"),
        ("a.token", "x", False, "(hidden)"),
        ("server.token_sha256", "x", False, "(hidden)"),
        ("a.password", "x", False, "(hidden)"),
        ("a.client_secret", "x", False, "(hidden)"),
        ("api.limit", "x", False, '"x"'),  # only the last name counts
        ("a.token_weights", "x", False, '"x"'),
        ("a.monkey", "x", False, '"x"'),
        ("a.x", "", True, '""'),
        ("a.x", "a\nb", True, "a\\nb"),
        ("a.x", "a\nb", False, '"a\\nb"'),
        ("a.x", 3, True, "3"),
        ("a.x", {"a": [1, True, None], "b": False}, False, '{ a = [1, true, ""], b = false }'),
        ("a.x", {}, False, "{}"),
        ("a.x", Path("/a"), False, '"/a"'),
        ("a.x", "x" * 100, False, f'"{"x" * 78}…'),
        ("a.x", nested(100_000), False, "(a list)"),
    ],
)
def test_a_value_is_shown_in_one_short_line_and_no_secret_is(
    key: str, value: object, is_text: bool, shown: str
) -> None:
    assert format_value(key, value, is_text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 79 + "…"),
        ("a\x1bb\u202ec", "a\\x1bb\\u202ec"),
        ("é\u200cé", "é\u200cé"),
        ("é\u200dé", "é\u200dé"),
        ("é\u200bé", "é\\u200bé"),
        ("a\u200cé", "a\\u200cé"),
        ("é\u200ca", "é\\u200ca"),
        ("é\u200c", "é\\u200c"),
        ("\u200cé", "\\u200cé"),
        ("é\u200c\x85", "é\\u200c\\x85"),
    ],
)
def test_what_is_not_printable_is_escaped_but_joiners_within_a_word(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable("abcdef", 4) == "abc…"


def test_values_are_written_as_toml_writes_them() -> None:
    assert toml_text('a"\x7fé') == '"a\\"\\u007fé"'
    assert (toml_text(1.5), toml_text((1, "a")), toml_text(None)) == ("1.5", '[1, "a"]', '""')


@pytest.mark.parametrize(
    ("key", "value", "is_text", "found"),
    [
        ("index.workers", 3, False, 3),
        ("index.workers", "3", True, 3),
        ("files.exclude", ["a", "b"], False, ("a", "b")),
        ("files.exclude", '["a", "b"]', True, ("a", "b")),
    ],
)
def test_a_value_is_what_a_source_gives_or_what_its_text_says(
    key: str, value: object, is_text: bool, found: object
) -> None:
    assert check(RawValue(key, value, "here", is_text=is_text)) == (found, [])


NUMBER = "a whole number from 0 to 256"
GLOB = "a glob pattern, as in .gitignore"


@pytest.mark.parametrize(
    ("key", "value", "is_text", "problem"),
    [
        ("index.workers", "3", False, ("index.workers", '"3"', NUMBER)),
        ("index.workers", "x", True, ("index.workers", "x", NUMBER)),
        ("index.workers", True, False, ("index.workers", "true", NUMBER)),
        ("index.workers", 257, False, ("index.workers", "257", NUMBER)),
        ("files.exclude", "a", True, ("files.exclude", "a", f"a list; each {GLOB}")),
        ("files.exclude", "[]\nx = 1", True, ("files.exclude", "[]\\nx = 1", f"a list; each {GLOB}")),
        ("files.exclude", ["a", 1], False, ("files.exclude[1]", "1", GLOB)),
        ("files.exclude", ["#"], False, ("files.exclude[0]", '"#"', f"{GLOB}, and no comment")),
        (
            "chunking.rules",
            [{"paths": ["a"], "pathes": 1}],
            False,
            ("chunking.rules[0].pathes", "", "unknown key; did you mean paths?"),
        ),
        ("chunking.rules", [{}], False, ("chunking.rules[0].paths", "", f"is missing; a list; each {GLOB}")),
    ],
)
def test_a_mistake_names_the_place_the_value_and_what_is_allowed(
    key: str, value: object, is_text: bool, problem: tuple[str, str, str]
) -> None:
    assert check(RawValue(key, value, "here", is_text=is_text)) == (None, [ConfigProblem(*problem, "here")])


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


@pytest.mark.posix("paths with slashes")
@pytest.mark.parametrize(
    ("vault", "config", "environ", "files"),
    [
        ("", "", {}, [("/h/vault-indexer/config.toml", "the user's configuration", True, False)]),
        (
            "/v",
            "",
            {},
            [
                ("/h/vault-indexer/config.toml", "the user's configuration", True, False),
                ("/v/.indexer.toml", "the vault's configuration", False, False),
            ],
        ),
        ("/v", "/c.toml", {"INDEXER_CONFIG": "/e.toml"}, [("/c.toml", "option --config", True, True)]),
        (
            "/v",
            "",
            {"INDEXER_CONFIG": "/e.toml"},
            [("/e.toml", "environment INDEXER_CONFIG", True, True)],
        ),
        (
            "",
            "",
            {"INDEXER_CONFIG": ""},
            [("/h/vault-indexer/config.toml", "the user's configuration", True, False)],
        ),
    ],
)
def test_a_named_file_stands_alone_and_the_vaults_comes_over_the_users(
    vault: str, config: str, environ: Mapping[str, str], files: list[tuple[str, str, bool, bool]]
) -> None:
    found = config_files(
        Path(vault) if vault else None, Path(config) if config else None, {"XDG_CONFIG_HOME": "/h", **environ}
    )
    assert [(one.path.as_posix(), one.label, one.trusted, one.named) for one in found] == files


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


def text(key: str, value: str, origin: str) -> RawValue:
    return RawValue(key, value, origin, is_text=True)


def test_variables_are_read_as_text_and_empty_ones_and_others_are_not() -> None:
    environ = {
        "INDEXER_CHUNKER": "word",
        "INDEXER_INDEX_DIR": "/x",
        "INDEXER_SEARCH_LIMIT": "",
        "SEARCH_LIMIT": "1",
    }
    assert list(from_environment(environ)) == [
        text("chunking.strategy", "word", "environment INDEXER_CHUNKER"),
        text("index.dir", "/x", "environment INDEXER_INDEX_DIR"),
    ]


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


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("files.exclude", None, []),
        ("search.limit", 3, [RawValue("search.limit", 3, "option --limit")]),
        ("files.exclude", ["a"], [RawValue("files.exclude", ["a"], "option --exclude")]),
        ("index.dir", Path("x"), [text("index.dir", "x", "option --index-dir")]),
        (
            "search.limitt",
            2,
            [
                ConfigProblem(
                    "search.limitt", "", "unknown key; did you mean search.limit?", "option --limitt"
                )
            ],
        ),
    ],
)
def test_options_are_values_of_keys(key: str, value: OptionValue, found: list[object]) -> None:
    assert list(from_options({key: value})) == found
    assert list(from_options({"files.use_obsidian_filters": None, key: value})) == found


def test_an_option_has_the_last_part_of_its_key() -> None:
    assert option_name("index.dir") == "--index-dir"
    assert option_name("chunking.word.chunk_size") == "--chunk-size"
