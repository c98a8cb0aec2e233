"""The command `indexer`: a table of commands. Only the command that runs is loaded."""

from __future__ import annotations

import importlib
import inspect
import io
import itertools
import os
import sys
import traceback
from collections.abc import Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperOption

from vault_indexer.cli.output.plain_help import PlainCommand, PlainGroup, option_row
from vault_indexer.cli.output.terminal import protect_terminal
from vault_indexer.cli.parameters import Output, VaultSelection, flatten_parameters
from vault_indexer.errors import IndexUnusableError
from vault_indexer.extensions import extensions, package_of
from vault_indexer.system import gc_paused, open_missing_streams
from vault_indexer.text.control_characters import clean


class Command(NamedTuple):
    """A command: its name, the module of its typer program, its line in the help, and its group there.

    A module name without a dot belongs to `cli.commands`. The program is `app` unless `module:NAME` gives
    another name.
    """

    name: str
    module: str
    help: str
    group: str
    argument: str = ""


ADVANCED = "Advanced"
GROUPS = ("Begin", "Find", "Keep", "Run")

COMMANDS: tuple[Command, ...] = (
    Command("init", "init", "Add a folder of notes and index it.", "Begin", "[DIR]"),
    Command("help", "help", "Show the documentation of a command or topic.", "Begin", "[TOPIC]"),
    Command("search", "search", "Find notes by meaning, word and link.", "Find", "QUERY"),
    Command("ask", "ask", "Answer a question with quotes from your notes.", "Find", "QUESTION"),
    Command("related", "links:related_app", "List notes related to a note.", "Find", "NOTE"),
    Command("links", "links", "List links, backlinks and broken links.", "Find", "[NOTE]"),
    Command("base", "base", "List the rows of an Obsidian base.", "Find", "NAME"),
    Command("open", "start:open_app", "Open the web page of your notes.", "Find"),
    Command("status", "status", "Show whether the index is up to date.", "Keep"),
    Command("check", "check", "Check configuration, index, notes and links.", "Keep"),
    Command("rebuild", "rebuild", "Rebuild the index.", "Keep"),
    Command("vault", "vault", "Add, list and remove vaults.", "Keep"),
    Command("config", "config", "Show and edit your configuration.", "Keep"),
    Command("start", "start", "Keep the index up to date in the background.", "Run"),
    Command("stop", "start:stop_app", "Stop the daemon.", "Run"),
    Command("mcp", "mcp", "Serve agents over standard input and output.", "Run"),
    Command("serve", "serve", "Run the daemon in the foreground.", ADVANCED),
    Command("embed", "rebuild:embed_app", "Show, create or pause better vectors.", ADVANCED),
    Command("documents", "documents", "List documents; recognise text in images.", ADVANCED, "[ocr on|off]"),
    Command("pause", "status:pause_app", "Pause indexing in the daemon.", ADVANCED),
    Command("resume", "status:resume_app", "Resume indexing in the daemon.", ADVANCED),
    Command("service", "service", "Let the system start the daemon at login.", ADVANCED),
    Command("uninstall", "uninstall", "Remove indices, services and configuration.", ADVANCED),
    Command("inspect", "inspect", "Show how notes are read and split.", ADVANCED, "[NOTE...]"),
    Command("export", "inspect:export_app", "Print the whole index as JSON lines.", ADVANCED),
    *(Command(row.name, row.module, row.help, ADVANCED) for part in extensions() for row in part.commands),
    Command(
        "completion", "help:completion_app", "Print the completion script for a shell.", ADVANCED, "SHELL"
    ),
)

HELP = "help"
"""The words after `help` are topics, so `indexer help inspect` runs no other command."""


def build(arguments: Collection[str], commands: Sequence[Command] = COMMANDS) -> typer.Typer:
    """Creates the program, and loads the commands whose names occur in the arguments.

    They include the command that runs, wherever its name is. The other commands are only names for help,
    completion and error messages, and are omitted if the first word is a command.
    """
    program = typer.Typer(
        name="indexer",
        cls=Program,
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help: rich would take 80 ms of the 200 ms limit
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback()(flatten_parameters(_root))
    is_known = next(iter(arguments), "") in {command.name for command in commands}
    for command in commands:
        if command.name in arguments:
            _add(program, command)
        elif not is_known:
            program.command(command.name, help=command.help)(lambda: None)
    return program


def _add(program: typer.Typer, command: Command) -> None:
    module, _, name = command.module.partition(":")
    own = "" if "." in module else "vault_indexer.cli.commands."
    with gc_paused():  # as in `in_process_module`
        loaded: typer.Typer = getattr(importlib.import_module(own + module), name or "app")
    for info in loaded.registered_commands:
        if not issubclass(info.cls or TyperCommand, PlainCommand):
            info.cls = PlainCommand
    if len(loaded.registered_commands) > 1:
        program.add_typer(loaded, name=command.name, cls=PlainGroup, help=command.help)
        return
    for info in loaded.registered_commands:
        info.name = command.name
        info.help = inspect.getdoc(info.callback) or command.help
        program.registered_commands.append(info)


class Program(PlainGroup):
    """`indexer`: its help lists the commands in groups, and an unknown command gets a hint at `search`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage("indexer", "COMMAND")
        formatter.write_paragraph()
        formatter.write_text("Search your Markdown notes. Everything stays on this computer.")
        for group in GROUPS:
            with formatter.section(group):
                formatter.write_dl(command_rows(group))
        options: list[Any] = [one for one in self.get_params(ctx) if one.name in _GLOBAL]
        with formatter.section("Options"):
            formatter.write_dl(list(map(option_row, options)))
        formatter.write_paragraph()
        advanced = " ".join(one.name for one in COMMANDS if one.group == ADVANCED)
        formatter.write_text(f"{ADVANCED} (indexer help advanced): {advanced}")

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Like click; for a word that is not a command, the error adds how to search for it."""
        try:
            return super().resolve_command(ctx, args)
        except Exception as error:
            words = itertools.takewhile(lambda word: not word.startswith("-"), args)
            if package := package_of(command=args[0]):
                reason = f"indexer {args[0]} needs the package {package}, which this installation lacks."
                error.message = reason  # type: ignore[attr-defined]
            elif isinstance(message := getattr(error, "message", None), str):
                end = "" if message.endswith((".", "?")) else "."
                error.message = f"{message}{end} To search: indexer search {' '.join(words)}"  # type: ignore[attr-defined]
            raise


_NAME_WIDTH = 17
_GLOBAL = ("vault", "config", "index_dir", "json", "version", "help")


def command_rows(group: str) -> list[tuple[str, str]]:
    """The commands of a group for the help: each with its argument and its description."""
    shown = [(f"{one.name} {one.argument}", one.help) for one in COMMANDS if one.group == group]
    return [(f"{name:<{_NAME_WIDTH}}", does) for name, does in shown]


def _print_version(wanted: bool) -> None:
    """An eager option, because it needs no command."""
    if wanted:
        import importlib.metadata  # takes 20 ms, and nothing else needs it

        typer.echo(importlib.metadata.version("vault-indexer"))
        raise typer.Exit


def _root(
    ctx: typer.Context,
    selection: VaultSelection,
    output: Output,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    del version  # printed by its callback
    ctx.obj = (selection, output)


def main(arguments: Sequence[str] | None = None) -> None:
    """The process `indexer`: sets up its streams, runs one command, and exits with its status."""
    sys.excepthook = _report_unforeseen
    open_missing_streams()
    encoding = None if os.environ.get("PYTHONIOENCODING") else "utf-8"  # None: as it is
    # `backslashreplace`, because a file name that is not UTF-8 must not end the command.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
    protect_terminal()
    try:
        run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        sys.exit(130)


def run(arguments: Sequence[str]) -> None:
    """Runs one command and leaves streams and hooks of the process. Raises SystemExit with its status."""
    # The words that may name the command to load, including a command line that a shell is completing.
    # Typer's completion scripts pass that in one of two variables.
    completed = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS") if os.environ.get("_INDEXER_COMPLETE") else ()
    words = [*arguments, *(word for name in completed for word in os.environ.get(name, "").split())]
    if arguments[:1] == [HELP]:
        words = [HELP]
    command = program_of(words)
    command(args=list(arguments), prog_name="indexer")


def program_of(arguments: Collection[str]) -> Any:
    """Creates the click program, with typer's own completion options hidden."""
    command = typer.main.get_command(build(arguments))
    for option in command.params:
        if option.name in ("install_completion", "show_completion") and isinstance(option, TyperOption):
            option.hidden = True
    return command


def _report_unforeseen(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Prints one line with the location for a bug report, instead of a traceback."""
    frames = traceback.extract_tb(trace)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    print(f"indexer: internal error: {kind.__name__}: {clean(str(error))}{where}", file=sys.stderr)  # noqa: T201
    # Raised in the hook, this becomes the exit status. Otherwise it would be 1, which means "nothing found".
    raise SystemExit(IndexUnusableError.exit_code)  # the index cannot be used
