"""What agents get for their tokens: plays the calls of some 40 kinds of tasks against the MCP server.

    python benchmarks/agent_tasks.py [--work DIR] [--command "indexer mcp"] [--failed]

The vault and the tasks are in `queries/agents`. A task is done if the results contain all of its facts. The
tokens are those of the text that reaches a model. The share is the part of the tokens of the searches that is
text of the notes: the keys `text`, `snippet`, `content` and `properties`. "With both copies" counts the
structured content as well, if a server sends it. Tokens are those of o200k_base if tiktoken can load it, else
the estimate of the server. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from vault_indexer.serve.mcp.budget import tokens_of

DATA = Path(__file__).parent / "queries" / "agents"
REVISION = "2025-11-25"
NOTE_KEYS = ("text", "snippet", "content", "properties")
CHAPTERS = 44
MANY_PAGES = 20
VECTORS_S = 60.0
"""Vectors are made while the machine is idle, so a busy one may lack them."""


def counter() -> tuple[str, Callable[[str], int]]:
    """The name of a tokenizer, and its count of the tokens of a text."""
    try:
        import tiktoken

        encoding = tiktoken.get_encoding("o200k_base")
    except Exception:  # noqa: BLE001 - without a network, its vocabulary is missing
        return "the server's estimate", tokens_of
    return "o200k_base", lambda text: len(encoding.encode(text, disallowed_special=()))


def long_note() -> str:
    """A note of about 6,000 tokens, with one fact in its 31st chapter."""
    parts = ["# Manual\n"]
    for number in range(1, CHAPTERS + 1):
        side = "north" if number % 2 else "south"
        parts.append(
            f"\n## Chapter {number}\n\nPump {number} feeds tank {number * 3}. Open valve {number * 7} first, "
            f'wait until the needle passes {number * 2} and close it again. The "{side}" line is never '
            "drained in winter, because the outlet freezes before the keeper can reach it; the spare outlet "
            "is behind the stairs. Who opens it writes the hour on the slate beside the door and hangs the "
            "key back.\n\n- Grease the bearing every second month.\n- Note the reading in the book, with "
            "date and name.\n- Report every leak, also a small one; use the red form for the harbour.\n"
        )
        if number == 31:
            parts.append("\nThe voltage of the emergency beacon is 27.6 volts, measured at the battery.\n")
    return "".join(parts) + "\nEnd of the manual.\n"


def write_vault(folder: Path) -> None:
    for part in (DATA / "notes.txt").read_text(encoding="utf-8").split("=== ")[1:]:
        path, _, text = part.partition("\n")
        note = folder / path
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(text.rstrip() + "\n", encoding="utf-8")
    (folder / "Manual.md").write_text(long_note(), encoding="utf-8")


class Server:
    """A server over standard input and output, asked one thing at a time."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._count = 0
        client = {
            "protocolVersion": REVISION,
            "capabilities": {},
            "clientInfo": {"name": "tasks", "version": "1"},
        }
        self.ask("initialize", client)
        self.tools = {tool["name"]: tool for tool in self.ask("tools/list", {})["result"]["tools"]}

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request."""
        assert self._process.stdin
        assert self._process.stdout
        self._count += 1
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": params}
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        return dict(json.loads(self._process.stdout.readline()))

    def wait_until_ready(self) -> None:
        def is_ready() -> bool:
            status = json.loads(text_of(self.call("status", {})))
            return bool(status["state"] == "ready" and not status["vectors_owed"])

        until = time.monotonic() + VECTORS_S
        while not is_ready() and time.monotonic() < until:
            time.sleep(0.5)

    def call(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        """The result of a tool, without the arguments that it does not have."""
        known = self.tools[tool]["inputSchema"]["properties"]
        answer = self.ask(
            "tools/call", {"name": tool, "arguments": {k: v for k, v in given.items() if k in known}}
        )
        return dict(answer.get("result") or {"content": [{"type": "text", "text": json.dumps(answer)}]})

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


@dataclass
class Outcome:
    kind: str
    is_done: bool = False
    calls: int = 0
    tokens: int = 0
    both: int = 0
    searches: list[tuple[int, int, int]] = field(default_factory=list)
    """For each search: the tokens of the notes' text, of the text of the result, and of both copies."""


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in result["content"])


def notes_text(value: object) -> Iterator[str]:
    """The texts of notes in a result."""
    if isinstance(value, list):
        for one in value:
            yield from notes_text(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name in NOTE_KEYS and one:
                yield one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)
            else:
                yield from notes_text(one)


def play(server: Server, task: dict[str, Any], count: Callable[[str], int]) -> Outcome:
    found, seen = Outcome(task["kind"]), ""
    facts = [fact.replace("{today}", date.today().isoformat()) for fact in task["facts"]]
    for tool, given in task["calls"]:
        if tool not in server.tools:
            continue
        for result in results(server, tool, given, is_whole=task.get("pages", False)):
            text = text_of(result)
            copy = result.get("structuredContent")
            seen += text
            found.calls += 1
            found.tokens += count(text)
            found.both += count(text) + (count(json.dumps(copy, ensure_ascii=False)) if copy else 0)
            if tool == "search" and not result.get("isError"):
                hits = json.loads(text)["results"]
                own = sum(count(one) for one in notes_text(hits))
                found.searches.append(
                    (own, count(text), count(text) + (count(json.dumps(copy)) if copy else 0))
                )
        found.is_done = all(fact.replace('"', '\\"') in seen or fact in seen for fact in facts)
        if found.is_done or task.get("pages"):
            break
    return found


def results(server: Server, tool: str, given: dict[str, Any], *, is_whole: bool) -> Iterator[dict[str, Any]]:
    """The result of a call, and of those for its other pages if all are wanted."""
    offset = 0
    for _ in range(MANY_PAGES if is_whole else 1):
        result = server.call(tool, {**given, "offset": offset} if offset else given)
        yield result
        if result.get("isError") or not is_whole:
            return
        head = result.get("structuredContent") or json.loads(result["content"][0]["text"])
        offset = head.get("next_offset", 0)
        if not offset:
            return


def report(
    outcomes: list[Outcome], server: Server, count: Callable[[str], int], name: str, *, failed: bool
) -> None:
    searches = [one for outcome in outcomes for one in outcome.searches]
    own, text, both = (sum(one[place] for one in searches) for place in range(3))
    read = ("name", "description", "inputSchema")
    listed = json.dumps(
        [{key: tool.get(key) for key in read} for tool in server.tools.values()], ensure_ascii=False
    )
    (note,) = (one for one in outcomes if one.kind == "a long note, whole")
    rows = {
        "tools": f"{len(server.tools)}",
        "tokens of their list": f"{count(listed):,}",
        "tasks done": f"{sum(one.is_done for one in outcomes)} of {len(outcomes)}",
        "tokens of all tasks": f"{sum(one.tokens for one in outcomes):,}",
        "the same with both copies": f"{sum(one.both for one in outcomes):,}",
        "share of the notes' text in a search": f"{own / text:.0%}",
        "the same with both copies ": f"{own / both:.0%}",
        "median share of a search": f"{sorted(one[0] / one[1] for one in searches)[len(searches) // 2]:.0%}",
        f"reading a note of {count(long_note()):,} tokens": f"{note.tokens:,} in {note.calls}",
    }
    print(f"Tokens by {name}.\n\n| | |\n| --- | ---: |")
    print("\n".join(f"| {what.strip()} | {value} |" for what, value in rows.items()))
    if failed:
        print("\nNot done: " + (", ".join(one.kind for one in outcomes if not one.is_done) or "none"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", type=Path)
    parser.add_argument("--command", default=f"{sys.executable} -m vault_indexer.cli mcp")
    parser.add_argument("--failed", action="store_true", help="Name the tasks that were not done.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = given.work or Path(folder)
        write_vault(work / "vault")
        place = ["--vault", str(work / "vault"), "--index-dir", str(work / "index")]
        command = shlex.split(given.command)
        server = Server([*command, *place])
        try:
            server.wait_until_ready()
            name, count = counter()
            tasks = tomllib.loads((DATA / "tasks.toml").read_text(encoding="utf-8"))["task"]
            outcomes = [play(server, task, count) for task in tasks]
            report(outcomes, server, count, name, failed=given.failed)
        finally:
            server.close()
            subprocess.run([*command[:-1], "stop", *place], check=False, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
