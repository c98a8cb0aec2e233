"""The mechanical check of a sentence against the sentences that it cites."""

from __future__ import annotations

from vault_indexer.answer.check.claim import Claim, Evidence, Finding, check_claim, on_one_line

__all__ = ["Claim", "Evidence", "Finding", "check_claim", "on_one_line"]
