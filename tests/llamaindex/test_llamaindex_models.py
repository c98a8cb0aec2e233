"""A language model helps to make an index: asked over HTTP by the workers, its answers kept beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed_vault import write_notes
from openai_server import Answer, ModelServer, model_server

from vault_indexer import Vault, open_vault
from vault_indexer.errors import IndexUnusableError, ProviderError, VaultIndexerError

PLAIN = "They sleep in the cellar until spring.\n"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    pytest.importorskip("llama_index.llms.openai_like")
    with model_server() as running:
        yield running


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "notes", {"Bulbs.md": PLAIN})


def opened(notes: Path, server: ModelServer, chunking: dict[str, object], model: str = "test") -> Vault:
    llm = {"provider": "openai", "model": model, "url": f"{server.url}/v1"}
    index = {"workers": 1}
    return open_vault(notes, notes.parent / "index", chunking=chunking, llm=llm, index=index)


@pytest.mark.long
def test_a_preamble_is_found_by_meaning_and_not_shown(notes: Path, server: ModelServer) -> None:
    server.script.append(Answer("Tulips and dahlias are stored over winter."))
    with opened(notes, server, {"strategy": "none", "contextual": True}) as vault:
        (hit,) = vault.search("storing dahlias").results
        assert hit.content == PLAIN.strip()
        assert hit.why.vector is not None and hit.why.keyword is None
        with_preamble = hit.why.vector.score
    with opened(notes, server, {"strategy": "none"}) as vault:
        (hit,) = vault.search("storing dahlias").results
        assert hit.why.vector is None or hit.why.vector.score < with_preamble - 0.1


@pytest.mark.long
def test_a_rebuild_asks_nothing_twice_and_another_model_is_a_reason_to_rebuild(
    notes: Path, server: ModelServer
) -> None:
    chunking: dict[str, object] = {"strategy": "none", "contextual": True}
    server.script.extend([Answer("Bulbs in winter."), Answer("Bulbs again.")])
    with opened(notes, server, chunking) as vault:
        vault.rebuild()
        assert len(server.requests) == 1
        assert list((notes.parent / "index" / "llm-cache").rglob("*.txt"))
    with opened(notes, server, chunking, model="other") as vault:
        assert vault.search("bulbs").index.generation == 3
    assert len(server.requests) == 2


@pytest.mark.long
def test_a_model_that_is_down_costs_no_note(notes: Path, server: ModelServer) -> None:
    server.script.extend([Answer(status=500, body=b"{}")] * 9)
    with opened(notes, server, {"strategy": "agentic", "agentic": {"mode": "summarize"}}) as vault:
        (hit,) = vault.search("cellar").results
        assert hit.content == PLAIN.strip()


def test_a_strategy_that_asks_without_a_model_is_told_so(notes: Path, server: ModelServer) -> None:
    with pytest.raises(VaultIndexerError, match=r'llm\.provider = "none"') as raised:
        open_vault(notes, notes.parent / "index", chunking={"strategy": "llm"}, index={"workers": 1})
    assert isinstance(raised.value, ProviderError | IndexUnusableError)
    assert server.requests == []
