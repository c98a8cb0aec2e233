import pytest
from parse_goldens import ARROW, FIXTURES, outcome, resolution_cases, rewrite, updating

GOLDEN = FIXTURES / "resolution.md"
CASES = list(resolution_cases(GOLDEN.read_text(encoding="utf-8")))
RULES = [f"Rule {number}" for number in range(1, 12)]


def test_the_golden_covers_every_rule_with_enough_cases() -> None:
    assert len(CASES) >= 120
    titles = {case.scene.title for case in CASES}
    assert [rule for rule in RULES if not any(title.startswith(rule + ":") for title in titles)] == []


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
