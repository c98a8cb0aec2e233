"""The commands of README and docs run as they are printed there, and print what stands below them.

The blocks of a page run in their order, at a terminal of 80 columns, in a home of their own unless they only
need a vault. A line of output that is only "…" stands for any lines. The steps of docs/gateway.md are in a
list, and tests/gateway/test_gateway_team.py runs them.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import pytest
from cli_sandbox import PLAIN_MODEL, Sandbox
from markdown_pages import shell_blocks
from shown_text import hidden

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
    if shell_blocks(path.read_text(encoding="utf-8"))
)

ELSEWHERE = {
    "pipx install ": "an environment of its own: .ci/package installs the wheel into one",
    "uv tool install ": "the same",
    "pip install ": "the same",
    "docker compose ": "a machine with Docker",
    "VAULT=~/Notes docker compose ": "a machine with Docker",
    "claude mcp add ": "an agent of Anthropic's",
    "indexer search --lines ": "fzf and vim: tests/cli/test_cli_output_terminal.py reads what is in the pipe",
    "vim ": "the same",
    "code ": "the same",
    "indexer init /media/usb/": "a second disk",
    "mv ~/.local/": "the name of an index folder, which differs from vault to vault",
    'indexer search "a query" --vault ~/Notes --index-dir /disk': "the same",
    "indexer eval run ": "cases, and Obsidian's help: tests/evals runs them",
}
"""What a command begins with that this test does not run, and what it needs."""

STATUS_1 = (
    "indexer links --broken",
    "indexer search slugs --explain Oven",
    "indexer search xyzzy",
    "indexer search -n 3 something",
)
"""Commands that end with exit status 1 on these notes."""

EACH = """
import json, os, subprocess, sys
from vault_indexer.cli.app import main
for command in json.loads(sys.argv[1]):
    name, *arguments = [os.path.expanduser(word) for word in command]
    status = 0
    try:
        if name == "indexer":
            main(arguments)
        else:
            status = subprocess.call([name, *arguments])
    except SystemExit as end:
        status = end.code or 0
    print(f"[exit status {status}]", end="\u241d", flush=True)
"""
HINT = "Searches are faster while the daemon runs (indexer start)."
"""The command says so once a day."""

SHORT_TIME = re.compile(r"\b\d+(?:\.\d+)? (?:ms|s)\b")


@dataclass
class Example:
    """A command of a page, and the lines that it prints as the page has it."""

    command: str
    printed: list[str] = field(default_factory=list)

    @property
    def elsewhere(self) -> bool:
        return self.command.startswith(tuple(ELSEWHERE))


GENERATED = "<!-- below this line: made from the commands"
"""The examples of the help follow; they are about other notes, and some of them do not end."""


def examples(page: str) -> Iterator[Example]:
    for block in shell_blocks((ROOT / page).read_text(encoding="utf-8").partition(GENERATED)[0]):
        lines = block.replace("\\\n", " ").splitlines()
        if not lines[0].startswith("$ "):
            yield from (Example(line) for line in lines if line.strip())
            continue
        found: list[Example] = []
        for line in lines:
            if line.startswith("$ "):
                found.append(Example(line.removeprefix("$ ")))
            else:
                found[-1].printed.append(line)
        yield from found


def furnish(home: Path) -> Sandbox:
    """A home with the bundled notebook as `Notes`, beside what of a checkout the pages name."""
    notes = str(files("vault_indexer") / "demo")
    for name in ("Notes", "Work", "src/vault_indexer/demo"):
        shutil.copytree(notes, home / name, copy_function=shutil.copyfile)
    (home / "src" / "obsidian-plugin").symlink_to(ROOT / "src" / "obsidian-plugin")
    (home / "manifest.json").symlink_to(ROOT / "manifest.json")
    config = str(home / ".config")
    return Sandbox(
        home, PLAIN_MODEL | {"HOME": str(home), "XDG_CONFIG_HOME": config, "BROWSER": "true", "PAGER": "cat"}
    )


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A home whose `Notes` are indexed."""
    home = furnish(tmp_path_factory.mktemp("home"))
    added = home.run("init", "~/Notes")
    assert added.code == 0, added.err
    return home


@pytest.fixture
def home(page: str, tmp_path: Path, request: pytest.FixtureRequest) -> Sandbox:
    commands = " ".join(one.command for one in examples(page) if not one.elsewhere)
    if not commands:
        pytest.skip("all its commands are in ELSEWHERE")
    if "indexer init " in commands or "indexer " not in commands:
        return furnish(tmp_path)
    shared: Sandbox = request.getfixturevalue("indexed")
    return shared


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_print_what_it_says(page: str, home: Sandbox) -> None:
    run = [one for one in examples(page) if not one.elsewhere]
    commands = [shlex.split(one.command, comments=True) for one in run]
    try:
        shown = home.terminal(json.dumps([*commands, ["indexer", "stop"]]), code=EACH, columns=80).out
    except BaseException:
        home.run("stop")
        raise
    wrong = []
    shown = hidden(shown).replace(str(home.root), "/home/ann").replace(f"{HINT}\n", "")
    for one, text in zip(run, shown.split("\u241d"), strict=False):
        printed, _, status = text.lstrip("\n").rpartition("[exit status ")
        if status != f"{int(one.command.startswith(STATUS_1))}]" or not agrees(one.printed, printed):
            wrong.append(f"$ {one.command}\n{text}\n")
    assert not wrong, "\n".join(wrong)


def agrees(expected: list[str], printed: str) -> bool:
    """Whether the lines are those that were printed; without any, all is well."""
    if not expected:
        return True
    pattern = "".join(
        "(?:.*\n)*?" if line == "…" else re.escape(timeless(line)) + r"[ ]*\n" for line in expected
    )
    return re.fullmatch(pattern, timeless(printed)) is not None


def timeless(text: str) -> str:
    return SHORT_TIME.sub("N s", text)


def test_what_runs_elsewhere_is_there() -> None:
    every = [one.command for page in PAGES for one in examples(page)]
    assert [start for start in ELSEWHERE if not any(one.startswith(start) for one in every)] == []
    assert {"README.md", "docs/tutorial.md", "docs/commands.md"} <= set(PAGES)
    assert not agrees(["One", "Two"], "One\n")
    assert agrees(["One", "…"], "One\nTwo\nThree\n")
