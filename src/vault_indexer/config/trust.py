"""Which keys may stand in a configuration found inside a vault.

Vaults are cloned and shared, so whoever wrote that file is not the person at this machine. It may change how
this vault is cut, found, watched and which files count. It may not name code to import, a model or a
server that gets the text, a folder to write to, what may call the API, or what the machine spends.

Every key has its row in `TRUST`; a key without one is refused, and a test asks for the row. What stands
inside a value (a field of a table in a list) may have a row of its own, `chunking.rules[].paths`; else it
follows the row of the value. In `chunking.rules` the options follow the rows of the strategies.

A new strategy's options: sizes are `VAULT`, regular expressions `PATTERN`; whatever may be given as
`module:function` or as a path is `USER`, and so is all of a strategy that imports code or asks a model, whose
name goes into `NAMES_OF_CODE`.
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

    PATTERN = "pattern"
    """The vault's file only where the regular expression is simple: with repeated groups or many repeats, a
    few notes can keep a processor busy for years."""

    USER = "user"
    """The user alone: user's file, a file named by --config, environment, option."""


NAMES_OF_CODE = frozenset({"agentic", "custom", "llm"})
"""Values of a `Trust.NAME` key that are plain names but hand over to code of someone's choice, or to a model
that is paid for and gets the text."""

TRUST: Mapping[str, Trust] = MappingProxyType(
    {
        "vault": Trust.USER,
        "files.include": Trust.VAULT,
        "files.exclude": Trust.VAULT,
        "files.max_file_bytes": Trust.VAULT,
        "files.use_obsidian_filters": Trust.VAULT,
        "chunking.min_chunk_chars": Trust.VAULT,
        "chunking.max_chunk_chars": Trust.VAULT,
        "chunking.overlap_chars": Trust.VAULT,
        "chunking.include_parent_headers": Trust.VAULT,
        "chunking.strategy": Trust.NAME,
        "chunking.markdown.max_chunk_size": Trust.VAULT,
        "chunking.markdown.min_chunk_size": Trust.VAULT,
        "chunking.markdown.size_unit": Trust.VAULT,
        "chunking.markdown.header_levels": Trust.VAULT,
        "chunking.markdown.respect_code_blocks": Trust.VAULT,
        "chunking.markdown.respect_lists": Trust.VAULT,
        "chunking.markdown.respect_tables": Trust.VAULT,
        "chunking.markdown.respect_blockquotes": Trust.VAULT,
        "chunking.markdown.include_header_context": Trust.VAULT,
        "chunking.markdown.header_context_format": Trust.VAULT,
        "chunking.markdown.overlap": Trust.VAULT,
        "chunking.paragraph.max_chars": Trust.VAULT,
        "chunking.paragraph.min_chars": Trust.VAULT,
        "chunking.word.chunk_size": Trust.VAULT,
        "chunking.word.chunk_overlap": Trust.VAULT,
        "chunking.word.word_pattern": Trust.PATTERN,
        "chunking.token.max_tokens": Trust.VAULT,
        "chunking.token.overlap_tokens": Trust.VAULT,
        "chunking.token.tokenizer": Trust.USER,
        "chunking.token.overflow": Trust.VAULT,
        "chunking.token.preserve_sentences": Trust.VAULT,
        "chunking.recursive.chunk_size": Trust.VAULT,
        "chunking.recursive.chunk_overlap": Trust.VAULT,
        "chunking.recursive.separators": Trust.VAULT,
        "chunking.recursive.keep_separator": Trust.VAULT,
        "chunking.recursive.separator_position": Trust.VAULT,
        "chunking.boundary.split_on": Trust.VAULT,
        "chunking.boundary.max_chunk_size": Trust.VAULT,
        "chunking.boundary.min_chunk_size": Trust.VAULT,
        "chunking.boundary.size_unit": Trust.VAULT,
        "chunking.boundary.overlap.mode": Trust.VAULT,
        "chunking.boundary.overlap.value": Trust.VAULT,
        "chunking.boundary.merge_small_chunks": Trust.VAULT,
        "chunking.boundary.patterns": Trust.PATTERN,
        "chunking.discourse.max_chars": Trust.VAULT,
        "chunking.discourse.min_chars": Trust.VAULT,
        "chunking.discourse.continuation_overflow": Trust.VAULT,
        "chunking.discourse.max_continuation_merges": Trust.VAULT,
        "chunking.discourse.language": Trust.VAULT,
        "chunking.semantic.mode": Trust.VAULT,
        "chunking.semantic.max_chunk_size": Trust.VAULT,
        "chunking.semantic.min_chunk_size": Trust.VAULT,
        "chunking.semantic.threshold": Trust.VAULT,
        "chunking.semantic.buffer_sentences": Trust.VAULT,
        "chunking.semantic.segment_chars": Trust.VAULT,
        "chunking.hierarchical.parent_size": Trust.VAULT,
        "chunking.hierarchical.child_size": Trust.VAULT,
        "chunking.hierarchical.child_overlap": Trust.VAULT,
        "chunking.hierarchical.parent_overlap": Trust.VAULT,
        "chunking.hierarchical.size_unit": Trust.VAULT,
        "chunking.hierarchical.embed_both": Trust.VAULT,
        "chunking.parent_child.max_child_tokens": Trust.VAULT,
        "chunking.parent_child.min_child_tokens": Trust.VAULT,
        "chunking.code.max_chunk_size": Trust.VAULT,
        "chunking.code.min_chunk_size": Trust.VAULT,
        "chunking.code.language": Trust.VAULT,
        "chunking.code.split_on_functions": Trust.VAULT,
        "chunking.code.split_on_classes": Trust.VAULT,
        "chunking.code.include_imports": Trust.VAULT,
        "chunking.code.include_class_context": Trust.VAULT,
        "chunking.code.include_docstrings": Trust.VAULT,
        "chunking.code.preserve_code_blocks": Trust.VAULT,
        "chunking.llm.strict": Trust.USER,
        "chunking.llm.max_api_calls": Trust.USER,
        "chunking.llm.timeout_s": Trust.USER,
        "chunking.agentic.mode": Trust.VAULT,
        "chunking.agentic.target_chunk_size": Trust.VAULT,
        "chunking.agentic.max_api_calls": Trust.USER,
        "chunking.agentic.timeout_s": Trust.USER,
        "chunking.agentic.prompt": Trust.USER,
        "chunking.custom.function": Trust.USER,
        "chunking.contextual.granularity": Trust.USER,
        "chunking.contextual.keep_on_failure": Trust.USER,
        "chunking.contextual.max_api_calls": Trust.USER,
        "chunking.contextual.timeout_s": Trust.USER,
        "chunking.rules": Trust.NAME,
        "chunking.rules[].paths": Trust.VAULT,
        "chunking.rules[].contextual": Trust.USER,
        "embedding.provider": Trust.USER,
        "embedding.model": Trust.USER,
        "embedding.url": Trust.USER,
        "embedding.api_key_env": Trust.USER,
        "embedding.batch_size": Trust.USER,
        "embedding.token_weights": Trust.USER,
        "llm.provider": Trust.USER,
        "llm.model": Trust.USER,
        "llm.url": Trust.USER,
        "llm.api_key_env": Trust.USER,
        "llm.temperature": Trust.USER,
        "llm.max_tokens": Trust.USER,
        "llm.context_window": Trust.USER,
        "search.limit": Trust.VAULT,
        "search.candidates": Trust.VAULT,
        "search.fusion": Trust.VAULT,
        "search.rrf_k": Trust.VAULT,
        "search.max_chunks_per_note": Trust.VAULT,
        "search.snippet_chars": Trust.VAULT,
        "search.deadline_s": Trust.USER,
        "search.max_parent_tokens": Trust.VAULT,
        "search.window_paragraphs": Trust.VAULT,
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
        "index.io_priority": Trust.USER,
        "index.max_memory_mb": Trust.USER,
        "index.max_note_seconds": Trust.USER,
        "index.max_note_memory_mb": Trust.USER,
    }
)

_RULES = "chunking.rules[]."
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]*")
_DEPTH = 16
"""Of lists and tables inside a value; nothing in the schema is nearly as deep."""

_MAX_REPEATS = 2
"""In a regular expression: two make at worst quadratic time on a line, three already cubic."""


def vault_may_set(key: str, value: object, trust: Mapping[str, Trust] = TRUST) -> bool:
    """Whether a file found inside a vault may give this key this value; unlisted keys it may not."""
    return _may(key, value, trust, Trust.USER, _DEPTH)


def refused_in_note(choice: Mapping[str, object]) -> list[str]:
    """What in a note's own choice of chunking (`strategy`, options) a note may not set, by name.

    A note is trusted as little as a vault's file.
    """
    return [
        name for name, value in choice.items() if not _may(_RULES + name, value, TRUST, Trust.NAME, _DEPTH)
    ]


def _may(key: str, value: object, trust: Mapping[str, Trust], inherited: Trust, depth: int) -> bool:
    rule = _rule(key, trust, inherited)
    if rule is Trust.USER or depth == 0:
        return False
    if isinstance(value, list | tuple):
        return all(_may(f"{key}[]", part, trust, rule, depth - 1) for part in value)
    if isinstance(value, Mapping):
        return all(_may(f"{key}.{name}", part, trust, rule, depth - 1) for name, part in value.items())
    if not isinstance(value, str):
        return True
    return rule is Trust.VAULT or (_is_plain_name(value) if rule is Trust.NAME else _is_simple_pattern(value))


def _rule(key: str, trust: Mapping[str, Trust], inherited: Trust) -> Trust:
    """The row of the key; of an option inside a rule, the strictest row of all options of that name."""
    if key in trust or not key.startswith(_RULES):
        return trust.get(key, inherited)
    option = "." + key.removeprefix(_RULES)
    rows = {row for name, row in trust.items() if name.startswith("chunking.") and name.endswith(option)}
    strictest = (Trust.USER, Trust.NAME, Trust.PATTERN, Trust.VAULT)
    return next((row for row in strictest if row in rows), inherited)


def _is_plain_name(value: str) -> bool:
    return _PLAIN_NAME.fullmatch(value) is not None and value not in NAMES_OF_CODE


def _is_simple_pattern(value: str) -> bool:
    """No group is repeated, and at most two characters or classes are.

    The verbose flag would let a repeat hide behind blanks and comments, so it is refused.
    """
    bare = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "x", value, flags=re.DOTALL)
    hidden = re.search(r"\)[*+{]|\(\?[A-Za-z]*x", bare)
    return hidden is None and len(re.findall(r"[*+{]", bare)) <= _MAX_REPEATS
