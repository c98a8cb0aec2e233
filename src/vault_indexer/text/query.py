"""Analyzes the words of a query into terms of the keyword index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.language import detect_query
from vault_indexer.text.scripts import LETTER
from vault_indexer.text.stem import stem_with_marks
from vault_indexer.text.terms import VARIANT_MARK, QueryTerm, TermClass
from vault_indexer.text.tokens import LONGEST_TERM, RUN, WORD, compound_parts, concepts, run_terms

# Hiragana and katakana are two ways to write each sound of Japanese.


_HIRAGANA = "".join(map(chr, (*range(0x3041, 0x3097), 0x309D, 0x309E)))
_KATAKANA = "".join(chr(ord(char) + 0x60) for char in _HIRAGANA)
_TO_HIRAGANA = str.maketrans(_KATAKANA, _HIRAGANA)
_TO_KATAKANA = str.maketrans(_HIRAGANA, _KATAKANA)


def other_kana(text: str) -> tuple[str, ...]:
    """Returns the text in hiragana and in katakana, without forms equal to it."""
    forms = (text.translate(_TO_HIRAGANA), text.translate(_TO_KATAKANA))
    return tuple(form for form in dict.fromkeys(forms) if form != text)


VARIANT_WEIGHT = 0.7
"""The weight of an occurrence of another form, relative to the exact form.

On XQuAD (question to paragraph, BM25F alone) Hit@1 in en, es, ru was .924 .917 .891 at 0.3, .924 .920 .908 at
0.7, .921 .913 .907 at 1.0, and .913 .895 .795 without stems.
"""

OTHER_LANGUAGE_WEIGHT = 0.7
"""The weight of a match by the stem of a language other than the query's probable one."""

FOLDED_WEIGHT = 0.3
"""The weight of a match without the marks of the query's word (`ma` for `mạ`).

It is so low that many occurrences without the marks rank below one occurrence with them: BM25 scores many
occurrences at 2.2 at most. On the tuning half of XQuAD vi Hit@1 was .857 with marks ignored, .925 at 0.01,
.924 at 0.3 and at 0.5; on es .916, and .918 .916 .919 at 0.3, 0.5, 0.7.
"""

PART_WEIGHT = 0.5
"""The weight of a part of a compound (`main` of `src/main.rs`), relative to the whole."""

_ALWAYS_MARKED = frozenset({"vi"})
"""Languages where nearly every sentence has marks: in a query with some, a word without is intended."""

_MARKS_OPTIONAL = re.compile("[\u0400-\u1dff]")
"""Scripts whose marks are optional: Cyrillic (ё), Hebrew and Arabic (vowel points, hamza), Indic scripts
(nukta). A form without marks counts like an inflected one there."""

_HYPHENATED = re.compile(f"{LETTER}+(?:-{LETTER}+)+")

_APOSTROPHE = re.compile(f"({LETTER}+)['’]({LETTER}+)")
ENDS_AFTER_APOSTROPHE = frozenset({"tr", "az"})
"""Languages that write an apostrophe between a name and its endings."""

_OTHER_ENCODING = str.maketrans("șțşţ", "şţșț")
"""Romanian letters have a comma below; old keyboards and fonts write the Turkish cedilla instead."""

_TOKEN = re.compile(f"{RUN.pattern}|{WORD.pattern}")


def analyze_query(text: str, languages: Sequence[str], *, typing: bool = False) -> list[QueryTerm]:
    """Returns the query's words in order, each once. A word that occurs twice has twice the weight.

    `languages` are those of the vault, most frequent first. Each word is searched for by the stems of all of
    them, because the language of a short query is uncertain. With `typing` the last word also matches all
    words that begin with it.

    Marks count if the query has them: `việt` finds `viet` at `FOLDED_WEIGHT`, while `viet` finds `việt` like
    an inflected form, because the user probably had no keyboard for it.
    """
    language = detect_query(text, languages)
    own = language if language in languages or not languages else ""
    as_written = own in _ALWAYS_MARKED and fold(exact := normalize(text)) != exact
    ordered = (own, *(language for language in languages if language != own)) if own else tuple(languages)
    distinct: dict[tuple[TermClass, ...], QueryTerm] = {}
    for term in _terms(text, ordered or ("",), as_written):
        same = distinct.get(term.classes)
        distinct[term.classes] = replace(same, weight=same.weight + term.weight) if same else term
    terms = list(distinct.values())
    if typing and terms and not text[-1].isspace():
        last = max(terms, key=lambda term: (term.end, -term.start))
        terms[terms.index(last)] = replace(last, prefix=True)
    return terms


def is_hyphenated(word: str) -> bool:
    """Whether hyphens join words in it, which may also be written as one word or with spaces."""
    return _HYPHENATED.fullmatch(word) is not None


def part_at_apostrophe(word: str, language: str) -> str:
    """Returns the main part of a word with an apostrophe, such as `Newton` of `Newton's` and `homme` of
    `l'homme`. It is the longer part, but the first one in Turkish. Returns "" for other words."""
    if not (match := _APOSTROPHE.fullmatch(word)):
        return ""
    first, second = match.groups()
    return first if language in ENDS_AFTER_APOSTROPHE or len(first) >= len(second) else second


def _terms(text: str, languages: tuple[str, ...], as_written: bool) -> Iterator[QueryTerm]:

    def word_term(word: str, weight: float, start: int, end: int) -> QueryTerm:
        classes = _word_classes(normalize(word)[:LONGEST_TERM], languages, as_written)
        return QueryTerm(word, classes, weight, start, end)

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
        for part in whole.split("-") if joined else compound_parts(whole):
            found = token.find(part, at)
            if found < 0:  # written in a form that normalization changes
                yield word_term(part, PART_WEIGHT, start, match.end())
                continue
            at = found + len(part)
            yield word_term(part, PART_WEIGHT, start + found, start + at)


def _run_terms(run: str, start: int) -> Iterator[QueryTerm]:
    """Yields pairs of characters, or a single character, which matches all pairs that begin with it."""
    *pairs, last = run_terms(run)
    for pair in pairs:
        yield QueryTerm(pair, _run_classes(pair), 1.0, start, start + len(run))
    if not pairs:
        yield QueryTerm(last, _run_classes(last), 1.0, start, start + len(run), prefix=True)


@lru_cache(maxsize=1 << 14)
def _run_classes(characters: str) -> tuple[TermClass, ...]:
    """Returns the class of the characters. The same sound in the other kana counts like an inflected form."""
    return (TermClass(characters, tuple((form, VARIANT_WEIGHT) for form in other_kana(characters))),)


@lru_cache(maxsize=1 << 14)
def _word_classes(exact: str, languages: tuple[str, ...], as_written: bool) -> tuple[TermClass, ...]:
    """Returns the classes of a word in all the languages. They are cached because a search looks up scores by
    them, and the lookup of an identical object needs no comparison."""
    classes: list[TermClass] = []
    for number, language in enumerate(languages):
        for added in _term_classes(exact, language, as_written):
            # A class of folded forms cannot replace one with marks, because it has a lower weight.
            comparable = [other for other in classes if added.folded or not other.folded]
            if not any(set(added.variants) <= set(other.variants) for other in comparable):
                scale = OTHER_LANGUAGE_WEIGHT if number else 1.0
                classes.append(added._replace(weight=added.weight * scale))
    return tuple(classes)


@lru_cache(maxsize=1 << 14)
def _term_classes(exact: str, language: str, as_written: bool) -> tuple[TermClass, ...]:
    """Returns the class of the exact form and its variants. If marks count, a separate class of the forms
    with marks precedes it. With `as_written` marks also count for a word without them."""
    folded = fold(exact)
    stems = dict.fromkeys((*concepts(exact, language), folded))
    every = TermClass(exact, _variants(stems, exact))
    if _MARKS_OPTIONAL.search(exact) or (folded == exact and not as_written):
        return (every,)
    return _with_marks(exact, folded, language), every._replace(weight=FOLDED_WEIGHT, folded=True)


def _with_marks(exact: str, folded: str, language: str) -> TermClass:
    """Returns the class of the exact form and forms of its stem, without that which only lacks marks."""
    own = stem_with_marks(exact, language)
    # The index contains stems without marks only. A stem that differs from `folded` is a form of the word.
    stems = [VARIANT_MARK + fold(own)] if own != exact else []
    stems += [form for form in (own, fold(own)) if form not in (exact, folded)]
    if folded != exact:
        stems.append(VARIANT_MARK + exact)  # a part of camelCase
    variants = [(form, VARIANT_WEIGHT) for form in dict.fromkeys(stems)]
    other = exact.translate(_OTHER_ENCODING)
    return TermClass(exact, (*([(other, 1.0)] if other != exact else []), *variants))


def _variants(stems: Iterable[str], exact: str) -> tuple[tuple[str, float], ...]:
    variants = [VARIANT_MARK + form for form in stems] + [form for form in stems if form != exact]
    return tuple((form, VARIANT_WEIGHT) for form in variants)
