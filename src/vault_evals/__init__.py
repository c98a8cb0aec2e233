"""Evaluation of searches and answers: golden cases, questions for ranking, tuning, judging. See README.md."""

from types import MappingProxyType

from vault_indexer.extensions import Extension, ExtensionCommand

BUILT_IN_AGENTS = ("search", "related", "links", "ask")
"""The agents that golden cases may use without any setting."""

EXTENSION = Extension(
    commands=(
        ExtensionCommand("eval", "vault_evals.commands", "Measure searches and answers on your notes."),
    ),
    tables=MappingProxyType({"evals": "vault_evals.tables:EvalsSettings"}),
    routes="vault_evals.feedback:ROUTES",
    tools="vault_evals.tool:TOOLS",
)
