"""Would a person ask what `indexer eval generate` asks?

    python benchmarks/generated_questions.py DATA LARGE

Makes the questions of Obsidian's help, and of the large vault in the folder LARGE (DATA/vaults/large.tar.xz,
unpacked), and takes 50 and 25: of the kinds in turn, in the order of a hash. `queries/generated.tsv` holds
a judgement of each, by the writer of the forms: 1 if somebody who keeps the notes might ask it in these
words, else 0. It says nothing of whether the note answers it. Prints the share of 1 by vault and kind as
Markdown, and what nobody has judged. The forms were mended with Obsidian's help, 750 notes of the large vault
and two samples of its questions in view (`notes_looked_at`); none of the 25 comes from one of these notes, or
finds one.
"""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path

from vault_evals.generate import choose_questions, survey_vault
from vault_evals.questions import GENERATED_KINDS, Question
from vault_indexer.bootstrap import resolve_target

JUDGEMENTS = Path(__file__).parent / "queries" / "generated.tsv"
SAMPLE = 25
LOOKED_AT = {"A": 400, "B": 350}
JUDGED_WHILE_MADE = "large-while-made"
SEED = "E"


def questions_of(vault: Path) -> list[Question]:
    with tempfile.TemporaryDirectory() as folder:
        target = resolve_target(vault, Path(folder), None, environ={"XDG_CONFIG_HOME": folder}, options={})
        return choose_questions(survey_vault(target, lambda _done, _total: None))


def english_in_turn(questions: Sequence[Question]) -> list[Question]:
    """English questions, of the kinds in turn: those of a kind are in the order of a seeded hash."""
    english = sorted((one for one in questions if one.language in ("", "en")), key=in_seeded_order)
    by_kind = [[one for one in english if one.kind == kind] for kind in GENERATED_KINDS]
    in_turn = chain.from_iterable(zip_longest(*by_kind))
    return [one for one in in_turn if one is not None]


def in_seeded_order(question: Question) -> bytes:
    return hashlib.sha256(f"{SEED}\0{question.id}".encode()).digest()


def notes_looked_at(large: Path) -> set[str]:
    """The notes whose sentences and headings were read while the forms were mended: two samples of all but
    the pages of tldr, which have no prose, and what questions found that were judged then."""
    paths = sorted(file.relative_to(large).as_posix() for file in large.rglob("*.md"))
    rows = (line.split("\t") for line in JUDGEMENTS.read_text("utf-8").splitlines() if line)
    seen = {target for vault, _, _, target in rows if vault == JUDGED_WHILE_MADE}
    for seed, count in LOOKED_AT.items():
        shuffled = [path for path in paths if "tldr-pages" not in path]
        random.seed(seed)
        random.shuffle(shuffled)
        seen.update(shuffled[:count])
    return seen


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
        ("obsidian-help", data / "vaults" / "obsidian-help", 2 * SAMPLE, set[str]()),
        ("large", large, SAMPLE, notes_looked_at(large)),
    )
    for name, vault, count, seen in vaults:
        unseen = [one for one in questions_of(vault) if seen.isdisjoint(one.sha256)]
        found = english_in_turn(unseen)[:count]
        for kind in GENERATED_KINDS:
            print(*row(name, kind, [one for one in found if one.kind == kind], grades), sep="\n")
        print(*row(name, "all", found, grades), sep="\n", flush=True)
        for one in found:
            if (name, one.text) not in grades:
                print(f"not judged: {name}\t{one.text}\t{one.target}", file=sys.stderr)


if __name__ == "__main__":
    main()
