"""One body of tests, every strategy: a new row of the table is covered without a line here."""

from pathlib import Path
from typing import get_args

import pytest
from chunk_laws import EDGE_NOTES, NOTES, SMALL, build, check_laws, note_of
from hypothesis import HealthCheck, given, settings

from vault_indexer.chunk import STRATEGIES
from vault_indexer.config.tables.chunking_options import StrategyName
from vault_indexer.parse import parse_note

VAULT = Path(__file__).parents[3] / "shared/data/vaults/obsidian-help"


def test_every_strategy_is_tried() -> None:
    assert SMALL.keys() == STRATEGIES.keys() == set(get_args(StrategyName))


@pytest.fixture(params=sorted(STRATEGIES))
def strategy(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("name", EDGE_NOTES)
def test_edge_notes(strategy: str, name: str) -> None:
    note = note_of(EDGE_NOTES[name])
    for chunker in (build(strategy), build(strategy, **SMALL[strategy])):
        chunks = chunker.chunk(note)
        check_laws(note, chunks)
        assert all(chunk.strategy == strategy for chunk in chunks)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(text=NOTES)
def test_generated_notes(strategy: str, text: str) -> None:
    note = note_of(text)
    chunks = build(strategy, **SMALL[strategy]).chunk(note)
    check_laws(note, chunks)
    assert chunks == build(strategy, **SMALL[strategy]).chunk(note)


@pytest.mark.long
@pytest.mark.data
@pytest.mark.skipif(not VAULT.is_dir(), reason="needs ../shared/data")
def test_real_notes(strategy: str) -> None:
    for chunker in (build(strategy), build(strategy, **SMALL[strategy])):
        for path in sorted(VAULT.rglob("*.md")):
            note = parse_note(path.relative_to(VAULT).as_posix(), path.read_bytes())
            check_laws(note, chunker.chunk(note))
