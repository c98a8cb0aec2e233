"""`indexer ask QUESTION`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.hits import FoldersOfHits, vault_prefix
from vault_indexer.cli.parameters import AllVaults, Output, Place, one_command
from vault_indexer.cli.query_words import QueryCommand
from vault_indexer.cli.reach import ask_all, ask_reached
from vault_indexer.cli.rows import path_style
from vault_indexer.cli.several import asks_all
from vault_indexer.cli.start_hint import hint_at_start
from vault_indexer.cli.terminal import note as say
from vault_indexer.cli.terminal import out, print_json, text
from vault_indexer.cli.vault_folder import vaults_in_config
from vault_indexer.serve.endpoints import ASK, Value
from vault_indexer.serve.shapes import AnswerSentenceJson, AskJson, CitationJson, HitJson

if TYPE_CHECKING:
    from rich.console import Console

DECLINED = 1


@dataclass(frozen=True, slots=True)
class Ask:
    """What to ask, and how."""

    question: Annotated[list[str], typer.Argument(metavar="QUESTION", help="As you would ask a person.")]
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, max=200, help="Passages to read; 0: as configured.")
    ] = 0
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Quote notes, even if a language model is configured.")
    ] = False
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Wait until all changes of the vault are indexed.")
    ] = False

    def parameters(self) -> dict[str, Value]:
        """The parameters of the endpoint."""
        return {
            "q": " ".join(self.question),
            "limit": self.limit,
            "model": not self.no_model,
            "fresh": self.fresh,
        }


def ask(ask: Ask, place: Place, output: Output, all_vaults: AllVaults = False) -> int:
    """Answer a question with sentences of your notes; through the daemon when one runs."""
    asked = ask.parameters()
    if all_vaults or asks_all(place, os.environ):
        folders = FoldersOfHits(Path(), vaults_in_config(place, os.environ))
        answer, index_dir = ask_all(place, ASK, **asked), None
    else:
        reached, answer = ask_reached(place, lambda reached: (reached, reached.index.ask(ASK, **asked)))
        folders, index_dir = FoldersOfHits(reached.vault), reached.index_dir
    if output.json:
        print_json(answer)
    else:
        _print_answer(answer, folders)
        if index_dir is not None:
            hint_at_start(index_dir)
    return DECLINED if answer["kind"] == "declined" else 0


def _print_answer(answer: AskJson, folders: FoldersOfHits) -> None:
    console = out()
    place = "these vaults" if folders.by_name else "this vault"
    if answer["kind"] == "declined":
        say(_declined(answer, place))
        _print_passages(console, answer["passages"], folders)
    elif answer["kind"] == "passages":
        say(f"no sentence of {place} clearly answers this; passages to read:")
        _print_passages(console, answer["passages"], folders)
    else:
        _print_sentences(console, answer["sentences"], folders)
    if answer["dropped"]:
        say(_dropped(answer))
    for one in answer["dropped"]:
        say(f"  {one['text']} ({one['reason']})")
    if answer["kind"] != "declined" and answer["missing_words"]:
        say(f"no note holds: {', '.join(answer['missing_words'])}")
    for notice in answer["notices"]:
        say(f"note: {notice}")


def _declined(answer: AskJson, place: str) -> str:
    missing = answer["missing_words"]
    why = f"; no note holds: {', '.join(missing)}" if missing else ""
    nearest = "; the nearest passages:" if answer["passages"] else ""
    return f"nothing in {place} answers this{why}{nearest}"


def _dropped(answer: AskJson) -> str:
    count = len(answer["dropped"])
    return f"dropped {count} sentence{'s' if count > 1 else ''} of the model that your notes do not confirm:"


def _print_sentences(
    console: Console, sentences: Sequence[AnswerSentenceJson], folders: FoldersOfHits
) -> None:
    """The sentences with the numbers of their citations, then the citations."""
    citations = list({one["id"]: one for sentence in sentences for one in sentence["citations"]}.values())
    numbers = {one["id"]: number for number, one in enumerate(citations, start=1)}
    for sentence in sentences:
        marks = "".join(f"[{numbers[one['id']]}]" for one in sentence["citations"])
        console.print(text((" ".join(sentence["text"].split()), ""), (f" {marks}", "cyan")))
    console.print()
    for one in citations:
        _print_citation(console, numbers[one["id"]], one, folders.of(one))


def _print_citation(console: Console, number: int, citation: CitationJson, vault: Path) -> None:
    path = f"{vault_prefix(citation)}{citation['path']}"
    heading = citation["header_path"]
    shown = heading if heading and heading != citation["title"] else ""
    console.print(
        text(
            (f"[{number}] ", "cyan"),
            (citation["title"], "bold"),
            ("  ", ""),
            (f"{path}:{citation['start_line']}", path_style(vault, citation["path"])),
            (f"  {shown}" if shown else "", "dim"),
            (f"  ^{citation['block']}" if citation["block"] else "", "dim"),
        )
    )


def _print_passages(console: Console, hits: Sequence[HitJson], folders: FoldersOfHits) -> None:
    for number, hit in enumerate(hits, start=1):
        place = f"{vault_prefix(hit)}{hit['path']}:{hit['line']}"
        console.print(
            text(
                (f"[{number}] ", "cyan"),
                (hit["title"], "bold"),
                ("  ", ""),
                (place, path_style(folders.of(hit), hit["path"])),
            )
        )
        if hit["snippet"]:
            console.print(text((f"    {hit['snippet']}", "")))


app = one_command(ask, QueryCommand)
