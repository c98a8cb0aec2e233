"""Finds the vault of a command, and the note that a user names. Loads no configuration.

The vault is, in this order: the option `--vault`, the variable INDEXER_VAULT, the vault around the current
folder, the key `vault` of the user's configuration, the only vault. Option and variable also accept a name
from the table `[vaults]` or that of an indexed folder.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from vault_indexer.cli.known_vaults import known_vaults
from vault_indexer.cli.parameters import VaultSelection
from vault_indexer.errors import UsageError, VaultError
from vault_indexer.system import (
    VAULT_CONFIG_NAME,
    folder_slug,
    home_folder,
    resolved,
    user_config_file,
    with_home,
)

VAULT_MARKERS = (".obsidian", VAULT_CONFIG_NAME)
"""The names that mark a folder as a vault: Obsidian's folder, or our configuration."""


def named_or_enclosing_vault(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The vault of the option or the variable, otherwise the one around the current folder."""
    if selection.vault is not None:
        return _called(str(selection.vault), selection, environ) or selection.vault
    if named := environ.get("INDEXER_VAULT"):
        folder = with_home(named)
        return _called(named, selection, environ) or folder
    return enclosing_vault_here(selection, environ)


def vaults_to_choose(selection: VaultSelection, environ: Mapping[str, str]) -> dict[str, Path]:
    """The possible vaults, by name, of a command that names none and runs in none: that of the key `vault`,
    otherwise those of the table, otherwise all indexed ones."""
    default = default_vault(selection, environ)
    if default is not None:
        return {folder_slug(default): default}
    return vaults_in_config(selection, environ) or known_vaults()


def names_vaults(selection: VaultSelection, environ: Mapping[str, str]) -> bool:
    return default_vault(selection, environ) is not None or bool(vaults_in_config(selection, environ))


def only_vault(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The only possible vault of a command that names none and runs in none; None if there are several."""
    found = vaults_to_choose(selection, environ)
    return next(iter(found.values())) if len(found) == 1 else None


def is_pinned(selection: VaultSelection, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether an index folder or a configuration is given for this command."""
    named = (environ.get("INDEXER_INDEX_DIR"), environ.get("INDEXER_CONFIG"))
    return any((selection.index_dir, selection.config, *named))


def enclosing_vault_here(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    folder = current_folder()
    if folder is None:
        return None
    listed = {*vaults_in_config(selection, environ).values(), *known_vaults().values()}
    return enclosing_vault(folder, home_folder(), {_resolved(one) for one in listed})


def enclosing_vault(folder: Path, home: Path | None, listed: Collection[Path] = ()) -> Path | None:
    """The nearest folder, from `folder` upwards, that has a marker or is in `listed` (resolved paths).

    The search ends at the home folder, because the folders above are shared, and at the border of the file
    system, like git's: a removable disk does not belong to a vault around its mount point.
    """
    for level in (folder, *folder.parents):
        if not _on_same_device(level, folder):
            return None
        # os.path, because Path.exists raises for a folder without permission.
        if level in listed or any(os.path.exists(level / marker) for marker in VAULT_MARKERS):  # noqa: PTH110
            return level
        if level == home:
            return None
    return None


def default_vault(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The key `vault` of the configuration, read without the rest of it.

    None if the file or the key is missing or invalid: errors are reported when the whole configuration is
    loaded.
    """
    file = config_file_of(selection, environ)
    named = _top_level(file).get("vault")
    if not isinstance(named, str) or not named:
        return None
    return file.parent.absolute() / with_home(named)


def config_of(selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The configuration file given for this command; None for the user's own."""
    if selection.config is not None:
        return selection.config
    named = environ.get("INDEXER_CONFIG")
    return with_home(named) if named else None


def config_file_of(selection: VaultSelection, environ: Mapping[str, str]) -> Path:
    """The configuration file given for this command, otherwise the user's own, which need not exist."""
    return config_of(selection, environ) or user_config_file(environ)


def vaults_in_config(selection: VaultSelection, environ: Mapping[str, str]) -> dict[str, Path]:
    """The folders of the table `[vaults]` by name, read without the rest of the configuration.

    Empty if the table is missing or invalid: errors are reported when the whole configuration is loaded.
    """
    file = config_file_of(selection, environ)
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
    """The top-level keys of a configuration file; empty if it cannot be read."""
    import tomllib

    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}


def _called(name: str, selection: VaultSelection, environ: Mapping[str, str]) -> Path | None:
    """The folder of a vault by its name. `./NAME` is a folder, and so is the name of an indexed vault if a
    folder of that name exists here. Raises VaultError if neither exists but other vaults have names."""
    if os.sep in name:
        return None
    listed = vaults_in_config(selection, environ)
    if name in listed or os.path.isdir(name):  # noqa: PTH112
        return listed.get(name)
    known = known_vaults()
    names = sorted({*listed, *known})
    if names and name not in known and not os.path.lexists(name):
        raise VaultError(f"no such vault: {name}. Your vaults: {', '.join(names)}")
    return known.get(name)


def _resolved(folder: Path) -> Path:
    try:
        return resolved(folder)
    except (OSError, RuntimeError):  # a loop of links
        return folder


def current_folder() -> Path | None:
    """The working directory with symlinks resolved; None if it has been removed."""
    try:
        return Path.cwd().resolve()
    except OSError:
        return None


def note_in_vault(note: str, vault: Path) -> str:
    """Converts the user's name of a note to its path in the vault.

    An absolute path, or one that begins with `./`, `../` or `~/`, names that file. Any other text names the
    file with this path below the current folder, with or without `.md`, if the vault contains one. Otherwise
    it is returned unchanged, as a path in the vault or a name. Raises UsageError for a file outside the
    vault.
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
    """Adds the vault of a note to the selection if none is given and there are several: the vault around that
    file, otherwise the only one with a note at this path."""
    choices = vaults_meant(selection, environ).values() if note.strip() else ()
    typed = with_home(note)
    file = (current_folder() or Path()) / typed
    around = [vault for vault in choices if _exists(file) and _is_in(file, vault)]
    having = [vault for vault in choices if not typed.is_absolute() and _exists(vault / typed)]
    # The innermost, if a vault contains another one.
    found = sorted(around, key=lambda vault: len(vault.parts))[-1:] or having
    return selection._replace(vault=found[0]) if len(found) == 1 else selection


def _is_in(file: Path, vault: Path) -> bool:
    return any(way.is_relative_to(vault) for way in (Path(os.path.normpath(file)), resolved(file)))


def shown_path(path: str, vault: Path) -> str:
    """The path of a note for editors: relative to the current folder if the note is below it, otherwise
    absolute.

    It never begins with a dash, which would make it an option.
    """
    file, folder = vault / path, current_folder()
    if folder is None or not file.is_relative_to(folder):
        return str(file)
    relative = str(file.relative_to(folder))
    return f"./{relative}" if relative.startswith("-") else relative


def _on_same_device(one: Path, other: Path) -> bool:
    try:
        return one.stat().st_dev == other.stat().st_dev
    except OSError:
        return False


def _exists(file: Path) -> bool:
    # os.path: Path.is_file raises for a name that is too long for a file.
    return os.path.isfile(file) or os.path.isfile(f"{file}.md")  # noqa: PTH113


def _below(vault: Path, file: Path, note: str) -> str:
    """The path of a file in the vault, given as typed or through symlinks.

    A missing file stays absolute: a relative path could be that of another note with the same name.
    """
    plain = Path(os.path.normpath(file))
    for way in (plain, resolved(plain.parent) / plain.name, resolved(plain)):
        if way != vault and way.is_relative_to(vault):
            return way.relative_to(vault).as_posix() if _exists(way) else str(way)
    raise UsageError(f"{note} is outside the vault {vault}")


# Commands for all vaults of the table `[vaults]`. Loads no configuration.


def keeps_all(selection: VaultSelection, environ: Mapping[str, str]) -> bool:
    """Whether a new daemon would serve all vaults of the table: no vault or index is given, and the current
    folder is not in a vault that the table lacks."""
    if names_one(selection, environ):
        return False
    table = vaults_in_config(selection, environ)
    around = enclosing_vault_here(selection, environ) if table else None
    return bool(table) and (around is None or any(around == resolved(folder) for folder in table.values()))


def asks_all(selection: VaultSelection, environ: Mapping[str, str]) -> bool:
    """Whether a request is for all vaults of the table: there are several, none is given by option, current
    folder or the key `vault`."""
    if names_one(selection, environ) or enclosing_vault_here(selection, environ) is not None:
        return False
    return default_vault(selection, environ) is None and len(vaults_in_config(selection, environ)) > 1


def vaults_meant(selection: VaultSelection, environ: Mapping[str, str]) -> dict[str, Path]:
    """The vaults, by name, of a request for each of them: those of the table, otherwise all indexed ones.
    Empty if one is given or the command runs in one, or if there are not several."""
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
