"""Hits for a person: where, how good, the words that match, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vault_indexer.cli.rows import path_style
from vault_indexer.cli.terminal import note, out, text
from vault_indexer.serve.shapes import HitJson, InVaultJson, SearchJson, WhyJson
from vault_indexer.text.control_characters import clean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_BAR = "▁▂▃▄▅▆▇█"
_MARK = "bold yellow"
_WORD = re.compile(r"\w+")
_STEM = 4
"""Letters that a word has to share with another form of it."""


@dataclass(frozen=True, slots=True)
class FoldersOfHits:
    """In which folder a hit's path begins: that of its vault, where it names one, else the only one."""

    only: Path
    by_name: Mapping[str, Path] = field(default_factory=dict)

    def of(self, hit: InVaultJson) -> Path:
        """The folder of the vault of a hit or citation."""
        return self.by_name.get(hit.get("vault", ""), self.only)


def print_hits(answer: SearchJson, folders: FoldersOfHits, *, explain: bool) -> None:
    """All hits on standard output; what the index has to say of itself on standard error."""
    console = out()
    hits = answer["results"]
    digits = len(str(len(hits)))
    print_verdict(answer)
    for rank, hit in enumerate(hits, start=1):
        if rank > 1:
            console.print()
        _print_hit(
            console, hit, f"{rank:>{digits}}", path_style(folders.of(hit), hit["path"]), explain=explain
        )
    if not hits:
        note(f"nothing found for: {answer['query']}")
    print_notices(answer)


def print_verdict(answer: SearchJson) -> None:
    """On standard error, that the hits are probably not what the query asks for."""
    words = {"none": "nothing in this vault is about this; nearest:", "weak": "no hit is a clear match"}
    if answer["results"] and answer["verdict"] in words:
        note(words[answer["verdict"]])


def print_notices(answer: SearchJson) -> None:
    """What the index has to say of itself, on standard error."""
    for notice in answer["notices"]:
        note(f"note: {notice}")


def _print_hit(console: Console, hit: HitJson, rank: str, path_style: str, *, explain: bool) -> None:
    console.print(
        text(
            (f"{rank}  ", "dim"),
            (_level(hit["score"]), "green"),
            (f" {hit['score']:.2f}  ", "dim"),
            (hit["title"], "bold"),
            ("  ", ""),
            (_place(hit), path_style),
            (_kind(hit), "dim"),
            ("  changed since" if hit["stale"] else "", "yellow"),
        )
    )
    below = len(rank) + 2
    if hit["header_path"] and hit["header_path"] != hit["title"]:
        _print_indented(console, text((hit["header_path"], "dim")), below)
    passage = hit.get("passage")
    if passage or hit["snippet"]:
        _print_indented(console, _passage(passage["text"], hit) if passage else _snippet(hit), below)
    reasons = [("relevance", f"{hit['relevance']:.2f}"), *reasons_of(hit["why"])] if explain else []
    for name, reason in reasons:
        _print_indented(console, text((f"{name:<10}", "magenta"), (reason, "dim")), below)


def _place(hit: HitJson) -> str:
    path = f"{vault_prefix(hit)}{hit['path']}"
    return path if _has_name_alone(hit) else f"{path}:{hit['line']}"


def vault_prefix(found: InVaultJson) -> str:
    """The name of the vault before a path, where several were searched."""
    return f"{found['vault']}: " if "vault" in found else ""


def _kind(hit: HitJson) -> str:
    return f"  ({hit['kind']})" if _has_name_alone(hit) else ""


def _has_name_alone(hit: HitJson) -> bool:
    """Whether only the file's name is searched. A daemon of an older version gives no kind."""
    return hit.get("kind", "note") in ("attachment", "base")


def _print_indented(console: Console, line: Text, by: int) -> None:
    """Every line indented; wrapped on a terminal, as it is where a program reads."""
    from rich.padding import Padding

    if console.is_terminal:
        console.print(Padding(line, (0, 0, 0, by), expand=False))
        return
    for part in line.split("\n", allow_blank=True):
        part.pad_left(by)
        part.rstrip()
        console.print(part)


def _level(score: float) -> str:
    return _BAR[min(len(_BAR) - 1, int(score * len(_BAR)))]


def _passage(passage: str, hit: HitJson) -> Text:
    """The text around a hit, with the words set off that the hit was found by."""
    from rich.text import Text

    shown = Text("\n".join(clean(line) for line in passage.splitlines()))
    keyword = hit["why"]["keyword"]
    marked = [hit["snippet"][start:end] for start, end in hit["marks"]]
    wanted = {word.casefold() for word in (*marked, *(keyword["terms"] if keyword else ())) if word}
    for found in _WORD.finditer(shown.plain) if wanted else ():
        if _is_form_of_any(found.group().casefold(), wanted):
            shown.stylize(_MARK, *found.span())
    return shown


def _is_form_of_any(word: str, wanted: Iterable[str]) -> bool:
    """Whether one is the other, or begins with it: inflected forms are marked as well, as in snippets."""
    return any(
        word == other
        or (min(len(word), len(other)) >= _STEM and (word.startswith(other) or other.startswith(word)))
        for other in wanted
    )


def _snippet(hit: HitJson) -> Text:
    """The snippet with its matched words set off."""
    from rich.text import Text

    snippet = hit["snippet"]
    shown = Text(clean(snippet))
    for start, end in hit["marks"]:
        shown.stylize(_MARK, len(clean(snippet[:start])), len(clean(snippet[:end])))
    return shown


def reasons_of(why: WhyJson) -> list[tuple[str, str]]:
    """Why a hit is there, each reason with its name."""
    reasons: list[tuple[str, str]] = []
    if vector := why["vector"]:
        reasons.append(("meaning", f"rank {vector['rank']}, cosine {vector['score']:.2f}"))
    if keyword := why["keyword"]:
        terms = _shares(keyword["terms"])
        fields = _shares(keyword["fields"])
        rank = f"rank {keyword['rank']}, BM25F {keyword['score']:.1f}"
        held = keyword.get("coverage")
        holds = "" if held is None else f"holds {held:.0%} of the query"
        parts = [rank, holds, terms, fields and f"in {fields}"]
        reasons.append(("words", " · ".join(part for part in parts if part)))
    if note := why.get("note"):
        cosine = "" if note["cosine"] is None else f"cosine {note['cosine']:.2f}, "
        reasons.append(("note", f"{cosine}holds {note['coverage']:.0%} of the query"))
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
