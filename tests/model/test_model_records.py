"""What the records of the index say of themselves: keys, kinds of files, chunks, and lists that are cut."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from golden_cases import check_golden

from vault_indexer.model import (
    Backlink,
    Chunk,
    Diagnostic,
    FileRow,
    HitKind,
    IndexState,
    LinkPlace,
    LinksAnswer,
    NoteRow,
    Orphan,
    Orphans,
    OutgoingLink,
    UnresolvedLinks,
    UnresolvedTarget,
    Verdict,
    doc_id_of,
    kind_of,
    language_of_path,
    note_id_of,
)
from vault_indexer.model.chunk import join_context
from vault_indexer.model.file_kind import DOCUMENT_KINDS, language_of
from vault_indexer.model.records import QUARANTINED, chunk_key, count_in_notes, names_of_json


def test_ids_kinds_and_languages_are_those_of_the_golden() -> None:
    def file(path: str) -> str:
        return f"{doc_id_of(path)} {kind_of(path).value}"

    golden = Path(__file__).parent / "fixtures" / "names.md"
    check_golden(golden, {"file": file, "source": language_of_path, "language": language_of})


def test_a_key_holds_the_note_and_the_number_of_its_chunk() -> None:
    assert [chunk_key(0, 5), chunk_key(1, 0), chunk_key(3, 7)] == [5, 1_048_576, 3_145_735]
    assert [note_id_of(key) for key in (5, 1_048_575, 1_048_576, 3_145_735)] == [0, 0, 1, 3]


@pytest.mark.parametrize(
    ("notes", "limit", "count"), [("", 1, 0), ("aaba", 0, 0), ("aaba", 1, 2), ("aabac", 2, 4), ("ab", 3, 2)]
)
def test_items_are_counted_up_to_a_number_of_notes(notes: str, limit: int, count: int) -> None:
    assert count_in_notes(notes, limit) == count


@pytest.mark.parametrize(
    ("state", "reason", "is_so"),
    [
        ("skipped", f"{QUARANTINED}too slow", True),
        ("skipped", "too large", False),
        ("note", f"{QUARANTINED}too slow", False),
    ],
)
def test_a_note_that_was_set_aside_is_quarantined(state: str, reason: str, is_so: bool) -> None:
    assert FileRow("a.md", 1, 2, 3, 4, "", state, reason).is_quarantined is is_so


def test_what_is_kept_as_json_is_read_from_it() -> None:
    row = NoteRow(1, "a.md", "A", "en", '{"a": 1}', '["x", "y"]', '["t"]', 0)
    assert (row.frontmatter, row.aliases, row.tags) == ({"a": 1}, ("x", "y"), ("t",))
    empty = NoteRow(1, "a.md", "A", "en", "{}", "[]", "[]", 0)
    assert (empty.frontmatter, empty.aliases, empty.tags) == ({}, (), ())
    assert replace(row, frontmatter_json="[1]").frontmatter == {}
    assert names_of_json('["a"]') == ("a",)


CHUNK = Chunk("a_chunk_0", 0, "A > B", 1, 9, 2, 3, "body text", "word")


def test_a_chunk_is_its_body_with_what_is_put_before_it() -> None:
    whole = replace(CHUNK, overlap="tail ", context="A", preamble="On a.")
    assert (CHUNK.content, CHUNK.embedding_text("")) == ("body text", "body text")
    assert whole.content == "A\n\ntail body text"
    assert whole.embedding_text("Trees") == "Trees\n\nOn a.\n\nA\n\ntail body text"
    assert (CHUNK.word_count, whole.word_count) == (2, 4)
    assert (join_context("", "b"), join_context("a", "b")) == ("b", "a\n\nb")


@pytest.mark.parametrize(
    ("title", "context", "body", "embedded"),
    [
        ("Kitten care", "", "Feed it.", "Kitten care\n\nFeed it."),
        ("Kitten care", "", "# **Kitten care**\n\nFeed it.", "# **Kitten care**\n\nFeed it."),
        ("Kitten care", "KITTEN CARE\nFood", "Feed it.", "KITTEN CARE\nFood\n\nFeed it."),
        ("Kitten care", "", "Feed it as in Kitten care.", "Kitten care\n\nFeed it as in Kitten care."),
        ("2026-11-30", "", "Fed it.", "Fed it."),
        ("x" * 300, "", "Fed it.", f"{'x' * 200}\n\nFed it."),
        ("猫", "", "魚を食べる。", "猫\n\n魚を食べる。"),
    ],
)
def test_a_chunk_is_embedded_with_the_title_of_its_note(
    title: str, context: str, body: str, embedded: str
) -> None:
    assert replace(CHUNK, context=context, body=body).embedding_text(title) == embedded


def test_a_chunk_says_what_its_strategy_alone_knows() -> None:
    known = replace(CHUNK, extra={"level": 1, "parent_id": "p", "sentence_ids": ["s1", 2]})
    assert (known.level, known.parent_id, known.sentence_ids) == (1, "p", ("s1", "2"))
    odd = replace(CHUNK, extra={"level": "1", "parent_id": None, "sentence_ids": "s1"})
    assert (odd.level, odd.parent_id, odd.sentence_ids) == (None, "", ())
    assert (CHUNK.level, CHUNK.parent_id, CHUNK.sentence_ids) == (None, "", ())


@pytest.mark.parametrize(
    ("level", "embed", "is_context"),
    [(0, False, True), (0, True, False), (1, False, False), (None, False, False)],
)
def test_a_parent_without_a_vector_is_context(level: int | None, embed: bool, is_context: bool) -> None:
    extra = {} if level is None else {"level": level}
    assert replace(CHUNK, extra=extra, embed=embed).is_context is is_context


def test_a_chunk_names_what_a_model_wrote_of_it() -> None:
    assert CHUNK.written_by_model == ()
    assert replace(CHUNK, preamble="p").written_by_model == ("preamble",)
    both = replace(CHUNK, preamble="p", extra={"reasoning": "", "other": 1})
    assert both.written_by_model == ("preamble", "reasoning")


@pytest.mark.parametrize(
    ("verdict", "missing", "restricted"),
    [("none", 0, "none"), ("none", 1, "weak"), ("weak", 1, "weak"), ("strong", 1, "strong")],
)
def test_while_notes_are_missing_nothing_is_said_to_be_absent(
    verdict: Verdict, missing: int, restricted: Verdict
) -> None:
    assert IndexState(1, 2, 3, missing).restrict(verdict) == restricted


def links(outgoing: int, backlinks: int, unresolved: int, diagnostics: int) -> LinksAnswer:
    out = OutgoingLink("wikilink", "t", "", "", 1, None, False, (), 0, None, None, None)
    back = Backlink("b.md", 1, "wikilink", "", "B", "", None, None, None)
    return LinksAnswer(
        "a.md",
        (out,) * outgoing,
        (back,) * backlinks,
        (out,) * unresolved,
        (Diagnostic("unresolved", "t", 1),) * diagnostics,
        outgoing,
        backlinks,
        unresolved,
    )


@pytest.mark.parametrize(
    ("lengths", "limit", "cut", "more"),
    [
        ((3, 2, 1, 0), None, (3, 2, 1, 0), False),
        ((3, 2, 1, 0), 3, (3, 2, 1, 0), False),
        ((3, 2, 1, 0), 2, (2, 2, 1, 0), True),
        ((1, 3, 1, 1), 2, (1, 2, 1, 1), True),
        ((1, 1, 3, 1), 2, (1, 1, 2, 1), True),
        ((1, 1, 1, 3), 2, (1, 1, 1, 2), True),
    ],
)
def test_lists_of_links_are_cut_and_say_so(
    lengths: tuple[int, int, int, int], limit: int | None, cut: tuple[int, ...], more: bool
) -> None:
    found = links(*lengths).first(limit)
    lists = (found.outgoing, found.backlinks, found.unresolved, found.diagnostics)
    assert (tuple(map(len, lists)), found.more) == (cut, more)
    assert (found.outgoing_count, found.backlink_count, found.unresolved_count) == lengths[:3]


@pytest.mark.parametrize(("limit", "kept", "more"), [(None, 2, False), (2, 2, False), (1, 1, True)])
def test_lists_of_the_vault_are_cut_and_count_all(limit: int | None, kept: int, more: bool) -> None:
    place = LinkPlace("a.md", 1, "wikilink")
    targets = [UnresolvedTarget("x", 2, (place, place)), UnresolvedTarget("y", 1, (place,))]
    assert UnresolvedLinks.of(targets, limit) == UnresolvedLinks(3, 2, more, tuple(targets[:kept]))
    orphans = [Orphan("a.md", "A"), Orphan("b.md", "B")]
    assert Orphans.of(orphans, limit) == Orphans(tuple(orphans[:kept]), 2, more)


def test_the_type_of_kinds_has_every_kind_of_document() -> None:
    assert {*get_args(HitKind)} == {"note", "canvas", "attachment", *(kind.name for kind in DOCUMENT_KINDS)}
