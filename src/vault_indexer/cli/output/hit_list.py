"""What a hit looks like in plain text: its note, the evidence for it, and its places with their text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_indexer.cli.output.columns import cut_text, fitted_path, path_style, print_ends, print_row
from vault_indexer.cli.output.terminal import lines_text, note, out, text
from vault_indexer.text.control_characters import clean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from vault_indexer.serve.api.generated.shapes import CitationJson, HitJson, SearchAnswerJson, WhyJson

FolderOf = Callable[["HitJson | CitationJson"], Path]
"""Gives the folder in which the path of a hit begins: that of its vault."""

_MARK = "bold yellow"
_WORD = re.compile(r"\w+")
_STEM = 4
"""Letters that a word has to share with another form of it."""

_NEAREST_NOTES = 3
"""Notes that are listed behind the likely ones, or where none is likely."""

_NAMES = ("title", "aliases")
_TITLE_SHARE = 0.2
"""From this part of the score by word on, the title is evidence: below, it has words such as "the"."""

_NEAR_RANK = 10
"""Up to this rank among the chunks nearest in meaning, meaning is evidence: so many hits a search lists."""

_LINK_WEIGHT = 0.2
"""From this weight on, links to the note say the words of the query; below, they come from other hits."""

_EVIDENCE = ("name", "title", "words", "meaning", "links", "changed since")
_LINE_DIGITS = 4
_INDENT = _LINE_DIGITS + 2


class ShownHits(NamedTuple):
    """The hits of an answer that are printed: the likely ones, and behind them the nearest of the others."""

    likely: list[HitJson]
    others: list[HitJson]

    @classmethod
    def of(cls, answer: SearchAnswerJson, *, nearest: bool) -> ShownHits:
        """Of the others three notes that have no likely hit; with `nearest` all."""
        count = likely_count(answer)
        likely, others = answer["results"][:count], answer["results"][count:]
        if nearest:
            return cls(likely, others)
        notes = {_note_of(hit) for hit in likely}
        return cls(likely, first_notes([hit for hit in others if _note_of(hit) not in notes]))


def likely_count(answer: SearchAnswerJson) -> int:
    """How many of the first hits are likely. A daemon of an older version says it by its verdict alone."""
    return answer.get("likely", len(answer["results"]) if answer["verdict"] in ("strong", "likely") else 0)


def first_notes(hits: Sequence[HitJson]) -> list[HitJson]:
    """The hits of the first three notes."""
    notes = list(dict.fromkeys(_note_of(hit) for hit in hits))[:_NEAREST_NOTES]
    return [hit for hit in hits if _note_of(hit) in notes]


def print_verdict(answer: SearchAnswerJson, shown: Sequence[HitJson]) -> None:
    """On standard error, before the hits: that none is likely, and which words no note has. Nothing where
    one is."""
    if likely_count(answer):
        return
    missing = missing_words(answer["missing_words"])
    if shown:
        note(f"{missing or 'No likely match.'} {closest(shown)}")
    elif answer["results"]:
        note(" ".join(filter(None, ("No likely match.", missing, "(--nearest shows the closest)"))))
    else:
        note(" ".join(filter(None, ("No match.", missing))))


def closest(hits: Sequence[HitJson]) -> str:
    """The heading of hits that do not clearly match."""
    has_words = any({"title", "words", "name"} & set(evidence_of(hit)) for hit in hits)
    return "Closest:" if has_words else "Closest in meaning:"


def missing_words(words: Sequence[str]) -> str:
    """A sentence on the words of a query that no note has; "" without any."""
    named = ", ".join(f'"{word}"' for word in words)
    return f"No note has the word{'s' if len(words) > 1 else ''} {named}." if words else ""


def sentence(notice: str) -> str:
    return f"{notice[:1].upper()}{notice[1:]}"


def print_notices(answer: SearchAnswerJson) -> None:
    """What the index has to say of itself, on standard error, and which words of a match no note has."""
    if likely_count(answer) and (missing := missing_words(answer["missing_words"])):
        note(missing)
    for notice in answer["notices"]:
        note(sentence(notice))


def print_less_likely() -> None:
    """The heading of the hits behind the likely ones, on standard output as they are."""
    out().print(text(("Less likely:", "bold")))


def print_notes(hits: Sequence[HitJson], folder_of: FolderOf) -> None:
    """The notes of the hits in their order, each with its evidence and its places, on standard output."""
    console = out()
    for found in _by_note(hits):
        evidence = {word for hit in found for word in evidence_of(hit)}
        words = ", ".join(word for word in _EVIDENCE if word in evidence)
        first = found[0]
        ends = ", ".join(filter(None, (words, copies_of(first))))
        print_ends(console, _path(first), path_style(folder_of(first), first["path"]), ends)
        for hit in sorted(found, key=lambda hit: hit["line"]):
            _print_place(console, hit)


def print_places(hits: Sequence[HitJson], folder_of: FolderOf) -> None:
    """Each hit by itself, best first, on one line."""
    console = out()
    for hit in hits:
        end = f":{hit['line']}" if has_text(hit) else ""
        path = fitted_path(console, f"{_path(hit)}{end}", console.width // 2)
        copies = f" ({found})" if (found := copies_of(hit)) else ""
        line = text((path, path_style(folder_of(hit), hit["path"])), (f"{copies}  ", "dim"))
        line.append_text(cut_text(_snippet(hit), console.width - line.cell_len, _first_mark(hit)))
        line.rstrip()
        console.print(line, no_wrap=True)


def has_text(hit: HitJson) -> bool:
    """Whether the text of the file is searched; else its name alone is. A daemon of an older version gives no
    kind."""
    return hit.get("kind", "note") not in ("attachment", "base")


def vault_prefix(found: HitJson | CitationJson) -> str:
    """The name of the vault before a path, where several were searched."""
    return f"{found['vault']}: " if "vault" in found else ""


def copies_of(hit: HitJson) -> str:
    """How many notes have the same text as that of the hit; "" if none has."""
    count = len(hit.get("copies", ()))
    return f"and {count} {'copy' if count == 1 else 'copies'}" if count else ""


def evidence_of(hit: HitJson) -> list[str]:
    """What speaks for a hit, in words: those of `_EVIDENCE`."""
    found = [] if has_text(hit) else ["name"]
    found += _evidence_of(hit["why"])
    if hit["stale"]:
        found.append("changed since")
    return found


def _evidence_of(why: WhyJson) -> list[str]:
    found = []
    keyword, vector, graph = why["keyword"], why["vector"], why["graph"]
    if keyword and keyword.get("coverage") != 0:  # 0: it has only words such as "the"
        named = sum(keyword["fields"].get(name, 0.0) for name in _NAMES)
        if why["title"] or named >= _TITLE_SHARE * keyword["score"] > 0:
            found.append("title")
        if set(keyword["fields"]) - {*_NAMES, "path"} or not keyword["fields"]:
            found.append("words")
    elif why["title"]:
        found.append("title")
    if vector and vector["rank"] <= _NEAR_RANK:
        found.append("meaning")
    if graph and graph["score"] >= _LINK_WEIGHT:
        found.append("links")
    if not found and (vector or graph):
        found.append("meaning" if vector else "links")
    return found


def _by_note(hits: Iterable[HitJson]) -> Collection[list[HitJson]]:
    notes: dict[tuple[str, str], list[HitJson]] = {}
    for hit in hits:
        notes.setdefault(_note_of(hit), []).append(hit)
    return notes.values()


def _note_of(hit: HitJson) -> tuple[str, str]:
    return hit.get("vault", ""), hit["path"]


def _path(hit: HitJson) -> str:
    return f"{vault_prefix(hit)}{hit['path']}"


def _print_place(console: Console, hit: HitJson) -> None:
    if not has_text(hit):
        if hit["snippet"]:  # why the note could not be read
            print_row(console, "", hit["snippet"], "dim", indent=2)
        return
    line = text((f"{hit['line']:>{_LINE_DIGITS}}  ", "dim"))
    passage = hit.get("passage")
    if passage and passage["text"]:
        console.print(line)
        _print_indented(console, _passage(passage["text"], hit))
        return
    line.append_text(cut_text(_snippet(hit), console.width - line.cell_len, _first_mark(hit)))
    line.rstrip()
    console.print(line, no_wrap=True)


def _print_indented(console: Console, line: Text) -> None:
    """Every line indented; wrapped on a terminal, as it is where a program reads."""
    if not console.is_terminal:
        for part in line.plain.split("\n"):
            console.print(text((f"{' ' * _INDENT}{part}".rstrip(), "")))
        return
    from rich.padding import Padding

    console.print(Padding(line, (0, 0, 0, _INDENT), expand=False))


def _passage(passage: str, hit: HitJson) -> Text:
    """The text around a hit, with the words set off that the hit was found by."""
    shown = lines_text("\n".join(passage.splitlines()))
    keyword = hit["why"]["keyword"]
    marked = [hit["snippet"][start:end] for start, end in hit["marks"]]
    wanted = {word.casefold() for word in (*marked, *(keyword["terms"] if keyword else ()))}
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
    snippet = hit["snippet"]
    shown = text((snippet, ""))
    for start, end in hit["marks"]:
        shown.stylize(_MARK, len(clean(snippet[:start])), len(clean(snippet[:end])))
    return shown


def _first_mark(hit: HitJson) -> tuple[int, int]:
    """Where the first matched word is in the snippet as it is shown; its beginning without one."""
    if not hit["marks"]:
        return 0, 0
    start, end = hit["marks"][0]
    return len(clean(hit["snippet"][:start])), len(clean(hit["snippet"][:end]))
