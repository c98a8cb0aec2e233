"""The default strategy, beyond the cases of `fixtures/strategies.md`."""

from itertools import pairwise

from chunk_laws import NOTES, cut
from hypothesis import given

LONG = "A sentence with seven words in it. " * 12


def test_overlap_is_the_end_of_the_sibling_before() -> None:
    text = f"# A\n\n{LONG * 3}\n\n# B\n\n{LONG * 3}"
    chunks = cut("header_based", text, max_chunk_chars=400, overlap_chars=30)
    for previous, chunk in pairwise(chunks):
        siblings = not chunk.chunk_id.endswith("_sub_0")
        assert chunk.overlap == (previous.body[-30:] if siblings else "")


@given(text=NOTES)
def test_size_laws(text: str) -> None:
    chunks = cut("header_based", text, min_chunk_chars=60, max_chunk_chars=150, overlap_chars=20)
    assert all(len(c.body) <= 150 for c in chunks)
    whole = [c for c in chunks if "_sub_" not in c.chunk_id]
    for first, second in pairwise(whole):
        if second.chunk_index == first.chunk_index + 1 and second.end_pos - first.start_pos <= 150:
            assert len(first.body) >= 60 and len(second.body) >= 60
