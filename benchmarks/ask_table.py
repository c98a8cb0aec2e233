"""Questions that are answered, questions that are not, and sentences that are true or false: the table of
`benchmarks/ask.py --table`.

The sets are in `queries/answers`: questions that no note of a vault answers though they are on its topic
(`near.txt`), questions that a note answers (`known.txt`), sentences for the checker (`claims/`). Each is
in the part to tune on or in the part kept aside, by a hash of the question or of the checked note.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quality.queries import ASIDE, TUNE
from vault_indexer import open_vault
from vault_indexer.answer.check import Claim, Evidence, check_claim
from vault_indexer.api import Vault
from vault_indexer.model import AskAnswer

REPOSITORY = Path(__file__).parent.parent
SETS = Path(__file__).parent / "queries" / "answers"
KINDS = ("near", "words", "other", "place", "de", "es")
_POWERSHELL = "MicrosoftDocs+PowerShell-Docs/reference/7.5/Microsoft.PowerShell."
_LARGE = {
    "powershell": (f"{_POWERSHELL}Utility/*.md", f"{_POWERSHELL}Management/*.md"),
    "rust": ("rust-lang+rfcs/text/1[0-4]*.md",),
    "swift": ("swiftlang+swift-evolution/proposals/00*.md",),
}
"""The files of each vault that is a part of the large one."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question to a vault, and the texts of which a right quote contains one (none: no note answers)."""

    vault: str
    kind: str
    question: str
    keys: tuple[str, ...]

    def outcome(self, answer: AskAnswer) -> str:
        """Returns "right" or "wrong" for quotes, otherwise "passages" or "declined"."""
        if answer.kind != "quotes":
            return answer.kind
        said = [one.text for one in answer.sentences]
        said += [citation.quote for one in answer.sentences for citation in one.citations]
        shown = [" ".join(text.split()) for text in said]
        return "right" if any(key in text for key in self.keys for text in shown) else "wrong"


def part_of(text: str) -> str:
    return TUNE if hashlib.sha256(text.encode()).digest()[0] % 2 else ASIDE


def read_cases() -> list[Case]:
    found: list[Case] = []
    for file in (SETS / "near.txt", SETS / "known.txt"):
        vault = ""
        for line in file.read_text("utf-8").splitlines():
            if line.startswith("["):
                vault = line.strip("[]")
            elif line and not line.startswith("#"):
                kind, question, keys = line.split(" | ") if " | " in line else ("near", line, "")
                wanted = tuple(filter(None, keys.split(" / ")))
                found.append(Case(vault, kind, question, wanted))
    return found


def vault_folder(name: str, data: Path, large: Path | None, work: Path) -> Path | None:
    """Returns the folder of a vault, which is made if it has to be. None: `large` is missing."""
    if name in ("demo", "docs"):
        return REPOSITORY / ("docs" if name == "docs" else "src/vault_indexer/demo")
    if name == "obsidian-help":
        return data / "vaults" / name
    folder = work / f"vault-{name}"
    if name == "household":
        for part in (SETS / "household.txt").read_text("utf-8").split("=== ")[1:]:
            path, _, text = part.partition("\n")
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
        return folder
    if large is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in _LARGE[name]:
        for file in large.glob(pattern):
            shutil.copy(file, folder / file.name)
    return folder


def title_rows(vault: Vault, folder: Path) -> tuple[int, int]:
    """Returns how many questions "what is NOTE?" there are, and how many answers quote frontmatter."""
    notes = sorted(folder.rglob("*.md"))
    quoted = 0
    for note in notes:
        answer = vault.ask(f"what is {note.stem}?", use_model=False)
        cited = [one for sentence in answer.sentences for one in sentence.citations]
        quoted += any(one.start_pos < _body(folder / one.path) for one in cited)
    return len(notes), quoted


def _body(file: Path) -> int:
    found = re.match(r"---\n.*?\n---\n", file.read_bytes().decode("utf-8-sig", "replace"), re.DOTALL)
    return found.end() if found else 0


def claims() -> Iterator[tuple[str, str, str, str, str]]:
    """Yields the part, kind, language, text, and verdict of each sentence for the checker."""
    for file in sorted((SETS / "claims").glob("*.txt")):
        for block in file.read_text("utf-8").split("\n\n")[1:]:
            lines = block.strip().splitlines()
            sources = [line[2:] for line in lines if line.startswith("> ")]
            offered = {f"s{n}": Evidence(one, one, "", file.stem) for n, one in enumerate(sources)}
            for line in lines[len(sources) :]:
                kind, _, text = ("true", "", line[2:]) if line.startswith("= ") else line.partition(" | ")
                finding = check_claim(Claim(text, tuple(offered), sources[0]), offered)
                yield part_of(sources[0]), kind, file.stem, text, finding.verdict


def print_table(data: Path, large: Path | None, work: Path, *, misses: bool) -> None:
    """Prints the table in Markdown, and with `misses` each case of the part to tune on that fails."""
    counts: Counter[tuple[str, str, str]] = Counter()
    failed: list[str] = []
    cases = read_cases()
    titles = ""
    for name in dict.fromkeys(case.vault for case in cases):
        folder = vault_folder(name, data, large, work)
        if folder is None:
            continue
        with open_vault(folder, work / f"table-index-{name}") as vault:
            for case in (one for one in cases if one.vault == name):
                answer = vault.ask(case.question, use_model=False)
                part, outcome = part_of(case.question), case.outcome(answer)
                counts[case.kind, part, outcome] += 1
                if part == TUNE and (outcome == "wrong" or (case.keys and outcome != "right")):
                    said = [sentence.text for sentence in answer.sentences]
                    failed.append(f"- {name} {case.kind}: {case.question} → {outcome} {said}")
            if name == "obsidian-help":
                asked, quoted = title_rows(vault, folder)
                titles = f'"what is NOTE?", {asked} notes of Obsidian\'s help: {quoted} quote frontmatter'
    print("| questions | part | asked | right | wrong | passages | declined |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for kind in KINDS:
        for part in (TUNE, ASIDE):
            own = [counts[kind, part, one] for one in ("right", "wrong", "passages", "declined")]
            print(f"| {kind} | {part} | {sum(own)} | {' | '.join(map(str, own))} |")
    print(f"\n{titles}\n")
    _print_claims(failed)
    if misses:
        print("\n".join(failed))


def _print_claims(failed: list[str]) -> None:
    verdicts: Counter[tuple[str, str, str]] = Counter()
    for part, kind, language, text, verdict in claims():
        group = "true" if kind == "true" else "false"
        verdicts[group, part, verdict] += 1
        is_right = verdict in ("supported", "quoted") if group == "true" else verdict == "dropped"
        if part == TUNE and not is_right:
            failed.append(f"- {language} {kind}: {text} → {verdict}")
    print("| sentences | part | checked | supported | unchecked | dropped |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for group in ("true", "false"):
        for part in (TUNE, ASIDE):
            passed = verdicts[group, part, "supported"] + verdicts[group, part, "quoted"]
            own = [passed, *(verdicts[group, part, one] for one in ("unchecked", "dropped"))]
            print(f"| {group} | {part} | {sum(own)} | {' | '.join(map(str, own))} |")
