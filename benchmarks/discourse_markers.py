"""How many connectives of a lexicon do the built-in markers of `discourse` know?

    python benchmarks/discourse_markers.py LEXICA

LEXICA is the folder `Web app/xml` of github.com/discourse-lab/Connective-Lex.info: DiMLex (German, after the
Handbuch der deutschen Konnektoren), Eng-DiMLex (Penn Discourse Treebank), Es-DiMLex, LexConn (French) and
LDM-PT (Portuguese), all CC BY-NC-SA. Adverbs and coordinating conjunctions count, as these open a sentence
that leans on the one before; a subordinating conjunction or a preposition leans on what follows. Prints the
share by language as Markdown, and what is missing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from vault_indexer.chunk.cutting.markers import Markers, load_markers

LEXICA = {
    "de": ("dimlex.xml", "konnadv|padv|konj"),
    "en": ("eng-dimlex.xml", "ADVP|PP|CC|RB"),
    "es": ("Es-DiMLex.xml", "adv|cco"),
    "fr": ("lexconn_d.xml", "adv|cco"),
    "pt": ("ldm-pt_d.xml", "adv|cco"),
}


def connectives(file: Path, categories: str) -> Iterator[set[str]]:
    """The spellings of each entry whose every category is one of the pattern."""
    text = re.sub(r"<!DOCTYPE.*?>", "", file.read_text("utf-8-sig"), count=1, flags=re.DOTALL)
    for entry in ElementTree.fromstring(text).iter("entry"):
        found = {part for one in entry.iter("cat") for part in re.split(r"\W+", one.text or "") if part}
        if found and all(re.fullmatch(categories, one) for one in found):
            spellings = (
                " ".join(part.text or "" for part in orth.iter("part")) for orth in entry.iter("orth")
            )
            yield {entry.get("word", ""), *spellings}


def is_known(spellings: set[str], markers: Markers) -> bool:
    return any(markers.continues(one) or markers.conclusion_of(one) for one in spellings)


def main() -> None:
    """Print the table, and the missing ones by language."""
    built_in = load_markers()
    print("| language | connectives | known |\n| --- | ---: | ---: |")
    for language, (name, categories) in LEXICA.items():
        found = list(connectives(Path(sys.argv[1]) / name, categories))
        missing = [one for one in found if not is_known(one, built_in[language])]
        print(f"| {language} | {len(found)} | {1 - len(missing) / len(found):.0%} |", flush=True)
        print(language, "; ".join(min(one) for one in missing), file=sys.stderr)


if __name__ == "__main__":
    main()
