"""What a note holds letter for letter is never said to be in no note, and is found before pieces of it."""

from collections.abc import Iterator

import pytest
from indexed_vault import indexed_vault, write_notes

from vault_indexer.model import AskRequest, SearchRequest
from vault_indexer.search.deadline import QueryDeadline, ReadingBudget
from vault_indexer.search.prepare import TypedWords, words_with_signs
from vault_indexer.search.searcher import IndexReader
from vault_indexer.service import VaultService

NOTES = {
    "Server.md": "Copy /srv/conf.d/site-7.yaml first. Then set app.cache.max_age_s, または lang_codeを.\n\n"
    "Write to lena.m.orr+bills@post.example.com. The invoice is QX-77/2024-B, see "
    "[the paper](https://doi.org/10.5555/tide-88.v2) and [the list][l].\n\n[l]: https://lists.example.net/p4-q9\n",
    "Figures.md": "Rent 2,450.75, deposit 3.200.100,50, a lakh 12,34,567, fees 1 999,95 and Fr. 8'120.40.\n\n"
    "Logged 2025-11-02T06:45. The naïve-bayes run took 31min. Let x be the input.\n",
    "Party.md": "The whole party departed, and parseFileName returned.\n",
    "Bell.md": "---\nstart: 07:20\n---\nThe bell rings.\n",
    "Lesson 7.md": "# Lesson 7\n\nLesson 7 is on lesson 20 and lesson 45.\n",
    "Stack.md": "It runs on .NEAR today, written in D++ for chip.js.\n",
    "Near.md": "# Near\n\nNear the near shore.\n",
    "Chip.md": "# Chip\n\nA chip is a chip.\n",
}


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("site-7.yaml", "Server.md"),
        ("conf.d", "Server.md"),
        ("cache.max_age_s", "Server.md"),
        ("max_age", "Server.md"),
        ("lang_code", "Server.md"),
        ("lena.m.orr", "Server.md"),
        ("post.example.com", "Server.md"),
        ("QX-77", "Server.md"),
        ("77/2024", "Server.md"),
        ("10.5555/tide-88", "Server.md"),
        ("lists.example.net", "Server.md"),
        ("p4-q9", "Server.md"),
        ('"site-7.yaml"', "Server.md"),
        ("line:QX-77", "Server.md"),
        ("2450.75", "Figures.md"),
        ("2,450.75", "Figures.md"),
        ("2450,75", "Figures.md"),
        ("3200100.50", "Figures.md"),
        ("1,234,567", "Figures.md"),
        ("1234567", "Figures.md"),
        ("1999.95", "Figures.md"),
        ("8120.40", "Figures.md"),
        ("2025-11-02", "Figures.md"),
        ("06:45", "Figures.md"),
        ("naive-bayes", "Figures.md"),
        ("x", "Figures.md"),
    ],
)
def test_a_word_that_a_note_has_is_not_missing(service: VaultService, query: str, path: str) -> None:
    answer = service.search(SearchRequest(query))
    assert answer.missing_words == ()
    assert answer.verdict == "strong"
    assert path in [hit.path for hit in answer.results if hit.relevance >= 0.8]


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("art", ("art",)),
        ("site-7.yam", ("site-7.yam",)),
        ("QX-78", ("QX-78",)),
        ("fileName.part", ("fileName.part",)),
        ("max_age_m", ("max_age_m",)),
        ("2450.76", ("2450.76",)),
        ("2,451.75", ("2,451.75",)),
        ("245075", ("245075",)),
        ("2025-11-03", ("2025-11-03",)),
        ("z", ("z",)),
        ("7c08f1e", ("7c08f1e",)),
        ("what about it, don't", ()),
        ("Orla's kite", ("Orla", "kite")),
    ],
)
def test_words_that_no_note_has_are_told_whole(
    service: VaultService, query: str, missing: tuple[str, ...]
) -> None:
    assert service.search(SearchRequest(query)).missing_words == missing


def test_an_answer_is_not_declined_for_a_word_that_a_note_has(service: VaultService) -> None:
    answer = service.ask(AskRequest("What is QX-77 for?"))
    assert answer.missing_words == ()
    assert answer.kind != "declined"


def test_nothing_is_said_of_a_word_that_was_not_looked_for_to_the_end(
    opened: tuple[VaultService, IndexReader],
) -> None:
    deadline = QueryDeadline(60)
    with opened[1].holder.lease() as snapshot:
        assert not TypedWords(snapshot, deadline).may_be_there("77-QX")
        assert TypedWords(snapshot, deadline, ReadingBudget(0)).may_be_there("77-QX")


@pytest.mark.parametrize(
    ("query", "path"),
    [("07:20", "Bell.md"), (".NEAR", "Stack.md"), ("(chip.js)?", "Stack.md"), ("lesson p4-q9", "Server.md")],
)
def test_the_whole_word_comes_before_titles_with_a_piece_of_it(
    service: VaultService, query: str, path: str
) -> None:
    assert service.search(SearchRequest(query)).results[0].path == path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("12:30", [(0, 5, "12:30")]),
        ("“C++”", [(0, 5, "C++")]),
        ("(v1.2)?", [(0, 7, "v1.2")]),
        ("two  words.txt for C#", [(5, 14, "words.txt"), (19, 21, "C#")]),
        ("plain, well-known words: l'heure", []),
        ("हिन्दी में كِتَاب nai\u0308ve", []),
        ("?! →", []),
        ("", []),
    ],
)
def test_words_with_signs(text: str, words: list[tuple[int, int, str]]) -> None:
    assert list(words_with_signs(text)) == words


SIGNS = {
    "Tasks.md": "- [ ] water the fern ⏳ 2025-01-02\n- [x] sweep 🧹\n",
    "Signs.md": "A ⇒ B, ¾ spoon, 30 m², H₂O, ④Fourth, 20 ℃, № 9, done ☑️, 注意！\n",
    "Plain.md": "Step 4, 34 spoon, 30 m2, H2O, 20 C, 𝐟𝐚𝐭 and ﬂat.\n",
    "🦉.md": "Night.\n",
    "Owls.md": "One 🦉 and one 🧹.\n",
    "📎 Clips.md": "# Clips\n\nPaper 👩‍🚀.\n",
}


@pytest.fixture(scope="module")
def signs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    folder = tmp_path_factory.mktemp("signs")
    with indexed_vault(write_notes(folder / "vault", SIGNS), folder / "index") as (service, _):
        yield service


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("task-todo:⏳", ["Tasks.md"]),
        ("task-done:⏳", []),
        ("line:🧹", ["Owls.md", "Tasks.md"]),
        ("🧹 ⏳", ["Tasks.md"]),
        ("⇒ OR ⏳", ["Signs.md", "Tasks.md"]),
        ('"⇒"', ["Signs.md"]),
        ('"¾"', ["Signs.md"]),
        ("¾", ["Signs.md"]),
        ('"¾ spoon"', ["Signs.md"]),
        ('"④"', ["Signs.md"]),
        ("④", ["Signs.md"]),
        ('"m²"', ["Signs.md"]),
        ('"m2"', ["Plain.md", "Signs.md"]),
        ('"H₂O"', ["Signs.md"]),
        ('"℃"', ["Signs.md"]),
        ('"№ 9"', ["Signs.md"]),
        ('match-case:"☑"', ["Signs.md"]),
        ('"☑️"', ["Signs.md"]),
        ('"！"', ["Signs.md"]),
        ('"!"', ["Signs.md"]),
        ('"👩‍🚀"', ["📎 Clips.md"]),
        ('"fat"', ["Plain.md"]),
        ('"𝐟𝐚𝐭"', ["Plain.md"]),
        ('"flat"', ["Plain.md"]),
        ("📎", ["📎 Clips.md"]),
        ("🦊", []),
    ],
)
def test_signs_are_found_as_they_are_written(signs: VaultService, query: str, paths: list[str]) -> None:
    answer = signs.search(SearchRequest(query))
    assert sorted(hit.path for hit in answer.results) == sorted(paths)
    assert answer.verdict == ("strong" if paths else "none")


def test_a_note_that_has_the_sign_as_its_name_comes_first(signs: VaultService) -> None:
    assert [hit.path for hit in signs.search(SearchRequest("🦉")).results] == ["🦉.md", "Owls.md"]


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        ('"fern-7"', "in quotes, only whole words match"),
        ('"⇐"', ""),
        ('tag:"fern"', ""),
        ("/zzz/", "to search for it as text, put it in quotes"),
        ("tag:none", "to search for it as text, put it in quotes"),
    ],
)
def test_the_advice_on_a_filter_that_no_note_meets(signs: VaultService, query: str, advice: str) -> None:
    notice, *_ = signs.search(SearchRequest(query)).notices
    assert notice == f"no note matches the filter {query}{advice and f'; {advice}'}"


@pytest.mark.parametrize(
    "query",
    ['"the"', "line:(is on)", "content:7", '"parseFileName" OR "not here"', "section:20", 'match-case:"D++"'],
)
def test_a_query_of_filters_that_a_note_meets_is_not_none(service: VaultService, query: str) -> None:
    assert service.search(SearchRequest(query)).verdict == "strong"
