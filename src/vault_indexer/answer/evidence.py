"""Compares a question with a sentence: how much of the question it covers, and whether it contains the
requested kind of answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, reduce
from itertools import dropwhile, takewhile

from vault_indexer.answer.asked_kind import AskedKind, Said
from vault_indexer.answer.check.lexicon import lexicon
from vault_indexer.answer.check.words import has_contrary, stems_of
from vault_indexer.answer.matching import (
    WORD,
    Degrees,
    SentenceTerms,
    degree_of,
    degrees_of,
    is_name,
    is_named,
    is_piece,
    pairs_of,
    roots_of,
    terms_of,
    unmark,
    weigh,
    with_border_pairs,
    without_idle_pairs,
    words_of,
)
from vault_indexer.answer.sentences import Sentence
from vault_indexer.model import NoteRow
from vault_indexer.parse import stem as file_name
from vault_indexer.providers import WORD_LANGUAGES
from vault_indexer.search import QuestionWord, function_words, share_held
from vault_indexer.system import record
from vault_indexer.text.stem import stem

HEADING_SHARE = 0.4
"""The weight, in a sentence's value, of a question word that occurs only in the title or a heading above
it."""

_AGENT = ("er", "or", "r")
"""Who does what a verb says: "owns" asks for an owner, "leitet" for a "Leiter"."""

LEAST_NAMED = 0.6
"""The minimum share of a heading's content words in a question that names it."""

_SPECIFIC = 2
"""The minimum words of a label that a question may name without a subject ("When is the MOT due?")."""

_LONGEST_UNIT = 2
_LONGEST_KIND = 3
"""The maximum words of a property that says of what kind a note is."""

_LEAST_LISTED = 2
"""The minimum words of a question for a list: a kind and a condition."""

_IS = r"\W+(?:is|are|was|were|ist|sind|war|waren|es|son|era|eran|est|sont|était|étaient)\b"

_NUMBER = re.compile(r": [\d.,]+\Z")
_ARTICLE = re.compile(r"\b(?:the|an?)\b")

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

NEARBY_SHARE = 0.7
"""The share of its weight that a question word counts if it occurs only in other sentences of the
passage."""

LEAST_AROUND = 0.55
"""The minimum share of the question's words, by weight, in a sentence, its headings or the sentence before
it; of a long question, words of the weight `LEAST_COVERED` suffice. Without it, 16 of 100 questions that no
note answers are answered, with it 12, and as many others (notebook, four strange vaults)."""


@record
class Evidence:
    """The degree to which a sentence answers a question: the share of the question, in [0, 1], by which it
    ranks; the weight of the question's words that it covers with its headings, title and passage, and of all;
    how surely it contains the kind of answer asked for; whether it lacks a name of the question; whether it
    is the value that the question names."""

    share: float
    covered: float
    total: float
    said: Said
    lacks_name: bool = False
    is_stated: bool = False


@record
class Surroundings:
    """The index terms of the passage of a sentence, of the sentence before it in its paragraph, of all before
    it there, and of the words that the notes also write in lower case, which are not names."""

    passage: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    paragraph: frozenset[str] = frozenset()
    ordinary: frozenset[str] = frozenset()


_NO_EVIDENCE = Evidence(0.0, 0.0, 0.0, "", lacks_name=True)


class Question:
    """A question with its words, compared with sentences. A capitalised word that is one of the titles is a
    name in German, too."""

    def __init__(self, asked: AskedKind, words: Sequence[QuestionWord], titles: Collection[str] = ()) -> None:
        self.asked = asked
        telling = [word for word in words if word.weight and word.terms.isdisjoint(asked.asking)]
        telling = without_idle_pairs(telling, asked.question)
        self.pairs = pairs_of(telling)
        self.ranked = {word.word: word.weight for word in telling}
        self.words = tuple(weigh(word, asked) for word in telling)
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
            if (is_name(word, asked) and not is_piece(word, asked))
            or ((word.written or "")[:1].isupper() and word.written in titles)
        )
        self.act = self._act_asked() if asked.kind == "who" else None
        written, idle = WORD.findall(asked.question.lower()), function_words(asked.language)
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
        if not found or len(WORD.findall(question[: found[0][0]])) > 1:
            return ()
        idle = function_words(language)
        behind = WORD.findall(question[found[0][1] :])[:2]
        nouns = list(takewhile(lambda word: word.lower() not in idle, behind))
        return tuple(word for word in self.told if word.written in nouns)

    def evidence(self, sentence: Sentence, around: Surroundings) -> Evidence:
        title, place = _title_and_place(sentence)
        label = self._terms_of_label(sentence, title)
        is_other = sentence.is_section and not self._names(sentence.headings[-1], sentence.note.row.language)
        if is_other or self._is_of_other_name(sentence) or (sentence.property_name and label is None):
            return _NO_EVIDENCE
        text, said = self._said_in(sentence, label, around.ordinary)
        terms = self._terms_around(sentence, text, label, around)
        said = said if self._has_act(said, terms, text, place, sentence.note.row.language) else ""
        found = self._compared(sentence, text, said, label, terms)
        beside = terms.placed | with_border_pairs(around.paragraph, self.pairs)
        lacks = self._lacks(sentence, beside, found.covered / (found.total or 1.0))
        return replace(found, lacks_name=lacks)

    def _terms_around(
        self, sentence: Sentence, text: str, label: frozenset[str] | None, around: Surroundings
    ) -> SentenceTerms:
        row, language = sentence.note.row, sentence.note.row.language
        own = terms_of(text, language) | (label or frozenset())
        classes = _classes_of(row) if sentence.property_name else ()
        placed = own.union(terms_of(_title_and_place(sentence)[1], language), classes)
        before, passage = around.before, around.passage
        if sentence.header or sentence.is_section or label is not None:
            passage = frozenset()  # the other values are about others
        elif (pronouns := lexicon(language).find("pronouns", text)) and pronouns[0][0] == 0:
            before = before.union(*(around.paragraph & word.terms for word in self.names))
        return SentenceTerms(*(with_border_pairs(one, self.pairs) for one in (own, placed, before, passage)))

    def _has_act(self, said: Said, terms: SentenceTerms, text: str, place: str, language: str) -> bool:
        """Whether a sentence that may name a person also has the verb behind "who", or need not."""
        is_sure = said == "value" and self.act not in self.relations
        if not said or is_sure or self.act is None or language not in WORD_LANGUAGES:
            return True
        where = (terms.own, text) if said == "word" else (terms.placed, f"{place}\n{text}")
        return degree_of(self.act, *where, language) > 0

    def _compared(
        self, sentence: Sentence, text: str, said: Said, label: frozenset[str] | None, terms: SentenceTerms
    ) -> Evidence:
        """Compares the words of the question with those of a sentence and around it (see `degrees_of`)."""
        language = sentence.note.row.language
        title, place = _title_and_place(sentence)
        words = self._without_relations(self.words if said == "word" else self.told, label, terms.placed)
        subject = [word for word in words if not word.terms.isdisjoint(terms_of(title, language))]
        is_of_be = bool(self.being.search(text))  # "The lid is green" does not say "colour"
        if self.attribute and not (is_of_be or lexicon(language).find("relations", text)):
            within = (terms.placed, f"{place}\n{text}", language)
            said = said if any(degree_of(word, *within) for word in self.attribute) else ""
        degrees = {word.word: degrees_of(word, terms, text, place, language) for word in words}
        if self._is_of_other(words, subject, label, degrees) or self._is_contrary(degrees, text, language):
            said = ""
        shares = self._shares_of_subject(words, subject) if self.is_of_having or not is_of_be else {}
        heading_share = 1.0 if sentence.is_section or label is not None else HEADING_SHARE
        nearby_share = 0.0 if said == "word" and self.asked.kind != "why" else NEARBY_SHARE
        ranked = sum(self.ranked[word] for word in degrees) or 1.0
        share = covered = total = 0.0
        for word in words:
            degree, weight = degrees[word.word], shares.get(word.word, 1.0) * word.weight
            held = degree.here + heading_share * (degree.around - degree.here)
            share += self.ranked[word.word] * held / ranked
            covered += weight * (degree.there + nearby_share * (degree.nearby - degree.there))
            is_optional = self._is_light(word) and self.asked.kind != "why"
            total += 0.0 if is_optional and not degree.nearby else weight
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
        if not all(is_named(word, terms) for word in self.names):
            return True
        headings, language = " \n".join(sentence.headings), sentence.note.row.language
        is_reason_missing = self.asked.kind == "why" and covered_share < LEAST_OF_WHY
        return is_reason_missing and not self.asked.is_asked_by(headings, language)

    def _said_in(
        self, sentence: Sentence, label: frozenset[str] | None, ordinary: frozenset[str]
    ) -> tuple[str, Said]:
        """Returns the relevant text of a quote, and how surely it contains the kind of answer asked for. If
        that is a certain kind, only the first line of a list or code and the lines with one are relevant."""
        row, language = sentence.note.row, sentence.note.row.language
        above = (row.title, *sentence.headings) if label is None else (sentence.readable.partition(":")[2],)

        def said_by(text: str) -> Said:
            return self.asked.said_by(text, " \n".join(above), language, ordinary)

        text = sentence.readable
        if self.asked.kind == "who" and sentence.is_code:
            said: Said = ""
        elif not sentence.is_composed or self.asked.kind in ("", "how"):
            said = said_by(text)
        else:
            first, *lines = text.split("\n")
            text = "\n".join((first, *filter(said_by, lines)))
            said = said_by(text)
        if label is None:
            return text, said
        if self.asked.is_of_person(sentence.label, language):
            said = said or "word"  # "author: jd42"
        if self.asked.kind == "count" and _NUMBER.search(text):  # "serves: 4"
            known = label | self.asked.counted | terms_of(_title_and_place(sentence)[0], language)
            said = said if any(word.terms.isdisjoint(known) for word in self.told) else "value"
        return text, said

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
        must not outweigh the question about it ("What colour does Grey Heron have?")."""
        if self.asked.kind or len(subject) == len(words):
            return {}
        weights = [word.weight for word in subject]
        return {word.word: max(weights) / sum(weights) for word in subject}

    def _is_of_other_name(self, sentence: Sentence) -> bool:
        """Whether a sentence or its last heading has only the other one of two names that the title joins
        ("Mum and Dad")."""
        row, language = sentence.note.row, sentence.note.row.language
        parts = [terms_of(part, language) for part in _split_at_joins(row.title, language)]
        asked = [part for part in parts if any(not part.isdisjoint(word.terms) for word in self.told)]
        if not asked or len(asked) == len(parts):
            return False
        below = " \n".join(heading for heading in sentence.headings if heading != row.title)
        own = sentence_terms(sentence) | terms_of(below, language)
        return all(map(own.isdisjoint, asked)) and not all(map(own.isdisjoint, parts))

    def _names(self, name: str, language: str) -> bool:
        """Whether the question contains most content words of a name."""
        idle = function_words(language)
        own = [word for word in WORD.findall(name) if word.lower() not in idle and len(word) > 1]
        held = [word for word in own if not roots_of(word, language).isdisjoint(self._roots(language))]
        return bool(held) and len(held) >= LEAST_NAMED * len(own)

    def _terms_of_label(self, sentence: Sentence, title: str) -> frozenset[str] | None:
        """Returns the terms of the words with which the question names the label of a sentence. Returns None
        if it does not name all of the label, or a label of one word and nothing else, or if the title has a
        word of it."""
        language = sentence.note.row.language
        parts = [part for part in WORD.findall(sentence.label) if len(part) > _LONGEST_UNIT]
        if not parts:  # most sentences have no label
            return None
        roots = [roots_of(part, language) for part in parts]
        label = frozenset[str]().union(*roots)
        asked = self._with_agents(self._roots(language)).union(*(word.terms for word in self.told))
        if any(map(asked.isdisjoint, roots)) or not label.isdisjoint(roots_of(title, language)):
            return None
        named = [word for word in self.told if not label.isdisjoint(self._with_agents(unmark(word.terms)))]
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
        own, of_note = sentence_terms(sentence), _kinds_of(row)
        kinds = [word for word in self.kinds if not word.terms.isdisjoint(of_note)]
        lacking = [word for word in needed if word.terms.isdisjoint(own)]
        is_listed = bool(kinds) and len(lacking) < len(needed) and all(word in kinds for word in lacking)
        return share_held(self.told, own) if is_listed else 0.0

    def is_defined_by(self, sentence: Sentence) -> bool:
        """Whether a sentence begins with the term of a question such as "What is …?"."""
        language = sentence.note.row.language
        idle = function_words(language)
        first = [word for word in WORD.findall(sentence.readable) if word.lower() not in idle]
        terms = terms_of(" ".join(first[: len(self.told)]), language)
        return self.is_definition and not any(word.terms.isdisjoint(terms) for word in self.told)

    def is_other_subject(self, title: str, titles: Iterable[str]) -> bool:
        """Whether a title has the words of another one that the question has all words of, and besides only
        words that the question does not have."""
        words, asked = words_of(title), words_of(self.asked.question)
        return any(
            own and own < words and own <= asked and asked.isdisjoint(words - own)
            for own in map(words_of, titles)
        )

    def _roots(self, language: str) -> frozenset[str]:
        return roots_of(self.asked.question, language)


def is_answer(evidence: Evidence) -> bool:
    """Whether a quote with this evidence contains the kind of answer asked for and covers enough words."""
    if not evidence.said or evidence.lacks_name:
        return False
    worth = evidence.covered - MISSED_SHARE * (evidence.total - evidence.covered)
    least = LEAST_STATED if evidence.is_stated else LEAST_COVERED
    return worth >= min(least, LEAST_SHARE * evidence.total)


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
    """Returns the index terms of possible kinds of a note: folders, tags, short properties and title."""
    values = (str(value) for value in row.frontmatter.values())
    short = (value for value in values if len(value.split()) <= _LONGEST_KIND)
    return terms_of(" \n".join((*short, row.title)), row.language) | _classes_of(row)


def _classes_of(row: NoteRow) -> frozenset[str]:
    """Returns the index terms of the folders and tags of a note."""
    return terms_of(" \n".join((*row.path.split("/")[:-1], *row.tags)), row.language)


def sentence_terms(sentence: Sentence) -> frozenset[str]:
    return terms_of(sentence.readable, sentence.note.row.language)
