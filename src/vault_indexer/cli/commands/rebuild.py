"""`indexer rebuild` and `indexer embed`: a new index, or new vectors from the better model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.commands.status import upgrade_in_words
from vault_indexer.cli.connection.connect import Connection, ask
from vault_indexer.cli.known_vaults import has_index
from vault_indexer.cli.output.columns import skipped_in_words
from vault_indexer.cli.output.progress import duration, showing
from vault_indexer.cli.output.terminal import note, out, print_json, text
from vault_indexer.cli.parameters import Output, Strategy, VaultSelection, Yes, confirm_folder, one_command
from vault_indexer.contract.requests import RebuildOptions
from vault_indexer.errors import UsageError
from vault_indexer.serve.api.endpoints import EMBED, STATUS
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import RebuildReportJson

_NAMED = 20
"""The number of skipped files shown to a person; `--json` lists all."""


def rebuild(
    selection: VaultSelection,
    output: Output,
    keep_weights: Annotated[
        bool, typer.Option("--keep-weights", help="Do not recompute word weights.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Rebuild even if the vault looks empty.")] = False,
    strategy: Strategy = "",
    yes: Yes = False,
) -> None:
    """Rebuild the index. The old one answers searches until the new one is complete."""
    connection = Connection(selection)
    if strategy and connection.index_dir is None:
        raise UsageError(
            "--strategy: the running daemon uses its own configuration. Stop it (indexer stop), or set "
            "[chunking] strategy in the configuration"
        )
    if connection.index_dir is not None and not has_index(connection.index_dir):
        confirm_folder(connection.vault, yes)
    with showing() as show:
        report = connection.rebuild(show, RebuildOptions(refit=not keep_weights, force=force))
    _print_report(report, output)


def _print_report(report: RebuildReportJson, output: Output) -> None:
    """Prints the result of a rebuild; skipped files go to standard error."""
    if output.json:
        print_json(report)
        return
    done = f"Indexed {quantity(report['notes'], 'note')}"
    out().print(text((done, "bold"), (f" in {duration(report['seconds'])}.", "")))
    skipped = report["skipped"]
    if skipped:
        note(f"{skipped_in_words(skipped)}:")
    for file in skipped[:_NAMED]:
        note(f"  {file['path']}: {file['reason']}")
    if len(skipped) > _NAMED:
        note(f"  and {len(skipped) - _NAMED:,} more (indexer check)")


def embed(
    selection: VaultSelection,
    output: Output,
    now: Annotated[bool, typer.Option("--now", help="Create them now, and switch to them.")] = False,
    pause: Annotated[bool, typer.Option("--pause", help="Create none until --resume.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue creating them.")] = False,
) -> None:
    """Show the progress of the better model's vectors; create them now, pause or resume.

    The daemon creates them while it is idle. --now creates them at once, even on battery and however long it
    takes.
    """
    if now + pause + resume > 1:
        raise UsageError("give only one of --now, --pause and --resume")
    if now:
        with showing() as show:
            report = Connection(selection).rebuild(show, RebuildOptions(refit=False, better=True))
        _print_report(report, output)
        return
    state = ask(selection, EMBED, paused=pause) if pause or resume else ask(selection, STATUS)
    upgrade = state.get("upgrade")
    if output.json:
        print_json({"upgrade": upgrade})
    else:
        note(upgrade_in_words(upgrade) or "There are no better vectors to create.")


app = one_command(rebuild)
embed_app = one_command(embed)
