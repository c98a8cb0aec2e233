"""How a command ends, for each way in which its function can, and where its options come from."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib.abc import MetaPathFinder
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NamedTuple, NoReturn

import pytest
import typer
from pydantic import BaseModel, PlainSerializer
from pydantic_core import PydanticSerializationError

from vault_indexer.cli.app import main
from vault_indexer.cli.parameters import Output, flatten_parameters, one_command
from vault_indexer.errors import IndexUnusableError, UsageError, VaultError


def ended(function: Callable[..., int | None], *arguments: str) -> int:
    """The exit status of a program with this one command."""
    with pytest.raises(SystemExit) as found:
        typer.main.get_command(one_command(function))(args=list(arguments), prog_name="indexer")
    assert isinstance(found.value.code, int)
    return found.value.code


def raising(error: BaseException) -> Callable[[], None]:
    """A command that does nothing but that."""

    def command() -> None:
        raise error

    return command


def interrupted(error: BaseException) -> PydanticSerializationError:
    """What pydantic makes of an error that comes while it calls a function of ours."""

    def fail(text: str) -> str:
        raise RuntimeError(text) from error

    class Model(BaseModel):
        text: Annotated[str, PlainSerializer(fail)]

    with pytest.raises(PydanticSerializationError) as found:
        Model(text="in between").model_dump()
    return found.value


@pytest.mark.parametrize(("returned", "status"), [(None, 0), (0, 0), (1, 1), (7, 7)])
def test_what_a_command_returns_is_its_exit_status(returned: int | None, status: int) -> None:
    assert ended(lambda: returned) == status


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (UsageError("no\x1b[2J\nand no"), 2, "indexer: no�[2J\nindexer: and no\n"),
        (VaultError(""), 3, "indexer: VaultError\n"),
        (IndexUnusableError("lost"), 3, "indexer: lost\n"),
        (KeyboardInterrupt(), 130, ""),
        (interrupted(KeyboardInterrupt()), 130, ""),
        (interrupted(SystemExit(143)), 143, ""),
    ],
)
def test_an_error_of_ours_is_said_and_a_signal_is_not(
    capsys: pytest.CaptureFixture[str], error: BaseException, status: int, said: str
) -> None:
    assert ended(raising(error)) == status
    assert tuple(capsys.readouterr()) == ("", said)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("a mistake"),
        interrupted(SystemExit("words")),
        interrupted(ValueError("a mistake")),
        OSError(errno.EBADF, "a mistake"),
        KeyError("a mistake"),
    ],
)
def test_a_mistake_of_the_program_is_not_hidden(error: Exception) -> None:
    command = typer.main.get_command(one_command(raising(error)))
    with pytest.raises(type(error)) as found:
        command(args=[], prog_name="indexer")
    assert found.value is error


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM])
@pytest.mark.parametrize(("file", "where"), [("/disk/a.md", ": /disk/a.md"), (None, "")])
def test_a_disk_that_takes_nothing_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, number: int, file: str | None, where: str
) -> None:
    def command() -> NoReturn:
        print("before", flush=True)
        raise OSError(number, os.strerror(number), file)

    with (tmp_path / "out").open("w") as out, redirect_stdout(out):
        assert ended(command) == 3
        print("after", flush=True)
    assert (tmp_path / "out").read_text() == "before\n", "nothing is written after the error"
    assert capsys.readouterr().err == f"indexer: {os.strerror(number)}{where}\n"


def test_who_reads_no_more_has_read_enough(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as out, redirect_stdout(out):
        assert ended(raising(BrokenPipeError(errno.EPIPE, "broken"))) == 0
        print("after", flush=True)
    assert ((tmp_path / "out").read_text(), capsys.readouterr().err) == ("", "")


class Size(NamedTuple):
    """Options that belong together."""

    width: Annotated[int, typer.Option("--width")]
    depth: Annotated[int, typer.Option("--depth")] = 3


def test_a_named_tuple_becomes_an_option_per_field(capsys: pytest.CaptureFixture[str]) -> None:
    found: list[object] = []

    def command(
        ctx: typer.Context, size: Size, *, flat: Annotated[bool, typer.Option("--plain")] = False
    ) -> None:
        found.extend((size, flat, ctx.info_name))

    assert ended(command, "--width", "2") == 0
    assert ended(command, "--depth", "5", "--plain", "--width", "7") == 0
    assert found == [Size(2, 3), False, "indexer", Size(7, 5), True, "indexer"]
    assert ended(command) == 2
    assert "Missing option '--width'" in capsys.readouterr().err


class Where(NamedTuple):
    """Options of every command, as `indexer` itself takes them."""

    place: Annotated[str, typer.Option("--place")] = ""
    near: Annotated[str, typer.Option("--near")] = ""


def test_what_is_given_before_the_command_counts_where_it_is_not_given_behind_it() -> None:
    found: list[tuple[Where, Size]] = []

    def root(ctx: typer.Context, where: Where) -> None:
        ctx.obj = (Output(), where)

    def command(where: Where, size: Size) -> None:
        found.append((where, size))

    program = typer.Typer()
    program.callback()(flatten_parameters(root))
    program.command("go")(flatten_parameters(command))
    for arguments in (
        ["--place", "a", "--near", "b", "go", "--width", "1"],
        ["--place", "a", "--near", "b", "go", "--width", "1", "--near", "c"],
        ["go", "--width", "1", "--place", "d"],
    ):
        with pytest.raises(SystemExit):
            typer.main.get_command(program)(args=arguments, prog_name="indexer")
    assert [where for where, _ in found] == [Where("a", "b"), Where("a", "c"), Where("d", "")]
    assert {size for _, size in found} == {Size(1, 3)}


def test_the_words_of_the_process_are_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.excepthook", sys.excepthook)
    monkeypatch.setattr("sys.argv", ["indexer", "--version"])
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().out.strip() == version("vault-indexer")


class InterruptedImport(MetaPathFinder):
    """Ctrl-C while a module is being loaded."""

    def __init__(self, module: str) -> None:
        self._module = module

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        del path, target
        if name == self._module:
            raise KeyboardInterrupt


def test_ctrl_c_while_a_command_is_loaded_ends_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "vault_indexer.cli.commands.inspect"
    monkeypatch.setattr("sys.excepthook", sys.excepthook)
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr("sys.meta_path", [InterruptedImport(module), *sys.meta_path])
    with pytest.raises(SystemExit) as ended_by:
        main(["export"])
    assert ended_by.value.code == 130
    assert tuple(capsys.readouterr()) == ("", "")
