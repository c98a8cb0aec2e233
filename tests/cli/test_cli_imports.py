"""A command loads what it needs and no more: that is why it starts fast."""

from __future__ import annotations

import json

from cli_sandbox import Sandbox

LOADED = """
import json, sys
from vault_indexer.cli.app import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    sys.stdout.flush()
    print(json.dumps([int(end.code or 0), sorted(sys.modules)]))
"""

ENGINES = {"numpy", "faiss", "whoosh", "networkx", "tree_sitter", "watchdog", "tokenizers", "safetensors"}
FRAMEWORKS = {
    *("llama_index", "torch", "transformers", "sentence_transformers", "starlette", "uvicorn", "wordllama")
}


def loaded(sandbox: Sandbox, *arguments: str) -> set[str]:
    ran = sandbox.run(*arguments, code=LOADED)
    code, modules = json.loads(ran.out.splitlines()[-1])
    assert code == 0, ran.err
    return {name if name.startswith("vault_indexer.") else name.partition(".")[0] for name in modules}


def test_help_loads_nothing_heavy(sandbox: Sandbox) -> None:
    assert loaded(sandbox, "--help") & (ENGINES | FRAMEWORKS | {"pydantic", "yaml"}) == set()


def test_search_in_process_loads_no_framework(built: Sandbox) -> None:
    modules = loaded(built, "search", "telescope", *built.place)
    assert modules & FRAMEWORKS == set()
    assert {"numpy", "faiss"} <= modules
    # Each of these costs a twentieth of the command.
    unneeded = {"answer.answerer", "config.documents"}
    assert modules & {f"vault_indexer.{name}" for name in unneeded} == set()
