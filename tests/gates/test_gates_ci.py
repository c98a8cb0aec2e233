"""A test that skips without an extra has to run somewhere: in .ci/run, after the extra was installed."""

from __future__ import annotations

import re
import shlex
from itertools import chain
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression
from python_source import ROOT

WITH_EXTRA = re.compile(
    r"importorskip\((?!\"(?:pytrec_eval|scipy\.stats|tiktoken|wordllama|prometheus_client|pty)\b)"
)
"""A package that neither the product, the extra dev nor POSIX brings along."""

BRACES = re.compile(r"\{([^{}]+)\}")


def commands(script: str) -> list[list[str]]:
    """The words of each call of pytest."""
    whole = script.replace("\\\n", " ")
    return [shlex.split(line) for line in whole.splitlines() if " -m pytest " in line]


def expanded(word: str) -> list[str]:
    """As bash does for one group in braces."""
    found = BRACES.search(word)
    if found is None:
        return [word]
    return [word[: found.start()] + one + word[found.end() :] for one in found[1].split(",")]


def runs(words: list[str], path: str, marks: set[str]) -> bool:
    """Whether a call runs a test file whose tests have these marks."""
    named = chain.from_iterable(expanded(word) for word in words if word.startswith("tests/"))
    if not any(path == one or path.startswith(f"{one}/") for one in named):
        return False
    chosen = [words[at + 1] for at, word in enumerate(words) if word == "-m" and words[at + 1] != "pytest"]

    def has_mark(name: str, /, **_options: str | int | bool | None) -> bool:
        return name in marks

    return all(Expression.compile(one).evaluate(has_mark) for one in chosen)


def marks_of(text: str) -> set[str]:
    return set(re.findall(r"^pytestmark = .*\bmark\.(\w+)", text, re.MULTILINE))


def skipping(tests: Path) -> list[Path]:
    files = (path for path in sorted(tests.rglob("test_*.py")) if path.parent != Path(__file__).parent)
    return [path for path in files if WITH_EXTRA.search(path.read_text("utf-8"))]


@pytest.mark.parametrize("path", skipping(ROOT / "tests"), ids=lambda path: path.stem)
def test_each_file_that_needs_an_extra_is_run_with_it(path: Path) -> None:
    relative = path.relative_to(ROOT).as_posix()
    after_extras = (ROOT / ".ci" / "run").read_text("utf-8").partition('section "extras')[2]
    assert "make torture" in after_extras  # it runs all that is slow
    marks = marks_of(path.read_text("utf-8"))
    assert "slow" in marks or any(runs(words, relative, marks) for words in commands(after_extras)), (
        f"{relative} (marks: {', '.join(sorted(marks)) or 'none'}) is run by no line of .ci/run with extras"
    )


def test_a_line_runs_what_it_names_and_does_not_deselect() -> None:
    words = shlex.split('bounded 9 python -m pytest -m "not long and not slow" tests/a tests/b/test_{c,d}.py')
    assert runs(words, "tests/a/test_x.py", set())
    assert runs(words, "tests/b/test_d.py", set())
    assert not runs(words, "tests/b/test_e.py", set())
    assert not runs(words, "tests/a/test_x.py", {"long"})


def test_a_release_has_the_files_that_obsidian_loads_from_a_tag_that_is_the_version() -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    assert 'tags: ["[0-9]*"]' in workflow
    assert 'test "$TAG" = "$version"' in workflow
    assert 'test "$TAG" = "$plugin"' in workflow
    _, _, release = workflow.partition('gh release create "$TAG"')
    names = ("manifest.json", "src/obsidian-plugin/main.js", "src/obsidian-plugin/styles.css")
    assert release.split("\n\n")[0].split()[-3:] == list(names)
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
