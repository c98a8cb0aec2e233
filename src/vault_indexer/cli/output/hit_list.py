"""Prints hits as text: the note, the evidence for it, and its places with their text."""

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
"""Returns the folder of the hit's vault, where its path begins."""

_MARK = "bold yellow"
_WORD = re.compile(r"\w+")
_STEM = 4
"""The minimum number of letters that two forms of a word share."""

_NEAREST_NOTES = 3
"""The number of notes listed after the likely ones, or if none is likely."""

_NAMES = ("title", "aliases")
_TITLE_SHARE = 0.2
"""The title is evidence from this share of the score by word. Below it, only words such as "the" match."""

_NEAR_RANK = 10
"""Meaning is evidence up to this rank among the nearest chunks: as many as a search lists."""

_LINK_WEIGHT = 0.2
"""Links are evidence from this weight: their text has words of the query. Weaker ones are of other hits."""

_EVIDENCE = ("name", "title", "words", "meaning", "links", "changed since")
_LINE_DIGITS = 4
_INDENT = _LINE_DIGITS + 2


class ShownHits(NamedTuple):
    """The hits to print: the likely ones, followed by the nearest of the others."""

    likely: list[HitJson]
    others: list[HitJson]

    @classmethod
    def of(cls, answer: SearchAnswerJson, *, nearest: bool) -> ShownHits:
        """The other hits are the best of each of three notes without a likely hit, or with `nearest` all."""
        count = likely_count(answer)
        likely, others = answer["results"][:count], answer["results"][count:]
        if nearest:
            return cls(likely, others)
        notes = {_note_of(hit) for hit in likely}
        return cls(likely, first_notes([hit for hit in others if _note_of(hit) not in notes]))


def likely_count(answer: SearchAnswerJson) -> int:
    """The number of likely hits, which come first. Older daemons only send a verdict."""
    return answer.get("likely", len(answer["results"]) if answer["verdict"] in ("strong", "likely") else 0)


def first_notes(hits: Sequence[HitJson]) -> list[HitJson]:
    """The best hit of each of the first three notes."""
    return [found[0] for found in _by_note(hits)][:_NEAREST_NOTES]


def print_verdict(answer: SearchAnswerJson, shown: Sequence[HitJson]) -> None:
    """Prints on standard error that no hit is likely, and the words that no note has, unless one is."""
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
    has_words = any({"title", "words", "name"} & set(evidence_of(hit)) for hit in hits)
    return "Closest:" if has_words else "Closest in meaning:"


def missing_words(words: Sequence[str]) -> str:
    """A sentence about the query words that no note has; "" if there are none."""
    named = ", ".join(f'"{word}"' for word in words)
    return f"No note has the word{'s' if len(words) > 1 else ''} {named}." if words else ""


def sentence(notice: str) -> str:
    return f"{notice[:1].upper()}{notice[1:]}"


def print_notices(answer: SearchAnswerJson) -> None:
    """Prints the notices of the index on standard error, and the words of a match that no note has. A notice
    names those that were corrected."""
    corrected = {correction["from"] for correction in answer.get("corrections", ())}
    missing = missing_words([word for word in answer["missing_words"] if word not in corrected])
    if likely_count(answer) and missing:
        note(missing)
    for notice in answer["notices"]:
        note(sentence(notice))


def print_notes(hits: Sequence[HitJson], folder_of: FolderOf) -> None:
    """Prints the notes of the hits in order, each with its evidence and its places."""
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
    """Prints each hit on one line, best first."""
    console = out()
    for hit in hits:
        end = f":{hit.get('part') or hit['line']}" if has_text(hit) else ""
        path = fitted_path(console, f"{_path(hit)}{end}", console.width // 2)
        copies = f" ({found})" if (found := copies_of(hit)) else ""
        line = text((path, path_style(folder_of(hit), hit["path"])), (f"{copies}  ", "dim"))
        _print_snippet(console, line, hit)


def has_text(hit: HitJson) -> bool:
    """Whether the text of the file is searched, not only its name. Older daemons do not send the kind."""
    return hit.get("kind", "note") not in ("attachment", "base")


def vault_prefix(found: HitJson | CitationJson) -> str:
    """The prefix of a path with the name of the vault, if several vaults were searched."""
    return f"{found['vault']}: " if "vault" in found else ""


def copies_of(hit: HitJson) -> str:
    """The number of copies of the hit's text in other notes, in words; "" if there are none."""
    count = len(hit.get("copies", ()))
    return f"and {count} {'copy' if count == 1 else 'copies'}" if count else ""


def evidence_of(hit: HitJson) -> list[str]:
    """The evidence for a hit, in the words of `_EVIDENCE`."""
    found = [] if has_text(hit) else ["name"]
    found += _evidence_of(hit["why"])
    if hit["stale"]:
        found.append("changed since")
    return found


def _evidence_of(why: WhyJson) -> list[str]:
    found = []
    keyword, vector, graph = why["keyword"], why["vector"], why["graph"]
    if keyword and keyword.get("coverage") != 0:  # 0 if only words such as "the" match
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
        if hit["snippet"]:  # the reason why the note could not be read
            print_row(console, "", hit["snippet"], "dim", indent=2)
        return
    line = text((f"{hit.get('part') or hit['line']:>{_LINE_DIGITS}}  ", "dim"))
    passage = hit.get("passage")
    if passage and passage["text"]:
        console.print(line)
        _print_indented(console, _passage(passage["text"], hit))
        return
    _print_snippet(console, line, hit)


def _print_indented(console: Console, line: Text) -> None:
    """Prints every line indented, and wrapped on a terminal."""
    if not console.is_terminal:
        for part in line.plain.split("\n"):
            console.print(text((f"{' ' * _INDENT}{part}".rstrip(), "")))
        return
    from rich.padding import Padding

    console.print(Padding(line, (0, 0, 0, _INDENT), expand=False))


def _passage(passage: str, hit: HitJson) -> Text:
    """The text around a hit, with the matching words highlighted."""
    shown = lines_text("\n".join(passage.splitlines()))
    keyword = hit["why"]["keyword"]
    marked = [hit["snippet"][start:end] for start, end in hit["marks"]]
    wanted = {word.casefold() for word in (*marked, *(keyword["terms"] if keyword else ()))}
    for found in _WORD.finditer(shown.plain) if wanted else ():
        if _is_form_of_any(found.group().casefold(), wanted):
            shown.stylize(_MARK, *found.span())
    return shown


def _is_form_of_any(word: str, wanted: Iterable[str]) -> bool:
    """Whether the word is a form of another one: either begins with the other, as in snippets."""
    return any(
        word == other
        or (min(len(word), len(other)) >= _STEM and (word.startswith(other) or other.startswith(word)))
        for other in wanted
    )


def _print_snippet(console: Console, line: Text, hit: HitJson) -> None:
    """Prints the line with the hit's snippet behind it, cut so that the first matching word is shown."""
    snippet = hit["snippet"]
    spans = [(len(clean(snippet[:start])), len(clean(snippet[:end]))) for start, end in hit["marks"]]
    shown = text((snippet, ""))
    for span in spans:
        shown.stylize(_MARK, *span)
    line.append_text(cut_text(shown, console.width - line.cell_len, spans[0] if spans else (0, 0)))
    line.rstrip()
    console.print(line, no_wrap=True)
