"""Citations name their sentences, and cut no link, mark or abbreviation, in twelve languages."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing

import pytest
from indexed_vault import write_notes

from vault_indexer.answer.quotable import quotable
from vault_indexer.answer.sentences import SentenceReader
from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.model import AskRequest, Citation, SearchRequest
from vault_indexer.service import VaultService

SENTENCES = {
    "en": "Ring {mark} and Dr. Smith at once, e.g. tonight.",
    "es": "Llama a {mark} y a la Sra. Pérez hoy, p.ej. por la tarde.",
    "pt": "Chame {mark} e o Sr. Silva hoje, p.ex. à tarde.",
    "de": "Rufe {mark} und Dr. Müller sofort an, z.B. heute.",
    "fr": "Appelle {mark} et le Dr. Martin, p.ex. ce soir.",
    "it": "Chiama {mark} e il sig. Rossi oggi.",
    "nl": "Bel {mark} en dhr. Jansen meteen.",
    "pl": "Zadzwoń do {mark} i dr. Nowaka, np. Jana.",
    "sv": "Ring {mark} och dr. Berg genast, bl.a. Olof.",
    "ru": "Позвони {mark} и проф. Иванову сегодня.",
    "zh": "马上打电话给{mark}和她的医生。",
    "ja": "すぐに{mark}と医師に電話してください。",
}
UNSPACED = ("zh", "ja")
MARKS = (
    "[[People#Dr. Amara Voss]]",
    "[[People|Dr. Voss. The vet]]",
    "[the clinic. Open daily](clinic.md)",
    "`vet. Call()`",
    "**Dr. Voss. Vet**",
    "_Dr. Voss. Vet_",
    "==Dr. Voss. Vet==",
    "~~Dr. Voss. Vet~~",
)


def said_in(language: str) -> list[str]:
    """The sentences; between letters `_` marks no emphasis, and Chinese and Japanese have no spaces."""
    marks = [mark for mark in MARKS if language not in UNSPACED or mark[0] != "_"]
    return [SENTENCES[language].format(mark=mark) for mark in marks]


def note_in(language: str) -> str:
    """Paragraphs, a list and a quote of sentences with marks, in an order that chance has chosen once."""
    chance = random.Random(language)
    said = said_in(language)
    chance.shuffle(said)
    gap = "" if language in UNSPACED else " "
    paragraphs = [gap.join(said[at : at + 2]) for at in range(0, len(said), 2)]
    items = "".join(f"- {gap.join(chance.sample(said, 2))}\n" for _ in range(4))
    return (
        f"# {language}\n\n" + "\n\n".join(paragraphs) + f"\n\n{items}\n> {gap.join(chance.sample(said, 2))}\n"
    )


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    folder = tmp_path_factory.mktemp("cited")
    vault = write_notes(folder / "vault", {f"{name}.md": note_in(name) for name in SENTENCES})
    options: dict[str, int | str] = {"index.workers": 1, "embedding.provider": "wordllama"}
    target = resolve_target(vault, folder / "index", None, environ={}, options=options)
    with closing(open_index(target, lambda _: None)) as found:
        yield found


def citations_of(service: VaultService, language: str) -> list[Citation]:
    """All that can be quoted of the note in a language."""
    hits = service.search(SearchRequest(f"path:{language}.md", 50)).results
    with service.reader().holder.lease() as snapshot:
        reader = SentenceReader({"": snapshot.catalog})
        return [one for quote in quotable(reader.of_hits(hits)) for one in reader.citations(quote)]


@pytest.mark.parametrize("language", SENTENCES)
def test_no_citation_cuts_a_link_a_mark_or_an_abbreviation(service: VaultService, language: str) -> None:
    found = citations_of(service, language)
    assert len(found) >= 2 * len(MARKS)
    whole = set(said_in(language))
    for citation in found:
        quote = citation.quote
        assert quote.removeprefix("- ").removeprefix("> ") in whole
        for opened, closed in (("[[", "]]"), ("[the", "](clinic.md)")):
            assert quote.count(opened) == quote.count(closed)
        for mark in ("`", "**", "_", "==", "~~"):
            assert quote.count(mark) % 2 == 0


@pytest.mark.parametrize("language", SENTENCES)
def test_the_sentences_of_a_citation_are_found_by_their_ids(service: VaultService, language: str) -> None:
    for citation in citations_of(service, language):
        (name,) = citation.sentence_ids
        found = service.sentence(citation.path, name)
        assert (found.kind, found.id) == ("sentence", name)
        assert citation.quote.removeprefix("- ").removeprefix("> ") in found.text


def test_an_answer_names_the_sentences_that_it_rests_on(service: VaultService) -> None:
    answer = service.ask(AskRequest("call Dr. Smith at once", use_model=False))
    cited = [citation for one in answer.sentences for citation in one.citations]
    assert cited
    assert all(citation.sentence_ids for citation in cited)
