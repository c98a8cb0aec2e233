"""`indexer status`, and `indexer pause` and `indexer resume`, which change what it shows."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.connection.connect import ask
from vault_indexer.cli.output.columns import (
    count_skipped,
    fitted_path,
    from_home,
    print_row,
    unread_documents,
)
from vault_indexer.cli.output.progress import duration, stage_in_words
from vault_indexer.cli.output.terminal import note, out, print_json
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.cli.vault_folder import vaults_meant
from vault_indexer.contract.marks import MAX_PAUSE_S
from vault_indexer.errors import UsageError, VaultIndexerError
from vault_indexer.serve.api.endpoints import PAUSE, RESUME, STATUS
from vault_indexer.system import size_of
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import PauseStateJson, StatusReportJson, VectorUpgradeJson

LANGUAGES = {
    "wordllama": "English",
    "minilm": "English",
    "multilingual": "16 languages",
    "e5": "100 languages",
}
"""The languages of a model. A test compares them with `providers`, which is too slow to import here."""

_NAMED = 10
_NAME_WIDTH = len("not running")
_STATES = {"degraded": "not kept up to date"}
_UNITS = ("bytes", "kB", "MB", "GB")
_KILO = 1000


def status(selection: VaultSelection, output: Output) -> None:
    """Show whether the index is up to date and the daemon is running. Several vaults get one line each."""
    if vaults := vaults_meant(selection, os.environ):
        _show_all(vaults, selection, output)
        return
    found = ask(selection, STATUS)
    if output.json:
        print_json(found)
        return
    console = out()
    for name, value, style in _rows(found):
        print_row(console, f"{fitted_path(console, name, console.width // 2):<{_NAME_WIDTH}}", value, style)
    for file in found["skipped"][:_NAMED]:
        print_row(console, "", f"{file['path']}: {file['reason']}", "dim", indent=2)
    if len(found["skipped"]) > _NAMED:
        more = f"and {len(found['skipped']) - _NAMED:,} more (indexer check)"
        print_row(console, "", more, "dim", indent=2)


def _show_all(vaults: Mapping[str, Path], selection: VaultSelection, output: Output) -> None:
    """Prints a line for each vault: its counts, or the reason why it cannot be searched."""
    found: dict[str, StatusReportJson | str] = {}
    for name in sorted(vaults):
        try:
            found[name] = ask(selection._replace(vault=vaults[name]), STATUS)
        except VaultIndexerError as error:
            found[name] = str(error)
    if output.json:
        parts = {name: (None, one) if isinstance(one, str) else (one, "") for name, one in found.items()}
        entries = [{"name": name, "status": one, "problem": text} for name, (one, text) in parts.items()]
        print_json({"vaults": entries})
        return
    console = out()
    width = max(_NAME_WIDTH, *map(len, found))
    for name, one in found.items():
        counts, style = (one, "yellow") if isinstance(one, str) else _counts(one)
        print_row(console, f"{name:<{width}}", counts, style)
    urls = {str(one["daemon"]["url"]) for one in found.values() if not isinstance(one, str)} - {"None"}
    for url in sorted({url.partition("/vault/")[0] for url in urls}):
        print_row(console, f"{'running':<{width}}", url, "")
    if not urls:
        print_row(console, f"{'not running':<{width}}", "indexed at each search", "")


def _counts(found: StatusReportJson) -> tuple[str, str]:
    """The number of notes, their state and their problems, with the style of the line."""
    left_out, warned = count_skipped(found["skipped"])
    skipped = f"{left_out:,} skipped" if left_out else ""
    warnings = f"{warned:,} with a warning" if warned else ""
    broken = quantity(found["unresolved"], "broken link") if found["unresolved"] else ""
    state, style = _state(found)
    counts = ", ".join(filter(None, (quantity(found["notes"], "note"), state, skipped, warnings, broken)))
    return f"{counts} (indexer check)" if skipped or warnings or broken else counts, style


def _rows(found: StatusReportJson) -> list[tuple[str, str, str]]:
    daemon = found["daemon"]
    counts, style = _counts(found)
    model = found["manifest"].get("embedding_model")
    provider = str(model["provider"]) if isinstance(model, dict) else ""
    size = _size(Path(found["index_dir"]))
    running = str(daemon["url"]) if daemon["running"] else "indexed at each search"
    rows = [
        (from_home(found["vault"]), counts, style),
        ("running" if daemon["running"] else "not running", running, ""),
        ("paused", until(found) if found["paused"] else "", "yellow"),
        ("warning", found["detail"], "yellow"),
        ("documents", unread_documents(found), "yellow"),
        ("watching", _watching(found["watching"]), ""),
        ("model", ", ".join(filter(None, (provider, LANGUAGES.get(provider, "")))), ""),
        ("", upgrade_in_words(found.get("upgrade")), ""),
        ("index", f"{size}, {from_home(found['index_dir'])}", ""),
    ]
    return [row for row in rows if row[1]]


def _state(found: StatusReportJson) -> tuple[str, str]:
    """The state of the index, and the style of the line."""
    if progress := found["progress"]:
        stage = stage_in_words(progress["stage"]).lower()
        return f"{stage}: {progress['notes']:,} of {progress['total']:,}", "yellow"
    if found["pending"]:
        return f"{quantity(found['pending'], 'change')} not indexed yet", "yellow"
    if found["vectors_owed"]:
        return f"{quantity(found['vectors_owed'], 'chunk')} without a vector yet", "yellow"
    return (
        ("up to date", "green") if found["state"] == "ready" else (state_in_words(found["state"]), "yellow")
    )


def _watching(watching: str) -> str:
    """How changes are detected, if that is unusual; "" if the system reports them."""
    mode, _, reason = watching.partition(": ")
    if mode == "poll":
        return f"reads the folder every few seconds{f': {reason}' if reason else ''}"
    return watching if reason else ""


def upgrade_in_words(upgrade: VectorUpgradeJson | None) -> str:
    """The progress of a better model's vectors, or why they are not created; "" if none are planned."""
    if not upgrade:
        return ""
    share = 100 * upgrade["done"] // max(1, upgrade["total"])
    rest = upgrade["waits_for"] or (
        f"about {duration(upgrade['seconds_left'])} of idle time left; searches work meanwhile"
    )
    return f"better vectors ({upgrade['model']}): {share}%, {rest}"


def state_in_words(state: str) -> str:
    return _STATES.get(state, state)


def _size(folder: Path) -> str:
    size = float(size_of(folder))
    for unit in _UNITS:
        if size < _KILO or unit == _UNITS[-1]:
            break
        size /= _KILO
    return f"{size:.0f} {unit}"


_LENGTH = re.compile(r"(?=[0-9])(?:([0-9]{1,4})h)?(?:([0-9]{1,5})m)?(?:([0-9]{1,6})s)?")


def pause(
    selection: VaultSelection,
    output: Output,
    length: Annotated[
        str, typer.Option("--for", metavar="TIME", help="A duration such as 30m, 2h or 1h30m.")
    ] = "",
) -> None:
    """Pause indexing in the daemon for a time, or until `indexer resume`. Searches continue.

    Changes made during the pause are indexed when it ends.
    """
    wanted = seconds(length) if length else None
    found = ask(selection, PAUSE, seconds=wanted)
    if output.json:
        print_json(found)
    else:
        note(f"Indexing is paused {until(found)}.")


def seconds(length: str) -> float:
    """Converts 90s, 30m, 2h or 1h30m to seconds. Raises UsageError."""
    match = _LENGTH.fullmatch(length.strip().lower())
    parts = [int(part or 0) for part in match.groups()] if match else [0, 0, 0]
    total = parts[0] * 3600 + parts[1] * 60 + parts[2]
    if not 0 < total <= MAX_PAUSE_S:
        raise UsageError(f"--for {length}: must be a duration such as 90s, 30m or 1h30m, at most 168h")
    return total


def until(found: PauseStateJson | StatusReportJson) -> str:
    """The end of a pause in the local time."""
    if not found["paused_until"]:
        return "until `indexer resume`"
    return f"until {datetime.fromisoformat(found['paused_until']).astimezone():%Y-%m-%d %H:%M:%S}"


def resume(selection: VaultSelection, output: Output) -> None:
    """Resume indexing in the daemon, starting with the changes made during the pause."""
    found = ask(selection, RESUME)
    if output.json:
        print_json(found)
    else:
        pending = f": {quantity(found['pending'], 'change')} to index" if found["pending"] else ""
        note(f"Indexing resumed{pending}.")


app = one_command(status)
pause_app = one_command(pause)
resume_app = one_command(resume)
