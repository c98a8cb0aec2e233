"""Which folder is the vault of a command, and which note of it a person names. Loads no configuration.

The order, the strongest first: the option `--vault`, the variable INDEXER_VAULT, the vault around the current
folder, the key `vault` of the user's configuration, the only vault there is. Option and variable take a name,
too: of the table `[vaults]`, or that of an indexed folder.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from vault_indexer.cli.known_vaults import known_vaults
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.errors import UsageError
from vault_indexer.system import VAULT_CONFIG_NAME, folder_slug, home_folder, user_config_file, with_home

VAULT_MARKERS = (".obsidian", VAULT_CONFIG_NAME)
"""What makes a folder a vault: Obsidian's own folder, or our configuration."""


def named_or_enclosing_vault(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The vault of the option or the variable, else the one around the current folder."""
    if selection.vault is not None:
        return _called(str(selection.vault), selection, environ) or selection.vault
    if named := environ.get("INDEXER_VAULT"):
        folder = with_home(named)
        return _called(named, selection, environ) or folder
    return enclosing_vault_here(selection, environ)


def vaults_to_choose(selection: VaultSelection, environ: Mapping[str, str]) -> dict[str, Path]:
    """The vaults that a command may mean that names none and runs in none, by name: that of the key `vault`,
    else those of the table, else all that were indexed."""
    default = default_vault(selection, environ)
    if default is not None:
        return {folder_slug(default): default}
    return vaults_in_config(selection, environ) or known_vaults()


def names_vaults(selection: VaultSelection, environ: Mapping[str, str]) -> bool:
    """Whether the configuration names a vault, by the key `vault` or in its table."""
    return default_vault(selection, environ) is not None or bool(vaults_in_config(selection, environ))


def only_vault(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The vault of a command that names none and runs in none, if there is no choice."""
    found = vaults_to_choose(selection, environ)
    return next(iter(found.values())) if len(found) == 1 else None


def is_pinned(selection: VaultSelection, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether an index folder or a configuration was named for this command alone."""
    named = (environ.get("INDEXER_INDEX_DIR"), environ.get("INDEXER_CONFIG"))
    return any((selection.index_dir, selection.config, *named))


def enclosing_vault_here(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    folder = current_folder()
    if folder is None:
        return None
    listed = {*vaults_in_config(selection, environ).values(), *known_vaults().values()}
    return enclosing_vault(folder, home_folder(), {_resolved(one) for one in listed})


def enclosing_vault(folder: Path, home: Path | None, listed: Collection[Path] = ()) -> Path | None:
    """The nearest folder with a marker, or that is listed (resolved), from `folder` upwards.

    The search ends with the home folder, since what lies above belongs to nobody or to everybody, and at the
    border of the file system, as git's does: a removable disk is no part of a vault around its mount point.
    """
    return next((level for level in _upwards(folder, home) if level in listed or is_vault(level)), None)


def is_vault(folder: Path) -> bool:
    # os.path: Path.exists raises for a folder that may not be entered.
    return any(os.path.exists(folder / marker) for marker in VAULT_MARKERS)  # noqa: PTH110


def default_vault(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The key `vault` of the configuration, read without the rest of it.

    None where there is no such file, no such key, or anything is wrong with either: whoever loads the
    whole configuration says what.
    """
    file = config_of(selection, environ) or user_config_file(environ)
    named = _top_level(file).get("vault")
    if not isinstance(named, str) or not named:
        return None
    return file.parent.absolute() / with_home(named)


def config_of(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The configuration file that was named for this command; None for the user's own."""
    if selection.config is not None:
        return selection.config
    named = environ.get("INDEXER_CONFIG")
    return with_home(named) if named else None


def vaults_in_config(selection: VaultSelection, environ: Mapping[str, str]) -> dict[str, Path]:
    """The folders of the table `[vaults]` by name, read without the rest of the configuration.

    Empty where there is none, or where anything is wrong with it: whoever loads the whole says what.
    """
    file = config_of(selection, environ) or user_config_file(environ)
    table = _top_level(file).get("vaults")
    if not isinstance(table, dict):
        return {}
    paths = {name: one.get("path") if isinstance(one, dict) else one for name, one in table.items()}
    return {
        name: file.parent.absolute() / with_home(path)
        for name, path in paths.items()
        if isinstance(path, str) and path
    }


def _top_level(file: Path) -> dict[str, object]:
    """The keys of a configuration file as they are written; none where it cannot be read."""
    import tomllib

    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}


def _called(name: str, selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The folder of a vault that is called by its name; `./NAME` is a folder, and so is the name of an
    indexed vault where there is such a folder here."""
    if os.sep in name:
        return None
    named = vaults_in_config(selection, environ).get(name)
    return named or (None if os.path.isdir(name) else known_vaults().get(name))  # noqa: PTH112


def _resolved(folder: Path) -> Path:
    try:
        return folder.resolve()
    except (OSError, RuntimeError):  # a loop of links
        return folder


def current_folder() -> Path | None:
    """The working directory with symlinks resolved; None if it has been removed."""
    try:
        return Path.cwd().resolve()
    except OSError:
        return None


def note_in_vault(note: str, vault: Path) -> str:
    """A note as a person names it, as its path in the vault.

    An absolute path, or one that begins with `./`, `../` or `~/`, names that file. Any other text names the
    file of this path below the current folder, if there is one in the vault, with or without `.md`. Else it
    is left as it is: a path in the vault, or a name. Raises UsageError for a file outside of the vault.
    """
    folder = current_folder()
    typed = with_home(note)
    if typed.is_absolute():
        return _below(vault, typed, note)
    if folder is None or not note.strip():
        return note
    if note.startswith(("./", "../")) and (folder.is_relative_to(vault) or _exists(folder / typed)):
        return _below(vault, folder / typed, note)
    is_inside = folder.is_relative_to(vault) or not _exists(vault / typed)
    if folder != vault and is_inside and _exists(folder / typed) and _is_in(folder / typed, vault):
        return _below(vault, folder / typed, note)
    return note


def vault_of_note(note: str, selection: VaultSelection, environ: Mapping[str, str]) -> VaultSelection:
    """The selection, with the vault that has a note if none is named and there are several: the one around
    that file, else the only one with a note of this path."""
    choices = vaults_meant(selection, environ).values() if note.strip() else ()
    typed = with_home(note)
    file = (current_folder() or Path()) / typed
    around = [vault for vault in choices if _exists(file) and _is_in(file, vault)]
    having = [vault for vault in choices if not typed.is_absolute() and _exists(vault / typed)]
    found = sorted(around, key=lambda vault: len(vault.parts))[-1:] or having
    return selection._replace(vault=found[0]) if len(found) == 1 else selection


def _is_in(file: Path, vault: Path) -> bool:
    return any(way.is_relative_to(vault) for way in (Path(os.path.normpath(file)), file.resolve()))


def shown_path(path: str, vault: Path) -> str:
    """The path of a note for editors: from the current folder if the note lies below it, else absolute.

    It never begins with a dash, which would make it an option.
    """
    file, folder = vault / path, current_folder()
    if folder is None or not file.is_relative_to(folder):
        return str(file)
    relative = str(file.relative_to(folder))
    return f"./{relative}" if relative.startswith("-") else relative


def _upwards(folder: Path, home: Path | None) -> Iterator[Path]:
    for level in (folder, *folder.parents):
        if not _on_same_device(level, folder):
            return
        yield level
        if level == home:
            return


def _on_same_device(one: Path, other: Path) -> bool:
    try:
        return one.stat().st_dev == other.stat().st_dev
    except OSError:
        return False


def _exists(file: Path) -> bool:
    # os.path: Path.is_file raises for a name that is too long for a file.
    return os.path.isfile(file) or os.path.isfile(f"{file}.md")  # noqa: PTH113


def _below(vault: Path, file: Path, note: str) -> str:
    """The path in the vault of a file, whichever way it is reached: as typed, or through symlinks.

    A file that is not there stays absolute: a relative path could stand for a note of that name elsewhere.
    """
    plain = Path(os.path.normpath(file))
    for way in (plain, plain.parent.resolve() / plain.name, plain.resolve()):
        if way != vault and way.is_relative_to(vault):
            return way.relative_to(vault).as_posix() if _exists(way) else str(way)
    raise UsageError(f"{note} is outside of the vault {vault}")


# When a command is about all vaults of the table `[vaults]`. Loads no configuration.


def keeps_all(selection: VaultSelection, environ: Mapping[str, str]) -> bool:
    """Whether a daemon that is started so keeps all vaults of the table: no vault and no index is named, and
    it does not start in a vault that the table lacks."""
    if names_one(selection, environ):
        return False
    table = vaults_in_config(selection, environ)
    around = enclosing_vault_here(selection, environ) if table else None
    return bool(table) and (around is None or any(around == folder.resolve() for folder in table.values()))


def asks_all(selection: VaultSelection, environ: Mapping[str, str]) -> bool:
    """Whether a question means all vaults of the table: there are several, it names none, is not asked in
    one, and there is no key `vault` that says which is meant then."""
    if names_one(selection, environ) or enclosing_vault_here(selection, environ) is not None:
        return False
    return default_vault(selection, environ) is None and len(vaults_in_config(selection, environ)) > 1


def vaults_meant(selection: VaultSelection, environ: Mapping[str, str]) -> dict[str, Path]:
    """The vaults that a question about each of them means, by name: those of the table, else all that were
    indexed. Empty where it names one, is asked in one, or there is no choice."""
    if names_one(selection, environ) or enclosing_vault_here(selection, environ) is not None:
        return {}
    found = vaults_to_choose(selection, environ)
    return found if len(found) > 1 else {}


def names_one(selection: VaultSelection, environ: Mapping[str, str]) -> bool:
    named = (
        selection.vault,
        environ.get("INDEXER_VAULT"),
        selection.index_dir,
        environ.get("INDEXER_INDEX_DIR"),
    )
    return any(named)
