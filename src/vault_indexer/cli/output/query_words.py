"""A query on the command line: a word of it may begin with `-`, which in a query means "without"."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from vault_indexer.cli.output.plain_help import PlainCommand
from vault_indexer.cli.parameters import complain
from vault_indexer.contract.marks import MAX_QUERY_BYTES
from vault_indexer.errors import UsageError

_STANDARD_INPUT = "-"
_UNKNOWN_LETTER = re.compile(r"-[A-Za-z]")


class QueryCommand(PlainCommand):
    """A command whose last argument is a query.

    `-work` and `-tag:x` are words of the query. An option that does not exist is an error, if it is long or a
    single letter. What follows `--` is never an option.
    """

    # Newer versions of typer carry a click of their own: neither module's types fit all of them.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As click does, on arguments in which no word of the query can be taken for an option."""
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
    """The arguments with all options first, then `--`, then the words in their order.

    `values` gives how many values each option takes. A single dash begins an option only where `values`
    has it, alone (`-n 5`) or with its number (`-n5`). Raises UsageError for any other single letter: whoever
    writes `-i` means grep's option, and would get the notes without the word "i".
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
                return options  # the value is missing: click says so
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
    """The query of an argument; `-` alone stands for standard input, of which no more is read than a query
    may have."""
    if list(words) != [_STANDARD_INPUT]:
        return " ".join(words)
    return " ".join(sys.stdin.read(MAX_QUERY_BYTES + 1).split())
