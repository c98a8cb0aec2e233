"""The command `indexer`: a table of commands, of which only the one that runs is loaded."""

from __future__ import annotations

import importlib
import io
import os
import sys
import traceback
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol, cast

import typer

from vault_indexer.cli.parameters import Output, Place, flatten_parameters
from vault_indexer.cli.terminal import protect_terminal
from vault_indexer.serve.endpoints import ENDPOINTS, Endpoint
from vault_indexer.system import open_missing_streams
from vault_indexer.text.control_characters import clean

if TYPE_CHECKING:
    from vault_indexer.cli.reached import Index, Reached
    from vault_indexer.daemon.assembly import Target


class Command(NamedTuple):
    """A command: its name, the module that holds its `app`, and its line in the help.

    One that is made of a row of the table of endpoints has that row, and the module that makes it.
    """

    name: str
    module: str
    help: str
    endpoint: Endpoint[Any] | None = None


def command_from(endpoint: Endpoint[Any]) -> Command:
    """The command that is made of a row of the table of endpoints."""
    return Command(endpoint.name.replace("_", "-"), "endpoint", endpoint.help, endpoint)


COMMANDS: tuple[Command, ...] = (
    Command("search", "search", "Find notes by meaning, by word and by link."),
    Command("ask", "ask", "Answer a question with sentences of your notes, each with its place."),
    Command("explain", "explain", "Explain why a query finds a note, or does not."),
    Command("related", "related", "List notes related to a note, by meaning and by link."),
    Command("links", "links", "List the links, backlinks and unresolved links of a note."),
    Command("graph", "graph", "List or export the files around a note, by link and by meaning."),
    Command("open", "open", "Open the web page of the vault in the browser."),
    Command("rebuild", "rebuild", "Build the index again from the vault."),
    Command("status", "status", "Show what the index holds and what the daemon does."),
    Command("serve", "serve", "Run the daemon in the foreground: watch, index, answer."),
    Command("gateway", "gateway", "Search the vaults of many daemons, for many users."),
    Command("start", "start", "Start the daemon in the background."),
    Command("mcp", "mcp", "Serve agents over standard input and output (MCP)."),
    Command("stop", "stop", "Stop the daemon."),
    Command("service", "service", "Let the system start the daemon at login."),
    Command("pause", "pause", "Pause indexing in the daemon; searches go on."),
    Command("resume", "resume", "Resume indexing in the daemon."),
    Command("vault", "vault", "Add, list or remove the vaults that one daemon keeps."),
    Command("unpublish", "unpublish", "Remove a vault from the Milvus server."),
    Command("init", "init", "Write a commented configuration for a vault."),
    Command("config", "config", "Check the configuration, or show every value in use."),
    Command("inspect", "inspect", "Parse and chunk notes; needs no index."),
    Command("export", "export", "Print everything that the index holds, as JSON lines."),
    Command("verify", "verify", "Check that the vault and all parts of the index agree."),
    Command("eval", "eval", "Run golden cases, and show how their citations drift."),
    *(command_from(one) for one in ENDPOINTS if one.has_command),
    Command("completion", "completion", "Print the script that completes commands and options in a shell."),
    Command("help", "help", "Show what the documentation says of a command or a topic."),
)

HELP = "help"
"""The command whose words are topics: `indexer help inspect` runs no other command."""

UNFORESEEN = 3
"""Exit status of an error in this program: the index cannot be used, whatever the reason."""


class InProcessModule(Protocol):
    """The module `in_process`, as far as it is used through `in_process_module()`."""

    def reach(self, place: Place) -> Reached:
        """The daemon named by the configuration, else the index itself."""
        ...

    def target_of(self, place: Place) -> Target:
        """Vault, index and configuration of a command."""
        ...

    def in_process(self, place: Place) -> Reached:
        """The index itself."""
        ...

    def all_in_process(self, place: Place) -> Index:
        """The indices of all vaults of the table `[vaults]`."""
        ...


def in_process_module() -> InProcessModule:
    """The module that answers in this process. It is imported late, since it imports engines and models."""
    return cast("InProcessModule", importlib.import_module("vault_indexer.cli.in_process"))


def build(arguments: Collection[str], commands: Sequence[Command] = COMMANDS) -> typer.Typer:
    """The program, with the commands loaded whose names occur in the arguments.

    The command that runs is always among them, wherever it stands; the rest are lines of the help.
    """
    program = typer.Typer(
        name="indexer",
        help="Search a folder of Markdown notes by meaning, by word and by link. "
        "Your notes stay on this computer.",
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help: drawing it with rich takes 80 ms of the 200 a help may take
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback()(flatten_parameters(_root))
    for command in commands:
        if command.name in arguments:
            _add(program, command, _load(command))
        else:
            program.command(command.name, help=command.help)(_not_loaded)
    return program


def _load(command: Command) -> typer.Typer:
    module = importlib.import_module(f"vault_indexer.cli.commands.{command.module}")
    app: typer.Typer = module.command_of(command.endpoint) if command.endpoint else module.app
    return app


def _add(program: typer.Typer, command: Command, loaded: typer.Typer) -> None:
    if len(loaded.registered_commands) > 1:
        program.add_typer(loaded, name=command.name, help=command.help)
        return
    for info in loaded.registered_commands:
        info.name = command.name
        info.help = info.help or command.help
        program.registered_commands.append(info)


def _not_loaded() -> None:
    """Stands in the help only."""


def _print_version(wanted: bool) -> None:
    """Eager: it needs no command."""
    if wanted:
        import importlib.metadata  # 20 ms that nothing else needs

        typer.echo(importlib.metadata.version("vault-indexer"))
        raise typer.Exit


def _root(
    ctx: typer.Context,
    place: Place,
    output: Output,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    del version  # its callback has printed it
    ctx.obj = (place, output)


def main(arguments: Sequence[str] | None = None) -> None:
    """The process `indexer`: set up its streams, run one command, leave with its exit status."""
    sys.excepthook = _report_unforeseen
    open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    protect_terminal()
    try:
        run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        sys.exit(130)


def run(arguments: Sequence[str]) -> None:
    """Run one command; the process keeps its streams and hooks. Raises SystemExit with the exit status."""
    command = typer.main.get_command(build(_words(arguments, os.environ)))
    command(args=list(arguments), prog_name="indexer")


def _words(arguments: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """The words that may name the command to load: what runs, and what a shell asks to complete."""
    return [HELP] if arguments[:1] == [HELP] else [*arguments, *_words_to_complete(environ)]


def _words_to_complete(environ: Mapping[str, str]) -> list[str]:
    """The command line that a shell asks to complete, as the scripts of `--show-completion` hand it over."""
    if not environ.get("_INDEXER_COMPLETE"):
        return []
    return [word for name in ("COMP_WORDS", "_TYPER_COMPLETE_ARGS") for word in environ.get(name, "").split()]


def _report_unforeseen(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """One line instead of a traceback, with the place for whoever reports it."""
    frames = traceback.extract_tb(trace)
    where = f" ({frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno})" if frames else ""
    print(f"indexer: internal error: {kind.__name__}: {clean(str(error))}{where}", file=sys.stderr)  # noqa: T201
    # Raised from the hook, this becomes the status of the process (the hook's own would be 1, "no").
    raise SystemExit(UNFORESEEN)
