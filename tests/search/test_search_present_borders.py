"""A text is cut where no character that a reader sees is divided."""

import json
from pathlib import Path

from golden_cases import check_golden, of_parts

from vault_indexer.search.present.borders import cluster_end, cluster_start


def test_a_cut_moves_to_the_borders_of_a_character() -> None:
    def whole(_name: str, character: str) -> str:
        text = f"é{json.loads(character)}é"
        cuts = [(cluster_start(text, at, len(text)), cluster_end(text, at, 0)) for at in range(len(text) + 1)]
        return " ".join(f"{start}/{end}" for start, end in cuts)

    def apart(*characters: str) -> str:
        before, after = map(json.loads, characters)
        at, text = len(before), before + after
        return f"{cluster_start(text, at, len(text)) - at} {cluster_end(text, at, 0) - at}"

    check_golden(
        Path(__file__).parent / "fixtures" / "characters.md",
        {
            "A cut within a character moves to its borders": of_parts(whole),
            "A cut between two characters stays": of_parts(apart),
        },
    )


def test_a_row_of_flags_is_cut_between_two_of_them() -> None:
    flags = "🇩🇪🇫🇷🇯🇵"
    assert [cluster_start(flags, at, len(flags)) for at in range(7)] == [0, 2, 2, 4, 4, 6, 6]
    assert [cluster_end(flags, at, 0) for at in range(7)] == [0, 0, 2, 2, 4, 4, 6]
    assert cluster_start(f"é{flags}", 2, 7) == 3


def test_no_character_is_divided_at_the_ends_of_a_text() -> None:
    for text in ("\u0301日本", "\u200d日", "日\u0301", "🇩日🇪"):
        assert (cluster_start(text, 0, len(text)), cluster_end(text, 0, 0)) == (0, 0)
        assert cluster_start(text, len(text), len(text)) == cluster_end(text, len(text), 0) == len(text)


def test_a_cut_moves_no_further_than_it_may() -> None:
    marks = "e" + "\u0301" * 64 + "x"
    assert cluster_start(marks, 1, len(marks)) == 65
    assert cluster_start(marks, 1, 64) == 1
    assert cluster_start("é" + marks, 1, len(marks)) == 1
    assert cluster_end(marks, 64, 0) == 0
    assert cluster_end(marks, 64, 1) == 64
    more = "e" + "\u0301" * 65 + "x"
    assert (cluster_start(more, 1, len(more)), cluster_end(more, 65, 0)) == (1, 65)
