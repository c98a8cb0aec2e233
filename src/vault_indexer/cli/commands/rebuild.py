"""`indexer rebuild`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.connection.connect import with_connection
from vault_indexer.cli.index_connection import IndexConnection
from vault_indexer.cli.output.columns import skipped_in_words
from vault_indexer.cli.output.progress import duration, showing
from vault_indexer.cli.output.terminal import note, out, print_json, text
from vault_indexer.cli.parameters import Output, Strategy, VaultSelection, one_command
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.errors import UsageError
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import RebuildReportJson

_NAMED = 20
"""Skipped files shown to a person; `--json` names all."""


def rebuild(
    selection: VaultSelection,
    output: Output,
    keep_weights: Annotated[bool, typer.Option("--keep-weights", help="Keep the weights of words.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Rebuild even if the vault looks empty.")] = False,
    strategy: Strategy = "",
) -> None:
    """Build the index again. The old one answers until the new one is complete."""

    def build(connection: IndexConnection) -> RebuildReportJson:
        if strategy and connection.index_dir is None:
            raise UsageError(
                "--strategy: a daemon keeps this index by its own configuration. Stop it (indexer stop), "
                "or set [chunking] strategy in the configuration"
            )
        with showing() as show:
            return connection.index.rebuild(show, RebuildOptions(refit=not keep_weights, force=force))

    report = with_connection(selection, build)
    if output.json:
        print_json(report)
        return
    print_report(report)


def print_report(report: RebuildReportJson) -> None:
    """What a rebuild did, for a person; what was skipped goes to standard error."""
    done = f"Indexed {quantity(report['notes'], 'note')}"
    out().print(text((done, "bold"), (f" in {duration(report['seconds'])}.", "")))
    skipped = report["skipped"]
    if skipped:
        note(f"{skipped_in_words(skipped)}:")
    for file in skipped[:_NAMED]:
        note(f"  {file['path']}: {file['reason']}")
    if len(skipped) > _NAMED:
        note(f"  and {len(skipped) - _NAMED:,} more (indexer check)")


app = one_command(rebuild)
