"""Code shared by the commands of `indexer eval`: the format and the destination of a report."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from vault_indexer.cli.parameters import Output
from vault_indexer.errors import UsageError
from vault_indexer.system import write_atomically


class ReportFormat(StrEnum):
    """The format of a report."""

    MD = "md"
    JSON = "json"


OutFile = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the report here, not to the terminal.")
]


class ReportOutput(NamedTuple):
    """The format and the destination of a report."""

    report: Annotated[
        ReportFormat | None, typer.Option("--report", help="The form of the report [md; json with --json].")
    ] = None
    out: OutFile = None

    def as_json(self, output: Output) -> bool:
        """Whether JSON is requested: by `--report`, else by `--json`."""
        return self.report is ReportFormat.JSON or (self.report is None and output.json)


def write_report(text: str, file: Path | None, named: str = "") -> None:
    """Writes to the file, or to standard output if there is none. Raises UsageError if the file cannot be
    written; the message names it after `named`."""
    if file is None:
        sys.stdout.write(text)
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, text.encode(), mode=0o644)
    except OSError as error:
        raise UsageError(f"{named}{file}: cannot be written: {error.strerror or error}") from error
