"""Strategies that ask a model, built on one that is scripted; and notes with known paragraphs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from chunk_laws import Words, check_laws, note_of

from vault_indexer.chunk import chunker_for
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.errors import ProviderError
from vault_indexer.model import Chunk, Note
from vault_indexer.ports import Chunker

Answer = str | ProviderError
FAILURES: Mapping[str, Answer] = {
    "500": ProviderError("out of memory", is_transient=True),
    "no protocol": ProviderError("this is no answer"),
}
GARBAGE: Mapping[str, Answer] = {
    "words": "I would split the second one.",
    "half a table": '{"actions": [{"split": 1',
    "another table": '{"answer": 42}',
    "a list": "[1, 2]",
    "no list": '{"actions": 3, "starts": "all", "summaries": {}}',
    "deep": "{" * 50_000 + "}" * 50_000,
}


@dataclass(frozen=True)
class Request:
    """What the model was asked."""

    prompt: str
    timeout_s: float
    max_tokens: int | None


@dataclass
class ScriptedModel:
    """Implements ports.Llm: the next answer or failure of the script, and "fine" when it is used up."""

    name: str = "scripted/test"
    script: list[Answer] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:
        self.requests.append(Request(prompt, timeout_s, max_tokens))
        answer = self.script.pop(0) if self.script else "fine"
        if isinstance(answer, ProviderError):
            raise answer
        return answer


def chunker(model: ScriptedModel, options: Mapping[str, object], cache: Path | None = None) -> Chunker:
    """The chunker of a configuration, which asks this model."""
    settings = ChunkingSettings.model_validate(options)
    return chunker_for(settings, tokenizer=Words(), llm=model, llm_cache=cache)


def cut(chunker: Chunker, note: Note) -> list[Chunk]:
    """The chunks of a note, which keep the laws."""
    chunks = chunker.chunk(note)
    check_laws(note, chunks)
    return chunks


def says(model: ScriptedModel, *answers: object) -> None:
    """The next answers: JSON of what is given, or a text as it is."""
    model.script += [answer if isinstance(answer, str) else json.dumps(answer) for answer in answers]


def paragraphs(count: int, size: int = 80) -> Note:
    """`P0 …`, `P1 …`, each a paragraph of `size` characters that neither continues nor concludes."""
    return note_of("\n\n".join(f"P{n} {'word ' * 200}"[: size - 1] + "." for n in range(count)))


def firsts(chunks: Sequence[Chunk]) -> list[str]:
    """The first word of each chunk."""
    return [chunk.body.split()[0] for chunk in chunks]


def prompts(model: ScriptedModel) -> list[str]:
    """What the model was asked."""
    return [request.prompt for request in model.requests]
