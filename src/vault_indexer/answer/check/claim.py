"""Checks that the sentences that a model cites support its sentence, without a model.

The form is checked first: the cited sentences were offered, the quote is long enough and occurs in them, and
the claim is one sentence. Then the numbers, dates, names, units and code of each clause must occur in one of
the cited sentences, at the same words, with the same negations, limits and obligations. Words that are not in
the cited sentence are listed, and above a measured share of them the claim is dropped. No check uses a
cosine, because it hardly changes with a number or a "not".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Literal

from vault_indexer.answer.check.facts import Statement, conflict
from vault_indexer.answer.check.lexicon import UNSPACED_LANGUAGES, WORD, lexicon
from vault_indexer.answer.check.words import clauses, content_words, is_held, unheld_words
from vault_indexer.system import record
from vault_indexer.text.language import detect_query
from vault_indexer.text.sentences import sentences
from vault_indexer.text.tokens import RUN

LEAST_SHARE = 0.4
LEAST_SHARE_OF_CHARACTERS = 0.45
"""The minimum share of a clause's content words (in scripts without spaces: characters) in the cited
sentence. Chosen on the tuning half of `benchmarks/claims`."""

LEAST_QUOTE_WORDS = 3
LEAST_QUOTE_CHARACTERS = 12
LEAST_QUOTE_IDEOGRAPHS = 6

ClaimVerdict = Literal["quoted", "supported", "unchecked", "dropped"]


@record
class Evidence:
    """A sentence that was offered to a model: as written, without markup, and the headings above it."""

    quote: str
    readable: str
    heading: str
    language: str


@record
class Claim:
    """A sentence of a model, with the cited ids and the quote from them."""

    text: str
    ids: tuple[str, ...]
    quote: str


@record
class Finding:
    """The result of a check. `reason` explains why a claim is dropped. `unchecked` are the words of a claim,
    as written, that the cited sentences do not contain."""

    verdict: ClaimVerdict
    reason: str = ""
    unchecked: tuple[str, ...] = ()

    @classmethod
    def dropped(cls, reason: str) -> Finding:
        return cls("dropped", reason)


def check_claim(claim: Claim, offered: Mapping[str, Evidence]) -> Finding:
    """Checks one claim against the sentences that were offered, by id."""
    unknown = [name for name in claim.ids if name not in offered]
    if not claim.ids or unknown:
        return Finding.dropped(
            f"it cites {', '.join(unknown)}, which was not offered" if unknown else "it cites nothing"
        )
    cited = [offered[one] for one in claim.ids]
    if reason := _fault_of_quote(claim.quote, cited):
        return Finding.dropped(reason)
    # Before the other checks: a copy of what it cites is right even if it is several sentences.
    own = on_one_line(claim.text)
    if any(own in (on_one_line(one.quote), on_one_line(one.readable)) for one in cited):
        return Finding("quoted")
    if len(sentences(claim.text)) > 1:
        return Finding.dropped("it is more than one sentence")
    return _check_text(claim.text, cited)


def _check_text(text: str, cited: Sequence[Evidence]) -> Finding:
    language = cited[0].language or detect_query(" ".join(one.readable for one in cited), ()) or "en"
    statements = [
        Statement.read(one.readable, _heading(one, before, language), one.quote, language)
        for before, one in zip((None, *cited), cited, strict=False)
    ]
    unchecked: list[str] = []
    chosen: list[Statement] = []
    for clause in clauses(text, language):
        finding, statement = _best_finding(clause, text, statements)
        if finding.verdict == "dropped":
            return finding
        unchecked += finding.unchecked
        chosen.append(statement)
    if not chosen:
        return Finding.dropped("it has no words")
    own = content_words(text, language)
    lacking = unheld_words(own, _words_of(statements), language)
    if own and len(lacking) == len(own):
        return Finding.dropped(f"what it cites contains none of its words: {', '.join(map(repr, lacking))}")
    if not _are_joined(text, chosen, language):
        return Finding.dropped("it joins sentences that are not about the same")
    return Finding("unchecked" if unchecked else "supported", "", tuple(dict.fromkeys(unchecked)))


def _heading(sentence: Evidence, before: Evidence | None, language: str) -> str:
    """Returns the headings above a sentence, and the sentence before if it begins with a pronoun."""
    is_pronoun = lexicon(language).starts_with("pronouns", sentence.readable)
    return f"{sentence.heading} \n{before.readable}" if before and is_pronoun else sentence.heading


def _best_finding(clause: str, text: str, statements: Sequence[Statement]) -> tuple[Finding, Statement]:
    """Returns the finding for the sentence that covers most of a clause of the text."""
    found = [(_check_clause(clause, text, one), one) for one in statements]
    best, statement = min(found, key=lambda one: (one[0].verdict == "dropped", len(one[0].unchecked)))
    language = statement.language
    if len(statements) > 1 and best.verdict == "unchecked":
        lacking = unheld_words(content_words(clause, language), _words_of(statements), language)
        if elsewhere := [word for word in best.unchecked if word not in lacking]:
            return Finding.dropped(f"no single sentence that it cites says it of {elsewhere[0]}"), statement
    return best, statement


def _check_clause(clause: str, text: str, statement: Statement) -> Finding:
    if reason := conflict(clause, text, statement):
        return Finding.dropped(reason)
    language = statement.language
    own = content_words(clause, language)
    # `conflict` finds no fault in a converse word only if the things that it relates change places.
    converse = lexicon(language).converse
    known = {one: word for key, word in statement.words.items() for one in (key, *converse.get(key, ()))}
    unheld = unheld_words(own, known, language)
    least = LEAST_SHARE_OF_CHARACTERS if language in UNSPACED_LANGUAGES else LEAST_SHARE
    if len(own) > 1 and len(own) - len(unheld) < least * len(own):
        return Finding.dropped("its words are not those of what it cites")
    added = statement.added_limits(clause)
    if unheld or added:
        return Finding(
            "unchecked",
            "",
            tuple(_runs(unheld, clause) if language in UNSPACED_LANGUAGES else unheld) + added,
        )
    return Finding("supported")


def _words_of(statements: Sequence[Statement]) -> dict[str, str]:
    return {key: word for one in statements for key, word in one.words.items()}


def _runs(characters: Sequence[str], clause: str) -> list[str]:
    """Returns the runs that the characters form in the clause."""
    lacking = set(characters)
    return "".join(char if char in lacking else " " for char in clause).split()


def _are_joined(text: str, chosen: Sequence[Statement], language: str) -> bool:
    """Whether each sentence that supports a claim shares a content word of the claim with the first one, or
    its own subject is in the claim, or a pronoun that refers to the sentence before."""
    own = content_words(text, language)
    first = chosen[0]
    shared = [word for word in own if is_held(word, first.words, language)]
    return all(
        one is first
        or any(is_held(word, one.words, language) for word in shared)
        or all(is_held(word, own, language) for word in islice(content_words(one.text, language), 1))
        or bool(lexicon(language).find("pronouns", one.text))
        for one in chosen
    )


def _fault_of_quote(quote: str, cited: Sequence[Evidence]) -> str:
    wanted = on_one_line(quote)
    if not any(char.isalnum() for char in wanted):
        return "its quote is not in what it cites"
    sources = [
        on_one_line(" ".join(texts))
        for texts in zip(*((one.quote, one.readable) for one in cited), strict=True)
    ]
    if not any(wanted in source for source in sources):
        return "its quote is not in what it cites"
    if wanted in (on_one_line(text) for one in cited for text in (one.quote, one.readable)):
        return ""
    is_long = (
        len(WORD.findall(wanted)) >= LEAST_QUOTE_WORDS
        or len(wanted) >= LEAST_QUOTE_CHARACTERS
        or sum(map(len, RUN.findall(wanted))) >= LEAST_QUOTE_IDEOGRAPHS
    )
    return "" if is_long else "its quote is too short to say anything"


def on_one_line(text: str) -> str:
    """Returns the text in form NFC with each run of white space replaced by one space."""
    return " ".join(unicodedata.normalize("NFC", text).split())
