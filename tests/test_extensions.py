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


@pytest.mark.parametrize(
    ("arguments", "package"),
    [
        pytest.param(("eval", "run", "--live"), "vault_evals", marks=pytest.mark.long),
        (("gateway",), "vault_gateway"),
    ],
)
def test_without_a_package_its_command_is_one_line(arguments: tuple[str, ...], package: str) -> None:
    ran = without_packages(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"indexer {arguments[0]} needs the package {package}, which this installation lacks." in ran.stderr
    assert "Traceback" not in ran.stderr


def test_without_a_package_its_table_is_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    milvus = '[milvus]\nuri = "http://127.0.0.1:1"\nanything = 3\n'
    file.write_text(f"[evals]\nrecord_clicks = true\nanything = 3\n\n{milvus}\n[search]\nlimit = 7\n")
    ran = without_packages("config", "show", "--config", str(file))
    assert (ran.returncode, "limit" in ran.stdout) == (0, True)
    assert "[evals] needs the package vault_evals, which is not installed; ignored" in ran.stderr
    assert "[milvus] needs the package vault_gateway, which is not installed; ignored" in ran.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("config", "options", "code", "told"),
    [
        (
            '[index]\nbackend = "milvus"\n[milvus]\nuri = "http://127.0.0.1:1"\n',
            ("status",),
            2,
            '{file}: index.backend = "milvus": embedded only: milvus needs the package vault_gateway, '
            "which is not installed",
        ),
        (
            "",
            ("serve", "--take-over"),
            2,
            "--take-over needs the package vault_gateway, which is not installed",
        ),
    ],
)
def test_without_its_package_nothing_is_published_and_nothing_is_lost(
    tmp_path: Path, config: str, options: tuple[str, ...], code: int, told: str
) -> None:
    vault, index, file = tmp_path / "vault", tmp_path / "index", tmp_path / "config.toml"
    vault.mkdir()
    index.mkdir(mode=0o700)
    (index / "publication").write_text(OWNED)
    file.write_text(config)
    places = ("--vault", str(vault), "--index-dir", str(index), "--config", str(file))
    ran = without_packages(*options, *places)
    assert (ran.returncode, ran.stdout) == (code, "")
    assert told.format(file=file) in ran.stderr
    assert "Traceback" not in ran.stderr
    assert (index / "publication").read_text() == OWNED


OWNED = f"vault-{'0' * 16} {'1' * 64}\n"


def test_without_a_package_its_routes_are_absent() -> None:
    code = ABSENT.partition("from vault_indexer")[0] + (
        "from vault_indexer.serve.api.endpoints import ENDPOINTS\n"
        "from vault_indexer.serve.api.respond import extension_routes\n"
        "print([route for route in extension_routes()], '/v1/bodies' in [row.path for row in ENDPOINTS])"
    )
    command = [sys.executable, "-c", code.format(packages=list(OPTIONAL))]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == "[] False\n"
