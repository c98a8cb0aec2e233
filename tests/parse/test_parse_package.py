import subprocess
import sys

from vault_indexer import parse


def test_the_package_offers_these_names() -> None:
    assert sorted(parse.__all__) == [
        *(
            "Anchors",
            "PARSERS",
            "Resolution",
            "Subpath",
            "Task",
            "VaultPaths",
            "find_tasks",
            "link_key",
            "parse_any",
            "parse_canvas",
        ),
        *("parse_note", "property_lines", "resolve"),
    ]
    assert all(hasattr(parse, name) for name in parse.__all__)


def test_importing_the_package_loads_neither_the_grammars_nor_yaml() -> None:
    heavy = "{'tree_sitter', 'tree_sitter_markdown', 'yaml', 'numpy'}"
    code = f"import sys, vault_indexer.parse; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.strip() == "[]"
