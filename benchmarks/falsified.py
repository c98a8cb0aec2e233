"""What the check of a model's sentences accepts: honest paraphrases, and falsifications made of them.

    python benchmarks/falsified.py [DATA] [--list]

Reads `tests/answer/paraphrases.txt`. A row is a language: how many honest paraphrases are rejected, and how
many falsifications of each kind are accepted. With DATA, the sentences of XQuAD are falsified, too: nobody
wrote rules by them. There `honest` is the sentence as it stands, a number is another one, a name (a
capitalised word within the sentence) is one of another article, and a negation is put beside a common verb.
`--list` prints mistakes. The bars: at most .15 of the honest rejected; at most .02 of changed numbers and
names accepted, and .10 of negations.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from quality.sets import xquad_articles

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from paraphrases import Paraphrase, other_number, read_paraphrases

from vault_indexer.answer.verify import Claim, Evidence, objection
from vault_indexer.text.sentences import sentences

HONEST, NUMBER, NAME, NEGATION = "honest", "number", "name", "negation"
KINDS = (HONEST, NUMBER, NAME, NEGATION)
BARS = {HONEST: 0.15, NUMBER: 0.02, NAME: 0.02, NEGATION: 0.10}
LANGUAGES = ("en", "es", "zh", "ru")

Case = tuple[str, str, str, str]
"""Language, the sentence of the note, kind, and the text to check."""

_NUMBER = re.compile(r"\d+(?:[.,  ]\d{3})*")
_NAME = re.compile(r"(?<=[^\W\d_] )[A-ZА-ЯЁÁÉÍÓÚ][^\W\d_]{4,}(?=[ ,.])")
_NEGATED = {
    "en": (
        re.compile(r"\b(?:is|are|was|were|can|could|will|would|has been|have been|had been)\b(?! not)"),
        r"\g<0> not",
    ),
    "es": (
        re.compile(r"(?<!no )\b(?:es|era|fue|son|eran|fueron|está|tiene|tenía|puede|ha|había)\b"),
        r"no \g<0>",
    ),
    "zh": (re.compile("(?<![不没都也])(?:是|能够|可以|会在|包括)"), r"不\g<0>"),
    "ru": (
        re.compile(r"(?<!не )\b(?:был|была|было|были|может|могут|является|являются|имеет|имеют)\b"),
        r"не \g<0>",
    ),
}
_EACH = 400
"""Sentences of each language at most."""


def written_cases(found: Iterable[Paraphrase]) -> Iterator[Case]:
    """The paraphrases of the file, and their falsifications."""
    for one in found:
        yield one.language, one.source, HONEST, one.honest
        for kind, text in one.falsified():
            yield one.language, one.source, kind, text


def xquad_cases(data: Path, language: str) -> Iterator[Case]:
    """Sentences of XQuAD, and their falsifications."""
    found = list(islice(_sentences(data, language), _EACH))
    names = sorted({match[0] for one in found for match in _NAME.finditer(one)})
    pattern, negated = _NEGATED[language]
    for turn, text in enumerate(found):
        yield language, text, HONEST, text
        if match := _NUMBER.search(text):
            changed = text[: match.start()] + other_number(match[0], turn) + text[match.end() :]
            yield language, text, NUMBER, changed
        if match := _NAME.search(text):
            other = names[(turn * 37) % len(names)]
            if other[:4] not in text:
                yield language, text, NAME, text[: match.start()] + other + text[match.end() :]
        if pattern.search(text):
            yield language, text, NEGATION, pattern.sub(negated, text, count=1)


def _sentences(data: Path, language: str) -> Iterator[str]:
    """One sentence in three."""
    spans = (
        paragraph["context"][start:end]
        for article in xquad_articles(data / "bench" / "xquad", language)
        for paragraph in article
        for start, end in sentences(paragraph["context"])
    )
    return islice(spans, 0, None, 3)


def report(name: str, cases: Iterable[Case], most_listed: int) -> None:
    """Print a row for each language, and mistakes."""
    totals: Counter[tuple[str, str]] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    listed: list[str] = []
    for language, source, kind, text in cases:
        offered = {"s1": Evidence(source, source, "", language)}
        reason = objection(Claim(text, ("s1",), source), offered)
        is_wrong = bool(reason) == (kind == HONEST)
        for group in (language, "all"):
            totals[group, kind] += 1
            wrong[group, kind] += is_wrong
        if is_wrong:
            listed.append(f"- {language} {kind}: {text} ({reason or 'accepted'})")
    for group in dict.fromkeys(group for group, _ in totals):
        shares = (
            f"{wrong[group, kind] / max(1, totals[group, kind]):.3f} of {totals[group, kind]}"
            for kind in KINDS
        )
        print(f"| {name} {group} | {' | '.join(shares)} |")
    for line in listed[:most_listed]:
        print(line)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--list", type=int, default=0)
    given = parser.parse_args()
    print("| set | honest rejected | numbers accepted | names accepted | negations accepted |")
    print("| --- | ---: | ---: | ---: | ---: |")
    report("written", written_cases(read_paraphrases()), given.list)
    if given.data is not None:
        cases = (case for language in LANGUAGES for case in xquad_cases(given.data, language))
        report("XQuAD", cases, given.list)
    print("\nbars: " + ", ".join(f"{kind} ≤ {bar}" for kind, bar in BARS.items()))


if __name__ == "__main__":
    main()
