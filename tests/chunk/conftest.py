from __future__ import annotations

from collections.abc import Iterator

import pytest
from openai_server import ModelServer, model_server


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model server on loopback that speaks the OpenAI protocol, with scripted answers."""
    pytest.importorskip("llama_index.llms.openai_like")
    with model_server() as running:
        yield running
