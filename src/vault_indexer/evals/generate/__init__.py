"""Questions made from a vault itself, and the shadow of the vault in which their text is hidden."""

from vault_indexer.evals.generate.candidates import LANGUAGES, Candidate, Survey, survey_vault
from vault_indexer.evals.generate.choose import DEFAULT_PER_KIND, choose_questions
from vault_indexer.evals.generate.shadow import current_hashes, edited, shadow_vault

__all__ = [
    "DEFAULT_PER_KIND",
    "LANGUAGES",
    "Candidate",
    "Survey",
    "choose_questions",
    "current_hashes",
    "edited",
    "shadow_vault",
    "survey_vault",
]
