"""What the check of a model's sentences accepts: honest paraphrases, and falsifications by kind.

    python benchmarks/falsified.py [DATA] [--list]

A row is a set and a kind: how many texts are shown as `supported` (or `quoted`), how many with their
unchecked words, and how many are dropped. The sets:

- the two halves of `benchmarks/claims`: 156 paraphrases that stay near the note, 42 free ones and 312
  falsifications in six languages. The rules were written with the tuning half in view alone;
- `tests/answer/paraphrases.txt`;
- with DATA, sentences of XQuAD: `honest` is the sentence as it stands, a number is another one, a name (a
  capitalised word within the sentence) is one of another article, a negation is put beside a common verb.

`--list` prints mistakes, of the half that is kept aside never. The bars: at most .10 of the honest dropped;
at most .15 of the falsified supported, and .05 of numbers, names, dates and negations. The exit status is 1
if the half kept aside, both halves together, or another set does not meet one.
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

from claim_sets import HONEST, CheckedText, read_claim_set
from paraphrases import Paraphrase, other_number, read_paraphrases

from vault_indexer.text.sentences import sentences

NUMBER, NAME, NEGATION = "number", "name", "negation"
STRICT = (NUMBER, NAME, NEGATION, "date")
MOST_HONEST, MOST_FALSE, MOST_STRICT = 0.10, 0.15, 0.05
LANGUAGES = ("en", "es", "zh", "ru")

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


def written_cases(found: Iterable[Paraphrase]) -> Iterator[CheckedText]:
    """The paraphrases of the file, and their falsifications."""
    for one in found:
        for kind, text in ((HONEST, one.honest), *one.falsified()):
            yield CheckedText(one.language, (one.source,), kind, text, 0)


def xquad_cases(data: Path, language: str) -> Iterator[CheckedText]:
    """Sentences of XQuAD, and their falsifications."""
    found = list(islice(_sentences(data, language), _EACH))
    names = sorted({match[0] for one in found for match in _NAME.finditer(one)})
    for turn, text in enumerate(found):
        for kind, changed in _falsified(text, language, names, turn):
            yield CheckedText(language, (text,), kind, changed, 0)


def _falsified(text: str, language: str, names: list[str], turn: int) -> Iterator[tuple[str, str]]:
    pattern, negated = _NEGATED[language]
    yield HONEST, text
    if match := _NUMBER.search(text):
        yield NUMBER, text[: match.start()] + other_number(match[0], turn) + text[match.end() :]
    if match := _NAME.search(text):
        other = names[(turn * 37) % len(names)]
        if other[:4] not in text:
            yield NAME, text[: match.start()] + other + text[match.end() :]
    if pattern.search(text):
        yield NEGATION, pattern.sub(negated, text, count=1)


def _sentences(data: Path, language: str) -> Iterator[str]:
    """One sentence in three."""
    spans = (
        paragraph["context"][start:end]
        for article in xquad_articles(data / "bench" / "xquad", language)
        for paragraph in article
        for start, end in sentences(paragraph["context"])
    )
    return islice(spans, 0, None, 3)


def report(name: str, cases: Iterable[CheckedText], most_listed: int) -> bool:
    """Print a row for each kind, and mistakes. Whether the bars are met."""
    counts: Counter[tuple[str, str]] = Counter()
    listed: list[str] = []
    for case in cases:
        finding = case.check()
        shown = "supported" if finding.verdict == "quoted" else finding.verdict
        for group in (case.kind, *(("falsified",) if case.kind != HONEST else ())):
            counts[group, shown] += 1
        if shown == ("dropped" if case.kind == HONEST else "supported"):
            listed.append(f"- {case.language} {case.kind}: {case.text} ({finding.reason or shown})")
    is_met = True
    for kind in sorted({kind for kind, _ in counts}):
        own = [counts[kind, shown] for shown in ("supported", "unchecked", "dropped")]
        shares = " | ".join(f"{count / sum(own):.3f}" for count in own)
        print(f"| {name} | {kind} | {sum(own)} | {shares} |")
        wrong, most = (own[2], MOST_HONEST) if kind == HONEST else (own[0], _most(kind))
        is_met = is_met and wrong <= most * sum(own)
    for line in listed[:most_listed]:
        print(line)
    return is_met


def _most(kind: str) -> float:
    """The largest share that a kind may have supported; the other kinds count in the sum alone."""
    return MOST_STRICT if kind in STRICT else MOST_FALSE if kind == "falsified" else 1.0


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--list", type=int, default=0)
    given = parser.parse_args()
    print("| set | kind | texts | supported | unchecked words named | dropped |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    tuning, kept_aside = read_claim_set(0), read_claim_set(1)
    report("tuning", tuning, given.list)
    met = [
        report("kept aside", kept_aside, 0),
        report("both halves", [*tuning, *kept_aside], 0),
        report("written", written_cases(read_paraphrases()), given.list),
    ]
    if given.data is not None:
        cases = (case for language in LANGUAGES for case in xquad_cases(given.data, language))
        met.append(report("XQuAD", cases, given.list))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
