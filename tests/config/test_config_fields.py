"""A file found inside a vault tunes, and never names code, models, servers or folders."""

from pathlib import Path
from typing import Annotated, Literal

import pytest
from config_sandbox import Sandbox
from golden_cases import check_golden

from vault_indexer.config.fields import Table, Trust
from vault_indexer.config.schema import (
    SCHEMA,
    TABLES,
    TRUST,
    USER_STRATEGIES,
    refused_in_note,
    trust_of,
    vault_may_set,
)
from vault_indexer.config.values import toml_text
from vault_indexer.errors import ConfigError

TUNABLE = {name for name in SCHEMA if TRUST[name] is not Trust.USER}
"""The keys that a vault's own file may set."""

NEVER_TUNABLE = (
    *("vault", "embedding.", "llm.", "server.", "page.", "index.", "chunking.token.tokenizer"),
    *("chunking.parent_child.tokenizer", "chunking.llm.", "chunking.custom.", "chunking.contextual."),
    *("chunking.agentic.max_api_calls", "chunking.agentic.timeout_s", "chunking.agentic.prompt"),
)
"""Keys, or beginnings of keys, that name code, models, servers or folders, or what the machine may spend."""


def line(name: str) -> str:
    """The key with its default, as one line of TOML."""
    return f"{name} = {toml_text(SCHEMA[name].default)}\n"


def test_every_key_is_classified_and_no_other() -> None:
    assert {name for name in TRUST if "[]" not in name} == SCHEMA.keys() | TABLES
    assert {name for name in TRUST if "[]" in name} == {
        "chunking.rules[].paths",
        "chunking.rules[].strategy",
        "search.recency.tiers[].days",
        "search.recency.tiers[].boost",
    }
    assert {"agentic", "custom", "llm"} == USER_STRATEGIES


def test_only_tuning_is_left_to_a_vault() -> None:
    assert {name for name in TUNABLE if name.startswith(NEVER_TUNABLE)} == set()
    tables = {"files", "documents", "links", "chunking", "search", "watch"}
    assert {name.partition(".")[0] for name in TUNABLE} == tables
    assert {name: TRUST[name] for name in TUNABLE if TRUST[name] is not Trust.VAULT} == {
        "chunking.strategy": Trust.NAME,
        "chunking.rules": Trust.NAME,
        "chunking.word.word_pattern": Trust.PATTERN,
        "chunking.boundary.patterns": Trust.PATTERN,
        "files.include": Trust.NARROW,
        "files.exclude": Trust.NARROW,
        "files.use_obsidian_filters": Trust.NARROW,
    }
    assert {"files.include", "chunking.code.language", "search.recency.tiers", "watch.mode"} <= TUNABLE


def test_what_a_vault_may_set_and_that_the_user_may_set_everything(sandbox: Sandbox) -> None:
    sandbox.write(vault="".join(map(line, sorted(TUNABLE))))
    tuned = sandbox.load()
    assert {
        name for name, origin in tuned.origins.items() if origin == f"file {sandbox.vault_file}"
    } == TUNABLE
    for name in SCHEMA.keys() - TUNABLE:
        sandbox.write(vault=line(name))
        (problem,) = sandbox.problems()
        assert (problem.key, "inside a vault" in problem.allowed) == (name, True)
        assert str(sandbox.user_file) in problem.allowed
    sandbox.write(vault="", user="".join(map(line, SCHEMA)))
    assert set(sandbox.load().origins.values()) == {f"file {sandbox.user_file}"}


def test_a_file_in_the_vault_is_trusted_when_it_is_named(sandbox: Sandbox) -> None:
    sandbox.write(vault=line("server.port"))
    assert sandbox.problems()
    assert sandbox.load(config_file=sandbox.vault_file).origins["server.port"].startswith("file ")
    assert sandbox.load(env={"INDEXER_CONFIG": str(sandbox.vault_file)}).files == (sandbox.vault_file,)


@pytest.mark.posix("symbolic links")
def test_a_link_to_the_users_file_is_not_trusted(sandbox: Sandbox) -> None:
    sandbox.write(user=line("server.port"))
    sandbox.vault_file.symlink_to(sandbox.user_file)
    assert [problem.source for problem in sandbox.problems()] == [f"file {sandbox.vault_file}"]


@pytest.mark.parametrize(
    "value", ["module:function", "pkg.module", "/a/tokenizer.json", "a\\b", *sorted(USER_STRATEGIES)]
)
def test_a_name_that_leads_to_code_or_files_is_refused(sandbox: Sandbox, value: str) -> None:
    sandbox.write(vault=f"[chunking]\nstrategy = {toml_text(value)}")
    (problem,) = sandbox.problems()
    assert (problem.key, "inside a vault" in problem.allowed) == ("chunking.strategy", True)


def test_a_misspelt_name_is_a_mistake_like_any_other(sandbox: Sandbox) -> None:
    sandbox.write(vault='[chunking]\nstrategy = "heading_based"')
    (problem,) = sandbox.problems()
    assert problem.allowed.startswith("one of: header_based, none, ")


def test_a_vault_may_set_what_the_golden_says(sandbox: Sandbox) -> None:
    def verdict(key: str, text: str) -> str:
        sandbox.write(vault=text)
        try:
            sandbox.load()
        except ConfigError as error:
            (problem,) = error.problems
            assert (problem.key, "inside a vault" in problem.allowed) == (key, True)
            return "refused"
        return "may"

    def pattern(written: str) -> str:
        text = f"[chunking.boundary]\npatterns = [{toml_text(written)}]"
        found = verdict("chunking.boundary.patterns", text)
        sandbox.write(vault="", user=text)
        assert sandbox.load().settings.chunking.boundary.patterns == (written,)
        return found

    check_golden(
        Path(__file__).parent / "fixtures" / "vault_file.md",
        {
            "Regular expressions that take linear time": pattern,
            "Rules": lambda rule: verdict("chunking.rules", f"[[chunking.rules]]\n{rule}"),
        },
    )


@pytest.mark.parametrize(
    ("choice", "refused"),
    [
        ({"strategy": "token", "max_tokens": 100, "overflow": "split"}, ""),
        ({"strategy": "custom", "max_tokens": 100}, "strategy"),
        ({"strategy": "llm"}, "strategy"),
        ({"strategy": "agentic"}, "strategy"),
        ({"tokenizer": "mine:count"}, "tokenizer"),
        ({"function": "cut", "contextual": True, "max_api_calls": 9}, "function contextual max_api_calls"),
        ({"token": {"tokenizer": "mine:count"}, "function": "mine:cut"}, "tokenizer function"),
        (
            {"strategy": "word", "word_pattern": "a", "word": {"word_pattern": "a"}},
            "word_pattern word_pattern",
        ),
        ({"rules": [], "agentic": {"mode": "split"}, "boundary": {"patterns": []}}, "rules agentic patterns"),
        ({"boundary": {"overlap": {"mode": "words", "value": 3}}}, ""),
    ],
)
def test_a_note_is_trusted_as_little_as_a_vaults_file(choice: dict[str, object], refused: str) -> None:
    assert refused_in_note(choice) == refused.split()


class Unmarked(Table):
    number: int = 1


class Tuned(Table):
    trust = Trust.VAULT

    number: int = 1
    choice: Literal["a", "b"] = "a"
    text: str = ""
    texts: tuple[str, ...] = ()
    folder: Path | None = None
    marked: Annotated[str, Trust.VAULT] = ""
    own: Annotated[int, Trust.USER] = 1
    pattern: tuple[Annotated[str, Trust.PATTERN], ...] = ()


@pytest.mark.parametrize(
    ("table", "field", "trust"),
    [
        (Unmarked, "number", Trust.USER),
        (Tuned, "number", Trust.VAULT),
        (Tuned, "choice", Trust.VAULT),
        (Tuned, "text", Trust.USER),
        (Tuned, "texts", Trust.USER),
        (Tuned, "folder", Trust.USER),
        (Tuned, "marked", Trust.VAULT),
        (Tuned, "own", Trust.USER),
        (Tuned, "pattern", Trust.PATTERN),
    ],
)
def test_a_new_key_is_the_users_until_a_mark_says_otherwise(
    table: type[Table], field: str, trust: Trust
) -> None:
    assert trust_of(table, table.model_fields[field]) is trust


def test_a_key_without_a_row_and_a_bottomless_value_are_refused() -> None:
    assert not vault_may_set("new.key", 5)
    value: object = 1
    for _ in range(500):
        value = [value]
    assert not vault_may_set("chunking.rules", value)
