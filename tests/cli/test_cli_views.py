"""What commands print, as a person edits it: `fixtures/views-*.md`.

Of a terminal it is all that is shown, without styles; of a pipe, standard output, then standard error.
`UPDATE_GOLDEN=1` writes the files.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from importlib.resources import files

import pytest
from cli_sandbox import PLAIN_MODEL, Sandbox
from golden_cases import compare_golden
from golden_commands import GOLDENS
from shown_text import hidden

from vault_indexer.cli.connection.daemon_command import HINT_FILE

pytestmark = pytest.mark.long


COMMANDS = (
    "search brown rot on tomatoes",
    "search unwell kitten",
    "search xyzzy qwfpgj",
    "search xyzzy qwfpgj --nearest -n 2",
    "search slugs --places -n 3",
    "search slugs and snails --explain Slugs",
    "search slugs --explain Oven",
    "ask when are the Perseids at their best?",
    "ask who was the quarterback of Denver?",
    "status",
    "check",
    "related Miso -n 3",
    "links Miso",
    "links --broken",
    "links Slugs --depth 1 --links-only",
    "inspect Miso",
    "vault list",
    "config show",
    "help advanced",
    "--help",
    "init",
    "pause",
    "resume",
    "eval run",
    "gateway",
    "completion bash",
    "help",
    "stop",
)
AT_WORK = ("rebuild", "start", "status", "open --print", "stop")
"""Those that build, start and end something; `serve` and `mcp` answer programs and end with them."""

# One process for all commands.
EACH = """
import sys
from vault_indexer.cli.app import main
for command in sys.argv[1].split("|"):
    try:
        main([*command.split(), *sys.argv[2:]])
    except SystemExit as end:
        status = end.code or 0
    sys.stdout.flush()
    for stream in (sys.stdout, sys.stderr):
        print(f"[exit status {status}]", end="\u241d", file=stream, flush=True)
"""
LONG = "Garden/A rainy year on the hill/What brown rot and slugs have taught us, and the neighbours.md"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """The bundled notebook with one long path, in a home folder, with its index."""
    root = tmp_path_factory.mktemp("views")
    sandbox = Sandbox(root, {"HOME": str(root), "PAGER": "cat", **PLAIN_MODEL})
    shutil.copytree(
        str(files("vault_indexer") / "demo"), sandbox.vault, copy_function=shutil.copyfile
    )  # changed now: no time of the checkout counts
    sandbox.write(
        LONG, "# Rainy year\n\nBrown rot came in July, and [[Nobody]] had a roof over the tomatoes.\n"
    )
    (sandbox.vault / "bad.md").write_bytes(b"\xff\xfe\x00not text")
    assert sandbox.indexer("rebuild").code == 0
    (sandbox.index_dir / HINT_FILE).touch()
    return sandbox


def parts(text: str) -> list[str]:
    """What each command printed, as it is in the file."""
    return [part.lstrip("\n") for part in hidden(text).split("\u241d")[:-1]]


def compare(name: str, sections: list[str]) -> None:
    """Compare what was printed with a file, or write that."""
    compare_golden(GOLDENS / f"views-{name}.md", "\n".join(sections))


def at_a_terminal(sandbox: Sandbox, commands: Sequence[str], columns: int) -> list[str]:
    """What each command shows."""
    return parts(sandbox.terminal("|".join(commands), code=EACH, columns=columns).out)[::2]


def in_a_pipe(sandbox: Sandbox, commands: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Each command with its standard output and its standard error."""
    ran = sandbox.run("|".join(commands), *sandbox.place, code=EACH)
    return zip(commands, parts(ran.out), parts(ran.err), strict=True)


def test_views_of_a_daemon(demo: Sandbox) -> None:
    sections = ["# Commands that build, start and end\n"]
    try:
        for columns in (60, 80, 120):
            sections.append(f"## At a terminal of {columns} columns\n")
            shown = zip(AT_WORK, at_a_terminal(demo, AT_WORK, columns), strict=True)
            sections += [f"### {command}\n\n```text\n{text}\n```\n" for command, text in shown]
        sections.append("## In a pipe\n")
        for command, out, err in in_a_pipe(demo, AT_WORK):
            said = err.rpartition("[exit")[0]
            sections.append(f"### {command}\n\n```text\n{said}{out}\n```\n")
    finally:
        demo.indexer("stop")
    compare("daemon", sections)


def test_views(demo: Sandbox) -> None:
    """One test of all of them: a message that changes is one failure."""
    for columns in (60, 80, 120):
        compare_at_a_terminal(demo, columns)
    compare_in_a_pipe(demo)


def compare_at_a_terminal(demo: Sandbox, columns: int) -> None:
    shown = at_a_terminal(demo, COMMANDS, columns)
    for text in shown:
        data = [
            line
            for line in text.splitlines()
            if not line.startswith(("No ", "  indexer ", "Start", "indexer: "))
        ]  # standard error wraps itself
        assert all(len(line) <= columns for line in data), text
    sections = [
        f"## {command}\n\n```text\n{text}\n```\n" for command, text in zip(COMMANDS, shown, strict=True)
    ]
    compare(str(columns), [f"# At a terminal of {columns} columns\n", *sections])


def compare_in_a_pipe(demo: Sandbox) -> None:
    found = ["# In a pipe\n"]
    for command, out, err in in_a_pipe(demo, COMMANDS):
        found.append(f"## {command}\n\n```text\n{out}\n```\n")
        if said := err.rpartition("[exit")[0]:
            found.append(f"Standard error:\n\n```text\n{said}```\n")
    compare("pipe", found)
