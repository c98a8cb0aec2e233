"""`indexer check`: checks the configuration, index, notes and links, and finds left-over indices."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from vault_indexer.cli.commands.config import checked_config
from vault_indexer.cli.connection.connect import Connection
from vault_indexer.cli.known_vaults import KnownVault, left_over_indices
from vault_indexer.cli.output.columns import from_home, print_row, unread_documents
from vault_indexer.cli.output.terminal import out, print_json, print_warnings, text
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.cli.vault_folder import (
    named_or_enclosing_vault,
    only_vault,
    vaults_meant,
    vaults_to_choose,
)
from vault_indexer.parse.dispatch import missing_from_sample
from vault_indexer.serve.api.endpoints import HEALTH, ORPHANS, STATUS, VERIFY
from vault_indexer.system import quoted_word
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import (
        OrphansJson,
        ProblemJson,
        SkippedFileJson,
        StatusReportJson,
        VaultHealthJson,
        VerificationJson,
    )

PROBLEMS = 1

_NAME_WIDTH = 18
_NAMED = 3
_GOOD, _BAD, _FACT = "ok", "!", ""
_LOST = "degraded"
_PARTS = {"vectors": "meaning", "keywords": "words", "graph": "links"}
_KINDS = {"ghost": "left over"}
_STYLES = {_GOOD: "green", _BAD: "yellow", _FACT: ""}


class Line(NamedTuple):
    """A line of the report: its mark, its subject and the result."""

    mark: str
    name: str
    found: str


def check(
    selection: VaultSelection,
    output: Output,
    repair: Annotated[bool, typer.Option("--repair", help="Repair the index.")] = False,
) -> int:
    """Check configuration, index, notes and links. Exit status 1 if a line begins with an exclamation mark.

    It compares the index with every note, so it takes as long as reading all notes.
    """
    has_vault = named_or_enclosing_vault(selection, os.environ) or vaults_to_choose(selection, os.environ)
    places = _places(selection) if has_vault or not left_over_indices() else {}
    reports = {name: _check_one(one, repair=repair) for name, one in places.items()}
    unused = left_over_indices()  # the checked vaults are in use again
    unread = missing_from_sample()
    general = [Line(_BAD, "left-over index", _left_over(one)) for one in unused]
    if unread:
        found = f"finds no {', '.join(unread)} with Python {platform.python_version()}"
        general.insert(0, Line(_BAD, "parser", found))
    lines = [line for report in reports.values() for line in report.lines] + general
    if output.json:
        print_json(
            {
                "ok": all(line.mark != _BAD for line in lines),
                "parser_misses": unread,
                "vaults": [{"name": name, **report.data} for name, report in reports.items()],
                "left_over": [one._asdict() for one in unused],
            }
        )
    else:
        _print(reports, general)
    return PROBLEMS if any(line.mark == _BAD for line in lines) else 0


def _places(selection: VaultSelection) -> dict[str, VaultSelection]:
    """The vaults to check, by name; a single vault needs no name."""
    vaults = vaults_meant(selection, os.environ)
    if vaults:
        return {name: selection._replace(vault=vaults[name]) for name in sorted(vaults)}
    if named_or_enclosing_vault(selection, os.environ):
        return {"": selection}
    # Named, so that its own configuration and exclusions are checked.
    return {"": selection._replace(vault=only_vault(selection, os.environ))}


class _Report(NamedTuple):
    lines: Sequence[Line]
    data: Mapping[str, object]


def _check_one(selection: VaultSelection, *, repair: bool) -> _Report:
    config = checked_config(selection)
    problems = [one._asdict() for one in config.problems]
    if problems:
        print_warnings(config.warnings)
        lines = [Line(_BAD, "configuration", str(one)) for one in config.problems]
        return _Report(lines, {"configuration": problems})

    connection = Connection(selection)
    if connection.index_dir is None:  # otherwise this process prints them when it reads the configuration
        print_warnings(config.warnings)
    status = connection.ask(STATUS)
    is_lost = status["state"] == _LOST  # a repair would delete the indexed notes
    verified = connection.ask(VERIFY, repair=repair and not is_lost)
    if repair and not is_lost:
        status = connection.ask(STATUS)
    health = connection.ask(HEALTH)
    lines = [
        Line(_GOOD, "configuration", ", ".join(map(from_home, config.files)) or "defaults, no file"),
        *([_lost_line(status)] if is_lost else _index_lines(verified, status, repair=repair)),
        *_note_lines(status, health),
    ]
    if health["orphans"]:
        lines.append(_orphan_line(connection.ask(ORPHANS, limit=_NAMED)))
    sizes = f"{health['median']:,} characters (median), {health['largest']:,} (largest)"
    lines.append(Line(_FACT, quantity(health["chunks"], "chunk"), sizes))
    data = {"configuration": problems, "index": verified, "health": health, "skipped": status["skipped"]}
    return _Report(lines, data)


def _lost_line(status: StatusReportJson) -> Line:
    is_kept = status["detail"].endswith("The index is kept.")
    how = " Restore the notes, or accept the loss: indexer rebuild --force" if is_kept else ""
    return Line(_BAD, "vault", f"{status['detail']}{how}")


def _index_lines(verified: VerificationJson, status: StatusReportJson, *, repair: bool) -> Iterator[Line]:
    if verified["ok"]:
        yield Line(_GOOD, "index", f"agrees with the vault: {quantity(status['notes'], 'note')}")
        return
    count = quantity(len(verified["problems"]), "difference")
    yield Line(_BAD, "index", f"{count} repaired" if repair else f"{count} (--repair fixes them)")
    found = Counter(map(difference_in_words, verified["problems"]))
    for difference, times in found.most_common(_NAMED):
        yield Line(_BAD, "difference", f"{difference} ({times:,} times)" if times > 1 else difference)


def difference_in_words(problem: ProblemJson) -> str:
    """The detail is a sentence for a file, and the missing or surplus entry for a part of the index."""
    if problem["store"] not in _PARTS:
        return problem["detail"]
    kind = _KINDS.get(problem["kind"], problem["kind"])
    return f"{_PARTS[problem['store']]}, {kind}: {problem['detail']}"


def _note_lines(status: StatusReportJson, health: VaultHealthJson) -> Iterator[Line]:
    skipped = [one for one in status["skipped"] if not one.get("is_indexed")]
    warned = [one for one in status["skipped"] if one.get("is_indexed")]
    yield from _reason_lines(_BAD, f"{quantity(len(skipped), 'note')} skipped", skipped)
    yield from _reason_lines(_FACT, quantity(len(warned), "warning"), warned)
    if unread := unread_documents(status):
        yield Line(_FACT, "documents", unread)
    if status["unresolved"]:
        wanted = ", ".join(f"{one['target']} {one['count']}" for one in health["wanted"][:_NAMED])
        found = f"{wanted}{_more(health['wanted_count'])} (indexer links --broken)"
        yield Line(_BAD, quantity(status["unresolved"], "broken link"), found)


def _reason_lines(mark: str, name: str, files: Sequence[SkippedFileJson]) -> Iterator[Line]:
    """A line for each file, the first with the name."""
    for number, one in enumerate(files):
        start = ("", "") if number else (mark, name)
        yield Line(*start, f"{one['path']}: {one['reason']}")


def _orphan_line(orphans: OrphansJson) -> Line:
    named = ", ".join(one["path"] for one in orphans["orphans"])
    found = f"{named}{_more(orphans['count'])}"
    more = " (indexer links --orphans)" if orphans["count"] > _NAMED else ""
    return Line(_FACT, quantity(orphans["count"], "orphan"), found + more)


def _more(count: int) -> str:
    return ", …" if count > _NAMED else ""


def _left_over(known: KnownVault) -> str:
    why = "was removed" if known.folder.is_dir() else "is gone"
    remedy = f"indexer vault remove {quoted_word(str(known.vault))} --delete-index"
    return f"{from_home(known.index_dir)}: {known.vault} {why} ({remedy})"


def _print(reports: dict[str, _Report], general: Sequence[Line]) -> None:
    console = out()
    for name, lines in (*((name, report.lines) for name, report in reports.items()), ("", general)):
        if name:
            console.print(text((name, "bold")))
        for line in lines:
            print_row(console, f"{line.mark:<2}  {line.name:<{_NAME_WIDTH}}", line.found, _STYLES[line.mark])


app = one_command(check)
