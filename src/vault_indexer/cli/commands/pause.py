"""`indexer pause` and `indexer resume`."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.connection.connect import ask
from vault_indexer.cli.output.terminal import note, print_json
from vault_indexer.cli.parameters import Output, VaultSelection, one_command
from vault_indexer.contract.marks import MAX_PAUSE_S
from vault_indexer.errors import UsageError
from vault_indexer.serve.api.endpoints import PAUSE, RESUME
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import PauseStateJson, StatusReportJson

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


app = one_command(pause)
resume_app = one_command(resume)
