"""The words of a query in a vault of several languages, without the stems of languages that it hardly has."""

from __future__ import annotations

from vault_indexer.search.terms.vector_weight import language_of
from vault_indexer.search.word_statistics import WordStatistics
from vault_indexer.text.query import analyze_query
from vault_indexer.text.terms import QueryTerm


def query_words(statistics: WordStatistics, text: str, *, typing: bool = False) -> list[QueryTerm]:
    """The words as `analyze_query` gives them. The stems of a rare language count where the query is in it,
    and for words that no note holds otherwise: Czech would find `not` for `note` in a vault of English notes
    of which one was taken for Czech."""
    languages = statistics.languages
    words = analyze_query(text, languages, typing=typing)
    rare = statistics.rare_languages - {language_of(text, languages)}
    if not rare:
        return words
    by_place = {(one.start, one.end, one.word): one for one in words}
    common = analyze_query(text, [one for one in languages if one not in rare], typing=typing)
    return [
        one if statistics.knows(one) else by_place.get((one.start, one.end, one.word), one) for one in common
    ]
