"""TOML, environment and options in, frozen settings out; and what an index was built with."""

from vault_indexer.config.documents import Row, as_json, keys_to_restart_for, rows, starter_config
from vault_indexer.config.edits import StrategyInFile, add_vault, remove_vault
from vault_indexer.config.load import LoadedConfig, load, load_own, missing_settings
from vault_indexer.config.manifest import SPEC_VERSION, Manifest, chunking_config, differences
from vault_indexer.config.schema import refused_in_note
from vault_indexer.config.settings import Settings
from vault_indexer.config.sources import config_files
from vault_indexer.config.tables.vault_table import NamedVault, is_vault_name, vault_name_of, vaults_of

__all__ = [
    "SPEC_VERSION",
    "LoadedConfig",
    "Manifest",
    "NamedVault",
    "Row",
    "Settings",
    "StrategyInFile",
    "add_vault",
    "as_json",
    "chunking_config",
    "config_files",
    "differences",
    "is_vault_name",
    "keys_to_restart_for",
    "load",
    "load_own",
    "missing_settings",
    "refused_in_note",
    "remove_vault",
    "rows",
    "starter_config",
    "vault_name_of",
    "vaults_of",
]
