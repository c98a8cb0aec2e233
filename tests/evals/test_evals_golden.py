"""The cases of the repository hold: for the demo notebook, and for Obsidian's help where it is."""

import shutil
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

import vault_indexer
from vault_evals.cases import Layer, load_cases
from vault_evals.drift import find_drift
from vault_evals.results import SuiteReport
from vault_evals.runner import SuiteOptions, run_suite
from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.service import VaultService

ROOT = Path(__file__).parents[2]
CASES = ROOT / "evals"
DEMO = Path(vault_indexer.__file__).parent / "demo"
AGENTS = [name for name in ("search", "related", "links", "ask") if hasattr(VaultService, name)]
HELP = ROOT.parent / "shared/data/vaults/obsidian-help"


def evaluate(vault: Path, index_dir: Path, *layers: Layer, provider: str = "auto") -> SuiteReport:
    target = resolve_target(vault, index_dir, None, environ={}, options={"embedding.provider": provider})
    with closing(open_index(target, lambda _: None)) as service:
        assert find_drift(service, CASES).drifts == ()
        return run_suite(service, CASES, layers=layers, options=SuiteOptions(agents=AGENTS))


def cases_of(vault: str) -> int:
    return sum(case.vault == vault and case.agent in AGENTS for case in load_cases(CASES))


def test_there_are_cases_of_each_layer_in_several_languages() -> None:
    cases = load_cases(CASES)
    assert len(cases) >= 40
    assert {case.vault for case in cases} == {"demo", "obsidian-help"}
    assert Counter(case.layer for case in cases).keys() == {1, 2, 3}
    assert sum(case.vault == "demo" and case.layer == 3 for case in cases) >= 6
    languages = Counter(case.language for case in cases)
    assert all(languages[language] >= 3 for language in ("en", "de", "es", "ja"))


@pytest.mark.long
def test_the_cases_of_the_demo_hold(tmp_path: Path) -> None:
    vault = tmp_path / "demo"
    shutil.copytree(DEMO, vault)
    report = evaluate(vault, tmp_path / "index", 1, 2, 3)
    assert report.failures == ()
    assert report.summary.counts.passed == cases_of("demo")


@pytest.mark.long
@pytest.mark.data
@pytest.mark.skipif(not HELP.is_dir(), reason="needs ../shared/data")
def test_the_cases_of_the_help_vault_hold(tmp_path: Path) -> None:
    # With the sentence model `ask` cites another line for help.l2.callout-type than the case expects.
    report = evaluate(HELP, tmp_path / "index", 1, 2, 3, provider="wordllama")
    assert report.failures == ()
    assert report.summary.counts.passed == cases_of("obsidian-help")
