"""The words of a query as the keyword index knows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.language import detect_query
from vault_indexer.text.scripts import LETTER
from vault_indexer.text.stem import stem_with_marks
from vault_indexer.text.terms import VARIANT_MARK, QueryTerm, TermClass
from vault_indexer.text.tokens import LONGEST_TERM, RUN, WORD, compound_parts, concepts, run_terms

# Hiragana and katakana: two ways to write each sound of Japanese.


_HIRAGANA = "".join(map(chr, (*range(0x3041, 0x3097), 0x309D, 0x309E)))
_KATAKANA = "".join(chr(ord(one) + 0x60) for one in _HIRAGANA)
_TO_HIRAGANA = str.maketrans(_KATAKANA, _HIRAGANA)
_TO_KATAKANA = str.maketrans(_HIRAGANA, _KATAKANA)


def other_kana(text: str) -> tuple[str, ...]:
    """The text in hiragana and in katakana, as far as these differ from it."""
    written = (text.translate(_TO_HIRAGANA), text.translate(_TO_KATAKANA))
    return tuple(one for one in dict.fromkeys(written) if one != text)


VARIANT_WEIGHT = 0.7
"""The weight of an occurrence of another form, relative to the exact form.

On XQuAD (question to paragraph, BM25F alone) Hit@1 in en, es, ru was .924 .917 .891 at 0.3, .924 .920 .908 at
0.7, .921 .913 .907 at 1.0, and .913 .895 .795 without stems.
"""

OTHER_LANGUAGE_WEIGHT = 0.7
"""What a match by the stem of a language counts that the query is probably not written in."""

FOLDED_WEIGHT = 0.3
"""What a match counts that only holds without the marks which the query's word has (`ma` for `mạ`).

So low that a word repeated without its marks stays behind one occurrence with them: BM25 makes of many
occurrences at most 2.2. On the tuning half of XQuAD vi Hit@1 was .857 with marks ignored, .925 at 0.01,
.924 at 0.3 and at 0.5; on es .916, and .918 .916 .919 at 0.3, 0.5, 0.7.
"""

PART_WEIGHT = 0.5
"""The weight of a part of a compound (`main` of `src/main.rs`), relative to the whole."""

_ALWAYS_MARKED = frozenset({"vi"})
"""Languages in which nearly every sentence has marks: in a query with some, a word without is meant so."""

_MARKS_OPTIONAL = re.compile("[\u0400-\u1dff]")
"""Scripts whose marks writers leave out at will: Cyrillic (ё), Hebrew and Arabic (vowel points, hamza), Indic
scripts (nukta). There a form without marks is as good as an inflected one."""

_HYPHENATED = re.compile(f"{LETTER}+(?:-{LETTER}+)+")

_APOSTROPHE = re.compile(f"({LETTER}+)['’]({LETTER}+)")
ENDS_AFTER_APOSTROPHE = frozenset({"tr", "az"})
"""Languages that put the endings of a name behind an apostrophe."""

_OTHER_ENCODING = str.maketrans("șțşţ", "şţșț")
"""Romanian letters with a comma below; old keyboards and fonts have the Turkish ones with a cedilla."""

_TOKEN = re.compile(f"{RUN.pattern}|{WORD.pattern}")


def analyze_query(text: str, languages: Sequence[str], *, typing: bool = False) -> list[QueryTerm]:
    """The query's words in order, each once; a word that stands there twice weighs twice.

    `languages` are those of the vault, most frequent first: a word is tried by the stems of each, since
    a query is too short to be sure of its own. With `typing` the last word also stands for all that begin
    with it.

    Marks count where the query has them: `việt` finds `viet` at `FOLDED_WEIGHT`, while `viet` finds `việt`
    like an inflected form, since it was probably typed without a keyboard for it.
    """
    own = _language_among(text, languages)
    as_written = own in _ALWAYS_MARKED and _has_marks(text)
    ordered = (own, *(one for one in languages if one != own)) if own else tuple(languages)
    found: dict[tuple[TermClass, ...], QueryTerm] = {}
    for term in _terms(text, ordered or ("",), as_written):
        known = found.get(term.classes)
        found[term.classes] = replace(known, weight=known.weight + term.weight) if known else term
    terms = list(found.values())
    if typing and terms and not text[-1].isspace():
        terms = _with_open_end(terms)
    return terms


def is_hyphenated(word: str) -> bool:
    """Whether the word is words with hyphens between them: others write it as one word, or with spaces."""
    return _HYPHENATED.fullmatch(word) is not None


def hyphenated_parts(word: str) -> list[str]:
    return word.split("-")


def part_at_apostrophe(word: str, language: str) -> str:
    """The part of a word with an apostrophe that says what it is about, `Newton` of `Newton's` and `homme` of
    `l'homme`, which is the longer one, but in Turkish the first one; "" of other words."""
    if not (found := _APOSTROPHE.fullmatch(word)):
        return ""
    first, second = found.groups()
    return first if language in ENDS_AFTER_APOSTROPHE or len(first) >= len(second) else second


def _language_among(text: str, languages: Sequence[str]) -> str:
    """The query's language if it is one of these or none is known, else ""."""
    found = detect_query(text, languages)
    return found if found in languages or not languages else ""


def _has_marks(text: str) -> bool:
    return not text.isascii() and fold(exact := normalize(text)) != exact


def _terms(text: str, languages: tuple[str, ...], as_written: bool) -> Iterator[QueryTerm]:
    word_term = partial(_word_term, languages, as_written)
    for match in _TOKEN.finditer(text):
        token, start = match[0], match.start()
        if RUN.match(token):
            yield from _run_terms(token, start)
            continue
        whole = token.strip("_") or token
        written = word_term(whole, 1.0, start, match.end())
        joined = word_term(whole.replace("-", ""), 1.0, start, match.end()) if is_hyphenated(whole) else None
        yield replace(written, classes=written.classes + joined.classes) if joined else written
        at = 0
        for part in hyphenated_parts(whole) if joined else compound_parts(whole):
            found = token.find(part, at)
            if found < 0:  # written in a form that normalization changes
                yield word_term(part, PART_WEIGHT, start, match.end())
                continue
            at = found + len(part)
            yield word_term(part, PART_WEIGHT, start + found, start + at)


def _run_terms(run: str, start: int) -> Iterator[QueryTerm]:
    """Pairs of characters; a single character stands for all pairs that it begins."""
    *pairs, last = run_terms(run)
    for pair in pairs:
        yield QueryTerm(pair, _run_classes(pair), 1.0, start, start + len(run))
    if not pairs:
        yield QueryTerm(last, _run_classes(last), 1.0, start, start + len(run), prefix=True)


@lru_cache(maxsize=1 << 14)
def _run_classes(characters: str) -> tuple[TermClass, ...]:
    """What is the same sound in the other kana counts as an inflected form does."""
    return (TermClass(characters, tuple((one, VARIANT_WEIGHT) for one in other_kana(characters))),)


def _word_term(
    languages: tuple[str, ...], as_written: bool, word: str, weight: float, start: int, end: int
) -> QueryTerm:
    classes = _word_classes(normalize(word)[:LONGEST_TERM], languages, as_written)
    return QueryTerm(word, classes, weight, start, end)


@lru_cache(maxsize=1 << 14)
def _word_classes(exact: str, languages: tuple[str, ...], as_written: bool) -> tuple[TermClass, ...]:
    """The classes of a word in all the languages. A search looks scores up by them: while they are the same
    objects, that compares nothing."""
    classes: list[TermClass] = []
    for number, language in enumerate(languages):
        for one in _term_classes(exact, language, as_written):
            # A class of folded forms does not stand for one that keeps the marks: it weighs less.
            known = [other for other in classes if one.folded or not other.folded]
            if not any(set(one.variants) <= set(other.variants) for other in known):
                scale = OTHER_LANGUAGE_WEIGHT if number else 1.0
                classes.append(one._replace(weight=one.weight * scale))
    return tuple(classes)


@lru_cache(maxsize=1 << 14)
def _term_classes(exact: str, language: str, as_written: bool) -> tuple[TermClass, ...]:
    """The exact form and all that stands for it; where marks count, the forms with them are a class of their
    own in front. `as_written`: they also count for a word without marks."""
    folded = fold(exact)
    stems = dict.fromkeys((*concepts(exact, language), folded))
    every = TermClass(exact, _variants(stems, exact))
    if _MARKS_OPTIONAL.search(exact) or (folded == exact and not as_written):
        return (every,)
    return _with_marks(exact, folded, language), every._replace(weight=FOLDED_WEIGHT, folded=True)


def _with_marks(exact: str, folded: str, language: str) -> TermClass:
    """The exact form and those of the same stem, but not the word that has lost its marks alone."""
    own = stem_with_marks(exact, language)
    # The index holds stems without marks only. One that is another word than `folded` is a form of the word.
    stems = [VARIANT_MARK + fold(own)] if own != exact else []
    stems += [one for one in (own, fold(own)) if one not in (exact, folded)]
    if folded != exact:
        stems.append(VARIANT_MARK + exact)  # a part of camelCase
    variants = [(one, VARIANT_WEIGHT) for one in dict.fromkeys(stems)]
    other = exact.translate(_OTHER_ENCODING)
    return TermClass(exact, (*([(other, 1.0)] if other != exact else []), *variants))


def _variants(stems: Iterable[str], exact: str) -> tuple[tuple[str, float], ...]:
    variants = [VARIANT_MARK + one for one in stems] + [one for one in stems if one != exact]
    return tuple((one, VARIANT_WEIGHT) for one in variants)


def _with_open_end(terms: list[QueryTerm]) -> list[QueryTerm]:
    last = max(terms, key=lambda term: (term.end, -term.start))
    return [replace(term, prefix=True) if term is last else term for term in terms]
