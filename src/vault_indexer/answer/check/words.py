"""Splits sentences into clauses and compares their content words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise

from vault_indexer.answer.check.dates import find_dates
from vault_indexer.answer.check.lexicon import (
    UNSPACED_LANGUAGES,
    WORD,
    WordClass,
    blank,
    lexicon,
    tokens,
)
from vault_indexer.answer.check.numbers import quantities
from vault_indexer.search import function_words, irregular_forms
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.stem import stem
from vault_indexer.text.tokens import RUN

_LEAST_SHARED = 4
_LONGEST_ENDING = 4
"""An inflected or derived form ("Germany", "German") shares at least 4 letters, and the longer word has at
most 4 more: so it also shares half of that."""

_GERMAN_PARTICIPLE = re.compile("(?:ab|an|auf|aus|bei|ein|her|hin|los|mit|nach|vor|weg|zu)ge(?=.{3})")
"""What precedes the verb in the participle of a separable verb ("abgeholt" of "holt … ab")."""

_LEAST_PART = 5
_LANGUAGES_OF_COMPOUNDS = ("de", "nl", "sv", "da", "nb", "no")

_TITLES = ("Dr", "Fr", "Hr", "Mr", "Mrs", "Ms", "Prof", "Sr", "Sra", "St")
NO_TITLE = "".join(rf"(?<!\b{title})" for title in _TITLES)
"""Matches where no title ends, whose full stop ends nothing."""

_SENTENCE_MARK = re.compile(rf"(?<![A-Za-z0-9])[,.:]|{NO_TITLE}[,.:](?!\S)|[;—–()，；：、。!?！？\n]+")
CODE = re.compile(
    r"`(?P<span>[^`\n]+)`"
    r"|(?P<token>(?<![\w-])--?[A-Za-z][\w-]*(?:=\S+)?(?!\w)"
    r"|https?://[^\s)>\]]+"
    r"|(?<!\w)[~.]?/[\w.-]+(?:/[\w.-]+)*"
    r"|\b\w+(?:_\w+)+\b"
    r"|\b[a-z]+[A-Z]\w*\b"
    r"|\$[A-Za-z_]\w*"
    r"|\b[A-Za-z]\w+\.[a-z]{1,4}\b(?!\.))",
    re.ASCII,
)
"""Matches code in a text: in backticks, a flag, an address, a path, an identifier, a file."""

_LIMITS: Sequence[WordClass] = (
    "negators",
    "reversing",
    "all",
    "most",
    "some",
    "few",
    "only",
    "possible",
    "necessary",
    "light",
)


def content_words(text: str, language: str) -> dict[str, str]:
    """Returns the content words of a text as written, by their stems. Code, numbers, dates, units, and the
    words in the classes of `Lexicon` are left out. In Chinese and Japanese the content words are the
    characters."""
    plain = blank(text, (match.span() for match in CODE.finditer(text)))
    plain = blank(plain, ((one.start, one.end) for one in find_dates(plain, language)))
    plain = blank(plain, ((one.start, one.end) for one in quantities(plain, language)))
    plain = without_limits(plain, language)
    if language in UNSPACED_LANGUAGES:
        words = {fold(normalize(word)): word for word in WORD.findall(plain)}
        return words | {char: char for run in RUN.findall(plain) for char in run}
    idle = function_words(language)
    return {
        one.stem: plain[one.start : one.end]
        for one in tokens(plain, language)
        if one.folded not in idle and len(one.folded) > 1
    }


def without_limits(text: str, language: str) -> str:
    """Returns the text with blanks in place of the words in the limiting classes of `Lexicon`."""
    for name in _LIMITS:
        text = lexicon(language).without(name, text)
    return text


def unheld_words(own: Mapping[str, str], known: Mapping[str, str], language: str) -> list[str]:
    """Returns the words, as written, that are not a form of a known word."""
    return [word for one, word in own.items() if not is_held(one, known, language)]


def is_held(own: str, known: Collection[str], language: str) -> bool:
    """Whether a stem is known, in any form or as a part of a compound."""
    if own in known:
        return True
    if language in UNSPACED_LANGUAGES:
        return False
    alike = _same_words(language)
    if own in alike and not alike[own].isdisjoint(known):
        return True
    if language == "de" and (prefixed := _GERMAN_PARTICIPLE.match(own)) and own[prefixed.end() :] in known:
        return True
    is_compounded = language in _LANGUAGES_OF_COMPOUNDS
    return any(is_form(own, one) or (is_compounded and _is_part(own, one)) for one in known)


@cache
def _same_words(language: str) -> Mapping[str, frozenset[str]]:
    """Returns the stems of the irregular forms and synonyms of each word, by its stem."""
    found: dict[str, set[str]] = {}
    for group in (*irregular_forms((language,)).values(), *map(str.split, lexicon(language).synonyms)):
        stems = {stem(normalize(word), language) for word in group}
        for one in stems:
            found.setdefault(one, set()).update(stems)
    return {one: frozenset(stems) for one, stems in found.items()}


def is_form(word: str, other: str) -> bool:
    """Whether two words are inflected or derived forms of the same word."""
    shared = 0
    for one, two in zip(word, other, strict=False):
        if one != two:
            break
        shared += 1
    longest = max(len(word), len(other))
    return shared >= _LEAST_SHARED and longest - shared <= _LONGEST_ENDING


def _is_part(word: str, other: str) -> bool:
    short, long = sorted((word, other), key=len)
    return len(short) >= _LEAST_PART and (long.startswith(short) or long.endswith(short))


def clauses(text: str, language: str) -> list[str]:
    """Returns the pieces between commas and words that join clauses. A piece without a content word, date or
    number is joined to its neighbour. A date is in one piece ("am 3. Mai", "March 3, 2020")."""
    dates = find_dates(text, language)
    marks = [
        (mark.start(), mark.end())
        for mark in _SENTENCE_MARK.finditer(text)
        if not any(date.start <= mark.start() < date.end for date in dates)
    ]
    parts = [text[end:start] for (_, end), (start, _) in pairwise([(0, 0), *marks, (len(text), len(text))])]
    found: list[str] = []
    for piece in filter(None, (piece.strip() for part in parts for piece in _split(part, language))):
        if found and not (_says_something(piece, language) and _says_something(found[-1], language)):
            found[-1] += f", {piece}"
        else:
            found.append(piece)
    return found


def _says_something(piece: str, language: str) -> bool:
    has_fact = quantities(piece, language) or find_dates(piece, language)
    return bool(has_fact or content_words(piece, language))


def _split(part: str, language: str) -> list[str]:
    found, start = [], 0
    whole = quantities(part, language)  # "a year and a half"
    for first, last in lexicon(language).find("joins", part):
        if any(one.start < first < one.end for one in whole):
            continue
        found.append(part[start:first])
        start = last
    return [*found, part[start:]]


def clauses_about(clause: str, evidence: Sequence[str], language: str) -> list[str]:
    """Returns the clauses of the evidence on the subject of a clause: those with more than half of their
    content words in it, otherwise those with the largest share, otherwise all."""
    own = content_words(clause, language)
    shares = [(share_held(one, own, language), one) for one in evidence]
    about = [one for share, one in shares if share > 1 / 2]
    best = max((share for share, _ in shares), default=0.0)
    return about or [one for share, one in shares if share == best]


def share_held(text: str, known: Collection[str], language: str) -> float:
    """Returns the share of a text's content words that are known stems."""
    own = content_words(text, language)
    return sum(is_held(one, known, language) for one in own) / len(own) if own else 0.0


def overlap(text: str, other: str, language: str) -> int:
    known = content_words(other, language)
    return sum(is_held(one, known, language) for one in content_words(text, language))


def stems_of(text: str, language: str) -> dict[str, str]:
    return {one.stem: one.normal for one in tokens(text, language)}


def has_contrary(
    here: Mapping[str, object], there: Mapping[str, object], opposites: Mapping[str, frozenset[str]]
) -> bool:
    """Whether a stem in `here` is contrary to one in `there`, and each is only on its own side."""
    return any(
        contrary in there and contrary not in here
        for word in here.keys() - there.keys()
        for contrary in opposites.get(word, ())
    )
