"""The options of commands as named tuples, and the wrapper that runs a command and reports its errors."""

from __future__ import annotations

import errno
import functools
import inspect
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from io import UnsupportedOperation
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from vault_indexer.contract.marks import MAX_LIMIT
from vault_indexer.errors import UnavailableError, UsageError, VaultIndexerError
from vault_indexer.system import home_folder
from vault_indexer.text.control_characters import clean

# Completion of names.


def strategies() -> tuple[str, ...]:
    # Imported by name, because it imports pydantic.
    options = import_module("vault_indexer.config.tables.chunking_options")
    names: tuple[str, ...] = get_args(options.StrategyName)
    return names


def complete_strategy(incomplete: str) -> list[str]:
    """Completes the last name of a comma-separated list."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in strategies() if name.startswith(last)]


def complete_vault(incomplete: str) -> list[str]:
    """Completes the name of a vault: those of the user's table, otherwise all indexed ones."""
    folders = import_module("vault_indexer.cli.vault_folder")
    names = folders.vaults_to_choose(VaultSelection(), os.environ)
    return sorted(name for name in names if name.startswith(incomplete))


_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_SURROUNDINGS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST}
)
"""The errors of a full or protected disk, or of a file in place of a folder: not errors of this program."""


def _name_or_folder(text: str) -> Path:
    """Keeps `./work` a folder: a Path would drop the `./`, and `work` is a name."""
    path = Path(text)
    return path.absolute() if os.sep in text and len(path.parts) == 1 else path


class VaultSelection(NamedTuple):
    """The vault, index and configuration of a command."""

    vault: Annotated[
        Path | None,
        typer.Option(
            "--vault",
            parser=_name_or_folder,
            autocompletion=complete_vault,
            metavar="NAME|DIR",
            help="The vault: its name or its folder [INDEXER_VAULT].",
        ),
    ] = None
    index_dir: Annotated[
        Path | None,
        typer.Option("--index-dir", metavar="DIR", help="The folder of the index [INDEXER_INDEX_DIR]."),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Use only this configuration file [INDEXER_CONFIG]."),
    ] = None


class Output(NamedTuple):
    """The output format."""

    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False


NoteName = Annotated[str, typer.Argument(metavar="NOTE", help="The note's path in the vault, or its name.")]

LogFile = Annotated[
    Path | None, typer.Option("--log-file", metavar="FILE", help="Log to this file, 3 x 5 MB at most.")
]


def limit_option(help_text: str) -> Any:
    return typer.Option("--limit", "-n", min=1, max=MAX_LIMIT, help=help_text)


Fresh = Annotated[bool, typer.Option("--fresh", help="Index new changes first.")]

Correct = Annotated[bool, typer.Option(" /--no-correct", help="Do not correct spelling.")]
"""The parameter `correct` is true by default, so the option only exists as "no"."""


AllVaults = Annotated[bool, typer.Option("--all-vaults", help="All your vaults.")]

TakeOver = Annotated[
    bool, typer.Option("--take-over", help="Take over the publication of the vault from another index.")
]


def _use_strategy(name: str) -> str:
    """Sets the strategy for this process and its child processes."""
    if name and name not in strategies():
        raise typer.BadParameter(
            f"unknown strategy {clean(name)}; choose one of {', '.join(strategies())}",
            param_hint="--strategy",
        )
    if name:
        os.environ[import_module("vault_indexer.config.sources").STRATEGY_VARIABLE] = name
    return name


Strategy = Annotated[
    str,
    typer.Option(
        "--strategy",
        metavar="NAME",
        autocompletion=complete_strategy,
        callback=_use_strategy,
        help="Split the notes by this strategy until the next rebuild.",
    ),
]


Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Index any folder without asking, even / or your home folder.")
]


def confirm_folder(folder: Path, yes: bool) -> None:
    """Asks before an unlikely folder is indexed. Raises UsageError for a no, or without a terminal."""
    doubt = "" if yes else import_module("vault_indexer.vault.walk").doubt_about(folder)
    if not doubt:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{folder} {doubt}: add --yes to init, start or rebuild to index it anyway")
    if not typer.confirm(f"{clean(str(folder))} {doubt}. Index it anyway?", err=True):
        raise UsageError(f"{folder} was not indexed")


def one_command(function: Callable[..., int | None], cls: type[TyperCommand] | None = None) -> typer.Typer:
    """Creates the typer program of a single command; its help is the docstring of the function."""
    app = typer.Typer()
    app.command(cls=cls)(flatten_parameters(function))
    return app


def command_group(**functions: Callable[..., int | None]) -> typer.Typer:
    """Creates the typer program of a command with subcommands, given by their names."""
    app = typer.Typer(no_args_is_help=True)
    for name, function in functions.items():
        app.command(name)(flatten_parameters(function))
    return app


def flatten_parameters(function: Callable[..., int | None]) -> Callable[..., None]:
    """Converts a function for typer: a parameter that is a named tuple becomes one option per field.

    Options before the command's name apply if they are not repeated after it. The function returns the exit
    status (None for 0); a VaultIndexerError becomes its message and status.
    """
    hints = get_type_hints(function, include_extras=True)
    grouped: list[tuple[str, Any]] = []
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function).parameters.values():
        kind = hints[parameter.name]
        if isinstance(kind, type) and issubclass(kind, tuple):
            grouped.append((parameter.name, kind))
            annotations, own = get_type_hints(kind, include_extras=True), inspect.signature(kind).parameters
            parameters += [one.replace(annotation=annotations[one.name]) for one in own.values()]
        else:
            parameters.append(parameter.replace(annotation=kind))
    if "ctx" not in hints:
        parameters.append(inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context))
    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
    takes_context = "ctx" in hints

    @functools.wraps(function)
    def run(ctx: typer.Context, **given: object) -> None:
        before = ctx.obj or ()
        arguments: dict[str, object] = {"ctx": ctx} if takes_context else {}
        for name, kind in grouped:
            values = {field: given.pop(field) for field in kind._fields}
            earlier = next((item for item in before if isinstance(item, kind)), None)
            arguments[name] = kind(
                **{key: value or getattr(earlier, key, value) for key, value in values.items()}
            )
        status = _exit_status(functools.partial(function, **arguments, **given))
        if status:
            raise typer.Exit(status)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # read by inspect
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _exit_status(command: Callable[[], int | None]) -> int:
    """Runs the command and returns its exit status; errors go to standard error."""
    try:
        status = command() or 0
        # Here rather than at exit, so that a full disk or a closed pipe is handled below.
        sys.stdout.flush()
    except VaultIndexerError as error:
        complain(error)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _discard_output()
        return 0  # the reader stopped early, which is not an error
    except OSError as error:
        if error.errno not in _SURROUNDINGS:
            raise
        _discard_output()
        where = f": {error.filename}" if error.filename else ""
        home = home_folder()
        is_home_missing = error.filename and not (home and home.is_dir())
        advice = "; set HOME to your home folder" if is_home_missing else ""
        complain(UnavailableError(f"{error.strerror}{where}{advice}"))
        return UnavailableError.exit_code
    except ValueError as error:  # pydantic's errors are ValueErrors
        ended = _interruption(error)
        if ended is None:
            raise
        return ended
    return status


def _interruption(error: BaseException) -> int | None:
    """The exit status if a signal caused the error: pydantic converts exceptions that are raised while it
    calls one of our functions."""
    cause = error.__cause__
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            return 130
        if isinstance(cause, SystemExit) and isinstance(cause.code, int):
            return cause.code
        cause = cause.__cause__
    return None


def _discard_output() -> None:
    """Redirects standard output to the null device, so that Python's flush at exit does not fail."""
    with suppress(UnsupportedOperation):  # a stream in memory
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(error: VaultIndexerError) -> None:
    """Prints each line of the message on standard error, without control characters."""
    for line in (str(error) or type(error).__name__).split("\n"):
        typer.echo(f"indexer: {clean(line, blank=_REPLACEMENT)}", err=True)
