"""Turns TOML, environment and options into frozen settings; records the settings of an index."""

from vault_indexer.config.edits import StrategyInFile, add_vault, remove_vault
from vault_indexer.config.load import LoadedConfig, load, load_own, missing_settings
from vault_indexer.config.manifest import SPEC_VERSION, Manifest, chunking_config, differences
from vault_indexer.config.schema import keys_to_restart_for
from vault_indexer.config.settings import Settings
from vault_indexer.config.sources import config_files
from vault_indexer.config.tables.vault_table import NamedVault, vaults_of

__all__ = [
    "SPEC_VERSION",
    "LoadedConfig",
    "Manifest",
    "NamedVault",
    "Settings",
    "StrategyInFile",
    "add_vault",
    "chunking_config",
    "config_files",
    "differences",
    "keys_to_restart_for",
    "load",
    "load_own",
    "missing_settings",
    "remove_vault",
    "vaults_of",
]
