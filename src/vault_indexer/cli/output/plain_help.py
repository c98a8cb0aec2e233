"""Commands whose help omits types and bounds, and whose query may contain words that begin with a dash.

The classes are passed as `typer.Typer(cls=...)` and `app.command(cls=...)`. They only use old features of
click, because newer versions of typer include their own copy of click.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

from vault_indexer.cli.parameters import complain
from vault_indexer.contract.marks import MAX_QUERY_BYTES
from vault_indexer.errors import UsageError
from vault_indexer.system import quoted_word

_SHARED = frozenset({"vault", "index_dir", "config", "json", "help"})
"""The options that only the help of `indexer` lists."""

_METAVARS = {"int": "N", "integer": "N", "float": "X", "path": "PATH"}
_GLOBAL_OPTIONS = "Options of every command (--vault, --json, ...): indexer --help"


EXAMPLES: Mapping[str, str] = {
    "init": "indexer init ~/Notes",
    "help": "indexer help query-language",
    "search": 'indexer search "rings of Saturn" -tag:draft',
    "ask": "indexer ask when is the dough ready",
    "related": "indexer related Kitchen/Bread.md",
    "links": 'indexer links "Night sky" --depth 2',
    "base": 'indexer base Books --view "Reading list"',
    "open": "indexer open",
    "status": "indexer status --json",
    "check": "indexer check --repair",
    "rebuild": "indexer rebuild --vault work",
    "vault add": "indexer vault add work ~/Work/Notes",
    "vault list": "indexer vault list",
    "vault remove": "indexer vault remove work --delete-index",
    "config show": "indexer config show",
    "config edit": "EDITOR=vim indexer config edit",
    "config path": "indexer config path",
    "start": "indexer start",
    "stop": "indexer stop --all-vaults",
    "mcp": "indexer mcp --vault work",
    "serve": "indexer serve --vault ~/Notes",
    "embed": "indexer embed --now",
    "documents": "indexer documents ocr on",
    "pause": "indexer pause --for 2h",
    "resume": "indexer resume",
    "service install": "indexer service install",
    "service uninstall": "indexer service uninstall",
    "service status": "indexer service status",
    "service logs": "indexer service logs --lines 50",
    "uninstall": "indexer uninstall --dry-run",
    "inspect": "indexer inspect Kitchen/Bread.md",
    "export": "indexer export > notes.jsonl",
    "eval run": "indexer eval run --cases evals/cases",
    "eval drift": "indexer eval drift --cases evals/cases",
    "eval snapshot": "indexer eval snapshot --cases evals/cases",
    "eval rank": "indexer eval rank --cases evals/cases",
    "eval generate": "indexer eval generate --vault work",
    "eval tune": "indexer eval tune --vault work",
    "eval judge": 'indexer eval judge "rings of Saturn"',
    "gateway": "indexer gateway vaults --config gateway.toml",
    "completion": 'eval "$(indexer completion bash)"',
}
"""An example of each command, for its help, the reference and the man page."""


class PlainCommand(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Like click; for a folder that is one argument too many, the error adds how to name a vault."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            message = getattr(error, "message", "")
            _, is_extra, extra = message.partition("unexpected extra argument(s) (")
            folders = [one for one in given if one in extra and Path(one).is_dir()]
            if is_extra and folders:
                named = f"{ctx.command_path} --vault {quoted_word(folders[0])}"
                error.message = f"{message}. For the vault in that folder: {named}"  # type: ignore[attr-defined]
            raise

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        arguments = [one for one in self.params if one.param_type_name == "argument"]
        formatter.write_usage(ctx.command_path, " ".join(["[OPTIONS]", *map(_argument_name, arguments)]))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        arguments = [one for one in self.params if one.param_type_name == "argument"]
        named: list[Any] = [one for one in self.params if one.name not in _SHARED]
        options = [one for one in named if one.param_type_name == "option" and not one.hidden]
        self.format_usage(ctx, formatter)
        _write_text(formatter, self.help or "")
        _write_rows(
            formatter, "Arguments", [(_argument_name(one), getattr(one, "help", "")) for one in arguments]
        )
        _write_rows(formatter, "Options", list(map(option_row, options)))
        if example := EXAMPLES.get(ctx.command_path.partition(" ")[2]):
            with formatter.section("Example"):
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        _write_text(formatter, _GLOBAL_OPTIONS)


class PlainGroup(TyperGroup):
    """A command with subcommands, each on a line of its help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write_usage(ctx.command_path, "COMMAND")
        _write_text(formatter, self.help or "")
        shown = [(name, one) for name, one in self.commands.items() if not one.hidden]
        _write_rows(formatter, "Commands", [(name, first_sentence(one.help or "")) for name, one in shown])
        _write_text(formatter, f"Options of a command: {ctx.command_path} COMMAND --help")


def first_sentence(text: str) -> str:
    paragraph = " ".join(text.partition("\n\n")[0].split())
    head, stop, _ = paragraph.partition(". ")
    return f"{head}." if stop else paragraph


def _write_text(formatter: Any, text: str) -> None:
    for paragraph in text.split("\n\n"):
        if words := " ".join(paragraph.split()):
            formatter.write_paragraph()
            formatter.write_text(words)


def _write_rows(formatter: Any, heading: str, rows: list[tuple[str, str]]) -> None:
    rows = [(name, help_text or "") for name, help_text in rows]
    if rows:
        with formatter.section(heading):
            formatter.write_dl(rows)


def _argument_name(argument: Any) -> str:
    name: str = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def option_row(option: Any) -> tuple[str, str]:
    names = ", ".join(sorted((*option.opts, *option.secondary_opts), key=len)).strip(" ,/")
    value = _value_name(option)
    return (f"{names} {value}" if value else names), _described(option)


def _value_name(option: Any) -> str:
    """The placeholder for the value of an option; "" for a flag."""
    if option.is_flag or getattr(option, "count", False):
        return ""
    if option.metavar:
        return str(option.metavar)
    if choices := getattr(option.type, "choices", ()):
        return "|".join(str(getattr(choice, "value", choice)) for choice in choices)
    return _METAVARS.get(option.type.name.removesuffix(" range"), "TEXT")


def _described(option: Any) -> str:
    """The help of an option, with its default if that is a number above 0."""
    described: str = option.help or ""
    default = option.default
    is_number = isinstance(default, int | float) and not isinstance(default, bool)
    if not is_number or not default or described.rstrip(".").endswith("]"):
        return described
    return f"{described.rstrip('.')} [{default:g}]."


# A query on the command line. Its words may begin with `-`, which means "without" in a query.

_STANDARD_INPUT = "-"
_UNKNOWN_LETTER = re.compile(r"-[A-Za-z]")


class QueryCommand(PlainCommand):
    """A command whose last argument is a query.

    `-work` and `-tag:x` are words of the query. An unknown option is an error if it is long or a single
    letter. Nothing after `--` is an option.
    """

    # No type fits: newer versions of typer include their own copy of click.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses arguments in which no word of the query looks like an option."""
        options = [one for one in self.get_params(ctx) if one.param_type_name == "option"]
        flags = ("is_flag", "count")
        values = {
            name: 0 if any(getattr(option, flag, False) for flag in flags) else option.nargs
            for option in options
            for name in (*option.opts, *option.secondary_opts)
        }
        try:
            ordered = query_last(args, values)
        except UsageError as error:
            complain(error)
            ctx.exit(error.exit_code)
        return super().parse_args(ctx, ordered)


def query_last(arguments: Sequence[str], values: Mapping[str, int]) -> list[str]:
    """Reorders the arguments: all options, then `--`, then the words in their order.

    `values` maps each option to its number of values. A single dash begins an option only if `values`
    contains it, alone (`-n 5`) or with its number (`-n5`). Raises UsageError for any other single letter: a
    user who types `-i` expects grep's option, but would exclude the word "i".
    """
    options: list[str] = []
    words: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            words.extend(rest)
        elif argument in values:
            given = [argument, *islice(rest, values[argument])]
            options.extend(given)
            if len(given) <= values[argument]:
                return options  # click reports the missing value
        elif argument.startswith("--") or (argument[:2] in values and argument[2:].isdigit()):
            options.append(argument)
        elif _UNKNOWN_LETTER.fullmatch(argument):
            raise UsageError(
                f'there is no option {argument}; for notes without the word "{argument[1]}", '
                f"end the command with: -- {argument}"
            )
        else:
            words.append(argument)
    return [*options, "--", *words]


def query_text(words: Sequence[str]) -> str:
    """The query of the arguments; a single `-` reads it from standard input, up to its maximum size."""
    if list(words) != [_STANDARD_INPUT]:
        return " ".join(words)
    return " ".join(sys.stdin.read(MAX_QUERY_BYTES + 1).split())
