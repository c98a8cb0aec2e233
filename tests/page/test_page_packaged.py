"""The wheel holds the page, and all else that is read as a file; nothing of the tests."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from waiting import PROCESS_S

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "vault_indexer"
PACKAGES = tuple(ROOT / "src" / name for name in ("vault_indexer", "vault_evals", "vault_gateway"))
MADE = ("__pycache__", ".pyc")

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The files of the wheel that the sources make. They are copied, so that nothing else gets in."""
    if importlib.util.find_spec("build") is None:
        pytest.skip("needs build: pip install -e .[package]")
    root = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, root)
    shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    shutil.copytree(ROOT / "tests" / "page", root / "tests" / "page")
    isolated = [] if importlib.util.find_spec("hatchling") is None else ["--no-isolation"]
    made = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", *isolated, "--outdir", str(root / "dist"), str(root)],
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=False,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    [wheel] = (root / "dist").glob("*.whl")
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


def below(folder: Path) -> set[str]:
    """The files of a folder of the package, as a wheel names them."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(ROOT / "src").as_posix()
        for path in files
        if not any(part in path.as_posix() for part in MADE)
    }


@pytest.mark.parametrize("folder", ["serve/page", "serve/mcp", "demo", "chunk/cutting"])
def test_the_wheel_holds_what_is_read_as_a_file(names: set[str], folder: str) -> None:
    wanted = below(PACKAGE / folder)
    assert wanted
    assert wanted <= names


def test_the_wheel_is_the_package_and_nothing_else(names: set[str]) -> None:
    own = {name for name in names if ".dist-info/" not in name}
    assert own == set().union(*map(below, PACKAGES))
    assert {"vault_indexer/py.typed", "vault_indexer/serve/page/vendor/d3-force.js"} <= own
