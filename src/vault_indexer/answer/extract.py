"""Answers without a model, by quoting the sentences of the passages that cover most of the question and
say what it asks for.

The constants were chosen on the tuning halves of the sets of `benchmarks/ask.py` and
`benchmarks/ask_table.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, reduce
from itertools import dropwhile, pairwise, takewhile
from typing import NamedTuple

from vault_indexer.answer.check.facts import has_contrary, stems_of
from vault_indexer.answer.check.lexicon import lexicon
from vault_indexer.answer.check.numbers import value_of_word
from vault_indexer.answer.pairs import pairs_of, with_border_pairs, without_idle_pairs
from vault_indexer.answer.question import AskedKind, Said
from vault_indexer.answer.quotable import whole_steps
from vault_indexer.answer.sentences import Sentence
from vault_indexer.model import Hit, NoteRow
from vault_indexer.parse import stem as file_name
from vault_indexer.providers import WORD_LANGUAGES, word_vectors
from vault_indexer.search import QuestionWord, function_words, share_held
from vault_indexer.system import record
from vault_indexer.text.fold import fold
from vault_indexer.text.stem import stem
from vault_indexer.text.terms import VARIANT_MARK
from vault_indexer.text.tokens import analyze

RANK_SHARE = 0.7
"""The part of a sentence's value that depends on the score of its hit. The rest depends only on the share of
the question that the sentence covers."""

HEADING_SHARE = 0.4
"""The weight, in a sentence's value, of a question word that occurs only in the title or a heading above
it."""

CODE_SHARE = 0.5
"""The weight of a line of code relative to a sentence of prose."""

BEGUN_SHARE = 0.8
"""The weight of a question word that occurs in a sentence only with an ending that no stemmer removes."""

SHORTEST_BEGUN = 4
LONGEST_ENDING = 5
"""The minimum letters of such a word, and the maximum letters of its ending."""

DEFINED_SHARE = 2.0
"""The weight of a sentence that begins with the term that the question asks to define."""

STATED_SHARE = 3.0
"""The weight of a property or another labelled value that the question names by its label."""

OTHER_SUBJECT_SHARE = 0.5
"""The weight of a sentence of a note about something else ("Giant wolf spider") where another note has the
subject of the question as its title ("Giant spider")."""

_AGENT = ("er", "or", "r")
"""Who does what a verb says: "owns" asks for an owner, "leitet" for a "Leiter"."""

NOVELTY = 0.1
"""The weight of the similarity to sentences already chosen (maximal marginal relevance, Carbonell 1998)."""

OF_ONE_HIT = 2
"""The maximum number of quotes from one hit. With one, 7 to 9 more of a hundred answers are missed (tuning
halves)."""

LEAST_WORTH = 0.4
"""Quotes with less than this share of the best one's value are left out. That removes one of three quotes and
loses less than one answer in a hundred."""

LEAST_OF_BEST = 0.95
"""The minimum weight of the question's words that a quote covers, relative to the best one of its note: the
next row of a table, or the next sentence, is often about something else."""

LEAST_NAMED = 0.6
"""The minimum share of a heading's content words in a question that names it."""

LEAST_OF_NAME = 0.75
SHORTEST_NAME = 6
"""A name may have another ending ("Ctenophora", "ctenophores"): the minimum share of its letters that are the
same, and the minimum letters of such a name."""

_SPECIFIC = 2
"""The minimum words of a label that a question may name without a subject ("When is the MOT due?")."""

_LONGEST_UNIT = 2
_LONGEST_KIND = 3
"""The maximum words of a property that says of what kind a note is."""

_LEAST_LISTED = 2
"""The minimum words of a question for a list: a kind and a condition."""

_IS = r"\W+(?:is|are|was|were|ist|sind|war|waren|es|son|era|eran|est|sont|était|étaient)\b"
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r": [\d.,]+\Z")
_ARTICLE = re.compile(r"\b(?:the|an?)\b")

LEAST_ALIKE = 0.5
"""The minimum cosine of two words of similar meaning."""

LEAST_COVERED = 1.0
LEAST_STATED = 1.1
MISSED_SHARE = 0.5
LEAST_SHARE = 0.8
"""A quote answers if the weight of the question's words that it covers, less `MISSED_SHARE` times the weight
of the others, reaches `LEAST_COVERED` (`LEAST_STATED` if it is a value with a label, which others may have,
too), or in a short question `LEAST_SHARE` of the weight of all. A rare word weighs up to 1. So a quote may
lack a few words of a long question, but hardly any of a short one."""

LEAST_OF_WHY = 0.85
"""The minimum share of a question for reasons that a quote covers, unless it is below a heading such as "Why
…". A question for reasons states a fact, and a reason for less than it is one for something else."""

LIGHT_SHARE = 0.3
"""The weight of a word that says little, such as "get" or "need", relative to another one."""

NEARBY_SHARE = 0.7
"""The share of its weight that a question word counts if it occurs only in other sentences of the
passage."""

LEAST_AROUND = 0.55
"""The minimum share of the question's words, by weight, in a sentence, its headings or the sentence before
it; of a long question, words of the weight `LEAST_COVERED` suffice. Without it, 16 of 100 questions that no
note answers are answered, with it 12, and as many others (notebook, four strange vaults)."""

RELEVANCE_WORTH = 8.0
LEAST_SUPPORT = 4.5
"""Passages with a weak verdict may answer if `RELEVANCE_WORTH` times the relevance of the best hit plus the
weight of the question words in one sentence reach this sum. That requires 2.3 rare words at the lowest
relevance, half a word at the highest. Then 89% of all questions far from the vault's topics are declined, and
4% of those with an answer (XQuAD en, es, ru and zh, means). With 4, it is 86% and 3%, and "what is the
capital of Peru" is not declined for notes on a program; with 5, it is 91% and 5%."""


@record
class Evidence:
    """How far a sentence answers a question: the share of the question, in [0, 1], by which it ranks; the
    weight of the question's words that it covers with its headings, title and passage, and of all; how surely
    it says what is asked for; whether it lacks a name of the question; whether it is the value that the
    question names."""

    share: float
    covered: float
    total: float
    said: Said
    lacks_name: bool = False
    is_stated: bool = False


_NO_EVIDENCE = Evidence(0.0, 0.0, 0.0, "", lacks_name=True)


class Degrees(NamedTuple):
    """The degrees, in [0, 1], to which a word is in a sentence, also in its title and headings, in these or
    the sentence before it, and in these or its passage."""

    here: float
    there: float
    around: float
    nearby: float


@record
class _Candidate:
    sentence: Sentence
    worth: float
    terms: frozenset[str]
    evidence: Evidence


class Question:
    """A question with its words, compared with sentences. A capitalised word that is one of the titles is a
    name in German, too."""

    def __init__(self, asked: AskedKind, words: Sequence[QuestionWord], titles: Collection[str] = ()) -> None:
        self.asked = asked
        telling = [word for word in words if word.weight and word.terms.isdisjoint(asked.asking)]
        telling = without_idle_pairs(telling, asked.question)
        self.pairs = pairs_of(telling)
        self.ranked = {word.word: word.weight for word in telling}
        self.words = tuple(_weighed(word, asked) for word in telling)
        self.told = tuple(word for word in self.words if word.terms.isdisjoint(asked.implied)) or self.words
        own = lexicon(asked.language)
        self.relations = [word for word in self.words if own.find("relations", word.word)]
        self.kinds = () if asked.kind else self._kinds_asked()
        self.is_of_having = bool(own.find("relations", asked.question))
        self.attribute = [word for word in self.kinds if self.is_of_having and word not in self.relations]
        subjects = "|".join(re.escape(word.written or word.word) for word in self.told)
        self.being = re.compile(rf"\b(?:{subjects or '(?!)'}){_IS}", re.IGNORECASE)
        self.names = tuple(
            word
            for word in self.told
            if (_is_name(word, asked) and not _is_piece(word, asked))
            or ((word.written or "")[:1].isupper() and word.written in titles)
        )
        self.act = self._act_asked() if asked.kind == "who" else None
        written, idle = _WORD.findall(asked.question.lower()), function_words(asked.language)
        named = list(dropwhile(idle.__contains__, written))
        self.is_definition = not asked.kind and len(named) < len(written) and idle.isdisjoint(named)

    def _act_asked(self) -> QuestionWord | None:
        """Returns the verb behind "who", or None if a noun follows ("who was the …")."""
        own = lexicon(self.asked.language)
        if belonging := next((word for word in self.words if own.find("belonging", word.word)), None):
            return belonging
        first = next((word for word in self.words if (word.written or word.word) in self.asked.rest), None)
        if first is None or first in self.names or self._is_light(first):
            return None
        before = self.asked.rest.partition(first.written or first.word)[0]
        return None if _ARTICLE.search(before) else first

    def _is_light(self, word: QuestionWord) -> bool:
        return word.weight < self.ranked[word.word]

    def _kinds_asked(self) -> tuple[QuestionWord, ...]:
        """Returns the words next to "which" that may name a kind of notes ("Which Indian recipes …?")."""
        question, language = self.asked.question, self.asked.language
        found = lexicon(language).find("selecting", question)
        if not found or len(_WORD.findall(question[: found[0][0]])) > 1:
            return ()
        idle = function_words(language)
        behind = _WORD.findall(question[found[0][1] :])[:2]
        nouns = list(takewhile(lambda word: word.lower() not in idle, behind))
        return tuple(word for word in self.told if word.written in nouns)

    def evidence(
        self,
        sentence: Sentence,
        passage: frozenset[str],
        ordinary: frozenset[str] = frozenset(),
        before: frozenset[str] = frozenset(),
        paragraph: frozenset[str] = frozenset(),
    ) -> Evidence:
        row, language = sentence.note.row, sentence.note.row.language
        title, place = _title_and_place(sentence)
        label = self._terms_of_label(sentence, title)
        is_other = sentence.is_section and not self._names(sentence.headings[-1], language)
        if is_other or self._is_of_other_name(sentence) or (sentence.property_name and label is None):
            return _NO_EVIDENCE
        value = () if label is None else (sentence.readable.partition(":")[2],)
        text, said = self._said_in(sentence, " \n".join(value or (row.title, *sentence.headings)), ordinary)
        if label is not None and self.asked.is_of_person(sentence.label, language):
            said = said or "word"  # "author: jd42"
        if label is not None and self.asked.kind == "count" and _NUMBER.search(text):  # "serves: 4"
            known = label | self.asked.counted | _terms_of(title, language)
            said = said if any(word.terms.isdisjoint(known) for word in self.told) else "value"
        own = _terms_of(text, language) | (label or frozenset())
        classes = _classes_of(row) if sentence.property_name else ()
        if sentence.header or sentence.is_section or label is not None:
            passage = frozenset()  # the other values are about others
        elif (pronouns := lexicon(language).find("pronouns", text)) and pronouns[0][0] == 0:
            before = before.union(*(paragraph & word.terms for word in self.names))
        terms = (own, own.union(_terms_of(place, language), classes), before, passage, paragraph)
        own, placed, before, passage, paragraph = (with_border_pairs(one, self.pairs) for one in terms)
        is_sure = said == "value" and self.act not in self.relations
        if said and not is_sure and self.act is not None and language in WORD_LANGUAGES:
            where = (own, text) if said == "word" else (placed, f"{place}\n{text}")
            said = said if _degree(self.act, *where, language) else ""
        found = self._compared(sentence, text, said, label, (own, placed, before, passage))
        lacks = self._lacks(sentence, placed | paragraph, found.covered / (found.total or 1.0))
        return replace(found, lacks_name=lacks)

    def _compared(
        self,
        sentence: Sentence,
        text: str,
        said: Said,
        label: frozenset[str] | None,
        terms: tuple[frozenset[str], ...],
    ) -> Evidence:
        """Compares the words of the question with those of a sentence and around it (see `_degrees`)."""
        language = sentence.note.row.language
        title, place = _title_and_place(sentence)
        placed = terms[1]
        words = self._without_relations(self.words if said == "word" else self.told, label, placed)
        subject = [word for word in words if not word.terms.isdisjoint(_terms_of(title, language))]
        is_of_be = bool(self.being.search(text))  # "The lid is green" does not say "colour"
        if self.attribute and not (is_of_be or lexicon(language).find("relations", text)):
            within = (placed, f"{place}\n{text}", language)
            said = said if any(_degree(word, *within) for word in self.attribute) else ""
        shares = self._shares_of_subject(words, subject) if self.is_of_having or not is_of_be else {}
        heading_share = 1.0 if sentence.is_section or label is not None else HEADING_SHARE
        is_by_word = said == "word" and self.asked.kind != "why"
        degrees = {word.word: _degrees(word, terms, text, place, language) for word in words}
        if self._is_of_other(words, subject, label, degrees) or self._is_contrary(degrees, text, language):
            said = ""
        ranked = sum(self.ranked[word] for word in degrees) or 1.0
        weights = {word.word: shares.get(word.word, 1.0) * word.weight for word in words}
        share, covered, total = 0.0, 0.0, sum(weights.values())
        is_optional = {word.word for word in words if self._is_light(word) and self.asked.kind != "why"}
        for word, degree in degrees.items():
            held = degree.here + heading_share * (degree.around - degree.here)
            share += self.ranked[word] * held / ranked
            nearby = 0.0 if is_by_word else NEARBY_SHARE * (degree.nearby - degree.there)
            covered += weights[word] * (degree.there + nearby)
            total -= weights[word] * (word in is_optional and not degree.nearby)
        return Evidence(share, covered, total, said, is_stated=label is not None)

    def _is_of_other(
        self,
        words: Sequence[QuestionWord],
        subject: Sequence[QuestionWord],
        label: frozenset[str] | None,
        degrees: Mapping[str, Degrees],
    ) -> bool:
        """Whether a sentence names the subject of the question and nothing that is asked of it, or a label
        and no word of its subject."""
        if label is not None:
            others = [word for word in words if word.terms.isdisjoint(label)]
        else:
            is_named_by_kind = len(self.told) < len(self.words)  # "cost"
            known = subject if is_named_by_kind else (*subject, *self.names)
            others = [word for word in words if word not in known and not self._is_light(word)]
        around = sum(word.weight * degrees[word.word].around for word in words)
        is_elsewhere = around < min(LEAST_COVERED, LEAST_AROUND * sum(word.weight for word in words))
        found = [
            degrees[word.word].there if word is self.act else degrees[word.word].around for word in others
        ]
        is_without = not any(degree.there for degree in degrees.values())
        return is_elsewhere or is_without or (bool(others) and not any(found))

    def _is_contrary(self, degrees: Mapping[str, Degrees], text: str, language: str) -> bool:
        """Whether a text has the contrary of a word that it lacks ("joined" for "leave"), or lacks one that
        compares several things ("longest")."""
        own = lexicon(language)
        lacking = [word for word, degree in degrees.items() if not degree.there]
        if any(own.find("superlatives", word) for word in lacking):
            return True
        asked = {root: word for word in lacking if (root := stem(word, language)) in own.opposites}
        return bool(asked) and has_contrary(asked, stems_of(text, language), own.opposites)

    def _lacks(self, sentence: Sentence, terms: frozenset[str], covered_share: float) -> bool:
        """Whether a sentence, with these terms around it, lacks a name of the question, or covers too little
        of a question for a reason, and no heading above asks for one."""
        if not all(_is_named(word, terms) for word in self.names):
            return True
        headings, language = " \n".join(sentence.headings), sentence.note.row.language
        is_reason_missing = self.asked.kind == "why" and covered_share < LEAST_OF_WHY
        return is_reason_missing and not self.asked.is_asked_by(headings, language)

    def _said_in(self, sentence: Sentence, place: str, ordinary: frozenset[str]) -> tuple[str, Said]:
        """Returns the text of a quote that counts, and how surely it says what is asked for. If a certain
        kind of thing is asked for, only the first line of a list or code and those that say it count."""
        language = sentence.note.row.language
        if self.asked.kind == "who" and sentence.is_code:
            return sentence.readable, ""
        if not sentence.is_composed or self.asked.kind in ("", "how"):
            return sentence.readable, self.asked.said_by(sentence.readable, place, language, ordinary)
        first, *lines = sentence.readable.split("\n")
        saying = [line for line in lines if self.asked.said_by(line, place, language, ordinary)]
        text = "\n".join((first, *saying))
        return text, self.asked.said_by(text, place, language, ordinary)

    def _without_relations(
        self, words: tuple[QuestionWord, ...], label: frozenset[str] | None, placed: frozenset[str]
    ) -> tuple[QuestionWord, ...]:
        """Returns the words without verbs such as "belong" if a value has all the others in its place, also
        one that is not of its label. Otherwise returns them all."""
        if label is None:
            return words
        others = tuple(word for word in words if word not in self.relations)
        is_whole = not any(word.terms.isdisjoint(placed) for word in others)
        return others if is_whole and any(word.terms.isdisjoint(label) for word in others) else words

    def _shares_of_subject(
        self, words: Sequence[QuestionWord], subject: Sequence[QuestionWord]
    ) -> dict[str, float]:
        """Returns the shares of the weight of the words of a title: together they name one subject, which
        does not outweigh what is asked of it ("What colour does Grey Heron have?")."""
        if self.asked.kind or len(subject) == len(words):
            return {}
        weights = [word.weight for word in subject]
        return {word.word: max(weights) / sum(weights) for word in subject}

    def _is_of_other_name(self, sentence: Sentence) -> bool:
        """Whether a sentence or its last heading has only the other one of two names that the title joins
        ("Mum and Dad")."""
        row, language = sentence.note.row, sentence.note.row.language
        parts = [_terms_of(part, language) for part in _split_at_joins(row.title, language)]
        asked = [part for part in parts if any(not part.isdisjoint(word.terms) for word in self.told)]
        if not asked or len(asked) == len(parts):
            return False
        below = " \n".join(heading for heading in sentence.headings if heading != row.title)
        own = _terms(sentence) | _terms_of(below, language)
        return all(map(own.isdisjoint, asked)) and not all(map(own.isdisjoint, parts))

    def _names(self, name: str, language: str) -> bool:
        """Whether the question contains most content words of a name."""
        idle = function_words(language)
        own = [word for word in _WORD.findall(name) if word.lower() not in idle and len(word) > 1]
        held = [word for word in own if not _roots(word, language).isdisjoint(self._roots(language))]
        return bool(held) and len(held) >= LEAST_NAMED * len(own)

    def _terms_of_label(self, sentence: Sentence, title: str) -> frozenset[str] | None:
        """Returns the terms of the words with which the question names the label of a sentence. Returns None
        if it does not name all of the label, or a label of one word and nothing else, or if the title has a
        word of it."""
        language = sentence.note.row.language
        parts = [part for part in _WORD.findall(sentence.label) if len(part) > _LONGEST_UNIT]
        if not parts:  # most sentences have no label
            return None
        roots = [_roots(part, language) for part in parts]
        label = frozenset[str]().union(*roots)
        asked = self._with_agents(self._roots(language)).union(*(word.terms for word in self.told))
        if any(map(asked.isdisjoint, roots)) or not label.isdisjoint(_roots(title, language)):
            return None
        named = [word for word in self.told if not label.isdisjoint(self._with_agents(_unmarked(word.terms)))]
        is_whole = len(named) < len(self.told) or len(parts) >= _SPECIFIC
        return frozenset[str]().union(*(word.terms for word in named)) if is_whole else None

    def _with_agents(self, roots: frozenset[str]) -> frozenset[str]:
        agents = {root + ending for root in roots for ending in _AGENT} if self.asked.kind == "who" else set()
        return roots | agents

    def listed_share(self, sentence: Sentence) -> float:
        """Returns the share of a question such as "Which spells need a diamond?" that a sentence contains, or
        0 unless its note is of the asked kind and it contains the rest, without verbs such as "need"."""
        needed = [word for word in self.told if word not in self.relations]
        if not self.kinds or len(needed) < _LEAST_LISTED or sentence.is_section:
            return 0.0
        row = sentence.note.row
        if sentence.property_name and self._terms_of_label(sentence, row.title) is None:
            return 0.0
        own, of_note = _terms(sentence), _kinds_of(row)
        kinds = [word for word in self.kinds if not word.terms.isdisjoint(of_note)]
        lacking = [word for word in needed if word.terms.isdisjoint(own)]
        is_listed = bool(kinds) and len(lacking) < len(needed) and all(word in kinds for word in lacking)
        return share_held(self.told, own) if is_listed else 0.0

    def is_defined_by(self, sentence: Sentence) -> bool:
        """Whether a sentence begins with the term of a question such as "What is …?"."""
        language = sentence.note.row.language
        idle = function_words(language)
        first = [word for word in _WORD.findall(sentence.readable) if word.lower() not in idle]
        terms = _terms_of(" ".join(first[: len(self.told)]), language)
        return self.is_definition and not any(word.terms.isdisjoint(terms) for word in self.told)

    def is_other_subject(self, title: str, titles: Iterable[str]) -> bool:
        """Whether a title has the words of another one that the question has all words of, and besides only
        words that the question does not have."""
        words, asked = _words(title), _words(self.asked.question)
        return any(
            own and own < words and own <= asked and asked.isdisjoint(words - own)
            for own in map(_words, titles)
        )

    def _roots(self, language: str) -> frozenset[str]:
        return _roots(self.asked.question, language)


def _title_and_place(sentence: Sentence) -> tuple[str, str]:
    """Returns the title of the sentence's note with its aliases and the file's name, and this with the
    headings above."""
    row = sentence.note.row
    title = _names_of(row.title, row.aliases, row.path)
    return title, " \n".join((title, *sentence.headings))


@lru_cache(maxsize=256)
def _names_of(title: str, aliases: tuple[str, ...], path: str) -> str:
    return " \n".join(dict.fromkeys((title, *aliases, file_name(path))))


@lru_cache(maxsize=256)
def _split_at_joins(title: str, language: str) -> list[str]:
    joins = lexicon(language).find("joins", title)
    marked = reduce(lambda text, span: f"{text[: span[0]]}&{text[span[1] :]}", reversed(joins), title)
    return re.split(r"[&,/+]", marked)


def _kinds_of(row: NoteRow) -> frozenset[str]:
    """Returns the index terms of what a note may be: its folders, tags, short properties, and its title."""
    values = (str(value) for value in row.frontmatter.values())
    short = (value for value in values if len(value.split()) <= _LONGEST_KIND)
    return _terms_of(" \n".join((*short, row.title)), row.language) | _classes_of(row)


def _classes_of(row: NoteRow) -> frozenset[str]:
    """Returns the index terms of the folders and tags of a note."""
    return _terms_of(" \n".join((*row.path.split("/")[:-1], *row.tags)), row.language)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _roots(text: str, language: str) -> frozenset[str]:
    """Returns the index terms of a text, those of stems without their mark."""
    return _unmarked(_terms_of(text, language))


def _unmarked(terms: frozenset[str]) -> frozenset[str]:
    return frozenset(term.removeprefix("~") for term in terms)


def _is_piece(word: QuestionWord, asked: AskedKind) -> bool:
    """Whether the question contains the word only as a part of a longer one ("Get" in "Get-Verb")."""
    return not re.search(
        rf"(?<!\w)(?<!\w[-_.]){re.escape(word.written or word.word)}(?![-_.]?\w)", asked.question
    )


def _is_named(word: QuestionWord, terms: frozenset[str]) -> bool:
    """Whether a text with these terms contains a name: as written, in a form of the same word, all its
    parts ("1620–21" for "1620-21"), or a number in words."""
    if _degree(word, terms, "", "") >= BEGUN_SHARE:
        return True
    parts = [part.lower() for part in _WORD.findall(word.word)]
    if len(parts) > 1:
        return terms.issuperset(parts)
    name = word.word.lower()
    if name.isdecimal():
        return any(value_of_word(term) == int(name) for term in terms)
    shared = math.ceil(LEAST_OF_NAME * len(name))
    return len(name) >= SHORTEST_NAME and any(
        term[:shared] == name[:shared] and abs(len(term) - len(name)) <= 2 for term in terms
    )


def _weighed(word: QuestionWord, asked: AskedKind) -> QuestionWord:
    """Returns the word with a low weight if it says little. Otherwise it does not match words that do,
    although they share a stem ("founded", "is found")."""
    words = lexicon(asked.language)
    if words.find("light", word.word):
        return replace(word, weight=word.weight * LIGHT_SHARE)
    light = words.classes["light"].phrases
    alike = set(words.alike.get(stem(word.word, asked.language), ()))
    if words.find("belonging", word.word):
        alike.update(noun for (noun,) in words.classes["owners"].phrases)
    terms = frozenset(term for term in word.terms if (term,) not in light)
    terms = terms.union(*((fold(one), VARIANT_MARK + fold(one)) for one in alike))
    if words.language == "de":  # "wartet", "gewartet"; "Emmas", "Emma"
        terms = terms.union(term.replace("~", "~ge") if "~" in term else f"ge{term}" for term in terms)
        terms |= {term.removesuffix("s") for term in terms if (word.written or "")[:1].isupper()}
    return replace(word, terms=terms)


def _is_name(word: QuestionWord, asked: AskedKind) -> bool:
    written = word.written or word.word
    at = asked.question.find(written)
    is_first = at <= len(asked.question) - len(asked.question.lstrip(" \"'¿¡(«„“"))
    if any(char.isdigit() for char in written) or re.search(r"\w[-_.]\w|[a-z][A-Z]", written):
        return True
    return asked.language != "de" and not is_first and written[:1].isupper()


@lru_cache(maxsize=4096)
def _terms_of(text: str, language: str) -> frozenset[str]:
    return frozenset(analyze(text, language))


def _degrees(
    word: QuestionWord, terms: tuple[frozenset[str], ...], text: str, place: str, language: str
) -> Degrees:
    """Compares a word with a sentence. `terms` are the index terms of the sentence, of it with its place, of
    the sentence before it, and of its passage."""
    own, placed, before, passage = terms
    here = _degree(word, own, text, language)
    there = max(here, _degree(word, placed, place, language))
    around, nearby = (max(there, _degree(word, one, "", language)) for one in (before, passage))
    return Degrees(here, there, around, nearby)


def _degree(word: QuestionWord, terms: frozenset[str], text: str, language: str) -> float:
    """Returns the degree, in [0, 1], to which a text with these terms contains a word or one like it."""
    if not word.terms.isdisjoint(terms):
        return 1.0
    if _is_begun(word, terms):
        return BEGUN_SHARE
    if not text or language not in WORD_LANGUAGES:
        return 0.0
    alike = _likeness(word.word, text)
    return alike if alike >= LEAST_ALIKE else 0.0


@lru_cache(maxsize=8192)
def _likeness(word: str, text: str) -> float:
    vectors = word_vectors()
    numbers = vectors.numbers(text)
    if not len(numbers):
        return 0.0
    cosines = vectors.likeness([word], numbers)
    best = float(cosines.max())
    # NaN, which does not equal itself, is the cosine of a word that the model does not know.
    return best if best == best else 0.0


def _is_begun(word: QuestionWord, terms: frozenset[str]) -> bool:
    begin = word.word.lower()
    least, most = len(begin), len(begin) + LONGEST_ENDING
    return least >= SHORTEST_BEGUN and any(
        term.startswith(begin) and least < len(term) <= most for term in terms
    )


def choose_quotes(
    sentences: Sequence[Sentence], hits: Sequence[Hit], question: Question, limit: int
) -> list[Sentence]:
    """Returns at most `limit` sentences that answer the question, best first: the best ones of each hit,
    without repetitions.

    The value of a sentence depends on the share of the question's words that it contains, each weighted by
    its rarity, and on the score of its hit. It is chosen only if it says what the question asks for, and
    covers enough of the question.
    """
    if listed := _of_several_notes(sentences, question):
        return listed[:limit]
    passages = _passage_terms(sentences)
    ordinary = _ordinary_terms(sentences) if question.asked.kind == "who" else frozenset()
    titles = {sentence.note.row.title for sentence in sentences}
    others = {title for title in titles if question.is_other_subject(title, titles)}
    of_hits: dict[int, list[_Candidate]] = {}
    paragraph = frozenset[str]()
    for before, sentence in pairwise((*sentences[:1], *sentences)):
        terms = _terms(before) if _follows(sentence, before) else frozenset[str]()
        paragraph = paragraph | terms if terms else terms
        evidence = question.evidence(sentence, passages[sentence.hit], ordinary, terms, paragraph)
        weight = DEFINED_SHARE if question.is_defined_by(sentence) else 1.0
        weight *= STATED_SHARE if evidence.is_stated else 1.0
        weight *= OTHER_SUBJECT_SHARE if sentence.note.row.title in others else 1.0
        candidate = _candidate(sentence, hits[sentence.hit], evidence, weight)
        if candidate.worth > 0 and is_answer(candidate.evidence):
            of_hits.setdefault(sentence.hit, []).append(candidate)
    best = [
        candidate
        for candidates in of_hits.values()
        for candidate in sorted(candidates, key=lambda candidate: -candidate.worth)[:OF_ONE_HIT]
    ]
    stated = max((one.evidence.covered for one in best if one.evidence.is_stated), default=0.0)
    best = [one for one in best if not one.evidence.is_stated or one.evidence.covered >= stated]
    best = best if question.asked.kind in ("", "how", "why") else _without_lesser(best)
    if question.asked.kind == "how":
        best = [replace(one, sentence=whole_steps(one.sentence)) for one in best]
    return [candidate.sentence for candidate in _without_repeats(best, limit)]


def _without_lesser(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Returns the candidates that cover nearly as much of the question as the best one of their note."""
    most: dict[int, float] = {}
    for one in candidates:
        note = id(one.sentence.note)
        most[note] = max(one.evidence.covered, most.get(note, 0.0))
    return [one for one in candidates if one.evidence.covered >= LEAST_OF_BEST * most[id(one.sentence.note)]]


def _of_several_notes(sentences: Sequence[Sentence], question: Question) -> list[Sentence]:
    """Returns the best sentence of each note that a list question asks for, best hit first. Returns nothing
    for a single note."""
    of_notes: dict[tuple[str, str], list[tuple[float, Sentence]]] = {}
    for sentence in sentences:
        if share := question.listed_share(sentence):
            note = sentence.note
            of_notes.setdefault((note.vault, note.row.path), []).append((share, sentence))
    best = [max(own, key=lambda one: (one[0], -len(one[1].readable)))[1] for own in of_notes.values()]
    return sorted(best, key=lambda sentence: sentence.hit) if len(best) > 1 else []


def _follows(sentence: Sentence, before: Sentence) -> bool:
    """Whether a sentence directly follows another one in a paragraph."""
    between = sentence.note.text[before.end : sentence.start]
    is_behind = sentence.note is before.note and before.end <= sentence.start and before is not sentence
    return is_behind and not between.strip() and between.count("\n") < 2


def is_answer(evidence: Evidence) -> bool:
    """Whether a quote with this evidence says what the question asks for, of what it asks."""
    if not evidence.said or evidence.lacks_name:
        return False
    worth = evidence.covered - MISSED_SHARE * (evidence.total - evidence.covered)
    least = LEAST_STATED if evidence.is_stated else LEAST_COVERED
    return worth >= min(least, LEAST_SHARE * evidence.total)


def _passage_terms(sentences: Sequence[Sentence]) -> dict[int, frozenset[str]]:
    found: dict[int, set[str]] = {}
    for one in sentences:
        found.setdefault(one.hit, set()).update(_terms_of(one.readable, one.note.row.language))
    return {hit: frozenset(terms) for hit, terms in found.items()}


def _ordinary_terms(sentences: Sequence[Sentence]) -> frozenset[str]:
    """Returns the index terms of the words that the sentences write in lower case."""
    found: set[str] = set()
    for one in sentences:
        small = " ".join(word for word in _WORD.findall(one.readable) if word.islower())
        found |= _terms_of(small, one.note.row.language)
    return frozenset(found)


def is_supported(sentences: Sequence[Sentence], hits: Sequence[Hit], words: Sequence[QuestionWord]) -> bool:
    """Whether a sentence covers enough of the question for the passages to answer it, although their
    relevance is weak."""
    total = sum(word.weight for word in words)
    held = max((share_held(words, _terms(one)) for one in sentences), default=0.0)
    relevance = hits[0].relevance if hits else 0.0
    return RELEVANCE_WORTH * relevance + total * held >= LEAST_SUPPORT


def _terms(sentence: Sentence) -> frozenset[str]:
    return _terms_of(sentence.readable, sentence.note.row.language)


def _candidate(sentence: Sentence, hit: Hit, evidence: Evidence, weight: float) -> _Candidate:
    worth = weight * evidence.share * (1 - RANK_SHARE + RANK_SHARE * hit.score)
    worth *= CODE_SHARE if sentence.is_code else 1.0
    return _Candidate(sentence, worth, _terms(sentence), evidence)


def _without_repeats(candidates: list[_Candidate], limit: int) -> list[_Candidate]:
    chosen: list[_Candidate] = []
    left = sorted(candidates, key=lambda candidate: -candidate.worth)
    while left and len(chosen) < limit:
        best = max(left, key=lambda candidate: candidate.worth - NOVELTY * _similarity(candidate, chosen))
        left.remove(best)
        if chosen and best.worth < LEAST_WORTH * chosen[0].worth:
            break
        if _similarity(best, chosen) < 1 and not any(_overlap(best.sentence, one.sentence) for one in chosen):
            chosen.append(best)
    return chosen


def _overlap(one: Sentence, other: Sentence) -> bool:
    return one.note is other.note and one.start < other.end and other.start < one.end


def _similarity(one: _Candidate, chosen: Iterable[_Candidate]) -> float:
    """Returns the largest Jaccard similarity of terms with a chosen sentence."""
    return max((len(one.terms & o.terms) / len(one.terms | o.terms) for o in chosen), default=0.0)
