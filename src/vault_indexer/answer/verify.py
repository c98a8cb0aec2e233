"""Whether a sentence of a model says what the sentences say that it cites. No model is asked for that.

The checks, in order: what is cited was offered; the quote stands there, character by character but for white
space; numbers, names and code of the sentence stand there, or in a heading above; it denies what they deny;
and it shares words with them. A cosine is none of the checks: it hardly sees a changed number or a "not".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vault_indexer.answer.details import unknown_code, unknown_names
from vault_indexer.answer.negation import denies_the_same
from vault_indexer.answer.numbers import numbers_in
from vault_indexer.search import function_words
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.language import detect
from vault_indexer.text.stem import stem
from vault_indexer.text.tokens import RUN, WORD

LEAST_SHARE = 0.35
LEAST_SHARE_OF_CHARACTERS = 0.45
"""The least part of a sentence's content words (in scripts without spaces: characters) that what it cites
holds. Paraphrases share more, inventions less; see `benchmarks/falsified.py`."""

_IDLE_CHARACTERS = frozenset("的了是在和與与及或被把從从對对就都也而以為为之其个這这那有一")
_SHARED = 5


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence that was offered to a model: as it stands, without markup, and the headings above."""

    quote: str
    readable: str
    heading: str
    language: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a model, with the ids that it cites and what it quotes of them."""

    text: str
    ids: tuple[str, ...]
    quote: str


def objection(claim: Claim, offered: Mapping[str, Evidence]) -> str:
    """Why the claim is not confirmed by what it cites, as a clause for a person; "" if it is."""
    unknown = [one for one in claim.ids if one not in offered]
    if not claim.ids or unknown:
        return f"it cites {', '.join(unknown)}, which was not offered" if unknown else "it cites nothing"
    cited = [offered[one] for one in claim.ids]
    if not _is_quoted(claim.quote, cited):
        return "its quote does not stand in what it cites"
    if any(
        _on_one_line(claim.text) in (_on_one_line(one.quote), _on_one_line(one.readable)) for one in cited
    ):
        return ""  # it is the note's own sentence
    return _objection_to_text(claim.text, cited)


def _objection_to_text(text: str, cited: Sequence[Evidence]) -> str:
    said = " \n".join(one.readable for one in cited)
    around = " \n".join((said, *(one.quote for one in cited), *(one.heading for one in cited)))
    language = cited[0].language or detect(said) or "en"
    # Each as often as it stands there: "from 3 to 5" is not "from 5 to 5".
    stated = numbers_in(" \n".join((said, *(one.heading for one in cited))), language)
    if missing := sorted(numbers_in(text, language) - stated):
        return f"the number {missing[0]} is not in what it cites"
    if code := unknown_code(text, around):
        return f"{code[0]!r} is not in what it cites"
    if names := unknown_names(text, around, language):
        return f"the name {names[0]} is not in what it cites"
    if not denies_the_same(text, said, language):
        return "it denies what the note says, or the reverse"
    if not _shares_words(text, around, language):
        return "its words are not those of what it cites"
    return ""


def _is_quoted(quote: str, cited: Sequence[Evidence]) -> bool:
    wanted = _on_one_line(quote)
    if not any(char.isalnum() for char in wanted):
        return False
    sources = (" ".join(one.quote for one in cited), " ".join(one.readable for one in cited))
    return any(wanted in _on_one_line(source) for source in sources)


def _on_one_line(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _shares_words(text: str, around: str, language: str) -> bool:
    if RUN.search(text) and _characters(text):
        own = _characters(text)
        return len(own & _characters(around)) >= LEAST_SHARE_OF_CHARACTERS * len(own)
    own, known = _content(text, language), _content(around, language)
    held = sum(any(_is_form(word, other) for other in known) for word in own)
    return bool(own) and held >= LEAST_SHARE * len(own)


def _characters(text: str) -> set[str]:
    return {char for run in RUN.findall(text) for char in run} - _IDLE_CHARACTERS


def _content(text: str, language: str) -> set[str]:
    words = {fold(normalize(word)) for word in WORD.findall(text)}
    idle = function_words(language)
    return {stem(word, language) for word in words - idle if len(word) > 1} or words


def _is_form(word: str, other: str) -> bool:
    """Whether two stems are of one family."""
    return word == other or (len(word) >= _SHARED and word[:_SHARED] == other[:_SHARED])
