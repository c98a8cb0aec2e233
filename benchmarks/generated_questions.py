"""Would a person ask what `indexer eval generate` asks?

    python benchmarks/generated_questions.py DATA LARGE

Makes the questions of Obsidian's help, and of the large vault in the folder LARGE (DATA/vaults/large.tar.xz,
unpacked), and takes 50 and 25: of the kinds in turn, in the order of a hash. `queries/generated.tsv` holds
a judgement of each, by the writer of the forms: 1 if somebody who keeps the notes might ask it in these
words, else 0. It says nothing of whether the note answers it. Prints the share of 1 by vault and kind as
Markdown, and what nobody has judged. The forms were mended with the first 25 questions of both vaults in
view; those that are judged of the large vault are the last of its first 500, which nobody had looked at.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path

from vault_indexer.bootstrap import resolve_target
from vault_indexer.evals.generate import choose_questions, survey_vault
from vault_indexer.evals.questions import GENERATED_KINDS, Question

JUDGEMENTS = Path(__file__).parent / "queries" / "generated.tsv"
SAMPLE = 25
UNSEEN = 500


def questions_of(vault: Path) -> list[Question]:
    with tempfile.TemporaryDirectory() as folder:
        target = resolve_target(vault, Path(folder), None, environ={"XDG_CONFIG_HOME": folder}, options={})
        return choose_questions(survey_vault(target, lambda _done, _total: None))


def english_in_turn(questions: Sequence[Question]) -> list[Question]:
    """English questions, of the kinds in turn: those of a kind are in the order of a hash."""
    by_kind = [
        [one for one in questions if one.kind == kind and one.language in ("", "en")]
        for kind in GENERATED_KINDS
    ]
    in_turn = chain.from_iterable(zip_longest(*by_kind))
    return [one for one in in_turn if one is not None]


def judgements() -> dict[tuple[str, str], int]:
    rows = (line.split("\t") for line in JUDGEMENTS.read_text("utf-8").splitlines() if line)
    return {(vault, text): int(grade) for vault, grade, text, _ in rows}


def row(
    name: str, kind: str, found: Sequence[Question], grades: Mapping[tuple[str, str], int]
) -> Iterator[str]:
    known = [grades[name, one.text] for one in found if (name, one.text) in grades]
    if known:
        yield f"| {name} | {kind} | {len(known)} | {sum(known) / len(known):.2f} |"


def main() -> None:
    """Print the shares, and the questions without a judgement."""
    data, large = map(Path, sys.argv[1:3])
    grades = judgements() if JUDGEMENTS.exists() else {}
    print("| vault | kind | judged | accepted |\n| --- | --- | ---: | ---: |")
    vaults = (
        ("obsidian-help", data / "vaults" / "obsidian-help", slice(2 * SAMPLE)),
        ("large", large, slice(UNSEEN - SAMPLE, UNSEEN)),
    )
    for name, vault, part in vaults:
        found = english_in_turn(questions_of(vault))[part]
        for kind in GENERATED_KINDS:
            print(*row(name, kind, [one for one in found if one.kind == kind], grades), sep="\n")
        print(*row(name, "all", found, grades), sep="\n", flush=True)
        for one in found:
            if (name, one.text) not in grades:
                print(f"not judged: {name}\t{one.text}\t{one.target}", file=sys.stderr)


if __name__ == "__main__":
    main()
