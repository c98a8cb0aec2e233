"""What the check of a model's sentences accepts: honest paraphrases, and falsifications made of them.

    python benchmarks/paraphrases.py [--list]

Reads `tests/answer/paraphrases.txt`. A row is a language: how many honest paraphrases are rejected, and how
many falsifications of each kind are accepted. `--list` prints each mistake. The bars: at most .15 of the
honest rejected; at most .02 of changed numbers and names accepted, and .10 of negations.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from paraphrases import Paraphrase, read_paraphrases
from vault_indexer.answer.verify import Claim, Evidence, objection

HONEST = "honest"
KINDS = (HONEST, "number", "name", "negation")
BARS = {HONEST: 0.15, "number": 0.02, "name": 0.02, "negation": 0.10}

Mistake = tuple[str, str, str]
"""Kind, the sentence, and the objection to it."""


def mistakes(one: Paraphrase, totals: Counter[str]) -> Iterator[Mistake]:
    """What is wrongly rejected or accepted; `totals` counts what was tried."""
    offered = {"s1": Evidence(one.source, one.source, "", one.language)}
    for kind, text in ((HONEST, one.honest), *one.falsified()):
        totals[kind] += 1
        reason = objection(Claim(text, ("s1",), one.source), offered)
        if bool(reason) == (kind == HONEST):
            yield kind, text, reason


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    found = read_paraphrases()
    languages = sorted({one.language for one in found})
    print("| language | honest rejected | numbers accepted | names accepted | negations accepted |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for language in (*languages, "all"):
        totals: Counter[str] = Counter()
        chosen = [one for one in found if language in (one.language, "all")]
        wrong = [mistake for one in chosen for mistake in mistakes(one, totals)]
        counts = Counter(kind for kind, _, _ in wrong)
        shares = (f"{counts[kind] / max(1, totals[kind]):.3f} of {totals[kind]}" for kind in KINDS)
        print(f"| {language} | {' | '.join(shares)} |")
        for kind, text, reason in wrong if given.list and language != "all" else ():
            print(f"- {kind}: {text} ({reason or 'accepted'})")
    print("\nbars: " + ", ".join(f"{kind} ≤ {bar}" for kind, bar in BARS.items()))


if __name__ == "__main__":
    main()
