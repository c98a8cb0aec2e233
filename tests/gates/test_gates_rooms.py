"""Each room says what it is and exports what it says; the plan in the docs is the plan that is checked."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from pathlib import Path

import pytest
from python_source import PACKAGE, ROOT

ROOMS = sorted(file.parent.name for file in PACKAGE.glob("*/__init__.py"))


def contract_layers() -> list[str]:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers: list[str] = config["tool"]["importlinter"]["contracts"][0]["layers"]
    return layers


def architecture() -> str:
    return (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def sort_key(name: str) -> tuple[int, str]:
    """Ruff's order of `__all__`: constants, then classes, then the rest."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2), name


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_it_is(room: str) -> None:
    doc = importlib.import_module(f"vault_indexer.{room}").__doc__ or ""
    assert len(doc.split()) >= 5, f"{room}/__init__.py needs a docstring"


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_all_is_true(room: str) -> None:
    package = importlib.import_module(f"vault_indexer.{room}".rstrip("."))
    exported: list[str] = list(getattr(package, "__all__", []))
    assert [name for name in exported if not hasattr(package, name)] == []
    assert exported == sorted(set(exported), key=sort_key)
    public = {
        name
        for name, value in vars(package).items()
        if not name.startswith("_")
        and not inspect.ismodule(value)
        and str(getattr(value, "__module__", "")).startswith("vault_indexer")
    }
    assert public - set(exported) == set()


def test_every_room_has_its_heading_in_the_architecture() -> None:
    names = {re.sub(r"[()\s]", "", name) for layer in contract_layers() for name in layer.split("|")}
    present = {name for name in names if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()}
    headings = "\n".join(re.findall(r"^## .*$", architecture(), re.MULTILINE))
    assert {name for name in present if f"`{name}" not in headings} == set()


def test_the_architecture_draws_the_contract() -> None:
    drawn = re.search(r"```text layers\n(.*?)```", architecture(), re.DOTALL)
    assert drawn is not None
    assert [line.strip() for line in drawn.group(1).splitlines()] == contract_layers()


def test_a_test_file_has_a_name_of_its_own() -> None:
    files = sorted((ROOT / "tests").rglob("*.py"))
    # pytest wants conftest.py by that name, so mypy leaves them out.
    names = [file.name for file in files if file.name not in {"__init__.py", "conftest.py"}]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_the_demo_vault_is_part_of_the_package() -> None:
    assert len(list((PACKAGE / "demo").rglob("*.md"))) >= 20
    assert not list(Path(PACKAGE / "demo").rglob("*.py"))
