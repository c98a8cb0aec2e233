"""The time of every strategy is linear in the length of a note."""

import gc
from collections.abc import Iterator
from functools import cache

import pytest
from chunk_laws import build, note_of
from linear_time import check_linear

from vault_indexer.chunk import STRATEGIES
from vault_indexer.model import Note

PROSE = "Some words make a sentence here. However, another follows it, with e.g. more words. "
BLOCKS = "- one\n- two\n\n```python\ndef f():\n    return 1\n```\n\n"
MIXED = f"# H\n\n{PROSE * 6}\n\n{BLOCKS}## S\n\n{PROSE * 12}\n\n"
TEXTS = {
    "mixed": MIXED,
    "one line": PROSE,
    "no spaces": "漢字",
    "tiny paragraphs": "a\n\n",
    "headings": "# H\n## I\n### J\n",
    "short lines": "ab\n",
    "list": "- it\n",
    "one word": "x",
}
# With a model behind them the time is the model's.
OURS = sorted(STRATEGIES.keys() - {"llm", "agentic", "custom"})


@cache
def sized(name: str, size: int) -> Note:
    return note_of(TEXTS[name] * (size // len(TEXTS[name])))


@pytest.fixture
def no_collection() -> Iterator[None]:
    """The garbage collector walks all that lives, the notes of other tests too."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("strategy", OURS)
def test_time_is_linear(strategy: str, name: str, no_collection: None) -> None:
    check_linear(build(strategy).chunk, sized(name, 15_000), sized(name, 60_000))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", OURS)
def test_five_megabytes(strategy: str) -> None:
    note = sized("mixed", 5_000_000)
    chunks = build(strategy).chunk(note)
    assert chunks[0].start_pos == 0
    assert chunks[-1].end_pos == len(note.text.rstrip())
