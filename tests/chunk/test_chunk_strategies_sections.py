"""The default strategy, rule by rule."""

from itertools import pairwise

from chunk_laws import NOTES, note_of
from hypothesis import given

from vault_indexer.chunk import chunker_for
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.model import Chunk


def cut(text: str, **options: int | bool) -> list[Chunk]:
    return chunker_for(ChunkingSettings.model_validate(options)).chunk(note_of(text))


def shown(chunks: list[Chunk]) -> list[tuple[str, str]]:
    return [(chunk.chunk_id, chunk.header_path) for chunk in chunks]


LONG = "A sentence with seven words in it. " * 12


def test_chunks_begin_at_headings_of_every_level_and_kind() -> None:
    text = "before\n\n# A\n\na\n\nB\n-\n\nb\n\n###### C\n\nc\n"
    assert shown(cut(text, min_chunk_chars=0)) == [
        ("Folder/Note_chunk_0", ""),
        ("Folder/Note_chunk_1", "A"),
        ("Folder/Note_chunk_2", "A > B"),
        ("Folder/Note_chunk_3", "A > B > C"),
    ]


def test_no_chunk_begins_at_what_only_looks_like_a_heading() -> None:
    text = "---\nx: 1\n# y\n---\n"
    text += "# A\n\n```\n# code\n```\n\n<div>\n# html\n</div>\n\n> # quoted\n\n    # indented\n"
    assert [chunk.header_path for chunk in cut(text, min_chunk_chars=0)] == ["A"]


def test_the_body_has_no_frontmatter_and_no_blank_lines_around() -> None:
    (chunk,) = cut("---\na: 1\n---\n\n\n    code\n\ntext\n\n \n")
    assert chunk.body == "    code\n\ntext"
    assert (chunk.start_line, chunk.end_line) == (6, 8)


def test_context_names_the_headings_that_the_body_does_not_show() -> None:
    text = f"# A\n\n{LONG}\n\n## B\n\n{LONG}\n\n{LONG}\n"
    chunks = cut(text, max_chunk_chars=500)
    assert [(c.chunk_id, c.context) for c in chunks] == [
        ("Folder/Note_chunk_0", ""),
        ("Folder/Note_chunk_1_sub_0", "A"),
        ("Folder/Note_chunk_1_sub_1", "A > B"),
    ]
    assert chunks[2].content == "A > B\n\n" + chunks[2].overlap + chunks[2].body
    assert not any(c.context for c in cut(text, max_chunk_chars=500, include_parent_headers=False))


def test_a_small_section_joins_its_own_chapter_before_the_next_one() -> None:
    text = f"# A\n\n{LONG}\n\n## Small\n\nshort\n\n# Z\n\n{LONG}\n"
    assert [c.header_path for c in cut(text, max_chunk_chars=1000)] == ["A", "Z"]
    # Where that chapter is full, the next one takes it rather than leave it alone.
    full = text.replace("# A\n", "# A\n\nmore\n")
    assert [c.header_path for c in cut(full, max_chunk_chars=445)] == ["A", "A > Small"]


def test_a_title_above_a_long_chapter_opens_its_first_piece() -> None:
    chunks = cut(f"# Title\n\n## Chapter\n\n{LONG}\n\n{LONG}\n", max_chunk_chars=500)
    assert shown(chunks) == [
        ("Folder/Note_chunk_0_sub_0", "Title"),
        ("Folder/Note_chunk_0_sub_1", "Title > Chapter"),
    ]
    assert chunks[0].body.startswith("# Title\n\n## Chapter\n\nA sentence")


def test_overlap_is_the_end_of_the_sibling_before() -> None:
    chunks = cut(f"# A\n\n{LONG * 3}\n\n# B\n\n{LONG * 3}", max_chunk_chars=400, overlap_chars=30)
    for previous, chunk in pairwise(chunks):
        siblings = not chunk.chunk_id.endswith("_sub_0")
        assert chunk.overlap == (previous.body[-30:] if siblings else "")


@given(text=NOTES)
def test_size_laws(text: str) -> None:
    chunks = cut(text, min_chunk_chars=60, max_chunk_chars=150, overlap_chars=20)
    assert all(len(c.body) <= 150 for c in chunks)
    whole = [c for c in chunks if "_sub_" not in c.chunk_id]
    for first, second in pairwise(whole):
        if second.chunk_index == first.chunk_index + 1 and second.end_pos - first.start_pos <= 150:
            assert len(first.body) >= 60 and len(second.body) >= 60
