"""Names of services, made of the paths of vaults."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from vault_indexer.errors import UsageError

PREFIX = "vault-indexer"

_LONGEST = 200
"""systemd's names have at most 255 characters, the suffix and what it appends itself included."""

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:_.")
_ESCAPE_CUT = re.compile(r"\\(x[0-9a-f]?)?\Z")


def refuse_control_characters(text: str) -> str:
    """The text. Raises UsageError where it has a line break or another control character: a definition is
    text of lines, and a path that needs one is a mistake."""
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise UsageError(f"a service cannot have a path with control characters: {text!r}; rename the folder")
    return text


def escape_path(path: str) -> str:
    r"""A path as a part of a unit's name, as `systemd-escape --path` writes it: `/` becomes `-`, and every
    other byte that is no letter, digit, `:`, `_` or `.` becomes `\xNN`. So does a `.` at the start."""
    raw = b"/".join(part for part in os.fsencode(path).split(b"/") if part)
    if not raw:
        return "-"
    return "".join(
        "-" if byte == 0x2F else chr(byte) if byte in _PLAIN and (at or byte != 0x2E) else f"\\x{byte:02x}"
        for at, byte in enumerate(raw)
    )


def unit_name(vault: Path | None) -> str:
    """`vault-indexer-home-me-Notes`; a longer one is cut, and ends in a hash of the path instead."""
    if vault is None:
        return PREFIX
    escaped = escape_path(refuse_control_characters(str(vault)))
    if len(escaped) > _LONGEST:
        escaped = f"{_ESCAPE_CUT.sub('', escaped[:_LONGEST])}-{_digest(vault)}"
    return f"{PREFIX}-{escaped}"


def slug(vault: Path | None) -> str:
    """A name for systems whose names have no escapes: the folder's name, as far as its letters are plain, and
    a hash of the whole path (16 hex digits of SHA-256)."""
    if vault is None:
        return PREFIX
    refuse_control_characters(str(vault))
    name = re.sub(r"[^A-Za-z0-9_]+", "-", vault.name).strip("-")[:40] or "vault"
    return f"{PREFIX}-{name}-{_digest(vault)}"


def _digest(vault: Path) -> str:
    return hashlib.sha256(os.fsencode(vault)).hexdigest()[:16]
