"""The tree of errors that a user can act on.

VaultIndexerError
├── UsageError            exit 2   wrong option, argument or query
│   ├── QueryError                 a query that cannot be parsed, with the column
│   ├── UnknownNoteError           no note of the index has this path or name
│   └── UnknownVaultError          no vault that may be read has this name
├── ConfigError           exit 2   every mistake of a configuration, all at once
├── UnavailableError      exit 3   the vault or the index cannot be used
│   ├── VaultError                 missing, not a folder, unreadable
│   │   └── ExclusionError         an invalid exclusion, with file, line and pattern
│   ├── IndexUnusableError         missing, damaged, not writable
│   │   └── DamagedError           the catalog's bytes have changed; the remedy is a rebuild
│   ├── DiskFullError              no space for the index, which is intact; the next try may succeed
│   ├── LockedError                another process has locked the index, with its name
│   ├── DaemonError                no daemon, port in use, or it does not answer
│   ├── ServiceError               the service manager of this system is missing or failed
│   ├── QueryTimeoutError          a search took longer than its deadline
│   ├── ProcessError               a process of the indexer cannot be started
│   ├── BackendError               a server with derived indices does not answer, or refuses a request
│   └── QueryCancelledError        no client waits for the answer of a search any more
├── ProviderError         exit 3   an embedding or language model cannot be used
└── NoteError             (never ends a command) one note cannot be indexed, with the reason
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class VaultIndexerError(Exception):
    """The base of all errors for users: `str()` is one clear line without a traceback."""

    exit_code = 3


class UsageError(VaultIndexerError):
    """A wrong option, argument or query."""

    exit_code = 2


class QueryError(UsageError):
    """A query that cannot be parsed; `column` is 1-based and counts characters."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(f"column {column}: {message}")
        self.column = column


class UnknownNoteError(UsageError):
    """No note of the index has this path or name."""


class UnknownVaultError(UsageError):
    """No vault that may be read has this name."""


class ConfigProblem(NamedTuple):
    """A mistake in the configuration: its source, key and value, and the allowed values."""

    key: str
    value: str
    allowed: str
    source: str

    def __str__(self) -> str:
        shown = f" = {self.value}" if self.value else ""
        return f"{self.source}: {self.key}{shown}: {self.allowed}"


class ConfigError(VaultIndexerError):
    """All mistakes of a configuration together."""

    exit_code = 2

    def __init__(self, problems: Sequence[ConfigProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class UnavailableError(VaultIndexerError):
    """The vault or the index cannot be used."""


class VaultError(UnavailableError):
    """The vault is missing, not a folder, cannot be read, or has suddenly lost its notes."""


class ExclusionError(VaultError):
    """Invalid exclusions, each in `problems`, so that the excluded notes are unknown."""

    def __init__(self, problems: Sequence[ConfigProblem]) -> None:
        super().__init__(in_one_line(problems))
        self.problems = tuple(problems)


_SHOWN_PROBLEMS = 3


def in_one_line(problems: Sequence[ConfigProblem]) -> str:
    """The first problems, and the number of others."""
    shown = [str(problem) for problem in problems[:_SHOWN_PROBLEMS]]
    more = len(problems) - len(shown)
    return "; ".join([*shown, f"and {more} more"] if more else shown)


class IndexUnusableError(UnavailableError):
    """The index is missing, too damaged to be read, or cannot be written."""


class DamagedError(IndexUnusableError):
    """The catalog's bytes differ from those written. The remedy is a rebuild from the vault."""


class ManifestError(IndexUnusableError):
    """A manifest with missing or invalid fields, which `fields` names. The remedy is a rebuild."""

    def __init__(self, message: str, fields: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.fields = tuple(fields)


class NewerIndexError(UnavailableError):
    """A newer program has written the index. It is neither damaged nor to be rebuilt."""


class DiskFullError(UnavailableError):
    """The file system of the index is full, or the user's quota is used up. Earlier data is intact.

    It is not an IndexUnusableError: an index that cannot grow is not damaged, and must not be rebuilt.
    `explained` means that the message already contains the folder and the free and the required space.
    """

    def __init__(self, message: str, *, explained: bool = False) -> None:
        super().__init__(message)
        self.explained = explained


class LockedError(UnavailableError):
    """Another running process has locked the index."""


class ProcessError(UnavailableError):
    """A process of the indexer cannot be started, or repeatedly exits before it begins."""


class DaemonError(UnavailableError):
    """The daemon is not running, does not answer, or cannot bind to its port."""


class ServiceError(UnavailableError):
    """The service manager of this system (systemd, launchd, the task scheduler) is missing or failed."""


class QueryTimeoutError(UnavailableError):
    """A search took longer than its deadline and was stopped."""


class QueryCancelledError(UnavailableError):
    """A search was stopped because no client waits for its answer: it has disconnected, or the daemon is
    stopping."""


class BackendError(UnavailableError):
    """A server with derived indices (Milvus) does not answer, refuses a request, or is misconfigured."""


class ProviderError(VaultIndexerError):
    """An embedding or language model cannot be loaded or does not answer.

    `is_transient` means that a retry may succeed (no connection, too many requests, an error of the server).
    """

    def __init__(self, message: str, *, is_transient: bool = False) -> None:
        super().__init__(message)
        self.is_transient = is_transient


class NoteError(VaultIndexerError):
    """One note cannot be indexed; the message is the reason shown to the user."""
