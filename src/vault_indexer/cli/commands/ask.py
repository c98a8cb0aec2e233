"""`indexer ask QUESTION`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vault_indexer.cli.parameters import Output, Place, one_command
from vault_indexer.cli.query_words import QueryCommand
from vault_indexer.cli.reach import ask_reached
from vault_indexer.cli.rows import path_style
from vault_indexer.cli.start_hint import hint_at_start
from vault_indexer.cli.terminal import note as say
from vault_indexer.cli.terminal import out, print_json, text
from vault_indexer.serve.endpoints import ASK
from vault_indexer.serve.shapes import AnswerSentenceJson, AskJson, CitationJson, HitJson

if TYPE_CHECKING:
    from rich.console import Console

DECLINED = 1


def ask(
    place: Place,
    output: Output,
    question: Annotated[list[str], typer.Argument(metavar="QUESTION", help="As you would ask a person.")],
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, max=200, help="Passages to read; 0: as configured.")
    ] = 0,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Quote notes, even if a language model is configured.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Wait until all changes of the vault are indexed.")
    ] = False,
) -> int:
    """Answer a question with sentences of your notes; through the daemon when one runs."""
    words = " ".join(question)
    reached, answer = ask_reached(
        place,
        lambda reached: (
            reached,
            reached.index.ask(ASK, q=words, limit=limit, model=not no_model, fresh=fresh),
        ),
    )
    if output.json:
        print_json(answer)
    else:
        _print_answer(answer, reached.vault)
        if reached.index_dir is not None:
            hint_at_start(reached.index_dir)
    return DECLINED if answer["kind"] == "declined" else 0


def _print_answer(answer: AskJson, vault: Path) -> None:
    console = out()
    if answer["kind"] == "declined":
        say(_declined(answer))
        _print_passages(console, answer["passages"], vault)
    elif answer["kind"] == "passages":
        say("no sentence of this vault clearly answers this; passages to read:")
        _print_passages(console, answer["passages"], vault)
    else:
        _print_sentences(console, answer["sentences"], vault)
    if answer["dropped"]:
        say(_dropped(answer))
    for one in answer["dropped"]:
        say(f"  {one['text']} ({one['reason']})")
    if answer["kind"] != "declined" and answer["missing_words"]:
        say(f"no note holds: {', '.join(answer['missing_words'])}")
    for notice in answer["notices"]:
        say(f"note: {notice}")


def _declined(answer: AskJson) -> str:
    missing = answer["missing_words"]
    why = f"; no note holds: {', '.join(missing)}" if missing else ""
    nearest = "; the nearest passages:" if answer["passages"] else ""
    return f"nothing in this vault answers this{why}{nearest}"


def _dropped(answer: AskJson) -> str:
    count = len(answer["dropped"])
    return f"dropped {count} sentence{'s' if count > 1 else ''} of the model that your notes do not confirm:"


def _print_sentences(console: Console, sentences: Sequence[AnswerSentenceJson], vault: Path) -> None:
    """The sentences with the numbers of their citations, then the citations."""
    citations = list({one["id"]: one for sentence in sentences for one in sentence["citations"]}.values())
    numbers = {one["id"]: number for number, one in enumerate(citations, start=1)}
    for sentence in sentences:
        marks = "".join(f"[{numbers[one['id']]}]" for one in sentence["citations"])
        console.print(text((" ".join(sentence["text"].split()), ""), (f" {marks}", "cyan")))
    console.print()
    for one in citations:
        _print_citation(console, numbers[one["id"]], one, vault)


def _print_citation(console: Console, number: int, citation: CitationJson, vault: Path) -> None:
    heading = citation["header_path"]
    shown = heading if heading and heading != citation["title"] else ""
    console.print(
        text(
            (f"[{number}] ", "cyan"),
            (citation["title"], "bold"),
            ("  ", ""),
            (f"{citation['path']}:{citation['start_line']}", path_style(vault, citation["path"])),
            (f"  {shown}" if shown else "", "dim"),
            (f"  ^{citation['block']}" if citation["block"] else "", "dim"),
        )
    )


def _print_passages(console: Console, hits: Sequence[HitJson], vault: Path) -> None:
    for number, hit in enumerate(hits, start=1):
        place = f"{hit['path']}:{hit['line']}"
        console.print(
            text(
                (f"[{number}] ", "cyan"),
                (hit["title"], "bold"),
                ("  ", ""),
                (place, path_style(vault, hit["path"])),
            )
        )
        if hit["snippet"]:
            console.print(text((f"    {hit['snippet']}", "")))


app = one_command(ask, QueryCommand)
