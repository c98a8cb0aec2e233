"""A vault in many scripts: each language finds its notes by words of its own, the exact form first."""

import pytest

from vault_indexer.store.keywords.index import KeywordIndex
from vault_indexer.store.keywords.schema import FieldWeights, KeywordDocument
from vault_indexer.store.keywords.snapshot import KeywordSnapshot
from vault_indexer.text.language import detect
from vault_indexer.text.query import analyze_query
from vault_indexer.text.tokens import analyze

NOTES = {
    "en": "The gardens of the city are open to all who want to walk in them.",
    "en-garden": "The garden of the house is not open, and there is no way to see it.",
    "en-cafe": "The cafe in the street is where we meet when it is cold.",
    "fr-café": "Le café dans la rue est fermé, et nous ne savons pas quand il ouvre.",
    "de": "Die Häuser in der Straße sind alt und werden nicht mehr bewohnt.",
    "es": "Las canciones de la montaña no se cantan ya en el pueblo.",
    "tr": "Bu kitaplar çok güzel ve her gün bir sayfa okumak için.",
    "ru": "Книги о море и ёлках стоят на полке, и он читает их зимой.",
    "el": "Τα βιβλία για τη θάλασσα είναι στο ράφι.",
    "zh": "图书馆里的书可以借阅三个星期。",
    "ja": "図書館で本を検索することができます。",
    "ko": "도서관에서 책을 빌릴 수 있습니다.",
    "th": "ห้องสมุดเปิดทุกวันยกเว้นวันอาทิตย์",
    "ar": "المكتبة مفتوحة كل يوم من الصباح إلى المساء",
    "he": "הספרייה של העיר פתוחה בכל יום, והספר הזה מונח על השולחן",
    "fa": "این کتاب‌ها در کتابخانه است و من آن را می‌خوانم",
    "pl": "Książki są na półce, a kąt pokoju jest pusty.",
    "vi-mạ": "Người nông dân gieo mạ trên những cánh đồng của làng vào mùa xuân.",
    "vi-ma": "Con ma trong truyện, ma ở bờ sông và ma ở chợ không có thật, người ta đã nói như vậy.",
    "vi-má": "Má của tôi và em bé đang ở nhà với bà ngoại.",
    "hi": "पुस्तकालय में किताबें हैं और यह हर दिन खुला है",
}
KEYS = {name: key for key, name in enumerate(NOTES, 1)}
LANGUAGES = [
    *("en", "fr", "de", "es", "tr", "ru", "el", "zh", "ja", "ko", "th", "ar", "hi", "he", "fa", "pl", "vi")
]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> KeywordSnapshot:
    index = KeywordIndex.create(tmp_path_factory.mktemp("languages") / "keywords")
    documents = [
        KeywordDocument(KEYS[name], content=analyze(text, detect(text))) for name, text in NOTES.items()
    ]
    index.apply(documents, [], 1)
    return index.snapshot()


def found(snapshot: KeywordSnapshot, query: str) -> list[str]:
    names = {key: name for name, key in KEYS.items()}
    ranking = snapshot.search(analyze_query(query, LANGUAGES), FieldWeights(), 20)
    return [names[key] for key in ranking.keys.tolist()]


@pytest.mark.parametrize("name", NOTES)
def test_each_note_is_of_its_language(name: str) -> None:
    assert detect(NOTES[name]) == name.split("-")[0]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("gardens", "en"),
        ("garden", "en-garden"),
        ("cafe", "en-cafe"),
        ("café", "fr-café"),
        ("CAFÉ", "fr-café"),
        ("cafe\u0301", "fr-café"),
        ("rues", "fr-café"),
        ("Haus", "de"),
        ("hauser", "de"),
        ("strasse", "de"),
        ("canción", "es"),
        ("montana", "es"),
        ("kitap", "tr"),
        ("книга", "ru"),
        ("елка", "ru"),
        ("МОРЯ", "ru"),
        ("θάλασσας", "el"),
        ("θαλασσα", "el"),
        ("图书馆", "zh"),
        ("借", "zh"),
        ("検索", "ja"),
        ("도서관", "ko"),
        ("ห้องสมุด", "th"),
        ("مكتبة", "ar"),
        ("किताब", "hi"),
        ("ספר", "he"),
        ("בספרייה", "he"),
        ("كتابخانه", "fa"),
        ("می خوانم", "fa"),
        ("polce", "pl"),
        ("książka", "pl"),
        ("mạ", "vi-mạ"),
        ("ma", "vi-ma"),
        ("Má", "vi-má"),
        ("lang", "vi-mạ"),
        ("nguoi nong dan", "vi-mạ"),
    ],
)
def test_a_word_of_the_language_finds_its_note(snapshot: KeywordSnapshot, query: str, first: str) -> None:
    assert found(snapshot, query)[:1] == [first]


def test_the_other_form_is_found_too_but_later(snapshot: KeywordSnapshot) -> None:
    assert found(snapshot, "garden") == ["en-garden", "en"]
    assert found(snapshot, "gardens") == ["en", "en-garden"]
    assert found(snapshot, "cafe") == ["en-cafe", "fr-café"]
    assert found(snapshot, "café") == ["fr-café", "en-cafe"]
