"""How a command ends that cannot go on. Ctrl-C is Ctrl-C, also where a library makes another error of it."""

from __future__ import annotations

import errno
import signal
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, cast

import pytest
import typer
from pydantic import BaseModel, PlainSerializer
from typer.testing import CliRunner

from vault_evals.questions import Question, generated_file, write_questions
from vault_evals.ranking_commands import ranking_of_run
from vault_indexer.cli.parameters import VaultSelection, one_command
from vault_indexer.errors import UsageError, VaultError

ENDINGS: dict[str, BaseException] = {"ctrl-c": KeyboardInterrupt(), "sigterm": SystemExit(143)}


def ends(name: str) -> str:
    raise ENDINGS[name]


class Interrupted(BaseModel):
    """pydantic calls a function for it, and then the signal comes."""

    ending: Annotated[str, PlainSerializer(ends)]


@pytest.mark.parametrize(("ending", "status"), [("ctrl-c", 130), ("sigterm", 143)])
def test_a_signal_within_pydantic_ends_the_command_as_it_does_elsewhere(ending: str, status: int) -> None:
    def command(selection: VaultSelection) -> None:
        Interrupted(ending=ending).model_dump()

    found = CliRunner().invoke(one_command(command), [])
    assert found.exit_code == status


def test_another_error_stays_one() -> None:
    def command(selection: VaultSelection) -> None:
        raise RuntimeError("unforeseen") from ValueError("its cause")

    found = CliRunner().invoke(one_command(command), [])
    assert isinstance(found.exception, RuntimeError)


def status_of(command: Callable[[], int | None], folder: Path) -> int:
    """The exit status of a command whose standard output is a file."""
    with (folder / "out").open("w") as out, redirect_stdout(out), pytest.raises(SystemExit) as ended:
        typer.main.get_command(one_command(command))([])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def raising(error: BaseException) -> Callable[[], int | None]:
    def command() -> int | None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, ""),
        (BrokenPipeError(), 0, ""),
        (OSError(errno.ENOSPC, "No room", "/index/x"), 3, "indexer: No room: /index/x\n"),
        (OSError(errno.EROFS, "Read only"), 3, "indexer: Read only\n"),
        (VaultError("one\ntwo"), 3, "indexer: one\nindexer: two\n"),
        (UsageError(), 2, "indexer: UsageError\n"),
    ],
)
def test_how_a_command_that_cannot_go_on_ends(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    said: str,
) -> None:
    assert status_of(raising(error), tmp_path) == status
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("error", [OSError(errno.EINVAL, "No mistake of the disk"), ValueError("a bug")])
def test_a_mistake_of_this_program_is_not_hidden(tmp_path: Path, error: Exception) -> None:
    with (tmp_path / "out").open("w") as out, redirect_stdout(out), pytest.raises(type(error)) as raised:
        typer.main.get_command(one_command(raising(error)))([])
    assert raised.value is error


@pytest.mark.parametrize(("status", "expected"), [(None, 0), (0, 0), (1, 1), (7, 7)])
def test_what_a_command_returns_is_its_status(tmp_path: Path, status: int | None, expected: int) -> None:
    assert status_of(lambda: status, tmp_path) == expected


class EndedSelection:
    """The process gets SIGTERM as soon as somebody wants to know which vault is meant."""

    def __getattr__(self, name: str) -> object:
        signal.raise_signal(signal.SIGTERM)
        raise AssertionError(f"{name} is read in spite of the signal")


def test_sigterm_ends_a_ranking_with_its_status_and_means_afterwards_what_it_meant(tmp_path: Path) -> None:
    write_questions(generated_file(tmp_path), [Question("q", "bread", {})])
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with pytest.raises(SystemExit) as ended:
            ranking_of_run(cast("VaultSelection", EndedSelection()), tmp_path)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended.value.code == 143
