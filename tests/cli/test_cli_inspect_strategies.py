"""`inspect --strategy` cuts a note as a build by that strategy does, on the default configuration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_sandbox import Sandbox

from vault_indexer.chunk import STRATEGIES
from vault_indexer.cli.app import run

pytestmark = pytest.mark.long


OTHERS = {"llm", "agentic", "custom"}
"""They need a language model or code of the user's own."""

READY = tuple(name for name in STRATEGIES if name not in OTHERS)

SENTENCES = (
    "Flour, water and salt make a dough. The dough rests overnight. A baker folds it at dawn.",
    "Saturn has rings of ice. A telescope shows them on a clear night. Its moons are small points of light.",
    "However, rain changes the plan. The garden drinks it. Beans climb the poles, and snails follow.",
    "A tax form asks for the year. The office closes at noon. Bring the receipts of the whole year.",
)
NOTE = "# Four themes\n\n" + "".join(
    f"## Part {number}\n\n{' '.join(SENTENCES[number % 4 :] + SENTENCES[: number % 4])}\n\n"
    f"- one item\n- another\n\n```python\ndef f{number}(a):\n    return a\n```\n\n"
    for number in range(12)
)

Chunks = list[tuple[object, ...]]


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """An index of one note in a folder per strategy, each folder cut by the strategy of its name."""
    made = Sandbox(tmp_path_factory.mktemp("cut"))
    rules = "".join(f'[[chunking.rules]]\npaths = ["{name}/**"]\nstrategy = "{name}"\n' for name in READY)
    made.write(".indexer.toml", rules)
    for name in READY:
        made.write(f"{name}/Note.md", NOTE)
    ran = made.indexer("rebuild")
    assert ran.code == 0, ran.err
    return made


@pytest.fixture(scope="module")
def stored(cut: Sandbox) -> dict[str, Chunks]:
    """The chunks that the build stored, by strategy."""
    notes = [line for line in cut.indexer("export").out.splitlines() if "note" in json.loads(line)]
    return {json.loads(line)["note"].partition("/")[0]: chunks_of(line) for line in notes}


def test_an_export_says_the_sizes_of_chunks(cut: Sandbox) -> None:
    lines = [json.loads(line) for line in cut.indexer("export").out.splitlines()]
    chunks = {note["note"].partition("/")[0]: note["chunks"] for note in lines if "note" in note}
    assert all(chunk["word_count"] > 0 for own in chunks.values() for chunk in own)
    assert all(chunk["token_count"] > 0 for chunk in chunks["token"])


def chunks_of(line: str) -> Chunks:
    keys = ("chunk_id", "start_pos", "end_pos", "strategy", "overlap")
    return [tuple(chunk[key] for key in keys) for chunk in json.loads(line)["chunks"]]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No configuration but the defaults, for a command that runs in this process."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))


@pytest.mark.parametrize("strategy", READY)
def test_inspect_by_a_strategy_gives_the_chunks_that_a_build_stores(
    strategy: str,
    cut: Sandbox,
    stored: dict[str, Chunks],
    home: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(
            [
                *("inspect", f"{strategy}/Note.md", "--strategy", strategy, "--json"),
                *("--vault", str(cut.vault), "--index-dir", str(cut.index_dir)),
            ]
        )
    printed = capsys.readouterr()
    assert (ended.value.code or 0, printed.err) == (0, "")
    assert chunks_of(printed.out) == stored[strategy]
    assert {chunk[3] for chunk in stored[strategy]} == {strategy}


def test_inspect_without_a_strategy_follows_the_rules(cut: Sandbox, stored: dict[str, Chunks]) -> None:
    ran = cut.indexer("inspect", "token/Note", "parent_child/Note", "semantic/Note", "--json")
    assert ran.code == 0, ran.err
    inspected = dict(
        zip(("token", "parent_child", "semantic"), map(chunks_of, ran.out.splitlines()), strict=True)
    )
    assert inspected == {name: stored[name] for name in inspected}


@pytest.mark.parametrize(
    ("strategy", "code", "says"),
    [("llm", 3, "llm.provider"), ("custom", 2, "chunking.custom.function"), ("worl", 2, "word, token")],
)
def test_a_strategy_that_cannot_work_says_what_it_needs(
    strategy: str, code: int, says: str, sandbox: Sandbox
) -> None:
    ran = sandbox.indexer("inspect", "Welcome", "--strategy", strategy)
    assert (ran.code, ran.out) == (code, "")
    assert ran.complains(says)
