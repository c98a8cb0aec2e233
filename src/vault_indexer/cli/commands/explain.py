"""`indexer search QUERY --explain NOTE`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vault_indexer.cli.connection.connect import ask_about
from vault_indexer.cli.output.terminal import out, print_json, text
from vault_indexer.cli.parameters import Output, VaultSelection
from vault_indexer.serve.api.endpoints import EXPLAIN

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from vault_indexer.serve.api.generated.shapes import ExplanationJson, KeywordReasonJson, WhyJson


# Why a note is among the hits of a query, in plain text.


_NAME_WIDTH = 8
_LINKS_NAMED = 3


def print_explanation(answer: ExplanationJson) -> None:
    """The note and its place, the evidence for it, and what else there is to say, on standard output."""
    console = out()
    console.print(text((answer["path"], "cyan"), (f"   {_place(answer)}", "bold")))
    cells = [_cell(*one) for one in _evidence(answer["query"], answer["why"])] if answer["why"] else []
    _print_cells(console, cells)
    for reason in answer["reasons"]:
        console.print(text((f"  {reason}", "")))


def _place(answer: ExplanationJson) -> str:
    if answer["rank"] is None:
        return "in the answer" if answer["shown"] else "not in the answer"
    place = f"place {answer['rank']:,} of {answer['candidates']:,}"
    return place if answer["shown"] else f"{place}, not in the answer"


def _evidence(query: str, why: WhyJson) -> Iterator[tuple[str, str]]:
    """Each kind of evidence with what it consists of."""
    if why["title"]:
        yield "title", "is the query"
    if keyword := why["keyword"]:
        yield "words", _words(query, keyword)
        if synonyms := keyword.get("synonyms"):
            yield "synonym", ", ".join(f'"{found}" for "{written}"' for found, written in synonyms.items())
    if vector := why["vector"]:
        place = "closest" if vector["rank"] == 1 else f"place {vector['rank']}"
        yield "meaning", f"{place}, cosine {vector['score']:.2f}"
    if graph := why["graph"]:
        names = [path.rpartition("/")[2].removesuffix(".md") for path in graph["via"][:_LINKS_NAMED]]
        more = f" and {len(graph['via']) - _LINKS_NAMED} more" if len(graph["via"]) > _LINKS_NAMED else ""
        yield "links", f"linked from {', '.join(names)}{more}" if names else f"place {graph['rank']}"
    if why["recency"] != 1:
        yield "recent", f"changed lately, × {why['recency']:g}"
    if why["filters"]:
        yield "filters", " ".join(why["filters"])


def _words(query: str, keyword: KeywordReasonJson) -> str:
    """The words that the note has, those that tell most first; then the ones searched in addition to the
    query's."""
    ordered = [word for word, _ in sorted(keyword["terms"].items(), key=lambda one: -one[1])]
    own = [word for word in ordered if word.casefold() in query.casefold()]
    others = [word for word in ordered if word not in own]
    named = ", ".join(f'"{word}"' for word in own)
    similar = ", ".join(f'"{word}"' for word in others)
    return "; ".join(filter(None, (named, f"searched as well: {similar}" if similar else "")))


def _cell(name: str, evidence: str) -> Text:
    return text((f"  {name:<{_NAME_WIDTH}}", "green"), (evidence, ""))


def _print_cells(console: Console, cells: Sequence[Text]) -> None:
    """In two columns on a terminal where all have room; else one a line."""
    left = max((cell.cell_len for cell in cells[::2]), default=0)
    right = max((cell.cell_len for cell in cells[1::2]), default=0)
    if not console.is_terminal or left + 1 + right > console.width:
        for cell in cells:
            console.print(cell)
        return
    for number in range(0, len(cells), 2):
        line = cells[number].copy()
        for other in cells[number + 1 : number + 2]:
            line.append_text(text((" " * (left + 1 - line.cell_len), ""))).append_text(other)
        console.print(line, no_wrap=True)


NOT_SHOWN = 1


def explain_note(selection: VaultSelection, output: Output, note: str, query: str, *, correct: bool) -> int:
    """Print the place of a note in the answer to a query; the exit status says whether it is in it."""
    answer = ask_about(
        selection,
        note,
        lambda connection, path: connection.index.ask(EXPLAIN, path=path, q=query, correct=correct),
    )
    if output.json:
        print_json(answer)
    else:
        print_explanation(answer)
    return 0 if answer["shown"] else NOT_SHOWN
