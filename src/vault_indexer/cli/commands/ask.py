"""`indexer ask QUESTION`."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from vault_indexer.cli.connection.connect import Connection
from vault_indexer.cli.connection.daemon_command import hint_at_start
from vault_indexer.cli.output.columns import path_style, print_ends, print_row
from vault_indexer.cli.output.hit_list import (
    FolderOf,
    closest,
    first_notes,
    missing_words,
    print_notes,
    sentence,
    vault_prefix,
)
from vault_indexer.cli.output.plain_help import QueryCommand, query_text
from vault_indexer.cli.output.terminal import note as say
from vault_indexer.cli.output.terminal import out, print_json, text
from vault_indexer.cli.parameters import AllVaults, Fresh, Output, VaultSelection, limit_option, one_command
from vault_indexer.cli.vault_folder import asks_all
from vault_indexer.contract.parameters import Value
from vault_indexer.serve.api.endpoints import ASK
from vault_indexer.text.phrases import quantity

if TYPE_CHECKING:
    from vault_indexer.serve.api.generated.shapes import AnswerSentenceJson, AskAnswerJson, CitationJson

DECLINED = 1

_QUOTE_INDENT = 2
_PLACE_INDENT = 6
_BLOCK_LINE = re.compile(r"(?m)^(?: {4}|[ >\t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|```|~~~|>|\t))")


class Ask(NamedTuple):
    """The question and its options."""

    question: Annotated[
        list[str],
        typer.Argument(metavar="QUESTION", help="The question in plain language; - reads standard input."),
    ]
    limit: Annotated[int | None, limit_option("Read at most N passages [10].")] = None
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Quote notes even if a language model is configured.")
    ] = False
    fresh: Fresh = False
    show_prompt: Annotated[
        bool,
        typer.Option("--show-prompt", help="Print the prompt for the language model without sending it."),
    ] = False

    def parameters(self) -> dict[str, Value]:
        return {
            "q": query_text(self.question),
            "limit": self.limit or 0,
            "model": not self.no_model,
            "fresh": self.fresh,
            "show_prompt": self.show_prompt,
        }


def ask(ask: Ask, selection: VaultSelection, output: Output, all_vaults: AllVaults = False) -> int:
    """Answer a question with sentences from your notes, each with its location."""
    asked = ask.parameters()
    connection = Connection(selection, all_vaults=all_vaults or asks_all(selection, os.environ))
    answer = connection.ask(ASK, **asked)
    if output.json:
        print_json(answer)
    elif ask.show_prompt:
        if not answer["prompt"]:
            say("no prompt: no language model would be called")
        for line in answer["prompt"].splitlines():
            out().print(text((line, "")), soft_wrap=True)
    else:
        _print_answer(answer, connection.folder_of)
        if connection.index_dir is not None:
            hint_at_start(connection.index_dir)
    return DECLINED if answer["kind"] == "declined" else 0


def _print_answer(answer: AskAnswerJson, folder_of: FolderOf) -> None:
    missing = missing_words(answer["missing_words"])
    passages = first_notes(answer["passages"])
    if answer["kind"] in ("declined", "passages"):
        none = (
            "No note answers this." if answer["kind"] == "declined" else "No sentence clearly answers this."
        )
        say(" ".join(filter(None, (none, missing, closest(passages) if passages else ""))))
        print_notes(passages, folder_of)
    else:
        written = f"Written by {answer['model']}, checked against your notes:"
        _print_sentences(
            "From your notes, word for word:" if answer["kind"] == "quotes" else written,
            answer["sentences"],
            folder_of,
        )
        if missing:
            say(missing)
    if answer["dropped"]:
        count = quantity(len(answer["dropped"]), "sentence")
        heading = f"dropped {count} of the model that your notes do not support:"
        say(heading)
    for one in answer["dropped"]:
        say(f"  {one['text']} ({one['reason']})")
    for notice in answer["notices"]:
        say(sentence(notice))


def _print_sentences(label: str, sentences: Sequence[AnswerSentenceJson], folder_of: FolderOf) -> None:
    """Prints the label and each sentence with its locations; one that a note has verbatim is in quotes."""
    console = out()
    console.print(text((label, "bold")))
    for one in sentences:
        words = _words_of(one)
        shown = f'"{words}"' if one["verdict"] == "quoted" else words
        for number, line in enumerate(shown.split("\n")):
            print_row(console, "", line, "", indent=_QUOTE_INDENT + bool(number))
        if one["unchecked"]:
            print_row(
                console, "", f"unchecked words: {', '.join(one['unchecked'])}", "", indent=_PLACE_INDENT
            )
        for place, style, block in dict.fromkeys(_place_of(found, folder_of) for found in one["citations"]):
            print_ends(console, place, style, block, indent=_PLACE_INDENT)


def _place_of(citation: CitationJson, folder_of: FolderOf) -> tuple[str, str, str]:
    """The place, its style and its block. Nobody sees the lines of the text that was extracted from a
    document."""
    part = citation.get("part")
    where = f", {part}" if part else f":{citation['start_line']}"
    place = f"{vault_prefix(citation)}{citation['path']}{where}"
    block = f"^{citation['block']}" if citation["block"] else ""
    return place, path_style(folder_of(citation), citation["path"]), block


def _words_of(one: AnswerSentenceJson) -> str:
    """A quoted list, code or callout with its lines, any other sentence on one line."""
    if one["verdict"] == "quoted" and any(_BLOCK_LINE.search(part["quote"]) for part in one["citations"]):
        return "\n".join(line.rstrip() for line in one["text"].split("\n") if line.strip())
    return " ".join(one["text"].split())


app = one_command(ask, QueryCommand)
