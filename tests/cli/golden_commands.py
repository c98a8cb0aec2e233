"""Commands whose daemon answers as a case says, and all that they ask and print, as a person edits it.

Each golden in `fixtures/` has the cases of one list. Below `$ indexer …` stand the requests (`asked`),
standard output, standard error (`!`) and the exit status, unless it is 0. `(60)` is a terminal of so many
columns: an escape is `␛`, a hyperlink `<…>`. `{…}` has the keys of a JSON.
`UPDATE_GOLDEN=1` writes the files.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from answering_daemon import AnsweringDaemon
from cli_sandbox import Ran
from command_here import CommandHere
from golden_cases import compare_golden

from vault_indexer.serve.api.endpoints import Endpoint

GOLDENS = Path(__file__).parent / "fixtures"
LINK = re.compile(r"\x1b\]8;[^;]*;([^\x1b]*)\x1b\\")
VISIBLE = {number: chr(0x2400 + number) for number in range(32) if number != ord("\n")}
Answers = Sequence[tuple[Endpoint[Any], object]]


class Case(NamedTuple):
    """What the daemon answers, by endpoint, and the commands that are run: `60| search x` at a terminal."""

    title: str
    answers: Answers
    commands: tuple[str, ...]


def case(title: str, endpoint: Endpoint[Any], answer: object, *commands: str) -> Case:
    """One that concerns one endpoint."""
    return Case(title, [(endpoint, answer)], commands)


def compare_cases(name: str, cases: Iterable[Case], here: CommandHere, daemon: AnsweringDaemon) -> None:
    """Compare what the commands of all cases print with the golden of that name."""
    parts = []
    for one in cases:
        for endpoint, answer in one.answers:
            daemon.answer(endpoint, *(answer if isinstance(answer, list) else [answer]))
        parts.append(f"\n## {one.title}\n")
        parts += [_run(command, here, daemon) for command in one.commands]
    text = "".join(parts).replace(daemon.url, "http://daemon").replace(str(here.sandbox.root), "~")
    compare_golden(GOLDENS / f"{name}.md", re.sub("[ \t]+$", "", text.lstrip(), flags=re.MULTILINE))


def _run(command: str, here: CommandHere, daemon: AnsweringDaemon) -> str:
    columns, _, line = command.rpartition("| ")
    words = shlex.split(line)
    ran = here.terminal(*words, columns=int(columns)) if columns else here.indexer(*words)
    asked = [f"asked {one.path} {_in_short(one.parameters)}\n" for one in daemon.take_requests()]
    shown = LINK.sub(r"<\1>", ran.out).replace("\0", "\0\n").translate(VISIBLE)
    if "--json" in words and ran.out:
        shown = _keys(ran)
    said = "".join(f"! {line}\n" for line in ran.err.splitlines())
    status = f"exit status {ran.code}\n" if ran.code else ""
    return f"\n{f'({columns}) ' * bool(columns)}$ indexer {line}\n{''.join(asked)}{shown}{said}{status}"


def _in_short(parameters: object) -> str:
    return json.dumps(parameters) if parameters else ""


def _keys(ran: Ran) -> str:
    """The keys of an answer, and how much each list has: what is in them is the contract's affair."""
    lengths = {key: f" {len(value)}" if isinstance(value, list) else "" for key, value in ran.data.items()}
    return f"{{{', '.join(key + lengths[key] for key in sorted(lengths))}}}\n"
