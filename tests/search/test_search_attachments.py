"""Attachments and bases are found by their names."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_cases import check_golden
from indexed_vault import indexed_vault
from small_vault import Ask

from vault_indexer.errors import UnknownNoteError
from vault_indexer.model import SearchAnswer, SearchRequest
from vault_indexer.service import VaultService

PHOTO, SECOND = "assets/meeting_photo.jpg", "assets/2024/Photo two.JPG"
DIAGRAM, CAFE = "assets/diagram.png", "assets/Café plan.mp4"
BASE, BOARD = "Books.base", "Board.canvas"
NOTES = {
    "Meeting.md": "# Meeting\n\nNotes of the meeting.\n",
    "Weather.md": "# Weather\n\nThe diagram shows rain. It is a png of the week.\n",
    "Trees.md": "# Trees\n\nOaks grow slowly.\n",
    BOARD: '{"nodes": [{"id": "a", "type": "text", "text": "Sails", "x": 0, "y": 0}], "edges": []}',
}
FILES = (PHOTO, SECOND, DIAGRAM, CAFE, BASE, "Secret/hidden.png", ".trash/diagram.png", "Excluded.md")
OLDEST = 1_700_049_600


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    folder = tmp_path_factory.mktemp("attachments")
    write(folder / "vault")
    with indexed_vault(folder / "vault", folder / "index") as (opened, _):
        yield opened


def write(vault: Path) -> None:
    """Notes, then attachments, each a day younger than the one before."""
    contents = {**NOTES, **dict.fromkeys(FILES, "bytes"), ".indexerignore": "Secret/\n"}
    contents[".obsidian/app.json"] = '{"userIgnoreFilters": ["Excluded.md"]}'
    for number, (path, text) in enumerate(contents.items()):
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_bytes(text.encode())
        os.utime(vault / path, (OLDEST + number * 86_400, OLDEST + number * 86_400))


@pytest.fixture
def ask(service: VaultService) -> Ask:
    def asked(query: str, **options: bool | int) -> SearchAnswer:
        return service.search(SearchRequest(query, **options))  # type: ignore[arg-type]

    return asked


def test_files_are_found_as_the_golden_says(service: VaultService, ask: Ask) -> None:
    def found(query: str) -> str:
        by_chunk, by_note = (
            [hit.path for hit in ask(query, **one).results] for one in ({}, {"by_note": True})
        )
        assert by_chunk == by_note
        return ", ".join(by_chunk)

    def told(query: str) -> str:
        explained = service.explain(DIAGRAM, SearchRequest(query))
        kind, *reasons = explained.reasons
        assert kind == "it is an attachment: only its name is searched"
        return f"{'shown' if explained.shown else 'not shown'}: {'; '.join(reasons)}"

    check_golden(
        Path(__file__).parent / "fixtures" / "attachments.md",
        {
            "": found,
            "A file whose name alone has the words is first": lambda query: ask(query).results[0].path,
            "What the name of `assets/diagram.png` lacks": told,
        },
    )


def test_a_hit_of_a_file(service: VaultService, ask: Ask) -> None:
    (hit,) = ask("file:meeting_photo").results
    assert (hit.kind, hit.title, hit.line, hit.snippet, hit.content) == (
        "attachment",
        "meeting_photo.jpg",
        1,
        "",
        "",
    )
    assert hit.score == 1
    assert (hit.why.vector, hit.why.keyword, hit.why.graph) == (None, None, None)
    assert hit.why.filters == ("file:meeting_photo",)
    assert hit.uri.startswith("obsidian://open?path=")
    assert hit.uri.endswith("meeting_photo.jpg")
    assert not hit.stale
    kinds = {hit.path: hit.kind for hit in ask("file:a OR file:b OR file:m").results}
    assert (kinds[BASE], kinds[BOARD], kinds["Meeting.md"]) == ("base", "canvas", "note")


def test_a_note_with_the_words_is_before_the_file(ask: Ask) -> None:
    hits = ask("diagram png").results
    assert [hit.path for hit in hits[:2]] == ["Weather.md", DIAGRAM]
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize("query", ["where is the meeting photo", "photos", "phot", "photo tag:#any", "-tree"])
def test_a_file_that_lacks_something_is_not_found(ask: Ask, query: str) -> None:
    kinds = {hit.kind for hit in ask(query).results}
    assert "attachment" not in kinds


def test_while_typing_the_last_word_may_be_unfinished(ask: Ask) -> None:
    assert ask("meeting pho", as_you_type=True).results[0].path == PHOTO


def test_a_file_that_is_excluded_cannot_be_explained(service: VaultService) -> None:
    with pytest.raises(UnknownNoteError):
        service.explain("Secret/hidden.png", SearchRequest("hidden"))


def test_a_file_behind_the_last_hit_says_how_to_see_it(service: VaultService) -> None:
    told = service.explain(CAFE, SearchRequest("file:e", limit=1))
    assert not told.shown
    assert told.reasons[1:] == (
        "its name matches the query",
        "higher-ranked hits fill the answer: ask for more, or add file: to the query",
    )


def test_a_note_that_cannot_be_read_is_found_by_name_and_one_with_a_mistake_is_named(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Marmalade.md").write_bytes("Рецепт".encode("cp1251"))
    (vault / "Jam.md").write_bytes(b"---\ntitle: Re: jam\n---\nQuince \x93jelly\x94.\n")
    (vault / "Compote.md").write_bytes(b"sugar " * (1 << 20))
    with indexed_vault(vault, tmp_path / "index") as (opened, _):
        for query, reason in (("Marmalade", "not UTF-8"), ("file:Compote", "too large")):
            answer = opened.search(SearchRequest(query))
            assert answer.missing_words == ()
            assert answer.results[0].snippet.startswith(f"not read: {reason}")
            with pytest.raises(UnknownNoteError, match=f"is not in the index: {reason}"):
                opened.explain(answer.results[0].path.removesuffix(".md"), SearchRequest("sugar"))
        jam, *unread = sorted(opened.status().skipped, key=lambda one: not one.is_indexed)
    assert [(one.path, one.is_indexed) for one in unread] == [("Compote.md", False), ("Marmalade.md", False)]
    assert (jam.path, jam.is_indexed) == ("Jam.md", True)
    assert "line 4: some bytes" in jam.reason
    assert "line 2: not valid YAML" in jam.reason
