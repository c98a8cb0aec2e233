"""Hits for a person: where, how good, the words that match, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_indexer.cli.terminal import clean, note, out, text
from vault_indexer.serve.shapes import HitJson, SearchJson, WhyJson

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_BAR = "▁▂▃▄▅▆▇█"


def print_hits(answer: SearchJson, *, explain: bool) -> None:
    """All hits on standard output; what the index has to say of itself on standard error."""
    console = out()
    hits = answer["results"]
    digits = len(str(len(hits)))
    for rank, hit in enumerate(hits, start=1):
        if rank > 1:
            console.print()
        _print_hit(console, hit, f"{rank:>{digits}}", explain=explain)
    if not hits:
        note(f"nothing found for: {answer['query']}")
    for notice in answer["notices"]:
        note(f"note: {notice}")


def _print_hit(console: Console, hit: HitJson, rank: str, *, explain: bool) -> None:
    console.print(
        text(
            (f"{rank}  ", "dim"),
            (_level(hit["score"]), "green"),
            (f" {hit['score']:.2f}  ", "dim"),
            (hit["title"], "bold"),
            ("  ", ""),
            (f"{hit['path']}:{hit['line']}", "cyan"),
            ("  changed since" if hit["stale"] else "", "yellow"),
        )
    )
    below = len(rank) + 2
    if hit["header_path"] and hit["header_path"] != hit["title"]:
        _indented(console, text((hit["header_path"], "dim")), below)
    passage = hit.get("passage")
    _indented(console, _passage(passage["text"]) if passage else _snippet(hit), below)
    for name, reason in reasons_of(hit["why"]) if explain else ():
        _indented(console, text((f"{name:<9}", "magenta"), (reason, "dim")), below)


def _indented(console: Console, line: Text, by: int) -> None:
    """Wrapped and indented on a terminal; one line where a program reads."""
    from rich.padding import Padding

    if console.is_terminal:
        console.print(Padding(line, (0, 0, 0, by), expand=False))
    else:
        line.pad_left(by)
        console.print(line)


def _level(score: float) -> str:
    return _BAR[min(len(_BAR) - 1, int(score * len(_BAR)))]


def _passage(text: str) -> Text:
    from rich.text import Text

    return Text("\n".join(clean(line) for line in text.splitlines()))


def _snippet(hit: HitJson) -> Text:
    """The snippet with its matched words set off; cleaning keeps every position."""
    from rich.text import Text

    shown = Text(clean(hit["snippet"]))
    for start, end in hit["marks"]:
        shown.stylize("bold yellow", start, end)
    return shown


def reasons_of(why: WhyJson) -> list[tuple[str, str]]:
    """Why a hit is there, each reason with its name."""
    reasons: list[tuple[str, str]] = []
    if vector := why["vector"]:
        reasons.append(("meaning", f"rank {vector['rank']}, cosine {vector['score']:.2f}"))
    if keyword := why["keyword"]:
        terms = _shares(keyword["terms"])
        fields = _shares(keyword["fields"])
        parts = [f"rank {keyword['rank']}, BM25F {keyword['score']:.1f}", terms, fields and f"in {fields}"]
        reasons.append(("words", " · ".join(part for part in parts if part)))
    if graph := why["graph"]:
        via = ", ".join(graph["via"])
        reasons.append(
            ("links", f"rank {graph['rank']}, weight {graph['score']:.2f}" + (f" · via {via}" if via else ""))
        )
    if why["title"]:
        reasons.append(("title", f"the query is its title, alias or file name: + {why['title']:.3f}"))
    if why["recency"] != 1:
        reasons.append(("recent", f"× {why['recency']:g}"))
    if why["fused"]:
        reasons.append(("fused", f"{why['fused']:.4f}"))
    if why["filters"]:
        reasons.append(("filters", " ".join(why["filters"])))
    return reasons


def _shares(shares: dict[str, float]) -> str:
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {share:.1f}" for name, share in ordered)
