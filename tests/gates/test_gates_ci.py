"""A test that skips without an extra has to run somewhere: in .ci/run, after the extra was installed."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from python_source import ROOT

from vault_evals.variants import parse_variants

RUN = (ROOT / ".ci" / "run").read_text("utf-8")

PROJECT = """
import os, pytest
if "EXTRA" not in os.environ:
    pytest.importorskip("the_extra")
def test_all(): pass
"""


def test_what_lacks_an_extra_runs_once_it_is_installed() -> None:
    steps = r"locked models milvus ocr api|make test\S*|-m pytest(?! -p no:cacheprovider)|make hunt"
    runs = re.findall(rf"^[^#\n]*?({steps})", RUN, re.MULTILINE)
    assert runs[:3] == ["make test", "locked models milvus ocr api", "make test-all"]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.search(r"^test-all:.*\n.*-m \"long and not slow\" --skipped$", makefile, re.MULTILINE)


HIDDEN = """
import importlib.metadata, pathlib, re, sys
import pytest
def plain(names):
    return {re.sub("[-_.]+", "-", name).lower() for name in names}
locked = re.findall(r"^([\\w.-]+)==", pathlib.Path("requirements/dev.txt").read_text(), re.M)
installed = plain([*locked, "pip", "setuptools", "vault-indexer"])
for module, distributions in importlib.metadata.packages_distributions().items():
    if not plain(distributions) & installed and module not in sys.modules:
        sys.modules[module] = None
sys.exit(pytest.main(["--collect-only", "-qq", "-m", "", "-p", "no:cacheprovider", "tests"]))
"""


def test_every_test_is_collected_without_the_extras() -> None:
    """`make test` on a clean machine has what requirements/dev.txt names, and nothing else."""
    collected = subprocess.run(
        [sys.executable, "-c", HIDDEN],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert collected.returncode == 0, collected.stdout[-3000:] + collected.stderr[-3000:]


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_step_with_a_pipe_fails_where_its_first_command_does(file: Path) -> None:
    """The runner's own shell has no pipefail; `shell: bash` has it."""
    for job in yaml.safe_load(file.read_text("utf-8"))["jobs"].values():
        shell = job.get("defaults", {}).get("run", {}).get("shell")
        piped = [step["run"] for step in job["steps"] if re.search(r"[^|]\|[^|]", step.get("run", ""))]
        assert shell == "bash" or not piped, piped


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_runs_commands_and_variants_that_exist(file: Path) -> None:
    for line in re.findall(r"\.venv/bin/indexer (.*)", file.read_text("utf-8").replace("\\\n", " ")):
        words = shlex.split(line.partition("|")[0])
        name = words[: 2 if words[0] == "eval" else 1]
        options = {word for word in words if word.startswith("--")} - {"--vault", "--index-dir"}
        helped = subprocess.run(
            [str(Path(sys.executable).with_name("indexer")), *name, "--help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert options <= set(re.findall(r"--[a-z-]+", helped)), line
        if "--variants" in words:
            parse_variants(words[words.index("--variants") + 1].split(","))


def test_what_was_skipped_is_long_and_nothing_else(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\nmarkers = long\n")
    (tests / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    (tests / "test_extra.py").write_text(PROJECT)
    (tests / "test_mixed.py").write_text(
        "import os, pytest\n"
        "def test_passes(): pass\n"
        "@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_some(n):\n"
        "    if n == 2 and 'EXTRA' not in os.environ: pytest.skip('needs it')\n"
    )

    def run(*options: str, **environ: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", *options, "-v", "tests"],
            cwd=tmp_path,
            env={**os.environ, **environ},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "2 passed, 2 skipped" in run()
    again = run("--skipped", "-m", "long", EXTRA="1")
    assert "2 passed" in again
    assert "test_extra.py::test_all" in again
    assert "test_mixed.py::test_some[2]" in again


def test_a_release_has_the_files_that_obsidian_loads_from_a_tag_that_is_the_version() -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    assert 'tags: ["[0-9]*"]' in workflow
    assert 'test "$TAG" = "$version"' in workflow
    assert 'test "$TAG" = "$plugin"' in workflow
    _, _, release = workflow.partition('gh release create "$TAG"')
    names = ("manifest.json", "src/obsidian-plugin/generated/main.js", "src/obsidian-plugin/styles.css")
    assert release.split("\n\n")[0].split()[-5:] == ["sbom.json", "licences.txt", *names]
    assert all((ROOT / name).is_file() for name in names)


@pytest.mark.parametrize("readme", ["README.md", "src/obsidian-plugin/README.md"])
def test_what_the_plugin_reaches_beyond_the_vault_is_disclosed(readme: str) -> None:
    """The community directory shows the README beside `manifest.json`, the one at the top."""
    assert (ROOT / "manifest.json").is_file()
    text = (ROOT / readme).read_text("utf-8")
    disclosed = {
        name: re.search(rf"^- \*\*{name}.*?(?=^- |^$)", text, re.MULTILINE | re.DOTALL)
        for name in ("Files outside the vault", "Network", "Programs")
    }
    files, network, programs = (found[0] if found else "" for found in disclosed.values())
    assert "`daemon.json`" in files
    assert "`start.json`" in files
    assert "http://127.0.0.1" in network
    assert "only if you allow it" in programs
    assert "No account, no telemetry, no advertisement." in text


def test_the_workflows_that_evaluate_keep_their_reports() -> None:
    assert '--report json --out "${REPORTS:-' in (ROOT / ".ci" / "run").read_text("utf-8")
    for name, given in (("ci", "REPORTS: "), ("eval-nightly", "--out reports/cases.json")):
        workflow = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8")
        before, uploaded, after = workflow.partition("actions/upload-artifact")
        assert uploaded
        assert given in before
        assert "if: always()" in after
        assert "reports" in after


def test_every_file_with_a_version_has_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    plugin = ROOT / "src" / "obsidian-plugin"
    lock = json.loads((plugin / "package-lock.json").read_text("utf-8"))
    openapi = json.loads((ROOT / "tests/serve/fixtures/openapi.json").read_text("utf-8"))
    found = {
        "manifest.json": json.loads((ROOT / "manifest.json").read_text("utf-8"))["version"],
        "versions.json": [*json.loads((ROOT / "versions.json").read_text("utf-8"))][-1],
        "package.json": json.loads((plugin / "package.json").read_text("utf-8"))["version"],
        "package-lock.json": lock["version"],
        "package-lock.json, its own package": lock["packages"][""]["version"],
        "openapi.json": openapi["info"]["version"],
        "the installed package": importlib.metadata.version("vault-indexer"),
    }
    assert found == dict.fromkeys(found, project["version"])
