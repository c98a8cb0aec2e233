"""A wrong command gets no wrong answer: options of grep, no match, closed pipes, an emptied vault."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_sandbox import NOTES, PLAIN_MODEL, Sandbox
from waiting import PROCESS_S, wait_until

from vault_indexer.cli.commands.search import editor_command
from vault_indexer.cli.output.query_words import query_last
from vault_indexer.errors import UsageError


@pytest.mark.parametrize("letter", ["i", "v", "q", "r"])
def test_a_single_letter_is_no_word_of_a_query(letter: str) -> None:
    for arguments in (["canvas", f"-{letter}"], [f"-{letter}", "canvas"]):
        with pytest.raises(UsageError, match=f"no option -{letter}.*-- -{letter}$"):
            query_last(arguments, {"-n": 1})
    assert query_last(["canvas", "--", f"-{letter}"], {}) == ["--", "canvas", f"-{letter}"]
    assert query_last(["canvas", f"-{letter}x"], {}) == ["--", "canvas", f"-{letter}x"]


def test_an_option_of_grep_is_an_error(served: Sandbox) -> None:
    ran = served.indexer("search", "telescope", "-i")
    assert (ran.code, ran.out) == (2, "")
    assert ran.complains("there is no option -i", "-- -i")


@pytest.mark.parametrize("index_dir", [".", "..", "linked"])
def test_an_index_folder_that_contains_the_notes_is_refused(sandbox: Sandbox, index_dir: str) -> None:
    (sandbox.vault / "linked").symlink_to(sandbox.vault)
    before = sandbox.vault.stat().st_mode
    ran = sandbox.run("rebuild", "--vault", str(sandbox.vault), "--index-dir", str(sandbox.vault / index_dir))
    assert ran.code == 2
    assert ran.complains(str(sandbox.vault / index_dir), "contains the notes of")
    assert (sandbox.vault.stat().st_mode, (sandbox.vault / "generations").exists()) == (before, False)


def test_files_prints_each_path_once(served: Sandbox) -> None:
    served.write(
        "Sky/Many.md", "# Many\n\n" + "\n\n".join(f"## Zeppelin {n}\n\n{'gas ' * 200}" for n in "abc")
    )
    # On a machine with other work a search with --fresh may answer before the note is in, and says so.
    wait_until(lambda: served.indexer("search", "zeppelin", "--fresh").code == 0)
    paths = served.indexer("search", "zeppelin", "--limit", "3", "-l").out.splitlines()
    assert len(set(paths)) == len(paths)
    assert paths[0].endswith("Sky/Many.md")
    assert served.indexer("search", "zeppelin", "--limit", "3", "--files", "-0").out.split("\0")[-1] == ""


def test_paths_of_notes_have_no_line(served: Sandbox) -> None:
    ran = served.indexer("search", "telescope", "--by", "note", "--paths", "-0")
    paths = ran.out.split("\0")[:-1]
    assert paths
    assert all(path.endswith(".md") for path in paths)


def test_nothing_is_printed_of_what_does_not_match(served: Sandbox) -> None:
    for style in ("--paths", "--lines", "--files"):
        ran = served.indexer("search", "xyzzy qwfpgj", style)
        assert (ran.code, ran.out) == (1, ""), style
        assert ran.complains('"xyzzy", "qwfpgj"', "--nearest")
    shown = served.indexer("search", "xyzzy qwfpgj")
    assert (shown.code, bool(shown.out)) == (1, True)
    assert shown.complains('"xyzzy", "qwfpgj"')
    near = served.indexer("search", "xyzzy qwfpgj", "--nearest", "--paths")
    assert near.code == 1
    assert len(near.out.splitlines()) > 1
    data = served.indexer("search", "xyzzy qwfpgj", "--json").data
    assert (data["verdict"], data["missing_words"]) == ("none", ["xyzzy", "qwfpgj"])
    assert data["results"]


def test_a_query_from_standard_input(served: Sandbox) -> None:
    place = ("--vault", str(served.vault), "--index-dir", str(served.index_dir), "--json")
    for command, key in (("search", "query"), ("ask", "question")):
        done = subprocess.run(
            [sys.executable, "-m", "vault_indexer.cli", command, "-", *place],
            input="rings of\n  Saturn\n",
            env=served.environ,
            capture_output=True,
            text=True,
            timeout=PROCESS_S,
            check=False,
        )
        assert json.loads(done.stdout)[key] == "rings of Saturn", done.stderr


def test_a_closed_pipe_is_no_failure(served: Sandbox) -> None:
    """Whoever reads has closed the pipe before the first line, as `head` does after its last."""
    code = (
        "import os, sys\nread, write = os.pipe()\nos.dup2(write, 1)\nos.close(read)\nos.close(write)\n"
        "from vault_indexer.cli.app import main\nmain()\n"
    )
    place = ("--vault", str(served.vault), "--index-dir", str(served.index_dir))
    for options in ((), ("--json",), ("--paths",)):
        ran = served.run("search", "telescope", *options, *place, code=code)
        assert (ran.code, ran.err) == (0, ""), options


def test_open_runs_the_editor_at_the_line(served: Sandbox) -> None:
    script = served.root / "editor.py"
    script.write_text("import sys\nprint(sys.argv[1:])\n")
    editor = Sandbox(served.root, {"EDITOR": f"{sys.executable} {script}"})
    ran = editor.indexer("search", "rings of Saturn", "-o")
    assert (ran.code, ran.out) == (0, f"{['+3', str(served.vault / 'Sky/Night sky.md')]}\n")
    assert "+" not in editor.indexer("search", "xyzzy qwfpgj", "-o").out
    without = Sandbox(served.root, {"EDITOR": "", "VISUAL": ""}).indexer("search", "telescope", "--open")
    assert (without.code, without.complains("EDITOR")) == (2, True)


def test_each_editor_gets_the_line_in_its_way(tmp_path: Path) -> None:
    note = tmp_path / "a b.md"
    assert editor_command("vim -R", note, 7) == ["vim", "-R", "+7", str(note)]
    assert editor_command("/usr/bin/code --wait", note, 7)[2:] == ["--goto", f"{note}:7"]
    assert editor_command("vim", note, None) == ["vim", str(note)]


def empty(vault: Sandbox) -> None:
    for path in NOTES:
        (vault.vault / path).unlink()


def test_rebuild_refuses_an_emptied_folder(copied: Sandbox) -> None:
    empty(copied)
    ran = copied.indexer("rebuild")
    assert (ran.code, ran.out) == (3, "")
    assert ran.complains(
        "Not rebuilt: the vault looks empty (3 files expected). The index is kept.", "--force"
    )
    assert copied.indexer("search", "telescope", "-l").out.count("Night sky.md") == 1
    shown = copied.indexer("status").out
    assert ", not kept up to date" in shown.splitlines()[0]
    assert "warning      the vault looks empty (3 files expected). The index is kept." in shown
    forced = copied.indexer("rebuild", "--force", "--json")
    assert (forced.code, forced.data["notes"]) == (0, 0)


def test_check_repairs_nothing_of_an_emptied_folder(copied: Sandbox) -> None:
    empty(copied)
    for options in ((), ("--repair",)):
        ran = copied.indexer("check", *options)
        assert ran.code == 1
        (line,) = [one for one in ran.out.splitlines() if one.startswith("!   vault ")]
        assert "the vault looks empty (3 files expected). The index is kept." in line
        assert line.endswith("indexer rebuild --force")
        assert "differ" not in ran.out
    assert copied.indexer("search", "telescope", "-l").out.count("Night sky.md") == 1


@pytest.mark.long
def test_rebuild_refuses_an_emptied_folder_through_the_daemon(copied: Sandbox) -> None:
    assert copied.indexer("start", "--wait", str(PROCESS_S)).code == 0
    try:
        shutil.copytree(copied.vault, copied.root / "kept")
        empty(copied)
        ran = copied.indexer("rebuild")
        assert (ran.code, ran.complains("Not rebuilt", "--force")) == (3, True), ran.err
        assert copied.indexer("status", "--json").data["notes"] == 3
        shutil.copytree(copied.root / "kept", copied.vault, dirs_exist_ok=True)
        assert copied.indexer("rebuild", "--json").data["notes"] == 3
    finally:
        assert copied.indexer("stop").code == 0


def test_one_changed_key_is_one_line(copied: Sandbox) -> None:
    copied.write(".indexer.toml", '[chunking]\nstrategy = "semantic"\n')
    ran = copied.indexer("search", "telescope")
    notices = [line for line in ran.err.splitlines() if line.startswith("Index ")]
    assert notices == ["Index rebuilt: chunking.strategy is now semantic"]


def test_a_check_finds_what_cannot_run(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path, PLAIN_MODEL)
    file = sandbox.root / "config.toml"
    file.write_text(
        '[embedding]\nprovider = "openai"\nurl = "http://127.0.0.1:9/v1"\napi_key_env = "NO_SUCH_KEY"\n'
        '[chunking]\nstrategy = "llm"\n'
    )
    ran = sandbox.indexer("check", "--config", str(file))
    assert (ran.code, ran.err) == (1, "")
    assert f'{file}: embedding.model = "": must be set: embedding.provider is "openai"' in ran.out
    assert "NO_SUCH_KEY" in ran.out
    assert 'llm.provider = "none"' in ran.out
    vault = sandbox.indexer("check", "--json", "--config", str(file)).data["vaults"][0]  # type: ignore[index]
    keys = [problem["key"] for problem in vault["configuration"]]
    assert keys == ["embedding.model", "embedding.api_key_env", "llm.provider"]


def test_a_stray_variable_is_a_warning(indexed: Sandbox) -> None:
    stray = Sandbox(indexed.root, {"INDEXER_SEARCH_LIMT": "3"})
    for command in (("search", "telescope"), ("config", "show")):
        ran = stray.indexer(*command)
        assert ran.code == 0, ran.err
        assert ran.complains(
            "Warning: the variable INDEXER_SEARCH_LIMT is unknown and ignored; did you mean "
            "INDEXER_SEARCH_LIMIT?"
        )
