"""Which keys may stand in a configuration found inside a vault.

Vaults are cloned and shared, so whoever wrote that file is not the person at this machine. It may change how
this vault is cut, found, watched and which files count. It may not name code to import, a model or a
server that gets the text, a folder to write to, what may call the API, or what the machine spends.

Every key has its row in `TRUST`; a key without one is refused, and a test asks for the row. What stands inside
a value (a field of a table in a list) may have a row of its own, `chunking.rules[].match`, and else follows
the row of the value.

A new strategy's options: sizes are `VAULT`; a tokenizer, or whatever else may be given as `module:function`
or as a path, is `NAME`; all of a strategy that imports code is `USER`, and its name goes into `NAMES_OF_CODE`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType


class Trust(Enum):
    """Who may set a key."""

    VAULT = "vault"
    """Anyone: the vault's own file, too."""

    NAME = "name"
    """The vault's file only where the value is the plain name of something built in: no `module:function`, no
    path, none of the names in `NAMES_OF_CODE`."""

    USER = "user"
    """The user alone: user's file, a file named by --config, environment, option."""


NAMES_OF_CODE = frozenset({"custom"})
"""Values of a `Trust.NAME` key that are plain names but hand over to code of someone's choice."""

TRUST: Mapping[str, Trust] = MappingProxyType(
    {
        "files.include": Trust.VAULT,
        "files.exclude": Trust.VAULT,
        "files.max_file_bytes": Trust.VAULT,
        "files.use_obsidian_filters": Trust.VAULT,
        "chunking.strategy": Trust.NAME,
        "chunking.min_chunk_chars": Trust.VAULT,
        "chunking.max_chunk_chars": Trust.VAULT,
        "chunking.overlap_chars": Trust.VAULT,
        "chunking.include_parent_headers": Trust.VAULT,
        "embedding.provider": Trust.USER,
        "embedding.model": Trust.USER,
        "embedding.url": Trust.USER,
        "embedding.api_key_env": Trust.USER,
        "embedding.batch_size": Trust.USER,
        "embedding.token_weights": Trust.USER,
        "search.limit": Trust.VAULT,
        "search.candidates": Trust.VAULT,
        "search.rrf_k": Trust.VAULT,
        "search.max_chunks_per_note": Trust.VAULT,
        "search.snippet_chars": Trust.VAULT,
        "search.weights.vector": Trust.VAULT,
        "search.weights.keyword": Trust.VAULT,
        "search.weights.graph": Trust.VAULT,
        "search.recency.enabled": Trust.VAULT,
        "search.recency.tiers": Trust.VAULT,
        "watch.mode": Trust.VAULT,
        "watch.debounce_s": Trust.VAULT,
        "watch.max_wait_s": Trust.VAULT,
        "watch.delete_hold_s": Trust.VAULT,
        "watch.rescan_s": Trust.VAULT,
        "watch.poll_s": Trust.VAULT,
        "watch.folder_scan_threshold": Trust.VAULT,
        "watch.full_scan_threshold": Trust.VAULT,
        "server.port": Trust.USER,
        "server.allowed_origins": Trust.USER,
        "server.max_concurrent": Trust.USER,
        "server.timeout_s": Trust.USER,
        "index.dir": Trust.USER,
        "index.workers": Trust.USER,
        "index.nice": Trust.USER,
    }
)

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_DEPTH = 16
"""Of lists and tables inside a value; nothing in the schema is nearly as deep."""


def vault_may_set(key: str, value: object, trust: Mapping[str, Trust] = TRUST) -> bool:
    """Whether a file found inside a vault may give this key this value; unlisted keys it may not."""
    return _may(key, value, trust, Trust.USER, _DEPTH)


def _may(key: str, value: object, trust: Mapping[str, Trust], inherited: Trust, depth: int) -> bool:
    rule = trust.get(key, inherited)
    if rule is Trust.USER or depth == 0:
        return False
    if isinstance(value, list):
        return all(_may(f"{key}[]", part, trust, rule, depth - 1) for part in value)
    if isinstance(value, dict):
        return all(_may(f"{key}.{name}", part, trust, rule, depth - 1) for name, part in value.items())
    return rule is Trust.VAULT or not isinstance(value, str) or _is_plain_name(value)


def _is_plain_name(value: str) -> bool:
    return _PLAIN_NAME.fullmatch(value) is not None and value not in NAMES_OF_CODE
