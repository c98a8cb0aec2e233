"""The composition root: the only module that connects configuration, models and strategies to the ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from vault_indexer.config import LoadedConfig, NamedVault, config_files, load, load_own, vaults_of
from vault_indexer.config.sources import OptionValue
from vault_indexer.daemon.assembly import Assembly, Report, SharedBudget, Target
from vault_indexer.daemon.discovery import refuse_foreign
from vault_indexer.daemon.local_session import LocalSession, ReadOnlySession
from vault_indexer.daemon.session import DaemonSession
from vault_indexer.errors import LockedError, UsageError, VaultError
from vault_indexer.index.compatibility import refuse_newer
from vault_indexer.index.note_workers import make_chunker
from vault_indexer.index.reading import Inspector
from vault_indexer.providers import LazyEmbedder
from vault_indexer.service import VaultService
from vault_indexer.system import default_index_dir, resolved, with_home
from vault_indexer.text.phrases import which_vault
from vault_indexer.vault.walk import root_identity


def resolve_target(
    vault: Path | None,
    index_dir: Path | None,
    config_file: Path | None,
    *,
    environ: Mapping[str, str],
    options: Mapping[str, OptionValue],
) -> Target:
    """Resolves arguments and environment to a target. Without a vault here or in INDEXER_VAULT, the vault is
    that of the user's configuration. Raises UsageError, VaultError or ConfigError."""
    chosen = dict(options)
    if index_dir is not None:
        chosen["index.dir"] = str(index_dir)
    config = load(vault, config_file=config_file, environ=environ, options=chosen)
    listed = list(config.settings.vaults.items())
    if config.vault is None and len(listed) == 1:
        config = load(listed[0][1].path, config_file=config_file, environ=environ, options=chosen)
    folder = config.vault
    if folder is None and listed:
        raise UsageError(which_vault(dict(listed)))
    if folder is None:
        raise UsageError('No vault here. Run "indexer init ~/Notes" once, or add --vault DIR.')
    # The daemon reloads its configuration when a file changes, but its vault stays the same.
    reload = partial(load, folder, config_file=config_file, environ=dict(environ), options=chosen)
    try:
        root_identity(folder)
    except VaultError as error:
        key = "vault" if config.settings.vault else "vaults"
        named = "" if vault else f" (named by {config.origins[key]})"
        name = next((name for name, one in listed if one.path == folder), "")
        is_moved = name and not folder.exists()
        problem = f"the folder of the vault {name} is missing: {folder}" if is_moved else error
        raise VaultError(f"{problem}{named}") from error
    folder = resolved(folder)
    where = with_home(_index_folder(folder, config, environ)).absolute()
    if folder.is_relative_to(resolved(where)):
        raise UsageError(f"the index folder {where} contains the notes of {folder}: name another folder")
    refuse_foreign(where)
    refuse_newer(where)
    files = tuple(file.path for file in config_files(folder, config_file, environ))
    return Target(folder, where, config, reload, files)


def _index_folder(folder: Path, config: LoadedConfig, environ: Mapping[str, str]) -> Path:
    """The key `index.dir`, otherwise the default folder. A vault of the table `[vaults]` has its own folder,
    which only an option or a variable overrides."""
    default, chosen = default_index_dir(folder, environ), config.settings.index.dir
    own = [one for one in config.settings.vaults.values() if resolved(one.path) == folder]
    if own and not config.origins["index.dir"].startswith(("option", "environment")):
        return own[0].index_dir or default
    return chosen or default


def named_vaults(config_file: Path | None, environ: Mapping[str, str]) -> tuple[NamedVault, ...]:
    """The vaults of the user's own configuration; none without a table `[vaults]`. Raises ConfigError, and
    UsageError if two vaults would share a folder or an index."""
    settings = load_own(config_file, environ).settings
    found = vaults_of(settings.vaults, settings.vault)
    for kind, folders in (
        ("are the same folder", [(one.name, one.path) for one in found]),
        ("have the same index folder", [(one.name, _index_dir_of(one, environ)) for one in found]),
    ):
        seen: dict[Path, str] = {}
        for name, folder in folders:
            other = seen.setdefault(resolved(folder), name)
            if other != name:
                raise UsageError(f"[vaults]: {other} and {name} {kind}, {folder}: give each its own")
    return found


def named_target(named: NamedVault, config_file: Path | None, environ: Mapping[str, str]) -> Target:
    """The target of a vault in the table. Raises as `resolve_target`."""
    where = _index_dir_of(named, environ)
    return resolve_target(named.path, where, config_file, environ=environ, options={})


def _index_dir_of(named: NamedVault, environ: Mapping[str, str]) -> Path:
    return named.index_dir or default_index_dir(named.path, environ)


def open_index(target: Target, report: Report, *, build: bool = True) -> VaultService:
    """Opens the index in this process for one command: built or rebuilt if necessary, and up to date.

    If another process writes the index, it is only read.
    """
    assembly = Assembly.of(target)
    session = LocalSession(assembly)
    try:
        session.open(report, build=build)
    except LockedError as busy:
        return VaultService(ReadOnlySession(assembly, busy), assembly.chunker)
    except BaseException:
        session.close()
        raise
    return VaultService(session, assembly.chunker)


def open_to_rebuild(target: Target) -> VaultService:
    """Opens the index in this process for a rebuild. It need not exist yet. Raises LockedError."""
    session = LocalSession(Assembly.of(target))
    try:
        session.open_as_is()
    except BaseException:
        session.close()
        raise
    return VaultService(session)


def open_daemon(target: Target, budget: SharedBudget | None = None) -> VaultService:
    """Opens the index with the threads that update it. `budget` is shared with other vaults of the process.
    Raises LockedError with the name of the lock's holder."""
    budget = budget or SharedBudget(None)
    assembly = replace(Assembly.of(target), make_pool=budget.make_pool)
    return VaultService(DaemonSession(assembly, budget=budget), assembly.chunker)


def make_inspector(target: Target, strategy: str | None = None) -> Inspector:
    """Returns an inspector that splits notes as a build would, with the token weights of an existing index.

    Nothing is written except answers of a language model, and those only if the index exists. Raises
    UsageError if the strategy does not exist.
    """
    assembly = Assembly.of(target)
    chunker = make_chunker(
        assembly.settings,
        LazyEmbedder(assembly.load_embedder),
        strategy=strategy,
        llm_cache=assembly.llm_cache if assembly.root.is_dir() else None,
    )
    return Inspector(assembly.vault, assembly.settings, chunker)
