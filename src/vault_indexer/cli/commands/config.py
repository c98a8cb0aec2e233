"""`indexer config check` and `indexer config show`."""

from __future__ import annotations

import os

import typer

from vault_indexer.cli.parameters import Output, Place, flatten_parameters
from vault_indexer.cli.terminal import note, out, print_json, text
from vault_indexer.cli.vault_folder import named_or_enclosing_vault
from vault_indexer.config import LoadedConfig, as_json, load, missing_settings, rows
from vault_indexer.errors import ConfigError, ExclusionError
from vault_indexer.vault.ignore import load_ignore_rules

PROBLEMS = 2


def check(place: Place, output: Output) -> int:
    """Check the configuration and the exclusions of the vault. Print every mistake with its place, its value
    and what is allowed."""
    try:
        loaded = _load(place)
        _check_exclusions(loaded)
        if lacking := tuple(missing_settings(loaded, os.environ)):
            raise ConfigError(lacking)
    except ConfigError as error:
        if not output.json:
            raise
        found = [
            {"key": one.key, "value": one.value, "allowed": one.allowed, "source": one.source}
            for one in error.problems
        ]
        print_json({"ok": False, "problems": found, "files": []})
        return PROBLEMS
    files = [str(path) for path in loaded.files]
    if output.json:
        print_json({"ok": True, "problems": [], "files": files})
    else:
        note(f"no mistakes in {', '.join(files) or 'the defaults: there is no configuration file'}")
    return 0


def _check_exclusions(loaded: LoadedConfig) -> None:
    """Raises ConfigError for what in `.indexerignore` and `.obsidian/app.json` is not understood."""
    if loaded.vault is None:
        return
    try:
        load_ignore_rules(loaded.vault, loaded.settings.files)
    except ExclusionError as error:
        raise ConfigError(error.problems) from error


def show(place: Place, output: Output) -> None:
    """Print every value in use with its source, and the files that were looked at."""
    loaded = _load(place)
    if output.json:
        print_json(as_json(loaded))
        return
    console = out()
    console.print(text(("configuration files; a later one wins over an earlier one:", "dim")))
    for path in loaded.looked_at:
        found = path in loaded.files
        console.print(
            text((f"  {path}", "cyan"), ("  read" if found else "  not found", "" if found else "dim"))
        )
    console.print()
    shown = rows(loaded)
    width = max(len(row.key) for row in shown)
    for row in shown:
        chosen = row.origin != "default"
        console.print(
            text(
                (f"{row.key:<{width}}  ", "bold" if chosen else ""),
                (row.value, "green" if chosen else "dim"),
                (f" {row.counted}" if row.counted else "", "dim"),
                (f"  {row.origin}" if chosen else "", "cyan"),
            )
        )


def _load(place: Place) -> LoadedConfig:
    """As for any command, but without a vault it is the user's configuration."""
    vault = named_or_enclosing_vault(place, os.environ)
    options = {"index.dir": place.index_dir} if place.index_dir else {}
    loaded = load(vault, config_file=place.config, environ=os.environ, options=options)
    for warning in loaded.warnings:
        note(f"Warning: {warning}")
    return loaded


app = typer.Typer(no_args_is_help=True)
app.command("check")(flatten_parameters(check))
app.command("show")(flatten_parameters(show))
