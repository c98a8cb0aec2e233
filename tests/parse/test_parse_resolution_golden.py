import pytest
from parse_goldens import ARROW, FIXTURES, outcome, resolution_cases, rewrite, updating

GOLDEN = FIXTURES / "resolution.md"
CASES = list(resolution_cases(GOLDEN.read_text(encoding="utf-8")))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"line-{case.line_number}")
def test_a_link_leads_where_the_golden_says(case) -> None:  # type: ignore[no-untyped-def]
    actual = outcome(case.source_text, case.scene)
    if updating():
        line = f"{case.source_text}{ARROW}{actual}"
        rewrite(GOLDEN, lambda number, old: line if number == case.line_number else old)
        return
    assert actual == case.expected, (
        f"\n{GOLDEN.name}:{case.line_number} ({case.scene.title})\n"
        f"  vault:    {', '.join(case.scene.vault)}\n  from:     {case.scene.source}\n"
        f"  link:     {case.source_text}\n  expected: {case.expected}\n  actual:   {actual}"
    )
