"""`indexer inspect` in this process: what a person reads, and what it says of notes that cannot be read."""

from __future__ import annotations

import pytest
from command_here import CommandHere

BREAD = [
    "Kitchen/Bread.md  1 chunk, 0 links, en",
    "     5-11     137  Bread: # Bread Flour, water, salt and a ripe starter. ## Kneading Knead the dough "
    "until it is smooth, then let it rest in a warm place. ^rest",
]
SKY = [
    "Sky/Night sky.md  1 chunk, 1 link, en",
    "      1-5     122  Night sky: # Night sky The telescope shows the rings of Saturn on a clear night. "
    "Bring a thermos and some [[Bread#Kneading|bread]].",
]
WELCOME = [
    "Welcome.md  1 chunk, 3 links, en",
    "      1-5      83  Welcome: # Welcome Start with [[Bread]] or read about the [[Night sky]]. Then "
    "[[Nowhere]].",
]


@pytest.mark.parametrize(
    ("arguments", "code", "lines", "said"),
    [
        (("Bread",), 0, BREAD, []),
        (("Kitchen/Bread.md", "--strategy", "none"), 0, BREAD, []),
        (("Welcome", "Bread"), 0, [*WELCOME, *BREAD], []),
        (
            ("Welcom", "Broken", "Night sky", "Zebra"),
            1,
            SKY,
            [
                "Welcom: no such note in the vault; did you mean Welcome.md?",
                "Broken.md: binary (a NUL byte at offset 2)",
                "Zebra: no such note in the vault",
            ],
        ),
        (("--all",), 1, [*BREAD, *SKY, *WELCOME], ["Broken.md: binary (a NUL byte at offset 2)"]),
        (("Bread", "--all"), 1, [*BREAD, *SKY, *WELCOME], ["Broken.md: binary (a NUL byte at offset 2)"]),
        (("../x.md",), 1, [], ["../x.md: not a path in the vault: '../x.md'"]),
        ((), 2, [], ["indexer: Name a note, or add --all."]),
    ],
)
def test_notes_are_shown_as_they_are_split(
    here: CommandHere, arguments: tuple[str, ...], code: int, lines: list[str], said: list[str]
) -> None:
    (here.sandbox.vault / "Broken.md").write_bytes(b"\xff\xfe\x00not text")
    ran = here.indexer("inspect", *arguments)
    assert (ran.code, ran.out.splitlines(), ran.err.splitlines()) == (code, lines, said)
    assert not here.sandbox.index_dir.exists()


def test_what_is_odd_in_a_note_is_told_with_its_line(here: CommandHere) -> None:
    here.sandbox.write("Odd.md", "---\nchunking: {strategy: magic}\n---\n# Odd\n\nText.\n")
    ran = here.indexer("inspect", "Odd")
    assert (ran.code, ran.out.splitlines()) == (
        0,
        ["Odd.md  1 chunk, 0 links", "      4-6      12  Odd: # Odd Text."],
    )
    assert ran.err.startswith(
        'Odd.md:1: chunking in the frontmatter is ignored: strategy = "magic": one of: header_based, '
    )


def test_an_unknown_strategy_is_answered_with_those_there_are(here: CommandHere) -> None:
    ran = here.indexer("inspect", "Bread", "--strategy", "magic")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("indexer: no strategy 'magic': choose one of header_based, none, ")
