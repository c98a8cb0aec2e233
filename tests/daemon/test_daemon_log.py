"""The log is bounded, whatever writes to it, and tells what was left out."""

import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from loop_by_hand import Clock
from waiting import wait_until

from vault_indexer.daemon.log import FILE_BYTES, FILES, WINDOW_S, RepeatCollapser, RotatingLog


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def record(text: str) -> logging.LogRecord:
    return logging.makeLogRecord({"msg": text})


def run(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def lines() -> Lines:
    return Lines()


@pytest.fixture
def log(clock: Clock, lines: Lines) -> Iterator[logging.Logger]:
    logger = logging.Logger("test")
    with closing(RepeatCollapser(lines, clock)) as handler:
        logger.addHandler(handler)
        yield logger


def test_a_message_that_repeats_is_counted(log: logging.Logger, clock: Clock, lines: Lines) -> None:
    for _ in range(1_001):
        log.error("accept: %s", "too many open files")
    assert lines.said == ["accept: too many open files"]
    clock.now += WINDOW_S
    log.error("another")
    assert lines.said[1:] == ["accept: too many open files (repeated 1,000 times in 60 s)", "another"]
    log.error("accept: %s", "too many open files")
    assert lines.said[-1] == "accept: too many open files"


def test_messages_that_differ_in_a_path_only_are_counted_as_well(
    log: logging.Logger, clock: Clock, lines: Lines
) -> None:
    for n in range(1000):
        log.warning("%d.md cannot be read", n)
    assert len(lines.said) == 20
    clock.now += WINDOW_S
    log.warning("another")
    assert "999.md cannot be read (and others like it, 980 times in 60 s)" in lines.said


def test_errors_of_one_message_are_told_apart(log: logging.Logger, lines: Lines) -> None:
    for reason in ("one", "other", "one"):
        log.error("a request failed", exc_info=ValueError(reason))
    assert len(lines.said) == 2


def test_what_was_counted_is_told_at_the_end(clock: Clock, lines: Lines) -> None:
    with closing(RepeatCollapser(lines, clock)) as handler:
        for _ in range(3):
            handler.handle(record("again"))
    assert lines.said == ["again", "again (repeated 2 times in 1 s)"]


def test_the_files_have_a_size_and_a_number(tmp_path: Path) -> None:
    with closing(RotatingLog(tmp_path / "daemon.log")) as handler:
        for _ in range(60):
            handler.handle(record("x" * 500_000))
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["daemon.log", "daemon.log.1", "daemon.log.2"]
    assert len(files) == FILES
    assert all(file.stat().st_size <= FILE_BYTES for file in files)


@pytest.mark.posix("a file that is open is removed")
def test_a_log_that_is_deleted_begins_again(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    with closing(RotatingLog(folder / "daemon.log")) as handler:
        handler.handle(record("before"))
        (folder / "daemon.log").unlink()
        folder.rmdir()
        handler.handle(record("lost"))
        folder.mkdir()
        handler.handle(record("after"))
    assert (folder / "daemon.log").read_text() == "after\n"


FLOOD = """
import asyncio, os, subprocess, sys
from pathlib import Path
from vault_indexer.daemon.log import logging_to
from vault_indexer.errors import UnavailableError

with logging_to(Path(sys.argv[1])):
    for _ in range(3000):
        print("accept: out of descriptors", file=sys.stderr)
    subprocess.run([sys.executable, "-c", "print('from a worker process')"], check=True)
    async def fail():
        context = {"message": "in the event loop", "exception": OSError("x")}
        asyncio.get_running_loop().call_exception_handler(context)
    asyncio.run(fail())
print("afterwards")
with logging_to(Path(sys.argv[1])):
    raise UnavailableError("the reason")
"""


def test_standard_error_goes_through_the_log(tmp_path: Path) -> None:
    """Also that of asyncio and of other processes; a flood takes two lines."""
    path = tmp_path / "daemon.log"
    done = run(FLOOD, path)
    text = path.read_text()
    assert text.count("accept: out of descriptors") == 2, text
    assert "(repeated 2,999 times in" in text
    for said in ("from a worker process", "in the event loop", "OSError: x", "the daemon ends: the reason"):
        assert said in text
    assert done.stdout == "afterwards\n"
    assert "UnavailableError: the reason" in done.stderr
    assert "accept" not in done.stderr


def test_the_sizes_are_those_of_the_docs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    assert f"{FILES} files of {FILE_BYTES // 10**6} MB" in page


@pytest.mark.parametrize("texts", [["again"] * 3, [f"note {number}" for number in range(23)]])
def test_what_was_counted_is_told_although_nothing_else_is_logged(
    clock: Clock, lines: Lines, texts: list[str]
) -> None:
    with closing(RepeatCollapser(lines, clock, window_s=1.0)) as handler:
        for text in texts:
            handler.handle(record(text))
        clock.now += 1.0
        wait_until(lambda: "times in" in lines.said[-1])
    assert lines.said[-1].startswith(texts[-1])


LEFT = """
import logging, os, sys
from pathlib import Path
from vault_indexer.daemon.log import logging_to

closed = sys.argv[2] == "closed"
if closed:
    read, write = os.pipe()
    os.dup2(write, 2)
    for one in (read, write):
        os.close(one)
before = len(os.listdir("/proc/self/fd"))
with logging_to(Path(sys.argv[1])):
    os.write(1, b"x" * 9000 + b"\\nshort\\n")
    os.write(1, b"without an end")
print("afterwards")
sys.stderr.write("not lost\\n")
sys.stderr.flush()
handlers = [type(one).__name__ for one in logging.getLogger().handlers]
print(len(os.listdir("/proc/self/fd")) - before, handlers)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="open files are counted in /proc")
@pytest.mark.parametrize("errors", ["open", "closed"])
def test_afterwards_the_streams_lead_where_they_led_unless_nobody_reads_there(
    tmp_path: Path, errors: str
) -> None:
    path = tmp_path / "daemon.log"
    done = run(LEFT, path, errors)
    assert done.stdout == "afterwards\n0 []\n"
    assert done.stderr == ("not lost\n" if errors == "open" else "")
    said = [line.partition("output: ")[2] for line in path.read_text().splitlines()]
    assert said == ["x" * (1 << 13), "short", "without an end"]
