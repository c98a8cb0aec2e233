"""The only package that reads the vault's files: walk, ignore, diff, read, watch. It never writes."""

from vault_indexer.vault.files import MAX_PICTURE_BYTES, is_picture_name, picture_type
from vault_indexer.vault.ignore import CONTROL_FILES, Decision, IgnoreRules, load_ignore_rules, why_excluded
from vault_indexer.vault.read import NoteVanished, open_file, read_note, resolve_in_vault, resolved_path
from vault_indexer.vault.walk import Scan, file_names, root_identity, scan

__all__ = [
    "CONTROL_FILES",
    "MAX_PICTURE_BYTES",
    "Decision",
    "IgnoreRules",
    "NoteVanished",
    "Scan",
    "file_names",
    "is_picture_name",
    "load_ignore_rules",
    "open_file",
    "picture_type",
    "read_note",
    "resolve_in_vault",
    "resolved_path",
    "root_identity",
    "scan",
    "why_excluded",
]
