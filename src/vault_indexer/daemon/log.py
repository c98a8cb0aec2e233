"""The daemon's log. Its size is limited, and a repeated message is counted instead of written."""

from __future__ import annotations

import copy
import logging
import logging.handlers
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.errors import VaultIndexerError
from vault_indexer.system import is_read, open_to_append
from vault_indexer.text.phrases import quantity

FILE_BYTES = 5_000_000
FILES = 3
"""The log and its older parts `.1` and `.2` take at most 15 MB."""

WINDOW_S = 60.0
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"

_DIFFERENT = 20
"""The number of different messages that one line of the program may write in a window. Messages that differ
only in a path or a number must not flood the log."""

_END = b"\0end of output\0"
_CHUNK = 1 << 16
_LONG_LINE = 1 << 13

Clock = Callable[[], float]


@dataclass(slots=True)
class _Run:
    """A run of similar records: the start of the window, the number written, the number left out, and the
    last record."""

    since: float
    last: logging.LogRecord
    written: int = 1
    left_out: int = 0


class RepeatCollapser(logging.Handler):
    """Passes records on to `target`, and the same message only once in `window_s` seconds. At the end of the
    window it writes the number of repetitions: "… (repeated 116,000 times in 60 s)".

    A timer writes the summary, so it appears even if nothing else is logged. Thread-safe. `clock` returns
    seconds.
    """

    def __init__(
        self, target: logging.Handler, clock: Clock = time.monotonic, window_s: float = WINDOW_S
    ) -> None:
        super().__init__()
        self._target = target
        self._clock = clock
        self._window_s = window_s
        self._messages: dict[object, _Run] = {}
        """By logger, level, text and exception of a record."""
        self._sources: dict[object, _Run] = {}
        """By logger, source file and line number of a record."""
        self._timer: threading.Timer | None = None

    def emit(self, record: logging.LogRecord) -> None:
        # First, so that the summary of a window that is over precedes the record.
        self.summarise()
        if self._is_new(record):
            self._target.handle(record)

    def summarise(self, *, closing: bool = False) -> None:
        """Writes the number of repetitions of each message whose window is over (`closing`: of all)."""
        self.acquire()
        try:
            now = self._clock()
            for runs, words in ((self._messages, "repeated"), (self._sources, "and others like it,")):
                over = [key for key, run in runs.items() if closing or now - run.since >= self._window_s]
                for run in map(runs.pop, over):
                    if run.left_out:
                        self._write_summary(run, words, now - run.since)
        finally:
            self.release()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.summarise(closing=True)
        self._target.close()
        super().close()

    def _is_new(self, record: logging.LogRecord) -> bool:
        now = self._clock()
        error = repr(record.exc_info[1]) if record.exc_info else ""
        message = (record.name, record.levelno, record.getMessage(), error)
        same = self._messages.get(message)
        if same is not None:
            same.left_out += 1
            self._summarise_later()
            return False
        source = self._sources.setdefault(
            (record.name, record.pathname, record.lineno), _Run(now, record, written=0)
        )
        if source.written >= _DIFFERENT:
            source.last = record
            source.left_out += 1
            self._summarise_later()
            return False
        source.written += 1
        self._messages[message] = _Run(now, record)
        return True

    def _write_summary(self, run: _Run, words: str, seconds: float) -> None:
        times = f"{quantity(run.left_out, 'time')} in {max(1.0, seconds):.0f} s"
        summary = copy.copy(run.last)
        summary.msg, summary.args = f"{run.last.getMessage()} ({words} {times})", None
        # The traceback was written with the first record of the run.
        summary.exc_info = summary.exc_text = None
        summary.created = time.time()
        self._target.handle(summary)

    def _summarise_later(self) -> None:
        if self._timer is None or not self._timer.is_alive():
            self._timer = threading.Timer(self._window_s, self.summarise)
            self._timer.daemon = True
            self._timer.start()


class RotatingLog(logging.handlers.RotatingFileHandler):
    """A log file of at most `FILE_BYTES` and its older parts. If the file was deleted, it is opened again as
    soon as its folder exists. Records that cannot be written (disk full) are dropped silently."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8", delay=True)
        self._path = path

    def emit(self, record: logging.LogRecord) -> None:
        if self.stream is not None and not self._is_ours():
            with suppress(OSError):
                self.stream.close()
            self.stream = None  # opened by the next write, as after a rollover
        super().emit(record)

    def close(self) -> None:
        """Closes the file. Records that could not be written are lost."""
        with suppress(OSError):
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        """Does nothing: a report on standard error would come back here as a log record."""

    def _open(self):  # type: ignore[no-untyped-def]
        return os.fdopen(open_to_append(self._path), "a", encoding="utf-8")

    def _is_ours(self) -> bool:
        try:
            named, ours = self._path.stat(), os.fstat(self.stream.fileno() if self.stream else -1)
        except (OSError, ValueError):
            return False
        return (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino)


@contextmanager
def logging_to(path: Path | None) -> Iterator[None]:
    """Logs to this file, or to standard error (None), until the block ends.

    With a file, the standard output and standard error of this process and its workers also go through the
    log, so their size is limited as well. Afterwards both streams are restored, or discarded if their reader
    has gone. A VaultIndexerError that ends the block is logged.
    """
    target = RotatingLog(path) if path else logging.StreamHandler()
    target.setFormatter(logging.Formatter(FORMAT))
    handler = RepeatCollapser(target)
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    try:
        if path is None:
            yield
        else:
            with _standard_streams_logged():
                yield
    except VaultIndexerError as error:
        if path is not None:
            logging.getLogger("vault_indexer.daemon").error("the daemon ends: %s", error)
        raise
    finally:
        root.removeHandler(handler)
        handler.close()


@contextmanager
def _standard_streams_logged() -> Iterator[None]:
    before = os.dup(1), os.dup(2)
    read, write = os.pipe()
    _lead_to(write, write)
    reader = threading.Thread(target=_log_lines, args=(read,), name="indexer-log", daemon=True)
    reader.start()
    try:
        yield
    finally:
        _lead_to(*before)
        os.write(write, _END)  # other processes may still hold the pipe open
        reader.join(timeout=1.0)
        for file in (*before, write):
            os.close(file)


def _lead_to(output: int, errors: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    for stream, file in ((1, output), (2, errors)):
        if is_read(file):
            os.dup2(file, stream)
        else:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream)
            os.close(nothing)


def _log_lines(pipe: int) -> None:
    """Logs each line from the pipe as a warning. A line of more than `_LONG_LINE` bytes is cut."""
    log = logging.getLogger("vault_indexer.output")
    rest = b""
    while not rest.endswith(_END) and (data := os.read(pipe, _CHUNK)):
        *lines, rest = (rest + data).split(b"\n")
        if len(rest) > _LONG_LINE:
            lines, rest = [*lines, rest], b""
        for line in lines:
            if line.strip():
                log.warning("%s", line[:_LONG_LINE].decode("utf-8", "replace").rstrip())
    if rest := rest.removesuffix(_END).strip():
        log.warning("%s", rest.decode("utf-8", "replace"))
    os.close(pipe)
