"""Every mistake is told, all at once, in words: where, which key, what stands there, what may."""

import os
import re
from pathlib import Path

import pytest
from config_sandbox import Sandbox
from golden_cases import check_golden, compare_golden, of_parts

from vault_indexer.config.schema import TUNED

JARGON = ("pydantic", "http", "type=", "Input should", "validation", "Traceback", "int_parsing", "Literal[")


def test_mistakes_of_all_sources_are_told_together(sandbox: Sandbox) -> None:
    sandbox.write(user="[search]\nlimit = 0", vault="[search]\nsnippet_chars = 0")
    options = {"watch.debounce_s": "soon", "search.limit": "5"}  # although a stronger source is right
    problems = sandbox.problems(env={"INDEXER_WATCH_MODE": "pol"}, options=options)
    assert [(problem.source, problem.key) for problem in problems] == [
        (f"file {sandbox.user_file}", "search.limit"),
        (f"file {sandbox.vault_file}", "search.snippet_chars"),
        ("environment INDEXER_WATCH_MODE", "watch.mode"),
        ("option --debounce-s", "watch.debounce_s"),
    ]


def test_what_is_said_of_a_mistake(sandbox: Sandbox) -> None:
    """`fixtures/mistakes.md` has what stands in a file, and indented below it what is said: the key, the
    value and what may stand there."""
    golden = Path(__file__).parent / "fixtures" / "mistakes.md"
    parts = []
    for text in re.findall(r"(?m)(?:^\S.*\n)+", golden.read_text("utf-8")):
        sandbox.write(vault=text)
        (problem,) = sandbox.problems()
        assert problem.source == f"file {sandbox.vault_file}"
        assert not any(word in str(problem) for word in JARGON)
        parts.append(f"{text}    {problem.key} | {problem.value} | {problem.allowed}\n")
    compare_golden(golden, "".join(parts))


def test_values_that_contradict_each_other_are_told_where_they_were_set(sandbox: Sandbox) -> None:
    sandbox.write(user="[chunking]\nmin_chunk_chars = 400", vault="[chunking]\nmax_chunk_chars = 300")
    (problem,) = sandbox.problems()
    assert problem.key == "chunking.min_chunk_chars"
    assert problem.source == f"file {sandbox.user_file}"
    assert "chunking.max_chunk_chars is 300" in problem.allowed


def test_no_contradiction_is_told_of_a_value_that_is_wrong_itself(sandbox: Sandbox) -> None:
    sandbox.write(vault='[chunking]\nmin_chunk_chars = 5000\nmax_chunk_chars = "big"')
    assert [problem.key for problem in sandbox.problems()] == ["chunking.max_chunk_chars"]


def test_a_named_file_must_exist(sandbox: Sandbox, tmp_path: Path) -> None:
    absent = tmp_path / "absent.toml"
    (by_option,) = sandbox.problems(config_file=absent)
    assert str(by_option) == f"option --config: {absent}: there is no such file"
    (by_variable,) = sandbox.problems(env={"INDEXER_CONFIG": str(absent)})
    assert str(by_variable) == f"environment INDEXER_CONFIG: {absent}: there is no such file"


@pytest.mark.posix("pipes")
def test_a_pipe_is_no_file(sandbox: Sandbox) -> None:
    os.mkfifo(sandbox.vault_file)
    (in_vault,) = sandbox.problems()
    assert (in_vault.source, in_vault.allowed) == ("the vault's configuration", "is not a file")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is unreadable for root")
def test_an_unreadable_file_is_told(sandbox: Sandbox) -> None:
    sandbox.write(user="[search]")
    sandbox.user_file.chmod(0)
    (problem,) = sandbox.problems()
    assert (problem.key, problem.allowed) == (str(sandbox.user_file), "cannot be read: Permission denied")


def test_a_file_full_of_mistakes_is_cut_short(sandbox: Sandbox) -> None:
    sandbox.write(vault="".join(f"zz{number} = 1\n" for number in range(5000)))
    problems = sandbox.problems()
    assert len(problems) == 101
    assert problems[-1].allowed == "more than 100 mistakes; the others are not shown"


def test_a_mistake_in_the_users_own_file_names_the_default_beside_it(sandbox: Sandbox) -> None:
    sandbox.write(user='index.max_memory_mb = 511\nchunking.contextual.group_by = "a:b"')
    assert [(problem.key, problem.value, problem.allowed) for problem in sandbox.problems()] == [
        ("index.max_memory_mb", "511", "0 for no limit, or 512 to 1048576"),
        (
            "chunking.contextual.group_by",
            '"a:b"',
            'group_by needs a granularity other than none (chunking.contextual.granularity is "none")',
        ),
    ]


@pytest.mark.parametrize("text", ["", "abc", "5.5", "0", "201", "nan", "\udcff", "9" * 5000])
def test_texts_that_are_no_limit(sandbox: Sandbox, text: str) -> None:
    (problem,) = sandbox.problems(options={"search.limit": text})
    assert problem.allowed == "a whole number from 1 to 200"


def test_texts_of_the_wrong_form_and_values_that_just_fit(sandbox: Sandbox) -> None:
    def said(key: str, value: str) -> str:
        (problem,) = sandbox.problems(options={key: value})
        assert problem.key.startswith(key)
        return problem.allowed

    def warnings(text: str) -> str:
        sandbox.write(user=text)
        return str(sandbox.load().warnings)

    sections = {"Key, value": of_parts(said), "Values that just fit": warnings}
    check_golden(Path(__file__).parent / "fixtures" / "forms.md", sections)


def test_no_secret_is_printed(sandbox: Sandbox) -> None:
    sandbox.write(
        user='[embedding]\napi_key_env = "sk-123-456"\napi_key = "sk-123-456"\nauth_token = "sk-123"'
    )
    problems = sandbox.problems(env={"INDEXER_API_KEY": "sk-123"})
    assert len(problems) == 3
    assert not any("sk-123" in str(problem) for problem in problems)


def test_nothing_is_printed_that_a_terminal_obeys(sandbox: Sandbox) -> None:
    sandbox.write(vault='"\\u001b[2J" = 1\n[chunking]\nstrategy = "\\u009b2J\\u202e\\n"')
    problems = sandbox.problems()
    assert len(problems) == 2
    assert all(str(problem).isprintable() for problem in problems)


def test_a_former_key_is_ignored_with_a_warning(sandbox: Sandbox) -> None:
    sandbox.write(user='[search]\nrrf_k = 0\nlimit = 5\nfusion = "rrf"', vault="[watch]\npoll_s = 3")
    loaded = sandbox.load(env={"INDEXER_SEARCH_DEADLINE_S": "1"})
    assert loaded.warnings == (
        f"search.rrf_k is no longer a setting; ignored (file {sandbox.user_file})",
        f"search.fusion is no longer a setting; ignored (file {sandbox.user_file}). For rrf, write "
        "search.rerank = 0",
        f"watch.poll_s is no longer a setting; ignored (file {sandbox.vault_file})",
        "search.deadline_s is no longer a setting; ignored (environment INDEXER_SEARCH_DEADLINE_S)",
    )
    settings = loaded.settings
    assert (settings.search.limit, settings.search.rrf_k, settings.watch.poll_s) == (5, 60, 30)
    assert not TUNED & loaded.origins.keys()


def test_code_and_measurements_may_set_what_no_file_can(sandbox: Sandbox) -> None:
    assert sandbox.load(options={"search.rrf_k": "7"}).settings.search.rrf_k == 7
    tuned = sandbox.load(env={"INDEXER_TUNING": "[search]\nrrf_k = 7\n[watch]\npoll_s = 2"}).settings
    assert (tuned.search.rrf_k, tuned.watch.poll_s) == (7, 2)
    wrong = sandbox.problems(env={"INDEXER_TUNING": "[search]\nlimit = 7\nrrf_k = 0.5"})
    assert [problem.key for problem in wrong] == ["search.limit", "search.rrf_k"]
