"""`custom`: a function of the user's own, held to the contract; nobody but the user names it."""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from chunk_laws import check_laws, note_of
from golden_cases import check_golden

from vault_indexer.chunk import ChoosingChunker, chunker_for
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.errors import NoteError, ProviderError, UsageError
from vault_indexer.model import Chunk, Note
from vault_indexer.ports import Chunker

TEXT = "---\ntags: [a]\n---\n# A\n\nOne two.\n\n## B\n\nThree four.\n"
NOTE = note_of(TEXT)
BODY = TEXT.index("# A")
HALF = TEXT.index("## B")
END = len(TEXT)


def custom(function: str) -> Chunker:
    return chunker_for(ChunkingSettings.model_validate({"strategy": "custom", "function": function}))


def own(function: str) -> Chunker:
    """A function of this module."""
    return custom(f"{__name__}:{function}")


def halves(note: Note) -> list[tuple[int, int]]:
    return [(BODY, HALF), (HALF, len(note.text))]


def test_spans_become_chunks() -> None:
    chunks = own("halves").chunk(NOTE)
    check_laws(NOTE, chunks)
    assert [(chunk.body, chunk.header_path, chunk.start_line) for chunk in chunks] == [
        ("# A\n\nOne two.", "A", 4),
        ("## B\n\nThree four.", "A > B", 8),
    ]
    assert {chunk.strategy for chunk in chunks} == {"custom"}


def full_chunks(note: Note) -> Iterator[Chunk]:
    for start, end in [(BODY, HALF - 1), (HALF - 1, HALF), (HALF, END)]:
        yield Chunk(
            "mine", 7, "not so", start, end, 0, 0, note.text[start:end], "mine",
            overlap="two.\n\n" if start == HALF else "", context="C", preamble=f"from {start}",
            extra={"rank": [start]}, embed=start == BODY
        )  # fmt: skip


def test_what_a_chunk_adds_is_kept_and_what_follows_from_the_note_is_made() -> None:
    chunks = own("full_chunks").chunk(NOTE)
    check_laws(NOTE, chunks)
    first, second = chunks
    assert (first.chunk_id, first.header_path, first.strategy) == ("Folder/Note_chunk_0", "A", "custom")
    assert (second.overlap, second.context, second.preamble) == ("two.\n\n", "C", f"from {HALF}")
    assert (second.chunk_index, second.extra, first.embed, second.embed) == (1, {"rank": [HALF]}, True, False)


def parents(note: Note) -> Iterator[Chunk]:
    (chunk,) = chunker_for(ChunkingSettings(strategy="none")).chunk(note)
    yield replace(chunk, extra={"level": 0})
    for start, end in halves(note):
        yield replace(chunk, start_pos=start, end_pos=end, body=note.text[start:end], extra={"level": 1})


def test_levels_may_cover_the_same_text() -> None:
    chunks = own("parents").chunk(NOTE)
    check_laws(NOTE, chunks)
    assert [chunk.extra["level"] for chunk in chunks] == [0, 1, 1]


def test_blank_chunks_are_left_out_however_many_there_are() -> None:
    assert own("as_many_as_may_be").chunk(NOTE) == own("halves").chunk(NOTE)


def test_a_chunk_may_repeat_all_of_the_one_before() -> None:
    _, second = own("repeats_all_of_the_one_before").chunk(NOTE)
    assert second.overlap == TEXT[BODY:HALF]


SPANS: dict[str, list[Any] | None] = {
    "leaves_out": [(BODY, HALF)],
    "in_the_frontmatter": [(0, END)],
    "too_far": [(BODY, END + 1)],
    "backwards": [(END, BODY)],
    "out_of_order": [(HALF, END), (BODY, HALF)],
    "overlapping": [(BODY, HALF + 4), (HALF, END)],
    "texts": [TEXT],
    "numbers": [(0.0, 3.5)],
    "nothing": None,
}
CHANGES: dict[str, dict[str, Any]] = {
    "rewrites": {"body": "MINE"},
    "invents_overlap": {"overlap": "never there"},
    "odd_extra": {"extra": {"note": {1, 2}}},
    "no_table": {"extra": [1]},
    "odd_level": {"extra": {"level": [1]}},
}
OVERLAPS = {
    "repeats_all_of_the_one_before": (2, TEXT[BODY:HALF]),
    "repeats_before_the_first": (0, TEXT[BODY - 2 : BODY]),
    "overlaps_too_far": (2, TEXT[BODY - 3 : HALF]),
}


def __getattr__(name: str) -> Callable[[Note], object]:
    """A function of the user's for each row above."""
    if name in SPANS:
        return lambda _: SPANS[name]
    if name in CHANGES:
        return lambda note: [replace(chunk, **CHANGES[name]) for chunk in full_chunks(note)]
    if name not in OVERLAPS:
        raise AttributeError(name)
    number, text = OVERLAPS[name]
    return lambda note: [
        replace(chunk, overlap=text) if at == number else chunk for at, chunk in enumerate(full_chunks(note))
    ]


def endless(_: Note) -> Iterator[tuple[int, int]]:
    yield from ((BODY, BODY) for _ in count())


def as_many_as_may_be(note: Note) -> Iterator[tuple[int, int]]:
    yield from halves(note)
    yield from [(END, END)] * (len(note.text) - 1)


def one_more(note: Note) -> Iterator[tuple[int, int]]:
    yield from as_many_as_may_be(note)
    yield END, END


def fails(_: Note) -> Iterator[tuple[int, int]]:
    yield BODY, HALF
    raise ZeroDivisionError("by\nzero")


class OddError(Exception):
    """An error that derives from nothing else."""


def fails_oddly(_: Note) -> Iterable[tuple[int, int]]:
    raise OddError


def test_what_breaks_the_contract_is_told_by_the_functions_name() -> None:
    def said(function: str) -> str:
        with pytest.raises(NoteError) as raised:
            own(function).chunk(NOTE)
        begin = f"Folder/Note.md: chunking.custom.function {__name__}:{function}: "
        assert str(raised.value).startswith(begin)
        assert "\n" not in str(raised.value)
        return str(raised.value).removeprefix(begin)

    def nowhere(name: str) -> str:
        with pytest.raises((UsageError, ProviderError)) as refused:
            custom(name)
        return f"{type(refused.value).__name__}: {refused.value}"

    golden = Path(__file__).parent / "fixtures" / "custom.md"
    check_golden(golden, {"Functions": said, "A name that leads nowhere is told": nowhere})


def test_an_installed_package_offers_a_chunker_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "by_heading_mod.py").write_text(
        "def cut(note):\n    half = note.text.index('## B')\n"
        "    yield note.body_start, half\n    yield half, len(note.text)\n"
    )
    info = tmp_path / "by_heading-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: by-heading\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vault_indexer.chunkers]\nby_heading = by_heading_mod:cut\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    chunks = custom("by_heading").chunk(NOTE)
    check_laws(NOTE, chunks)
    assert [chunk.body[:4] for chunk in chunks] == ["# A\n", "## B"]
    with pytest.raises(UsageError, match="by_heading"):
        custom("another")


@pytest.mark.parametrize(
    "choice",
    [
        "custom",
        "{strategy: custom, function: 'os:getcwd'}",
        "{function: 'os:getcwd'}",
        "{custom: {function: 'os:getcwd'}}",
        "{strategy: none, custom: {function: 'os:getcwd'}}",
    ],
)
@pytest.mark.parametrize("base", ["custom", "none"])
def test_a_note_names_no_code_even_where_the_user_did(choice: str, base: str) -> None:
    function = f"{__name__}:whole"
    settings = ChunkingSettings.model_validate({"strategy": base, "custom": {"function": function}})
    chunker = ChoosingChunker(settings)
    note = note_of(f"---\nchunking: {choice}\n---\nText.\n")
    (chunk,) = chunker.chunk(note)
    assert (chunk.strategy, chunk.body) == (base, "Text.")
    (told,) = chunker.diagnostics(note)
    assert "only your own configuration" in told.detail


def whole(note: Note) -> list[tuple[int, int]]:
    return [(note.body_start, len(note.text))]


def test_the_module_is_imported_only_when_it_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "never_imported_mod.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    settings = {"strategy": "none", "custom": {"function": "never_imported_mod:cut"}}
    chunker_for(ChunkingSettings.model_validate(settings)).chunk(NOTE)
    assert "never_imported_mod" not in sys.modules
