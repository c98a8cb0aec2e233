"""Documents in many languages: each is found by a sentence of it, whatever its kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from document_files import document_with, rtf
from indexed_vault import indexed_vault
from pdfs import Pdf, show

from vault_indexer.model import SearchRequest, document_kind_of
from vault_indexer.service import VaultService

SENTENCES = {
    "ar": "النحل ينقل حبوب اللقاح بين الأزهار",
    "cs": "Včely přenášejí pyl mezi květy",
    "de": "Bienen übertragen Blütenstaub zwischen Blüten",
    "el": "Οι μέλισσες μεταφέρουν γύρη ανάμεσα στα άνθη",
    "en": "Bees carry pollen between blossoms",
    "fr": "Les abeilles transportent le pollen entre les fleurs épanouies",
    "he": "הדבורים נושאות אבקה בין הפרחים",
    "hi": "मधुमक्खियाँ फूलों के बीच पराग ले जाती हैं",
    "ja": "ミツバチは花の間で花粉を運びます",
    "ko": "꿀벌은 꽃 사이에서 꽃가루를 옮깁니다",
    "pl": "Pszczoły przenoszą pyłek między kwiatami",
    "ru": "Пчёлы переносят пыльцу между цветами",
    "th": "ผึ้งนำละอองเกสรระหว่างดอกไม้",
    "tr": "Arılar çiçekler arasında polen taşıyor",
    "uk": "Бджоли переносять пилок поміж квітками",
    "zh": "蜜蜂在花朵之间传播花粉",
}
SUFFIXES = ["pdf", "docx", "odt", "rtf", "pptx", "odp", "xlsx", "ods", "epub", "html", "csv", "srt", "txt"]
_FROM_RIGHT = frozenset({"ar", "he"})


def made(language: str, suffix: str) -> bytes:
    sentence = SENTENCES[language]
    if suffix == "pdf":  # a PDF has the letters from left to right, as they are seen
        shown = sentence[::-1] if language in _FROM_RIGHT else sentence
        return Pdf([show(72, 700, shown, font="F3")]).file()
    if suffix == "rtf":
        units = memoryview(sentence.encode("utf-16-le")).cast("H")
        return rtf(
            "".join(f"\\u{unit if unit < 1 << 15 else unit - (1 << 16)}?" for unit in units) + "\\par "
        )
    return document_with(f".{suffix}", sentence)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    folder = tmp_path_factory.mktemp("languages")
    (folder / "vault").mkdir()
    for language in SENTENCES:
        for suffix in SUFFIXES:
            (folder / "vault" / f"{language}.{suffix}").write_bytes(made(language, suffix))
    with indexed_vault(folder / "vault", folder / "index") as (service, _):
        yield service


@pytest.mark.long
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_document_in_any_language_is_found_by_its_sentence(service: VaultService, suffix: str) -> None:
    kind = document_kind_of(f"a.{suffix}")
    assert kind
    found = {
        language: [
            (hit.path, sentence in hit.content)
            for hit in service.search(SearchRequest(f"kind:{kind.name} {sentence}", limit=1)).results
        ]
        for language, sentence in SENTENCES.items()
    }
    assert found == {language: [(f"{language}.{suffix}", True)] for language in SENTENCES}
