"""What talks to the operating system: durable writes, memory, processes, paths. Knows nothing of notes."""

from __future__ import annotations

from vault_indexer.system.allocator import gc_paused, limit_malloc_arenas, trim_heap
from vault_indexer.system.batches import batches
from vault_indexer.system.disk_space import EDIT_BYTES, FULL_ERRORS, free_bytes, in_words, size_of
from vault_indexer.system.durable import (
    atomic_file,
    fsync_dir,
    fsync_file,
    only_writer,
    open_to_append,
    replace_file,
    retrying,
    temporary_prefix,
    write_atomically,
)
from vault_indexer.system.huge_pages import back_by_huge_pages
from vault_indexer.system.lru_cache import LruCache
from vault_indexer.system.memory import free_memory, memory_limit
from vault_indexer.system.ownership import owner_fault, read_own, write_fault
from vault_indexer.system.paths import (
    Spelling,
    canonical_folder,
    folder_slug,
    long_path,
    name_fault,
    same_name,
    windows_fault,
    windows_long_path,
)
from vault_indexer.system.power import is_on_battery
from vault_indexer.system.process_limits import (
    MemoryWatch,
    ProcessLimits,
    Usage,
    keep_to_one_thread,
    own_usage,
    usable_cores,
)
from vault_indexer.system.processes import (
    ENDING_SIGNALS,
    ask_to_end,
    python_command,
    start_in_background,
)
from vault_indexer.system.streams import is_read, open_missing_streams
from vault_indexer.system.user_limits import missing_limits

__all__ = [
    "EDIT_BYTES",
    "ENDING_SIGNALS",
    "FULL_ERRORS",
    "LruCache",
    "MemoryWatch",
    "ProcessLimits",
    "Spelling",
    "Usage",
    "ask_to_end",
    "atomic_file",
    "back_by_huge_pages",
    "batches",
    "canonical_folder",
    "folder_slug",
    "free_bytes",
    "free_memory",
    "fsync_dir",
    "fsync_file",
    "gc_paused",
    "in_words",
    "is_on_battery",
    "is_read",
    "keep_to_one_thread",
    "limit_malloc_arenas",
    "long_path",
    "memory_limit",
    "missing_limits",
    "name_fault",
    "only_writer",
    "open_missing_streams",
    "open_to_append",
    "own_usage",
    "owner_fault",
    "python_command",
    "read_own",
    "replace_file",
    "retrying",
    "same_name",
    "size_of",
    "start_in_background",
    "temporary_prefix",
    "trim_heap",
    "usable_cores",
    "windows_fault",
    "windows_long_path",
    "write_atomically",
    "write_fault",
]
