"""Values, actors, directions and orders that change places, and conditions that a claim leaves out."""

from __future__ import annotations

from pathlib import Path

from golden_cases import check_golden, of_parts

from vault_indexer.answer.check.roles import role_conflict
from vault_indexer.answer.check.words import clauses


def changed(text: str, claim: str, language: str) -> str:
    stated = clauses(text.rstrip("."), language)
    found = [role_conflict(clause, claim, stated, text, language) for clause in clauses(claim, language)]
    return next(filter(None, found), "")


def test_what_changes_places() -> None:
    fixtures = Path(__file__).parent / "fixtures"
    check_golden(fixtures / "check_roles.md", {"What changes places": of_parts(changed)})
