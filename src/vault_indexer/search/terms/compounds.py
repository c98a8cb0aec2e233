"""Words that are searched for in addition to those of the query: compounds, synonyms and likely spellings.

In German, Dutch and similar languages `Kuchen` must find `Zwetschgenkuchen`, and `Fahrradschlauch` a note
about a `Schlauch`. As with other expansions, only words that are rare in the vault are expanded. On the
questions written for German and Dutch (20 each) nDCG@10 rose from .66 to .77 and from .75 to .82.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice
from types import MappingProxyType

from vault_indexer.model import Correction
from vault_indexer.search.query import Query, ranking_words
from vault_indexer.search.terms.words import WordStatistics, is_common, language_of
from vault_indexer.store import Snapshot
from vault_indexer.store.keywords import edit_distances
from vault_indexer.system import record
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.language import detect, function_words, is_function_word
from vault_indexer.text.query import PART_WEIGHT, analyze_query
from vault_indexer.text.scripts import LETTER
from vault_indexer.text.stem import stem
from vault_indexer.text.terms import QueryTerm, TermClass

COMPOUNDING = frozenset({"da", "de", "et", "fi", "hu", "nb", "nl", "nn", "no", "sv"})
"""The languages (ISO 639-1) that write compounds as one word. Only German and Dutch have been measured."""

COMPOUND_WEIGHT = 0.5
"""The weight of an occurrence in a compound, relative to the word. From .3 to .7 results are the same."""

_SELDOM = 3
"""A word in more chunks than this is searched for without its compounds. A rule of thumb."""

_SHORTEST = 4
"""The minimum letters of a word or part that is searched for, since `Rat` occurs in too many words that are
not compounds of it, and of a word that is corrected, since shorter ones have neighbours by chance."""

_LONGEST = 40
"""The maximum letters of an expanded word: each place to divide it takes time. A rule of thumb."""

_LONG_PART = 5
"""The minimum letters of both parts of a query word if the vault contains only one of them. A first part that
occurs only within compounds must be longer than this. A rule of thumb."""

_REST = 3
"""The minimum letters of a compound before the word. After the word it must have one more, because an
inflection adds up to three. A rule of thumb."""

_ENDING = 2
"""The maximum letters of inflection after the stem of a compound's last part. A rule of thumb."""

_MOST = 16
"""Limit of compounds for a word; the most frequent are kept. A rule of thumb."""

_MOST_WORDS = 8
"""Limit of words of a query that are expanded, because each takes up to milliseconds. A rule of thumb."""

Words = tuple[QueryTerm, ...]


def with_compounds(
    snapshot: Snapshot, statistics: WordStatistics, terms: Iterable[QueryTerm], language: str
) -> Iterator[QueryTerm]:
    """Yields the words of a query in `language`. Words that are rare in the vault also match compounds with
    them. A word that is in no chunk and no compound is followed by its parts that the vault contains."""
    frequency_of = statistics.largest_document_frequency
    left = _MOST_WORDS if language in COMPOUNDING else 0
    for term in terms:
        frequency = frequency_of(term.forms) if left and _is_content_word(term, language) else _SELDOM + 1
        if frequency > _SELDOM:
            yield term
            continue
        left -= 1
        widened = _widened(snapshot, term, language)
        yield widened
        if not frequency and widened is term:
            yield from _parts(snapshot, statistics, term, language)


def _is_content_word(term: QueryTerm, language: str) -> bool:
    if not _SHORTEST <= len(term.word) <= _LONGEST or not term.word.isalpha() or term.prefix:
        return False
    return not is_function_word(term.word, language)


def _widened(snapshot: Snapshot, term: QueryTerm, language: str) -> QueryTerm:
    """Returns the term with a class for each compound in the vault. A document gets its best class."""
    compounds = _compounds_with(snapshot, term.word, language)
    if not compounds:
        return term
    added = (TermClass(compound, (), COMPOUND_WEIGHT) for compound in compounds)
    return replace(term, classes=(*term.classes, *added))


def _compounds_with(snapshot: Snapshot, word: str, language: str) -> list[str]:
    """Returns the most frequent words of the vault that begin or end with a form of the word."""
    root = stem(normalize(word), language)
    if len(root) < _SHORTEST:
        return []
    words = snapshot.keywords.lexicon.words_with(root)
    compounds = [entry for entry in words if entry.term.isalpha() and _is_compound(fold(entry.term), root)]
    compounds.sort(key=lambda entry: (-entry.frequency, entry.term))
    return [entry.term for entry in compounds[:_MOST]]


def _is_compound(word: str, root: str) -> bool:
    before = word.find(root)
    if before == 0 and len(word) > len(root) + _REST:
        return True
    # The last occurrence: only an inflection may follow the last part of a compound.
    before = word.rfind(root)
    return before >= _REST and len(word) - before - len(root) <= _ENDING


def _parts(
    snapshot: Snapshot, statistics: WordStatistics, term: QueryTerm, language: str
) -> Iterator[QueryTerm]:
    """Yields the parts of the word that the vault contains: both parts at the division with the longest
    possible first part, or if no division has both, the longest single part. They weigh the same as
    hyphenated parts."""
    word = normalize(term.word)
    single: Words = ()
    longest = 0
    # The longest first part comes first: `Haustür|schlüssel` before `Haus|türschlüssel`.
    for border in range(len(word) - _SHORTEST, _SHORTEST - 1, -1):
        parts = word[:border], word[border:]
        known = [_known_part(statistics, part, language) for part in parts]
        known[0] = known[0] or _known_beginning(snapshot, parts[0], language)
        if all(known):
            single = (*known[0], *known[1])
            break
        for part, found in zip(parts, known, strict=True):
            if found and len(part) > longest and min(map(len, parts)) >= _LONG_PART:
                single, longest = found, len(part)
    weight = term.weight * PART_WEIGHT
    yield from (replace(part, weight=weight, start=term.start, end=term.end) for part in single)


def _known_part(statistics: WordStatistics, part: str, language: str) -> Words:
    """Returns the part as query words, or none if it is not a word in the vault."""
    if fold(part) in function_words(language):
        return ()
    words = tuple(analyze_query(part, [language]))
    return words if all(statistics.largest_document_frequency(word.forms) for word in words) else ()


def _known_beginning(snapshot: Snapshot, part: str, language: str) -> Words:
    """Returns the part with its compounds; none if it is short or no word begins with it."""
    if fold(part) in function_words(language) or len(part) <= _LONG_PART:
        return ()
    if not snapshot.keywords.lexicon.with_prefix(part, 1):
        return ()
    return tuple(_widened(snapshot, word, language) for word in analyze_query(part, [language]))


# The user's synonyms (`search.synonyms`): other words and phrases for those of a query.


SYNONYM_WEIGHT = 0.6
"""The weight of a synonym relative to the words of the query. It is below 1, so that a note with the query's
own word comes before one with a single synonym of it. A rule of thumb: between another form of a word
(`VARIANT_WEIGHT`) and a compound with it (`COMPOUND_WEIGHT`)."""

Groups = tuple[tuple[str, ...], ...]


@record
class Synonym:
    """A phrase (`searched`) that is searched for in addition to words of a query (`written`)."""

    written: str
    written_words: Words
    searched: str
    searched_words: Words


def find_synonyms(
    groups: Groups, languages: Sequence[str], words: Iterable[QueryTerm]
) -> tuple[Synonym, ...]:
    """Returns for each phrase of a group that occurs in the query, in any form, the other phrases of its
    group. `languages` are those of the vault, whose irregular forms are groups as well."""
    own, words = tuple(languages), tuple(words)
    irregular = irregular_forms(own)
    forms = (form for word in words for form in sorted(word.forms))  # the order of a set differs by process
    found = dict.fromkeys(irregular[form] for form in forms if form in irregular)
    if not (groups or found):
        return ()
    table = _phrases((*groups, *found), own)
    whole = _whole_words(words)
    synonyms: dict[Synonym, None] = {}
    for start, word in enumerate(whole):
        for number in dict.fromkeys(number for form in word.forms for number in table.by_form.get(form, ())):
            phrase = table.phrases[number]
            written = whole[start : start + len(phrase.words)]
            if _are_same(written, phrase.words):
                text = " ".join(term.word for term in written)
                others = (table.phrases[other] for other in table.groups[phrase.group] if other != number)
                synonyms |= {Synonym(text, written, other.text, other.words): None for other in others}
    return tuple(synonyms)


def with_synonyms(terms: Iterable[QueryTerm], synonyms: Sequence[Synonym]) -> list[QueryTerm]:
    """Returns the words of a query with their synonyms. A one-word synonym becomes an additional form of each
    word that it replaces. The words of a longer synonym follow the query's words and share its weight."""
    instead: dict[str, list[QueryTerm]] = {}
    for synonym in synonyms:
        for word in synonym.written_words if len(synonym.searched_words) == 1 else ():
            instead.setdefault(word.word, []).append(synonym.searched_words[0])
    words = []
    for term in terms:
        classes = (form for other in instead.get(term.word, ()) for form in other.classes)
        quieter = tuple(form._replace(weight=form.weight * SYNONYM_WEIGHT) for form in classes)
        words.append(replace(term, classes=(*term.classes, *quieter)) if quieter else term)
    for synonym in synonyms:
        size = len(synonym.searched_words)
        if size > 1:
            # Divided, so that a long synonym does not outweigh the words that the user wrote.
            words += [replace(word, weight=SYNONYM_WEIGHT / size) for word in synonym.searched_words]
    return words


@record
class _Phrase:
    text: str
    words: Words
    group: int


@record
class _Phrases:
    """Phrases by number, and their numbers by group and by the forms of their first word."""

    phrases: tuple[_Phrase, ...]
    groups: tuple[tuple[int, ...], ...]
    by_form: Mapping[str, tuple[int, ...]]


@cache
def irregular_forms(languages: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """Returns the group of each word with irregular forms in these languages, by the word and by its stem."""
    file = files("vault_indexer.search.terms") / "irregular_forms.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    found: dict[str, tuple[str, ...]] = {}
    for language in filter(table.__contains__, languages):
        for group in table[language].split(", "):
            for word in (forms := tuple(group.split())):
                found.setdefault(word, forms)
                found.setdefault(stem(word, language), forms)
    return MappingProxyType(found)


@lru_cache(maxsize=64)
def _phrases(groups: Groups, languages: tuple[str, ...]) -> _Phrases:
    phrases: list[_Phrase] = []
    numbers: list[tuple[int, ...]] = []
    by_form: dict[str, tuple[int, ...]] = {}
    for group, texts in enumerate(groups):
        first = len(phrases)
        analyzed = ((text, _whole_words(analyze_query(text, languages))) for text in dict.fromkeys(texts))
        phrases += [_Phrase(text, words, group) for text, words in analyzed if words]
        numbers.append(tuple(range(first, len(phrases))))
    for number, phrase in enumerate(phrases):
        for form in phrase.words[0].forms:
            by_form[form] = (*by_form.get(form, ()), number)
    return _Phrases(tuple(phrases), tuple(numbers), MappingProxyType(by_form))


def _whole_words(terms: Iterable[QueryTerm]) -> Words:
    """Returns the words without the additional parts of words with a hyphen, a dot or a slash."""
    kept: list[QueryTerm] = []
    for term in terms:
        last = kept[-1] if kept else None
        inside = last is not None and last.start <= term.start and term.end <= last.end
        if not inside or (last is not None and (last.start, last.end) == (term.start, term.end)):
            kept.append(term)
    return tuple(kept)


def _are_same(written: Words, phrase: Words) -> bool:
    pairs = zip(written, phrase, strict=False)
    return len(written) == len(phrase) and all(not one.forms.isdisjoint(other.forms) for one, other in pairs)


# Likely spellings of words that the vault does not contain. They are searched for in addition to the
# words.


CORRECTION_WEIGHT = 0.8
"""The share of a word's weight that its likely spelling gets. The rest remains with the word as written.

With one misspelt word in each question on Obsidian's help (two letters swapped, one dropped, one doubled),
nDCG@10 was .67 to .70 for 0.8, and .66 to .69 for 0.6. It was .62 to .67 if the word as written kept its
whole weight: then no hit can contain the whole query, so the vectors have more weight, and they do not
understand misspelt words.
"""

_LONG = 8
"""From this length more than one edit is allowed: neighbours by chance are few. A rule of thumb."""

_CANDIDATES = 8
"""Limit of neighbours considered. A rule of thumb."""

_FREQUENT = 3
"""A word in at least this number of chunks is unlikely to be a misspelling itself. A rule of thumb."""

_KNOWN_WELL = "en"
"""The language whose common words are nearly all known, and are corrections even if rare in the vault."""

_SPELLING_MOST = 8
"""Limit of words of a query that are corrected. Each takes milliseconds, and a query with more unknown words
is not a misspelling. A rule of thumb."""

_SHORTEST_FORM = 3
_MOST_LANGUAGES = 3
"""Other forms of a word are looked for in this number of languages of the vault. A rule of thumb."""

_LETTERS = re.compile(f"{LETTER}+")


def find_corrections(
    snapshot: Snapshot, statistics: WordStatistics, query: Query, terms: Iterable[QueryTerm]
) -> tuple[Correction, ...]:
    """Returns a likely spelling for each word that is probably misspelt, in the order of the text, or another
    form of a word that no note contains in any form of a known language ("expire", "expires").

    A word is probably misspelt if no note contains any form of it, it is not a common word of any language,
    and no filter of the query requires it as written. Its likely spelling is the nearest frequent word of the
    vault: one edit away, two from eight letters, three from 15. A rare word is accepted if the written one
    has nearly eight letters an edit, or if it is a common word in an English query. No model is involved. A
    query in a language that does not occur in the vault has no corrections. `terms` are the words of the
    query.
    """
    own = language_of(query.text, statistics.languages)
    idle = function_words(own)
    absent = [
        term
        for term in terms
        if len(term.word) >= _SHORTEST_FORM and term.word.isalpha() and term.word.lower() not in idle
    ]
    absent = [term for term in absent if not statistics.knows(term)]
    if not absent:
        return ()
    language = detect(query.text)
    is_foreign = bool(language) and language not in statistics.languages
    usual = (one for one in statistics.languages if one not in statistics.rare_languages)
    languages = dict.fromkeys((own or _KNOWN_WELL, *islice(usual, _MOST_LANGUAGES)))
    corrections: list[Correction] = []
    at = 0  # the end of the last correction: parts of a corrected word are not corrected again
    for term in sorted(absent, key=lambda term: (term.start, -term.end))[:_SPELLING_MOST]:
        if term.start < at:
            continue
        likely = next(filter(None, (_other_form(snapshot, term.word, one) for one in languages)), None)
        is_doubtful = len(term.word) >= _SHORTEST and not is_foreign and not is_common(term.word)
        if likely is None and is_doubtful:
            likely = _likely(snapshot, term.word, own == _KNOWN_WELL)
        if likely:
            at = term.end
            corrections.append(Correction(term.word, likely))
    kept = _words_of_filters(query) if corrections else frozenset()
    return tuple(correction for correction in corrections if _key(correction.written) not in kept)


def with_corrections(
    languages: Sequence[str], terms: Iterable[QueryTerm], corrections: Iterable[Correction]
) -> list[QueryTerm]:
    """Returns the words of a query. A likely spelling follows its word and shares its weight."""
    likely = {correction.written: correction.searched for correction in corrections}
    found: list[QueryTerm] = []
    for term in terms:
        if term.word not in likely:
            found.append(term)
            continue
        found.append(replace(term, weight=term.weight * (1 - CORRECTION_WEIGHT)))
        for added in analyze_query(likely[term.word], languages):
            found.append(replace(added, weight=added.weight * term.weight * CORRECTION_WEIGHT))
    return found


def as_spelt(text: str, corrections: Iterable[Correction]) -> str:
    """Returns the text of a query with the likely spellings in place of its words.

    The vector of this text finds more: nDCG@10 of questions with a typo rose from .963 to .967 (XQuAD en),
    and from .950 to .951 (es). The mean of both vectors is no better. Questions without a typo do not
    change."""
    for correction in corrections:
        text = re.sub(rf"(?<!\w){re.escape(correction.written)}(?!\w)", correction.searched, text)
    return text


def _other_form(snapshot: Snapshot, word: str, language: str) -> str | None:
    """Returns a frequent word of the vault with the same stem. Notes in an unknown language, such as short
    lists, are indexed without stems."""
    root = stem(normalize(word), language)
    near = snapshot.keywords.lexicon.with_prefix(root[: max(len(root) - 1, _SHORTEST_FORM)], _CANDIDATES)
    words = (entry.term for entry in near if entry.term.isalpha() and stem(entry.term, language) == root)
    return next((word for word in words if not is_function_word(word, language)), None)


def _likely(snapshot: Snapshot, word: str, is_english: bool) -> str | None:
    exact = normalize(word)
    near = [entry for entry in snapshot.keywords.lexicon.near(exact, _CANDIDATES) if entry.term.isalpha()]
    is_long = len(exact) >= _LONG
    distances = edit_distances(exact, [entry.term for entry in near])
    for entry, edits in zip(near, distances, strict=True):
        # The list is sorted by likelihood, so a nearer word may still follow.
        if edits > 1 and not is_long:
            continue
        is_near = edits * _LONG <= len(exact) + 1  # "Strachn" for "Strachan"
        if entry.frequency >= _FREQUENT or is_near or (is_english and is_common(entry.term)):
            return entry.term
    return None


def _words_of_filters(query: Query) -> frozenset[str]:
    """Returns the folded words of quoted phrases and of operators. Hits contain them as written."""
    texts = (text for condition in query.conditions for text in ranking_words(condition.node))
    return frozenset(_key(word) for text in texts for word in _LETTERS.findall(text))


def _key(word: str) -> str:
    return fold(normalize(word))
