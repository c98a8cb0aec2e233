"""`indexer completion SHELL`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from typer.completion import get_completion_script  # type: ignore[attr-defined] # typer lists no exports

from vault_indexer.cli.parameters import VaultSelection, one_command

_COMPLETE_VARIABLE = "_INDEXER_COMPLETE"
"""What typer reads for a program of this name."""


class Shell(StrEnum):
    """The shells that typer has a script for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    POWERSHELL = "powershell"


def completion(
    selection: VaultSelection,
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")],
) -> None:
    """Print the script that completes commands and options in a shell: eval "$(indexer completion bash)"."""
    del selection  # completion is the same for every vault
    script = get_completion_script(prog_name="indexer", complete_var=_COMPLETE_VARIABLE, shell=shell.value)
    typer.echo(script)


app = one_command(completion)
