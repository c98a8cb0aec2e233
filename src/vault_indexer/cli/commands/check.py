"""`indexer check`: is everything in order? Configuration, index, notes, links, left-over indices."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from vault_indexer.cli.commands.config import mistakes_of
from vault_indexer.cli.connection.connect import with_connection
from vault_indexer.cli.connection.left_over import left_over_indices
from vault_indexer.cli.connection.multi_vault import asks_all
from vault_indexer.cli.index_connection import IndexConnection
from vault_indexer.cli.known_vaults import KnownVault
from vault_indexer.cli.output.columns import print_row
from vault_indexer.cli.output.terminal import out, print_json
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.cli.vault_folder import vaults_in_config
from vault_indexer.serve.api.endpoints import HEALTH, STATUS, VERIFY
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.serve.api.shapes import StatusReportJson, VaultHealthJson, VerificationJson

PROBLEMS = 1

_NAME_WIDTH = 18
_NAMED = 3
_GOOD, _BAD, _FACT = "ok", "!", ""
_STYLES = {_GOOD: "green", _BAD: "yellow", _FACT: ""}


class Line(NamedTuple):
    """A line of the answer: its mark, what it is about, and what was found."""

    mark: str
    name: str
    found: str


def check(
    selection: VaultSelection,
    output: Output,
    repair: Annotated[bool, typer.Option("--repair", help="Repair the index where it is wrong.")] = False,
) -> int:
    """Check configuration, index, notes and links. Exit status 1 if a line begins with an exclamation mark.

    It compares the index with every note, so it takes as long as reading all notes.
    """
    if asks_all(selection, os.environ):
        vaults = vaults_in_config(selection, os.environ)
        places = {name: replace(selection, vault=vaults[name]) for name in sorted(vaults)}
    else:
        places = {"": selection}
    reports = {name: _check_one(one, repair=repair) for name, one in places.items()}
    unused = left_over_indices()
    left_over = [Line(_BAD, "left-over index", _left_over(one)) for one in unused]
    lines = [line for report in reports.values() for line in report.lines] + left_over
    if output.json:
        found: dict[str, object] = {"ok": all(line.mark != _BAD for line in lines)}
        entries = [{"name": name, **report.data} for name, report in reports.items()]
        found |= {"vaults": entries, "left_over": [asdict(one) for one in unused]}
        print_json(found)
    else:
        _print(reports, left_over)
    return PROBLEMS if any(line.mark == _BAD for line in lines) else 0


class _Report(NamedTuple):
    lines: Sequence[Line]
    data: Mapping[str, object]


def _check_one(selection: VaultSelection, *, repair: bool) -> _Report:
    mistakes, files = mistakes_of(selection)
    problems = [asdict(one) for one in mistakes]
    if mistakes:
        lines = [Line(_BAD, "configuration", str(one)) for one in mistakes]
        return _Report(lines, {"configuration": problems})

    def ask(connection: IndexConnection) -> _Report:
        verified = connection.index.ask(VERIFY, repair=repair)
        status, health = connection.index.ask(STATUS), connection.index.ask(HEALTH)
        lines = [
            Line(_GOOD, "configuration", ", ".join(files) or "defaults, no file"),
            *_index_lines(verified, status, repair=repair),
            *_note_lines(status, health),
        ]
        data = {"configuration": problems, "index": verified, "health": health, "skipped": status["skipped"]}
        return _Report(lines, data)

    return with_connection(selection, ask)


def _index_lines(verified: VerificationJson, status: StatusReportJson, *, repair: bool) -> Iterator[Line]:
    if verified["ok"]:
        yield Line(_GOOD, "index", f"agrees with the vault: {quantity(status['notes'], 'note')}")
        return
    count = quantity(len(verified["problems"]), "difference")
    yield Line(_BAD, "index", f"{count} repaired" if repair else f"{count} (--repair mends them)")
    for problem in verified["problems"][:_NAMED]:
        yield Line(_BAD, problem["kind"], f"{problem['store']}: {problem['detail']}")


def _note_lines(status: StatusReportJson, health: VaultHealthJson) -> Iterator[Line]:
    if skipped := status["skipped"]:
        named = " · ".join(f"{one['path']}: {one['reason']}" for one in skipped[:_NAMED])
        yield Line(_BAD, f"{quantity(len(skipped), 'note')} skipped", named + _more(len(skipped)))
    if status["unresolved"]:
        wanted = ", ".join(f"{one['target']} {one['count']}" for one in health["wanted"][:_NAMED])
        found = f"{wanted}{_more(health['wanted_count'])} (indexer links --broken)"
        yield Line(_BAD, quantity(status["unresolved"], "broken link"), found)
    if health["orphans"]:
        found = "without any link (indexer links --orphans)"
        yield Line(_FACT, quantity(health["orphans"], "orphan"), found)
    sizes = f"{health['median']:,} characters in the middle, {health['largest']:,} at most"
    yield Line(_FACT, quantity(health["chunks"], "chunk"), sizes)


def _more(count: int) -> str:
    return ", …" if count > _NAMED else ""


def _left_over(known: KnownVault) -> str:
    why = "was removed" if known.folder.is_dir() else "is gone"
    return f"{known.index_dir}: {known.vault} {why} (indexer vault remove {known.vault} --delete-index)"


def _print(reports: dict[str, _Report], left_over: Sequence[Line]) -> None:
    console = out()
    for name, report in reports.items():
        if name:
            print_row(console, name, "", "")
        for line in report.lines:
            _print_line(line)
    for line in left_over:
        _print_line(line)


def _print_line(line: Line) -> None:
    name = f"{line.mark:<2}  {line.name:<{_NAME_WIDTH}}"
    print_row(out(), name, line.found, _STYLES[line.mark])


app = one_command(check)
