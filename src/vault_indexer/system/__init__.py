"""What talks to the operating system: durable writes, memory, process limits. Knows nothing of notes."""

from __future__ import annotations

from vault_indexer.system.allocator import give_back, keep_little
from vault_indexer.system.disk_space import EDIT_BYTES, FULL_ERRORS, free_bytes, in_words, size_of
from vault_indexer.system.durable import atomic_file, fsync_dir, fsync_file, only_writer, write_atomically
from vault_indexer.system.huge_pages import back_by_huge_pages
from vault_indexer.system.process_limits import (
    MemoryWatch,
    ProcessLimits,
    Usage,
    keep_to_one_thread,
    own_usage,
    usable_cores,
)

__all__ = [
    "EDIT_BYTES",
    "FULL_ERRORS",
    "MemoryWatch",
    "ProcessLimits",
    "Usage",
    "atomic_file",
    "back_by_huge_pages",
    "free_bytes",
    "fsync_dir",
    "fsync_file",
    "give_back",
    "in_words",
    "keep_little",
    "keep_to_one_thread",
    "only_writer",
    "own_usage",
    "size_of",
    "usable_cores",
    "write_atomically",
]
