"""Words, phrases and expressions find what stands in properties: what the index narrows to is what a scan of
all notes finds."""

import json
import random

import pytest
from indexed_vault import OpenNotes, notes_left

from vault_indexer.model import JsonValue
from vault_indexer.parse import parse_note, property_lines
from vault_indexer.search.filters import text_pattern
from vault_indexer.search.query import compile_regex
from vault_indexer.search.searcher import IndexReader

WORDS = (
    *("ada", "berlin", "café", "delta", "écluse", "forster", "東京", "検索", "straße", "x1", "o'neil"),
    "ab-cd",
)
SPECIAL: tuple[JsonValue, ...] = (
    1910,
    4.5,
    True,
    None,
    "2024-03-05",
    "[[Edward Arnold|ada berlin]]",
    "say \"ada\" to 'berlin'",
    "delta: forster # ada",
    "straße\ncafé",
)


def random_text(lots: random.Random, most: int = 4) -> str:
    return " ".join(lots.choices(WORDS, k=lots.randint(1, most)))


def random_value(lots: random.Random, depth: int = 2) -> JsonValue:
    kind = lots.randrange(8)
    if kind == 0 and depth:
        return [random_value(lots, depth - 1) for _ in range(lots.randint(0, 3))]
    if kind == 1 and depth:
        return {lots.choice(WORDS): random_value(lots, depth - 1) for _ in range(lots.randint(0, 2))}
    return lots.choice(SPECIAL) if kind < 4 else random_text(lots)


def random_note(lots: random.Random) -> str:
    """A note whose frontmatter is JSON, which is YAML, too; with a body or without."""
    names = lots.sample(["author", "ada", "title", "tags", "aliases", "café", "Delta"], lots.randint(0, 4))
    values: dict[str, JsonValue] = {name: random_value(lots) for name in names}
    written = json.dumps(values, ensure_ascii=lots.random() < 0.5, indent=lots.choice([None, 1]))
    frontmatter = f"---\n{written}\n---\n" if values else ""
    return frontmatter + lots.choice(["", "\n\n", "\n".join(random_text(lots, 9) for _ in range(3)) + "\n"])


@pytest.fixture(scope="module")
def opened(open_notes: OpenNotes) -> tuple[dict[str, str], IndexReader]:
    """The texts of a vault's notes, and its index."""
    lots = random.Random(20240605)
    notes = {f"{number} {lots.choice(WORDS)}.md": random_note(lots) for number in range(120)}
    return notes, open_notes(notes)[1]


def texts_of(path: str, text: str) -> list[str]:
    """All that is searched of a note, without an index."""
    note = parse_note(path, text.encode())
    body = note.text[note.body_start :]
    names = [note.title, *note.aliases, *note.tags]
    return [body if body.strip() else note.text, *names, *property_lines(note.frontmatter)]


def test_words_and_phrases(opened: tuple[dict[str, str], IndexReader]) -> None:
    notes, reader = opened
    texts = {path: texts_of(path, text) for path, text in notes.items()}
    lots = random.Random(7)
    extra = ["author", "tags", "1910", "true", "4.5", "2024-03-05", "author: ada", "delta: forster", "u00e9"]
    for phrase in [*WORDS, *extra, *(random_text(lots, 3) for _ in range(60))]:
        pattern = text_pattern(phrase)
        expected = {path for path, own in texts.items() if any(map(pattern.is_in, own))}
        assert notes_left(reader, f'"{phrase}"') == expected, phrase
        assert notes_left(reader, f'-"{phrase}"') == notes.keys() - expected, phrase


WORDS_ALONE = ("ada", "author", "forster", "true", "1910", "strasse", "Edward")
EXPRESSIONS = ("forst.r", "^author: a", r"\d{4}", "ber(lin|n)", "検", "lta: f")


@pytest.mark.parametrize("query", [*map("-{}".format, WORDS_ALONE), *map("/{}/".format, EXPRESSIONS)])
def test_single_words_and_expressions(opened: tuple[dict[str, str], IndexReader], query: str) -> None:
    notes, reader = opened
    is_word = query[0] == "-"
    pattern = text_pattern(query[1:]) if is_word else compile_regex(query[1:-1])
    matching = {path for path, text in notes.items() if any(map(pattern.is_in, texts_of(path, text)))}
    assert notes_left(reader, query) == (notes.keys() - matching if is_word else matching)
