"""A vault whose author is hostile, at a terminal: no command lets through what the terminal would obey."""

import ast
import json
import re
import shlex
from collections.abc import Iterator, Mapping

import pytest
import typer
from cli_sandbox import Sandbox
from forked_terminal import Shown, run_at_terminals
from hypothesis import example, given
from hypothesis import strategies as st
from waiting import PROCESS_S

from vault_indexer.cli.app import COMMANDS, _report_unforeseen, build
from vault_indexer.cli.output.grep_lines import quote_path
from vault_indexer.text.control_characters import json_text

pytest.importorskip("pty", reason="Windows has no pseudo-terminals")

EVIL = (
    "PAYLOAD\x1b]52;c;cHduZWQ=\x07"  # OSC 52: the clipboard
    "\x1b]8;;http://evil/\x1b\\"  # OSC 8: a hyperlink
    "\x1b[8;41m\x1b[2J\x9b2J\x9d0;title\x9c\x85\x08\x7f"  # styles, erasing, the same in C1
    "\u202egnp\u2066\u2028\u2029END"
)
"""What names, headings, properties, texts and links of the vault contain. The slashes are not for names."""

NAME = EVIL.replace("/", "|") + "\n"

FORGED = "Lone\n/etc/passwd:1:root.md"
"""The name of a note; its second line looks like a hit."""

ALLOWED = re.compile(
    r"\x1b\[[0-9;]*m"  # styles
    r"|\x1b\]8;(id=\d+)?;(file:///|obsidian://)?[!-~]*\x1b\\"  # links to files, percent-encoded
    r"|\x1b\[\?25[hl]|\x1b\[[12]K|\x1b\[1A|\r\x1b\[K|\x1b\[K|\r"  # a line that is drawn again
)
"""The control sequences that this program itself sends."""

OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u206f]")

SESSION = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"q": "telescope"}},
    },
]

LINES: Mapping[str, tuple[str, ...]] = {
    "search": (
        "telescope",
        "telescope --explain Hostile",
        "telescope --explain Hostile --json",
        "telescope --explain --expand section",
        "telescope --json",
        "telescope --paths",
        "telescope --lines",
        f"{shlex.quote(EVIL)}",
    ),
    "ask": ("'What does the telescope show?'", "'What does the telescope show?' --json"),
    "related": ("Hostile", "Hostile --json", "Hostile --lines"),
    "links": (
        *("Hostile", "Hostile --json", "--unresolved", "--orphans", "Hostile --mentions", "Hostile --paths"),
        *("Hostile --depth 1", "Hostile --depth 1 --json", "Hostile --dot", "Hostile --graphml"),
    ),
    "base": ("Hostile", "Hostile --json"),
    "open": ("--print",),
    "rebuild": ("",),
    "status": ("", "--json"),
    "documents": ("", "--json"),
    "serve": ("",),
    "gateway": (f"--config {shlex.quote(NAME)}",),
    "start": ("",),
    "mcp": ("",),
    "service install": ("--print",),
    "service uninstall": ("",),
    "service status": ("", "--json"),
    "service logs": ("",),
    "embed": ("", "--json", "--pause"),
    "pause": ("--for 1s", "--json"),
    "resume": ("", "--json"),
    "vault add": (f"{shlex.quote(NAME)} Notes",),
    "vault list": ("", "--json"),
    "vault remove": (f"{shlex.quote(NAME)}",),
    "init": ("",),
    "config show": ("", "--all", "--json"),
    "config path": ("",),
    "config edit": ("",),
    "check": ("", "--json"),
    "inspect": ("--all", "Hostile --strategy word --json"),
    "export": ("",),
    "eval run": ("--layer 1,2",),
    "eval drift": ("", "--json", "--report issue"),
    "eval snapshot": ("",),
    "eval generate": ("",),
    "eval rank": ("--json",),
    "eval tune": ("--from generated --json",),
    "eval judge": ("telescope",),
    "completion": ("bash",),
    "help": (f"{shlex.quote(EVIL)}",),
    "uninstall": ("--dry-run",),
    "stop": ("",),  # last: the others ask the daemon
}
"""The arguments of each command, by its name. `--cases` is added to those of `eval`."""

NAMES_NOTHING = {
    *("open", "start", "init", "embed", "pause", "resume", "completion", "documents", "uninstall"),
    *("vault add", "vault list", "eval rank", "eval snapshot", "eval tune"),
}
"""Commands that show nothing of the vault."""

TYPED = {
    "mcp": "".join(json.dumps(message) + "\n" for message in SESSION) + "\x04",
    "eval judge": "q\n",
    "eval snapshot": "n\n",
}
"""What a person types."""


def commands() -> Iterator[str]:
    """The commands that the program has, each with the words before its arguments."""

    def leaves(command: object, words: tuple[str, ...]) -> Iterator[str]:
        below: Mapping[str, object] = getattr(command, "commands", {})
        if not below:
            yield " ".join(words)
        for name, one in below.items():
            yield from leaves(one, (*words, name))

    return leaves(typer.main.get_command(build([one.name for one in COMMANDS])), ())


def test_each_command_is_run_below() -> None:
    assert set(commands()) == set(LINES)


def obeyed(shown: str) -> list[str]:
    """What the terminal obeys, of all that this program did not send for its own sake."""
    assert "\x1b[8;41m" not in shown  # a style, but not ours
    assert "evil/\x1b" not in shown
    return [repr(found) for found in OBEYED.findall(ALLOWED.sub("", shown))]


NOTE = f"""\
---
title: {json.dumps(EVIL)}
aliases: [{json.dumps(EVIL + "alias")}]
tags: [rings]
---
# The telescope {EVIL}

The telescope shows the rings of Saturn on a clear night. {EVIL}

See [[Other]] and [[Missing {EVIL}]] and [Other {EVIL}](Other.md).

```python
print("{EVIL}")
```

What is hostile is an {EVIL} too. ^evil
"""

CASES = {
    "l1/search.yaml": f"""\
id: rings
agent: search
layer: 1
input: {{query: {json.dumps("telescope " + EVIL)}}}
expected: {{expected_paths: [{json.dumps(EVIL)}], expected_in_top_k: 1}}
metadata: {{language: en}}
""",
    "l2/search.yaml": f"""\
id: evil
agent: search
layer: 2
input: {{query: telescope}}
expected:
  expected_citations:
    - {{path: {json.dumps(NAME + "/Hostile.md")}, block: evil, quote: {json.dumps("gone " + EVIL)}}}
    - {{url: {json.dumps("http://127.0.0.1:9/" + "".join(EVIL.split()))}, quote: {json.dumps(EVIL)}}}
metadata: {{language: en}}
""",
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A vault in which everything that can be named or written is hostile, kept by a daemon."""
    root = tmp_path_factory.mktemp("hostile")
    (root / NAME).mkdir()
    (root / "bin").mkdir()
    # No program of the system: no browser, no pager, no systemctl.
    made = Sandbox(root / NAME, {"PATH": str(root / "bin"), "INDEXER_SERVER_PORT": "0"})
    made.write(f"{NAME}/Hostile.md", NOTE)
    asked = "To store ripe pumpkins over the long winter, add dry straw to the shelf."
    other = f"# Other\n\nA telescope too, see [[Hostile|{EVIL}]].\n\nIt tells of Hostile.\n\n{asked}\n"
    made.write("Other.md", other)
    made.write(FORGED, "# Forged\n\nNobody links to this.\n")
    views = [{"type": "table", "name": EVIL, "order": ["file.name", "title"]}, {"type": "table", "name": "b"}]
    made.write("Hostile.base", json.dumps({"views": views}))
    made.write("Lone.md", f"# Alone {EVIL}\n\nNobody links to this.\n")
    made.write(f"Board {NAME}.canvas", "not JSON " + EVIL)
    for path, text in CASES.items():
        made.write(f"evals/{path}", text)
    for command in (("rebuild",), ("start", "--wait", str(PROCESS_S))):
        ran = made.indexer(*command)
        assert ran.code == 0, ran.err
    yield made
    made.indexer("stop")


@pytest.fixture(scope="module")
def shown(hostile: Sandbox) -> Mapping[tuple[str, str], Shown]:
    """What each line shows at a terminal, by command and arguments."""
    lines = [(command, line) for command, lines in LINES.items() for line in lines]
    place = ("--vault", str(hostile.vault), "--index-dir", str(hostile.index_dir))
    whole = []
    for command, line in lines:
        cases = ("--cases", str(hostile.vault / "evals")) if command.startswith("eval ") else ()
        whole.append(((*command.split(), *shlex.split(line), *cases, *place), TYPED.get(command, "")))
    return dict(zip(lines, run_at_terminals(whole, hostile.environ, hostile.root), strict=True))


@pytest.mark.long
@pytest.mark.parametrize("command", LINES)
def test_no_command_lets_through_what_a_terminal_obeys(
    shown: Mapping[tuple[str, str], Shown], command: str
) -> None:
    texts = {line: shown[command, line][1] for line in LINES[command]}
    for line, text in texts.items():
        assert "Traceback" not in text and "internal error" not in text
        assert obeyed(text) == [], line
    assert any("PAYLOAD" in text for text in texts.values()) == (command not in NAMES_NOTHING)


def test_json_is_the_same_data_and_readable() -> None:
    text = json_text({"Überschrift": EVIL + "\u200f\u061c", "سلام": "אבג 👩‍👩‍👧"})
    assert json.loads(text) == {"Überschrift": EVIL + "\u200f\u061c", "سلام": "אבג 👩‍👩‍👧"}
    assert OBEYED.findall(text) == []
    assert "\u200f" not in text and "\u061c" not in text
    assert "Überschrift" in text and "سلام" in text and "אבג 👩‍👩‍👧" in text


def test_an_error_that_nobody_foresaw_is_one_clean_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _report_unforeseen(ValueError, ValueError(NAME + EVIL), None)
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.endswith("\n")
    assert OBEYED.findall(said) == []


@pytest.mark.long
def test_a_line_break_in_a_name_forges_no_place(hostile: Sandbox) -> None:
    for style in ("--paths", "--lines"):
        lines = hostile.indexer("links", "--orphans", style).out.split("\n")
        assert lines.count("") == 1  # behind the last one
        assert all(line.startswith(("vault/", '"vault/')) for line in lines if line)
    ended = hostile.indexer("links", "--orphans", "--paths", "--null").out.split("\0")
    assert f"vault/{FORGED}" in ended


@pytest.mark.long
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
@example('"')
@example("a\\b")
@example('a"\\\n\x1b')
def test_a_quoted_path_is_one_line_and_can_be_read_again(path: str) -> None:
    quoted = quote_path(path)
    assert not any(char < " " or char == "\x7f" for char in quoted)
    again = ast.literal_eval(quoted) if quoted.startswith('"') else quoted
    assert again == path
