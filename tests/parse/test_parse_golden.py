import pytest
from parse_goldens import FIXTURES, ParseCase, described, parsing_cases, updating

from vault_indexer.parse import parse_note

GOLDEN = FIXTURES / "parsing.md"
CASES = list(parsing_cases(GOLDEN.read_text(encoding="utf-8")))


def actual(case: ParseCase) -> str:
    return described(parse_note("folder/note.md", case.source_text.encode()))


@pytest.mark.skipif(not updating(), reason="only with UPDATE_GOLDEN=1")
def test_update() -> None:
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    for case in reversed(CASES):
        dots = [number for number, line in enumerate(lines) if line == "." and number >= case.line_number - 1]
        lines[dots[1] + 1 : dots[2]] = actual(case).splitlines()
    GOLDEN.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.skipif(updating(), reason="being updated")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"line-{case.line_number}")
def test_a_note_is_parsed_as_the_golden_says(case: ParseCase) -> None:
    found = actual(case)
    assert found == case.expected, (
        f"\n{GOLDEN.name}:{case.line_number}: {case.title}\n{case.source_text}\n"
        f"--- expected\n{case.expected}\n--- actual\n{found}"
    )
