"""`indexer config show`, `edit` and `path`."""

from __future__ import annotations

import os
import subprocess
from typing import Annotated, NamedTuple

import typer

from vault_indexer.cli.output.terminal import note, out, print_json, print_warnings, text
from vault_indexer.cli.parameters import Output, VaultSelection, command_group
from vault_indexer.cli.vault_folder import config_file_of, named_or_enclosing_vault, names_vaults, only_vault
from vault_indexer.config import LoadedConfig, load, missing_settings
from vault_indexer.config.documents import as_json, rows, write_starter
from vault_indexer.errors import ConfigError, ConfigProblem, ExclusionError, UsageError
from vault_indexer.system import command_words
from vault_indexer.vault.ignore import load_ignore_rules


class CheckedConfig(NamedTuple):
    """The mistakes in the configuration and in the vault's exclusions, the warnings, and the files read."""

    problems: tuple[ConfigProblem, ...]
    warnings: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def checked_config(selection: VaultSelection) -> CheckedConfig:
    """Reads the configuration like any command, and finds every mistake."""
    try:
        loaded = _load(selection)
        if loaded.vault is not None:
            load_ignore_rules(loaded.vault, loaded.settings.files)
    except (ConfigError, ExclusionError) as error:
        return CheckedConfig(error.problems)
    files = tuple(str(path) for path in loaded.files)
    return CheckedConfig(tuple(missing_settings(loaded, os.environ)), loaded.warnings, files)


def show(
    selection: VaultSelection,
    output: Output,
    every: Annotated[
        bool, typer.Option("--all", help="Show every key, not only those that differ from the defaults.")
    ] = False,
) -> None:
    """Show the values that differ from the defaults, the source of each, and the configuration files."""
    loaded = _load(selection)
    print_warnings(loaded.warnings)
    if output.json:
        print_json(as_json(loaded))
        return
    console = out()
    console.print(text(("Configuration files; later ones override earlier ones:", "dim")))
    for path in loaded.looked_at:
        found = path in loaded.files
        console.print(
            text((f"  {path}", "cyan"), ("  read" if found else "  not found", "" if found else "dim")),
            soft_wrap=True,  # users copy paths, so they must not be cut
        )
    shown = [row for row in rows(loaded) if every or row.origin != "default"]
    if not shown:
        note("Every value is the default (--all shows them).")
        return
    console.print()
    width = max(len(row.key) for row in shown)
    for row in shown:
        chosen = row.origin != "default"
        console.print(
            text(
                (f"{row.key:<{width}}  ", "bold" if chosen else ""),
                (row.value, "green" if chosen else "dim"),
                (f" {row.counted}" if row.counted else "", "dim"),
                (f"  {row.origin}" if chosen else "", "cyan"),
            ),
            soft_wrap=True,
        )


def path(selection: VaultSelection) -> None:
    """Print the path of your configuration file, even if it does not exist."""
    typer.echo(config_file_of(selection, os.environ))


def edit(selection: VaultSelection) -> None:
    """Open your configuration file in your editor (VISUAL or EDITOR), then check it."""
    file = config_file_of(selection, os.environ)
    editor = command_words(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not editor:
        raise UsageError(f"No editor is set (VISUAL or EDITOR). Your configuration is {file}")
    write_starter(file)
    try:
        subprocess.run([*editor, str(file)], check=False)
    except OSError as error:
        raise UsageError(f"cannot run {editor[0]}: {error.strerror}") from error
    problems, warnings, files = checked_config(selection)
    print_warnings(warnings)
    if problems:
        raise ConfigError(problems)
    note(f"No mistakes in {', '.join(files) or 'the defaults: there is no configuration file'}.")


def _load(selection: VaultSelection) -> LoadedConfig:
    """Loads the configuration like any command, but only the user's file if there is no vault."""
    vault = named_or_enclosing_vault(selection, os.environ)
    if vault is None and not names_vaults(selection, os.environ):
        vault = only_vault(selection, os.environ)
    options = {"index.dir": selection.index_dir}
    return load(vault, config_file=selection.config, environ=os.environ, options=options)


app = command_group(show=show, edit=edit, path=path)
