"""The only package that reads the vault's files: walk, ignore, diff, read, watch. It never writes."""

from vault_indexer.vault.diff import FileChanges, KnownFile, diff
from vault_indexer.vault.dirty import (
    CONFIRM_AFTER_S,
    Batch,
    DeleteHold,
    DeletionDecision,
    DirtySet,
    Reading,
    VaultObservation,
    assess_deletions,
)
from vault_indexer.vault.files import (
    MAX_PICTURE_BYTES,
    FileStat,
    RootIdentity,
    is_picture_name,
    picture_type,
)
from vault_indexer.vault.ignore import (
    CONFIG_FILE,
    CONTROL_FILES,
    Decision,
    IgnoreRules,
    load_ignore_rules,
    why_excluded,
)
from vault_indexer.vault.read import (
    NoteVanished,
    ReadResult,
    open_file,
    read_note,
    resolve_in_vault,
    resolved_path,
)
from vault_indexer.vault.walk import Scan, ScannedFile, doubt_about, file_names, root_identity, scan
from vault_indexer.vault.watch import SystemHooks, VaultWatcher, WatchMode

__all__ = [
    "CONFIG_FILE",
    "CONFIRM_AFTER_S",
    "CONTROL_FILES",
    "MAX_PICTURE_BYTES",
    "Batch",
    "Decision",
    "DeleteHold",
    "DeletionDecision",
    "DirtySet",
    "FileChanges",
    "FileStat",
    "IgnoreRules",
    "KnownFile",
    "NoteVanished",
    "ReadResult",
    "Reading",
    "RootIdentity",
    "Scan",
    "ScannedFile",
    "SystemHooks",
    "VaultObservation",
    "VaultWatcher",
    "WatchMode",
    "assess_deletions",
    "diff",
    "doubt_about",
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
