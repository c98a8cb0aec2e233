"""Questions asked of real indices: shadows, variants, stale questions, reports, and the commands."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from questions_vault import target_of, write_vault

from vault_evals.generate import choose_questions, survey_vault
from vault_evals.questions import Question, generated_file, write_questions
from vault_evals.variants import own_index
from vault_indexer.daemon.assembly import Assembly, Target

pytestmark = pytest.mark.long

DEADLINE_S = 300


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    folder = tmp_path_factory.mktemp("ranking")
    return target_of(write_vault(folder / "vault"), folder / "index")


@pytest.fixture(scope="module")
def generated(target: Target) -> list[Question]:
    return choose_questions(survey_vault(target, lambda _done, _total: None))


def test_known_vectors_of_the_vaults_own_index_are_used_again(target: Target, tmp_path: Path) -> None:
    with own_index(target, lambda _: None):
        pass
    other = replace(Assembly.of(target_of(target.vault, tmp_path / "index")), shared_root=target.index_dir)
    other.index_dir.prepare()
    _, report = other.build_next(lambda _: None, recompute_weights=False)
    assert (report.embedded, report.reused > 0) == (0, True)


@pytest.fixture
def place(tmp_path: Path, target: Target) -> Iterator[tuple[list[str], dict[str, str], Path]]:
    """What a command needs: options, environment, and its folder of cases."""
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    places = {"--vault": target.vault, "--index-dir": tmp_path / "index", "--cases": tmp_path / "evals"}
    options = [text for name, path in places.items() for text in (name, str(path))]
    environ = {
        **os.environ,
        "XDG_CONFIG_HOME": str(tmp_path),
        "TMPDIR": str(scratch),
        "INDEXER_INDEX_WORKERS": "1",
    }
    yield options, environ, tmp_path / "evals"
    shutil.rmtree(scratch)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_nothing_stays_when_a_run_is_interrupted(
    place: tuple[list[str], dict[str, str], Path], generated: list[Question], ending: signal.Signals
) -> None:
    options, environ, cases = place
    write_questions(generated_file(cases), generated)
    with subprocess.Popen(
        [sys.executable, "-m", "vault_indexer.cli", "eval", "rank", *options],
        env=environ,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("building an index"):
                break
        assert len(list(Path(environ["TMPDIR"]).glob("vault-indexer-eval-*"))) == 1
        process.send_signal(ending)
        rest = process.stderr.read()
        assert process.wait(DEADLINE_S) == 128 + ending, rest
    assert list(Path(environ["TMPDIR"]).glob("vault-indexer-eval-*")) == []
    assert "Traceback" not in rest
