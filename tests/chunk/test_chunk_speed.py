"""Time grows with the note: four times the text may not take much more than four times as long."""

import gc
import time
from collections.abc import Iterator
from functools import cache

import pytest
from chunk_laws import build, note_of

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
TRIES = 4
"""Other processes fill the caches, which costs processor time too; quadratic time fails every try."""


@cache
def sized(name: str, size: int) -> Note:
    return note_of(TEXTS[name] * (size // len(TEXTS[name])))


@pytest.fixture
def no_collection() -> Iterator[None]:
    """The garbage collector walks all that lives, the notes of other tests too."""
    gc.disable()
    yield
    gc.enable()


def seconds(strategy: str, note: Note) -> float:
    chunker = build(strategy)
    times = []
    for _ in range(2):
        start = time.process_time()
        chunker.chunk(note)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("strategy", OURS)
def test_time_is_linear(strategy: str, name: str, no_collection: None) -> None:
    for _ in range(TRIES):
        small, large = seconds(strategy, sized(name, 15_000)), seconds(strategy, sized(name, 60_000))
        # Quadratic time would be 16 times as much; below some milliseconds a ratio means nothing.
        if large < max(9 * small, 0.04):
            return
    raise AssertionError(f"{small:.4f} s, then {large:.4f} s")


@pytest.mark.slow
@pytest.mark.parametrize("strategy", OURS)
def test_five_megabytes(strategy: str) -> None:
    note = sized("mixed", 5_000_000)
    chunks = build(strategy).chunk(note)
    assert chunks[0].start_pos == 0
    assert chunks[-1].end_pos == len(note.text.rstrip())
