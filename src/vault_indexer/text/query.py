"""The words of a query as the keyword index knows them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.language import detect
from vault_indexer.text.terms import VARIANT_MARK, QueryTerm, TermClass
from vault_indexer.text.tokens import LONGEST_TERM, RUN, WORD, compound_parts, concepts, run_terms

VARIANT_WEIGHT = 0.7
"""What one occurrence of another form counts beside one of the exact form.

On XQuAD (question to paragraph, BM25F alone) Hit@1 in en, es, ru was .924 .917 .891 at 0.3, .924 .920 .908 at
0.7, .921 .913 .907 at 1.0, and .913 .895 .795 without stems.
"""

OTHER_LANGUAGE_WEIGHT = 0.7
"""What a match by the stem of a language counts that the query is probably not written in."""

PART_WEIGHT = 0.5
"""What a part of a compound (`main` of `src/main.rs`) counts beside the whole."""

_TOKEN = re.compile(f"{RUN.pattern}|{WORD.pattern}")


def analyze_query(text: str, languages: Sequence[str], *, typing: bool = False) -> list[QueryTerm]:
    """The query's words in order, each once; a word that stands there twice weighs twice.

    `languages` are those of the vault, most frequent first: a word is tried by the stems of each, since
    a query is too short to be sure of its own. With `typing` the last word also stands for all that begin
    with it.
    """
    own = detect(text, languages)
    ordered = [own, *(one for one in languages if one != own)] if own else list(languages)
    found: dict[tuple[TermClass, ...], QueryTerm] = {}
    for term in _terms(text, ordered or [""]):
        known = found.get(term.classes)
        found[term.classes] = replace(known, weight=known.weight + term.weight) if known else term
    terms = list(found.values())
    if typing and terms and not text[-1].isspace():
        terms = _with_open_end(terms)
    return terms


def _terms(text: str, languages: Sequence[str]) -> Iterator[QueryTerm]:
    for match in _TOKEN.finditer(text):
        token, start = match[0], match.start()
        if RUN.match(token):
            yield from _run_terms(token, start)
            continue
        whole = token.strip("_") or token
        yield _word_term(whole, languages, 1.0, start, match.end())
        at = 0
        for part in compound_parts(whole):
            found = token.find(part, at)
            if found < 0:  # written in a form that normalization changes
                yield _word_term(part, languages, PART_WEIGHT, start, match.end())
                continue
            at = found + len(part)
            yield _word_term(part, languages, PART_WEIGHT, start + found, start + at)


def _run_terms(run: str, start: int) -> Iterator[QueryTerm]:
    """Pairs of characters; a single character stands for all pairs that it begins."""
    *pairs, last = run_terms(run)
    for pair in pairs:
        yield QueryTerm(pair, (TermClass(pair),), 1.0, start, start + len(run))
    if not pairs:
        yield QueryTerm(last, (TermClass(last),), 1.0, start, start + len(run), prefix=True)


def _word_term(word: str, languages: Sequence[str], weight: float, start: int, end: int) -> QueryTerm:
    exact = normalize(word)[:LONGEST_TERM]
    classes: list[TermClass] = []
    for language in languages:
        one = _term_class(exact, language)
        if not any(set(one.variants) <= set(other.variants) for other in classes):
            classes.append(replace(one, weight=OTHER_LANGUAGE_WEIGHT) if classes else one)
    return QueryTerm(word, tuple(classes), weight, start, end)


@lru_cache(maxsize=1 << 14)
def _term_class(exact: str, language: str) -> TermClass:
    """The exact form, and all that stands for the same stem: marked variants, and words that are the stem."""
    stems = dict.fromkeys((*concepts(exact, language), fold(exact)))
    variants = [VARIANT_MARK + one for one in stems] + [one for one in stems if one != exact]
    return TermClass(exact, tuple((one, VARIANT_WEIGHT) for one in variants))


def _with_open_end(terms: list[QueryTerm]) -> list[QueryTerm]:
    last = max(terms, key=lambda term: (term.end, -term.start))
    return [replace(term, prefix=True) if term is last else term for term in terms]
