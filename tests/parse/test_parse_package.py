import subprocess
import sys


def test_importing_the_package_loads_neither_the_grammars_nor_yaml() -> None:
    heavy = "{'tree_sitter', 'tree_sitter_markdown', 'yaml', 'numpy'}"
    code = f"import sys, vault_indexer.parse; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.strip() == "[]"
