"""Regular expressions mean the same on every Python; see `.ci/patterns.py`."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "patterns.py"
SETUP = SCRIPT.parents[2] / "shared" / "pythons" / "setup"


@pytest.fixture(scope="module")
def patterns() -> ModuleType:
    spec = importlib.util.spec_from_file_location("patterns", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("pattern", "is_to_avoid"),
    [
        (r"(?:(?!\]\])[^\n])++\]\]", True),
        (r"a(?:[-.]{1,2}\w++)*+", True),
        (r"(?>ab|a)c", True),
        (r"x(?=(?:ab)?+)", True),
        (r"(?:(?!\]\])[^\n])+\]\]", False),
        (r"[^\]\n]*+\]", False),
        (r"\w++(?:-\w++)*", False),
    ],
)
def test_possessive_groups_are_told_apart_from_possessive_characters(
    patterns: ModuleType, pattern: str, is_to_avoid: bool
) -> None:
    assert patterns.has_group_to_avoid(pattern, 0) is is_to_avoid


def test_made_texts_match_and_miss(patterns: ModuleType) -> None:
    maker = patterns.TextMaker(r"!?\[\[(?:(?!\]\])[^\r\n])+\]\]", 0, seed=1)
    texts = [maker.make() for _ in range(60)]
    found = [bool(re.search(r"!?\[\[(?:(?!\]\])[^\r\n])+\]\]", text)) for text in texts]
    assert any(found) and not all(found)


def other_python(version: str, folder: Path) -> str:
    """A Python of this version: the system's, one on the path, or one unpacked into `folder`."""
    short = version.rpartition(".")[0]
    for name in ("/usr/bin/python3", f"python{short}", f"python{version}"):
        python = shutil.which(name)
        if python is not None and version_of(python) == version:
            return python
    if (SETUP.parent / f"{version}.tar.xz").exists():
        environment = folder / version
        subprocess.run(
            [SETUP, version, environment],
            check=True,
            capture_output=True,
            env={"PYTHONS_HOME": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        )
        return str(environment / "bin" / "python3")
    pytest.skip(f"there is no Python {version} here")


def version_of(python: str) -> str:
    command = [python, "-I", "-c", "import platform; print(platform.python_version())"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.11.2", "3.12.1", "3.13.5"])
def test_every_pattern_means_the_same_on_another_python(version: str, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), other_python(version, tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
