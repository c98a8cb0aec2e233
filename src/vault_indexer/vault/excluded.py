"""Why a file of the vault is not in the index: the list and the pattern that keep it out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from vault_indexer.config.settings import FilesSettings
from vault_indexer.errors import NoteError
from vault_indexer.vault.ignore import load_ignore_rules
from vault_indexer.vault.read import resolve_in_vault


def why_excluded(vault: Path, files: FilesSettings, name: str) -> str:
    """The first file of the vault that a name means and that a pattern keeps out of the index, and which one
    that is; "" if there is none. It walks through the vault where the name is no path of a file. Raises
    ExclusionError."""
    rules = None
    for path in _files_named(vault, name):
        rules = rules or load_ignore_rules(vault, files)
        if reason := rules.reason(path):
            return f"{path} is not in the index: {reason}"
    return ""


def _files_named(vault: Path, name: str) -> Iterator[str]:
    """The files at that path of the vault, with or without `.md`; without any, those whose paths end so."""
    at_path = [path for path in (name, f"{name}.md") if _is_file(vault, path)]
    if at_path:
        yield from at_path
        return
    ends = tuple(f"/{name}{suffix}".casefold() for suffix in ("", ".md"))
    for folder, _, names in os.walk(vault):
        for one in names:
            path = f"{folder}/{one}".removeprefix(f"{vault}/")
            if f"/{path}".casefold().endswith(ends):
                yield path


def _is_file(vault: Path, path: str) -> bool:
    try:
        return resolve_in_vault(vault, path).is_file()
    except (NoteError, OSError):
        return False
