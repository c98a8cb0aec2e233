"""Evaluation: golden cases, ranking questions and tuning, for a vault of one's own."""

from vault_indexer.extensions import Extension

EXTENSION = Extension()
