"""Strategies that ask a model, built on a real server; and notes with known paragraphs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from chunk_laws import Words, note_of
from openai_server import Answer, ModelServer

from vault_indexer.chunk import chunker_for
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.config.tables.llm import LlmSettings
from vault_indexer.model import Chunk, Note
from vault_indexer.ports import Chunker
from vault_indexer.providers import llm_for

FAILURES = {
    "500": Answer(status=500, body=b'{"error": {"message": "out of memory"}}'),
    "no protocol": Answer(body=b"\x00 no json"),
    "silence": Answer(silent=True),
}
GARBAGE = {
    "words": Answer("I would split the second one."),
    "half a table": Answer('{"actions": [{"split": 1'),
    "another table": Answer('{"answer": 42}'),
    "a list": Answer("[1, 2]"),
    "no list": Answer('{"actions": 3, "starts": "all", "summaries": {}}'),
    "deep": Answer("{" * 50_000 + "}" * 50_000),
}


def chunker(
    server: ModelServer, options: Mapping[str, object], cache: Path | None = None, model: str = "test"
) -> Chunker:
    """The chunker of a configuration, its model behind HTTP on loopback."""
    settings = ChunkingSettings.model_validate(options)
    named = {"provider": "openai", "model": model, "url": server.url + "/v1"}
    llm = llm_for(LlmSettings.model_validate(named))
    return chunker_for(settings, tokenizer=Words(), llm=llm, llm_cache=cache)


def patience_s(answer: Answer) -> float:
    """A time-out for this answer: short only where none comes."""
    return 0.3 if answer.silent else 60.0


def says(server: ModelServer, *answers: object) -> None:
    """The next answers: JSON of what is given, or a text as it is."""
    texts = [answer if isinstance(answer, str) else json.dumps(answer) for answer in answers]
    server.script.extend(Answer(text) for text in texts)


def paragraphs(count: int, size: int = 80) -> Note:
    """`P0 …`, `P1 …`, each a paragraph of `size` characters that neither continues nor concludes."""
    return note_of("\n\n".join(f"P{n} {'word ' * 200}"[: size - 1] + "." for n in range(count)))


def firsts(chunks: Sequence[Chunk]) -> list[str]:
    """The first word of each chunk."""
    return [chunk.body.split()[0] for chunk in chunks]


def prompts(server: ModelServer) -> list[str]:
    """What the model was asked."""
    return [str(request.body["messages"]) for request in server.requests]
