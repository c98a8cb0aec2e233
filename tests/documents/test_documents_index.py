"""Documents in a vault: read after the notes, found, linked and cited at their page, not read again."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast
from urllib.parse import quote

import pytest
from foreign_embedder import ForeignEmbedder
from indexed_vault import indexed_vault, write_notes
from pdfs import pdf_of

from vault_evals.runner import run_suite
from vault_indexer.chunk import chunker_for
from vault_indexer.config.settings import DocumentsSettings, FilesSettings, Settings
from vault_indexer.config.sources import OptionValue
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.errors import QueryError, UnknownNoteError
from vault_indexer.index import reading
from vault_indexer.index.plan import Plan
from vault_indexer.index.reading import Parsed, Preparer
from vault_indexer.model import AskRequest, Hit, SearchRequest, SizeLimits
from vault_indexer.ports import Embedder
from vault_indexer.search.rank.rank import CHANCE
from vault_indexer.service import VaultService
from vault_indexer.vault import Decision, load_ignore_rules

PAPER, LETTER, MANUAL, LOCKED = "Papers/Bees.pdf", "Letter.txt", "Manual.txt", "Papers/broken.pdf"
NOTES = {
    "Reading.md": "# Reading\n\n[[Bees.pdf#page=2]] [[Bees.pdf#page=9]] ![[Bees.pdf#height=400]] [[Bees]]\n",
    "Garden.md": "# Garden\n\nLavender brings bees to the garden.\n",
    LETTER: "Dear Ann,\n\nthe marble countertop costs 900 pounds. [[Garden]] #late\n- [ ] pay\n",
    MANUAL: "".join(f"Gearbox {n} turns at {n} revolutions.\n\n" for n in range(1000)),
}
PAGES = (
    ["The dance of bees", "Foragers tell each other where nectar is."],
    ["The waggle dance encodes distance as duration.", "One second of waggling means a kilometre of flight."],
    ["A swarm chooses its new home by quorum.", "The scouts were described by Martin Lindauer in 1955."],
)


def fill(vault: Path) -> Path:
    write_notes(vault, NOTES)
    (vault / "Papers").mkdir()
    (vault / PAPER).write_bytes(pdf_of(PAGES, "Dances of the honey bee"))
    (vault / LOCKED).write_bytes(b"%PDF-1.4\nnothing")
    return vault


@contextmanager
def opened(folder: Path, **options: OptionValue) -> Iterator[VaultService]:
    vault = folder / "vault"
    with indexed_vault(vault if vault.exists() else fill(vault), folder / "index", options=options) as (
        service,
        _,
    ):
        yield service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    with opened(tmp_path_factory.mktemp("documents")) as found:
        yield found


def found_by(service: VaultService, query: str) -> Sequence[Hit]:
    return service.search(SearchRequest(query)).results


def test_a_page_is_found_and_opens(service: VaultService) -> None:
    hit = found_by(service, "waggling second of flight")[0]
    assert (hit.path, hit.kind, hit.part, hit.title) == (PAPER, "pdf", "page 2", "Dances of the honey bee")
    assert hit.uri == (service.vault / PAPER).as_uri() + "#page=2"
    assert hit.why.document_weight == 0.8


def test_a_long_document_weighs_less_than_a_short_one(service: VaultService) -> None:
    (weight,) = {hit.why.document_weight for hit in found_by(service, "path:Manual gearbox")}
    count = len(service.chunks(MANUAL).chunks)
    assert count > 20
    assert weight == pytest.approx(0.8 / (1 + CHANCE * math.log2(count)))


def test_a_document_has_no_links_tags_or_tasks_of_its_own(service: VaultService) -> None:
    assert found_by(service, "task-todo:pay") == ()
    assert found_by(service, "tag:#late") == ()
    assert service.links("Garden").backlinks == ()
    assert [hit.path for hit in found_by(service, '"[[Garden]] #late"')] == [LETTER]


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("kind:pdf bees", {PAPER}),
        ("kind:text countertop", {LETTER, MANUAL}),
        ("kind:document", {PAPER, LETTER, MANUAL}),
        ("kind:note bees", {"Garden.md", "Reading.md"}),
        ("-kind:document bees", {"Garden.md", "Reading.md"}),
    ],
)
def test_kinds_are_a_filter(service: VaultService, query: str, paths: set[str]) -> None:
    assert {hit.path for hit in found_by(service, query)} <= paths
    assert found_by(service, query)


def test_an_unknown_kind_is_refused_with_those_there_are(service: VaultService) -> None:
    with pytest.raises(QueryError, match="note, canvas, document, pdf"):
        found_by(service, "kind:film x")


def test_links_lead_to_pages(service: VaultService) -> None:
    links = {(link.target, link.subpath): link for link in service.links("Reading").outgoing}
    assert links["Bees.pdf", "page=2"].line
    assert links["Bees.pdf", "page=9"].problem == "no page 9"
    assert links["Bees.pdf", "height=400"].problem is None
    assert links["Bees", ""].resolved is None  # a document is named with its suffix, as in Obsidian
    assert {one.subpath for one in service.links(PAPER).backlinks} == {"page=2", "page=9", "height=400"}


def test_a_page_may_be_named_by_its_number_alone(service: VaultService) -> None:
    assert service.view(PAPER, part="2").blocks == service.view(PAPER, part="page=2").blocks
    with pytest.raises(UnknownNoteError, match="no page 9"):
        service.view(PAPER, part="9")


def test_a_note_of_zotero_leads_to_the_passage_on_its_page(tmp_path: Path) -> None:
    """As its plugins write it: a link with the encoded name of the file, its page and the annotation."""
    paper, note = "Papers/Lindauer - 1955 - Schwärme (2. Aufl.).pdf", "@lindauer1955.md"
    vault = fill(tmp_path / "vault")
    (vault / paper).write_bytes(pdf_of(PAGES, "Schwarmbienen"))
    links = [f"([p. {page}]({quote(paper)}#page={page}&annotation=ABCD1234))" for page in (1, 3)]
    text = f"---\ncitekey: lindauer1955\n---\n> The dance {links[0]}\n\nQuorum {links[1]}\n"
    (vault / note).write_text(text, "utf-8")
    with opened(tmp_path) as service:
        first, third = service.links(note).outgoing
        lines = service.note(paper).text.split("\n")
        assert (first.resolved, lines[(first.target_line or 0) - 1]) == (paper, "The dance of bees")
        assert "quorum" in lines[(third.target_line or 0) - 1]
        assert first.chunk_id
        pages = [
            (one.path, one.line, one.subpath.partition("&")[0]) for one in service.links(paper).backlinks
        ]
        assert pages == [(note, 4, "page=1"), (note, 6, "page=3")]
        hits = found_by(service, f'path:"{paper}" Lindauer scouts described')
        assert [(hit.path, hit.part) for hit in hits] == [(paper, "page 3")]
        case = "id: quorum\nagent: search\nlayer: 1\ninput: {query: scouts described Lindauer}\nexpected:\n"
        write_notes(tmp_path / "cases", {"quorum.yaml": f'{case}  expected_paths: ["{paper}#page=3"]\n'})
        (result,) = run_suite(service, tmp_path / "cases").results
        assert (result.verdict, result.reasons) == ("pass", ())


def test_the_text_of_a_document_is_that_of_the_index(service: VaultService) -> None:
    text = service.note(PAPER).text
    assert "quorum" in text
    assert text == service.indexed_text(PAPER)
    labels = [block["c"] for block in service.view(PAPER).blocks if "page" in str(block.get("c"))]
    assert labels == [[{"t": "em", "c": [f"page {number}"]}] for number in (1, 2, 3)]
    assert {chunk.strategy for chunk in service.chunks(PAPER, "paragraph").chunks} == {"paragraph"}


def test_an_answer_cites_the_page(service: VaultService) -> None:
    answer = service.ask(AskRequest("Who described the scouts?"))
    cited = [citation for sentence in answer.sentences for citation in sentence.citations]
    assert [(citation.path, citation.part) for citation in cited] == [(PAPER, "page 3")]
    assert "page=3" in cited[0].uri


def test_a_document_that_cannot_be_read_is_named_with_the_reason(service: VaultService) -> None:
    skipped = {one.path: one.reason for one in service.status().skipped}
    assert set(skipped) == {LOCKED}
    assert "damaged" in skipped[LOCKED]
    assert not [problem for problem in service.verify() if problem.kind != "unreadable"]


def test_a_document_without_links_is_no_orphan(service: VaultService) -> None:
    assert {orphan.path for orphan in service.orphans()} == {"Garden.md"}


def test_a_text_that_an_index_has_is_not_extracted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = fill(tmp_path / "vault")
    with indexed_vault(vault, tmp_path / "index") as (_, reader), reader.holder.lease() as snapshot:
        (vault / LETTER).rename(vault / "Moved.txt")
        (vault / "Copy.org").write_bytes((vault / "Moved.txt").read_bytes())
        (vault / "Copy.pdf").write_bytes((vault / "Moved.txt").read_bytes())
        chunker = chunker_for(ChunkingSettings())
        embedder = cast("Embedder", ForeignEmbedder())
        preparer = Preparer(vault, SizeLimits(1 << 20), lambda _: chunker, embedder, [snapshot.catalog])
        monkeypatch.setattr(reading, "extract", lambda *_: "Extracted.")

        def text(path: str) -> str:
            found = preparer.parse(path)
            assert isinstance(found, Parsed)
            return found.note.text

        assert "countertop" in text("Moved.txt")
        assert "countertop" in text("Copy.org")  # of the same kind
        assert text("Copy.pdf") == "Extracted."


@pytest.mark.parametrize(
    ("settings", "read"),
    [
        (DocumentsSettings(), {PAPER, LETTER}),
        (DocumentsSettings(kinds=("text",)), {LETTER}),
        (DocumentsSettings(kinds=()), set()),
        (DocumentsSettings(folders=("Papers/",)), {PAPER}),
    ],
)
def test_the_configuration_chooses_what_is_read(
    tmp_path: Path, settings: DocumentsSettings, read: set[str]
) -> None:
    files = Settings(documents=settings).files
    rules = load_ignore_rules(tmp_path, files)
    decided = {path: rules.decide(path, is_dir=False) for path in (PAPER, LETTER, "Photo.jpg", "Note.md")}
    assert {path for path, decision in decided.items() if decision is Decision.INDEX} == read | {"Note.md"}
    assert Decision.IGNORE not in decided.values()
    assert (
        rules.fingerprint != load_ignore_rules(tmp_path, FilesSettings()).fingerprint
        or settings == DocumentsSettings()
    )


def test_documents_follow_the_notes_one_at_a_time() -> None:
    paths = ("a.md", "b.md", "c.pdf", "d.txt", "e.pdf")
    assert [part.read for part in Plan(paths).parts(lambda: 0.0)] == [
        ("a.md", "b.md"),
        ("c.pdf",),
        ("d.txt", "e.pdf"),
    ]
    slow = iter(range(0, 1000, 5))
    parts = [part.read for part in Plan(paths).parts(lambda: float(next(slow)))]
    assert parts == [("a.md", "b.md"), ("c.pdf",), ("d.txt",), ("e.pdf",)]
