"""One tree of errors: whatever goes wrong in a way a user can act on is one of these.

VaultIndexerError
├── UsageError            exit 2   wrong option, argument or query
│   ├── QueryError                 a query that cannot be parsed; knows the column
│   ├── UnknownNoteError           no note of the index has this path or name
│   └── UnknownVaultError          no vault that may be read has this name
├── ConfigError           exit 2   every mistake of a configuration, all at once
├── UnavailableError      exit 3   the vault or the index cannot be used
│   ├── VaultError                 missing, not a folder, unreadable
│   │   └── ExclusionError         an exclusion that is not understood; says file, line and pattern
│   ├── IndexUnusableError         missing, damaged, not writable
│   │   └── DamagedError           the catalog's bytes are not what was written; the remedy is a rebuild
│   ├── DiskFullError              no room for the index; it is whole, and the next try may succeed
│   ├── LockedError                another process holds the index; says who
│   ├── DaemonError                no daemon, port in use, or it does not answer
│   ├── ServiceError               what starts services on this system is missing, or refuses
│   ├── QueryTimeoutError          a search took longer than its deadline
│   ├── ProcessError               a process of the indexer cannot be started
│   ├── BackendError               a server that holds derived indices does not answer, or refuses
│   └── QueryCancelledError        nobody waits for the answer of a search any more
├── ProviderError         exit 3   an embedding or language model cannot be used
└── NoteError             (never ends a command) one note cannot be indexed; says why
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class VaultIndexerError(Exception):
    """Base of all errors meant for a person: `str()` is one clear line without a traceback."""

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
    """One mistake in the configuration: where it stands, what stands there, what may."""

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
    """Exclusions that are not understood, each named in `problems`: what to keep out of the index is
    unknown."""

    def __init__(self, problems: Sequence[ConfigProblem]) -> None:
        super().__init__(in_one_line(problems))
        self.problems = tuple(problems)


_SHOWN_PROBLEMS = 3


def in_one_line(problems: Sequence[ConfigProblem]) -> str:
    """The first problems, and how many others there are."""
    shown = [str(problem) for problem in problems[:_SHOWN_PROBLEMS]]
    more = len(problems) - len(shown)
    return "; ".join([*shown, f"and {more} more"] if more else shown)


class IndexUnusableError(UnavailableError):
    """The index is missing, damaged beyond repair by reading, or cannot be written."""


class DamagedError(IndexUnusableError):
    """The catalog's bytes are not what was written. The remedy is a rebuild from the vault."""


class ManifestError(IndexUnusableError):
    """A manifest that lacks fields, or holds odd ones; `fields` names them. The remedy is a rebuild."""

    def __init__(self, message: str, fields: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.fields = tuple(fields)


class DiskFullError(UnavailableError):
    """The file system of the index is full, or the user's quota is used up. What was written before is whole.

    Not an IndexUnusableError: an index that cannot grow is not damaged, and must not be built again.
    `explained` says that the message already names the folder, the room there is, and the room needed.
    """

    def __init__(self, message: str, *, explained: bool = False) -> None:
        super().__init__(message)
        self.explained = explained


class LockedError(UnavailableError):
    """Another live process holds the index."""


class ProcessError(UnavailableError):
    """A process of the indexer cannot be started, or ends again and again before it has begun."""


class DaemonError(UnavailableError):
    """The daemon is not there, does not answer, or cannot take its port."""


class ServiceError(UnavailableError):
    """What starts services on this system (systemd, launchd, the task scheduler) is missing, or refuses."""


class QueryTimeoutError(UnavailableError):
    """A search took longer than its deadline and was stopped."""


class QueryCancelledError(UnavailableError):
    """A search was stopped because nobody waits for its answer: the client has gone, or the daemon stops."""


class BackendError(UnavailableError):
    """A server that holds derived indices (Milvus) does not answer, refuses, or is not what it should be."""


class ProviderError(VaultIndexerError):
    """An embedding or language model cannot be loaded or does not answer.

    `is_transient`: the same request may be answered in a moment (no connection, too many requests, a server's
    own error).
    """

    def __init__(self, message: str, *, is_transient: bool = False) -> None:
        super().__init__(message)
        self.is_transient = is_transient


class NoteError(VaultIndexerError):
    """One note cannot be indexed; the message is the reason shown to the user."""
