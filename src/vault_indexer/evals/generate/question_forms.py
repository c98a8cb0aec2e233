"""From what a note states to what a person would ask: what the forms of all languages share.

A form is a pattern of a sentence or a heading and the question that it answers ("To use X, you need Y."
answers "How do I use X?"). A sentence that has none of the forms is no question, and neither is one whose
question would be a fragment or speak of something that only the text around it names. A language is one file
and one row of `candidates.LANGUAGES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

GAP = "\ue000"
"""Stands where a link was. A question must not hold it."""

LEAST_REST = 3
"""Words of what is asked about: "get variables" says too little."""

CHARS_A_READER = 1_000
"""Rule of thumb: help for a program says "you" once in 100 to 500 characters, a specification hardly ever."""

_LEAST_WORDS, _MOST_WORDS = 4, 18
_NOT_TEXT = re.compile(r"[→←|{}<>#=*_`~\[\]\\$]|https?:|\.\.\.|…|[“\"„«].*[”\"“»]|\w\(|\s[?.,:;]|\w:\w")
_NONE = re.compile(r"(?!)")
_LEAST_STEPS = 2
_STEP = re.compile(r"^ {0,3}\d{1,2}[.)] ", re.MULTILINE)
_CODE = re.compile(r"^ {0,3}(```+|~~~+).*?^ {0,3}\1", re.MULTILINE | re.DOTALL)

Form = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]


def forms(*rows: tuple[str, Callable[[re.Match[str]], str]]) -> tuple[Form, ...]:
    """The forms of a table of patterns."""
    return tuple((re.compile(pattern), make) for pattern, make in rows)


@dataclass(frozen=True, slots=True)
class SubjectQuestion:
    """Asks about what a sentence is about, its group `subject`, unless that is one word or more than
    `most_words`, or holds `refused`. `articles` are those that a subject begins with."""

    refused: re.Pattern[str]
    articles: re.Pattern[str]
    most_words: int

    def asks(self, question: str) -> Callable[[re.Match[str]], str]:
        """What makes the question, which names the groups of the match in braces."""

        def make(match: re.Match[str]) -> str:
            text = match["subject"].strip()
            if GAP in text or self.refused.search(text) or not 1 < len(text.split()) <= self.most_words:
                return ""
            subject = self.articles.sub(lambda article: article[0].lower(), text)
            return question.format(**match.groupdict() | {"subject": subject})

        return make


@dataclass(frozen=True, slots=True)
class QuestionForms:
    """The forms of one language.

    `openings` is what goes from the beginning of a sentence or heading. `is_clear` says whether a question
    can be understood by itself; it is asked of each one, whatever its form. `orders` are forms of headings
    that may be an order to the reader or the name of a thing; they count in notes that instruct: these say
    `reader` words ("you") once in `CHARS_A_READER` characters and twice as often as `writer` words ("we"), or
    have numbered steps.
    """

    openings: re.Pattern[str]
    sentences: tuple[Form, ...]
    headings: tuple[Form, ...]
    is_clear: Callable[[str], bool]
    orders: tuple[Form, ...] = ()
    reader: re.Pattern[str] = _NONE
    writer: re.Pattern[str] = _NONE

    def as_question(self, statement: str) -> str:
        """The question that a sentence answers, "" if it has no form. Links of it are `GAP`s."""
        given = statement.strip()
        text = self.openings.sub("", given).strip()
        if text.endswith("?"):
            return self._checked(text)
        is_whole = text[:1].isupper() or text[:1] == GAP or text != given
        if not is_whole or text[-1:] not in (".", ":", "!"):
            return ""
        return self._first(self.sentences, text[:1].upper() + text[1:].rstrip(".:! "))

    def heading_as_question(self, heading: str, *, in_guide: bool) -> str:
        """The question that the text below a heading answers, "" if the heading has no form."""
        text = self.openings.sub("", heading.strip())
        if text.endswith("?"):
            return self._checked(text)
        rows = (*self.headings, *self.orders) if in_guide else self.headings
        return self._first(rows, text.rstrip(".:! "))

    def is_guide(self, text: str) -> bool:
        """Whether a note tells its reader what to do, rather than what its writers did or plan."""
        prose = _CODE.sub("", text)
        readers, writers = len(self.reader.findall(prose)), len(self.writer.findall(prose))
        speaks = readers > 2 * writers and readers * CHARS_A_READER >= len(prose)
        return speaks or (not writers and len(_STEP.findall(prose)) >= _LEAST_STEPS)

    def _first(self, rows: tuple[Form, ...], text: str) -> str:
        for pattern, make in rows:
            match = pattern.search(text)
            question = self._checked(make(match)) if match else ""
            if question:
                return question
        return ""

    def _checked(self, question: str) -> str:
        """The question if it can be asked by itself, else ""."""
        if (
            not _LEAST_WORDS <= len(question.split()) <= _MOST_WORDS
            or question.find("?") != len(question) - 1
        ):
            return ""
        if GAP in question or _NOT_TEXT.search(question) or question.count("(") != question.count(")"):
            return ""
        if question.count('"') % 2:
            return ""
        return question[:1].upper() + question[1:] if self.is_clear(question) else ""
