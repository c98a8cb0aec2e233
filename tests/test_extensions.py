"""Optional packages: what is found of them, and what a user is told where one is absent."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from vault_indexer.extensions import (
    GROUP,
    OPTIONAL,
    Extension,
    _entry_points,
    package_of,
    present,
    references,
)

ABSENT = """
import sys
for package in {packages}:
    sys.modules[package] = None
from vault_indexer.cli.app import main
main({arguments})
"""


def without_packages(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The program as it is where the folders of the optional packages are deleted."""
    code = ABSENT.format(packages=list(OPTIONAL), arguments=list(arguments))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_entry_points_are_those_of_the_distribution() -> None:
    group = distribution("vault-indexer").entry_points.select(group=GROUP)
    assert references(_entry_points()) == [one.value for one in group]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("[console_scripts]\nindexer = a:main\n", []),
        (f"[{GROUP}]\nevals = a:ONE\ngateway=b.c:TWO\n\n[console_scripts]\nx = d:e\n", ["a:ONE", "b.c:TWO"]),
        (f"  [{GROUP}]  \n  evals = a:ONE  \nno value\n", ["a:ONE"]),
    ],
)
def test_references_are_the_values_of_the_group(text: str, expected: list[str]) -> None:
    assert references(text) == expected


def test_a_package_whose_folder_is_gone_offers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = "from vault_indexer.extensions import Extension\nEXTENSION = Extension(follower='here:follow')\n"
    (tmp_path / "package_that_is_there.py").write_text(there)
    (tmp_path / "package_that_is_broken.py").write_text("import no_such_module_anywhere")
    monkeypatch.syspath_prepend(tmp_path)
    assert present(["no_such_package:EXTENSION", "package_that_is_there:EXTENSION"]) == (
        Extension(follower="here:follow"),
    )
    with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
        present(["package_that_is_broken:EXTENSION"])


def test_the_core_names_its_optional_packages() -> None:
    assert [package_of(command="eval"), package_of(table="milvus")] == ["vault_evals", "vault_gateway"]
    assert [package_of(command="search"), package_of(table="search"), package_of()] == ["", "", ""]


def test_without_a_package_its_command_is_one_line() -> None:
    ran = without_packages("eval", "run", "--live")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "indexer eval needs the package vault_evals, which this installation lacks." in ran.stderr
    assert "Traceback" not in ran.stderr


def test_without_a_package_its_table_is_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[evals]\nrecord_clicks = true\nanything = 3\n\n[search]\nlimit = 7\n")
    ran = without_packages("config", "show", "--config", str(file))
    assert (ran.returncode, "limit" in ran.stdout) == (0, True)
    assert "[evals] needs the package vault_evals, which is not installed; ignored" in ran.stderr
