"""Which sentences are quoted, and which go to a model: by what they hold and by what there is room for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from golden_cases import check_golden, of_parts
from hit_maker import make_hit

from vault_indexer.answer.asked_kind import AskedKind
from vault_indexer.answer.evidence import Question, Surroundings
from vault_indexer.answer.extract import choose_quotes
from vault_indexer.answer.prompt import within_budget
from vault_indexer.answer.sentences import NoteText, Sentence
from vault_indexer.model import NoteRow
from vault_indexer.search import QuestionWord
from vault_indexer.text.tokens import analyze

TEXT = "The stairs have steps. Gulls nest on the roof. The stairs are steep."
HIT = make_hit("n.md", title="Tower", chunk_id="n_chunk_0", end_pos=len(TEXT), content=TEXT)


def sentences(hit: int = 0) -> list[Sentence]:
    """The three sentences, read for the hit of this number."""
    note = NoteText(NoteRow(1, "n.md", "Tower", "en", "{}", "[]", "[]", 0), TEXT, "")
    found, start = [], 0
    for text in ("The stairs have steps.", "Gulls nest on the roof.", "The stairs are steep."):
        found.append(Sentence(note, start, start + len(text), text, hit))
        start += len(text) + 1
    return found


def word(text: str) -> QuestionWord:
    return QuestionWord(text, 1.0, frozenset({text}), True)


def asked(words: list[QuestionWord]) -> Question:
    return Question(AskedKind("", "en", " ".join(one.word for one in words)), words)


def test_a_sentence_without_a_word_of_the_question_is_no_quote_even_where_none_has_one() -> None:
    quotes = choose_quotes(sentences(), [HIT], asked([word("gulls"), word("roof")]), 3)
    assert [one.readable for one in quotes] == ["Gulls nest on the roof."]
    assert choose_quotes(sentences(), [HIT], asked([word("zeppelin")]), 3) == []
    assert choose_quotes(sentences(), [HIT], asked([]), 3) == []  # a question of words that say nothing
    assert choose_quotes(sentences(), [HIT], asked([word("gulls"), word("zeppelin")]), 3) == []  # one of two


def test_a_quote_says_it_of_what_is_asked() -> None:
    idle = {"who", "why", "what", "which", "is", "the", "to", "in", "from", "have"}

    def quoted(question: str, text: str, heading: str) -> str:
        row = NoteRow(1, "n.md", "Tower", "en", "{}", "[]", "[]", 0)
        headings = (heading,) if heading else ()
        sentence = Sentence(NoteText(row, text, ""), 0, len(text), text, 0, headings=headings)
        words = [
            QuestionWord(one, 1.0, frozenset(analyze(one, "en")) | {one.lower().removesuffix("ed")}, True)
            for one in question.rstrip("?").split()
            if one.lower() not in idle
        ]
        asked = Question(AskedKind.read(question), words)
        return "quoted" if choose_quotes([sentence], [HIT], asked, 3) else "no"

    check_golden(Path(__file__).parent / "fixtures" / "extract.md", {"": of_parts(quoted)})


def test_pairs_across_the_border_of_two_words_and_pairs_of_question_words_are_not_missed() -> None:
    text = "老王每周日给花园里的番茄浇水。隔壁的猫喜欢在屋顶上睡觉。"
    row = NoteRow(1, "n.md", "日记", "zh", "{}", "[]", "[]", 0)
    note, end = NoteText(row, text, ""), text.index("。") + 1
    spans = ((0, end), (end, len(text)))
    offered = [Sentence(note, *span, text[slice(*span)], hit) for hit, span in enumerate(spans)]
    for question, quoted in (
        ("番茄是谁浇水？", offered[:1]),
        ("猫在什么地方睡觉？", offered[1:]),
        ("番茄什么时候开花结果？", []),
        ("为什么？", []),
    ):
        pairs = [one for one in analyze(question, "zh") if len(one) == 2]
        asked = Question(AskedKind("", "zh", question), [word(one) for one in pairs])
        assert choose_quotes(offered, [HIT, HIT], asked, 3) == quoted, question


def test_in_a_list_only_the_items_that_say_the_asked_kind_of_thing_count() -> None:
    text = "Limits:\nThe pump runs at night.\nThe pool takes 20 guests."
    row = NoteRow(1, "n.md", "Tower", "en", "{}", "[]", "[]", 0)
    block = Sentence(NoteText(row, text, ""), 0, len(text), text, 0, is_composed=True)
    for question, covered in (("How many guests fit the pool?", 2.0), ("How many guests fit the pump?", 1.0)):
        words = [word(one) for one in question.rstrip("?").split()[2:] if one not in ("the", "fit")]
        evidence = Question(AskedKind.read(question), words).evidence(block, Surroundings())
        assert evidence.covered == covered


def test_the_place_of_a_hit_counts_once_against_the_budget_and_each_sentence_by_itself() -> None:
    """A long path takes its room with the first sentence of its hit, and not again with the others."""
    hits = [replace(HIT, path="a/" * 200 + "n.md"), replace(HIT, path="b/" * 200 + "n.md")]
    offered = [*sentences(0), *sentences(1)]
    kept = within_budget(hits, offered, most_tokens=175)
    assert [(hit.path[0], len(own)) for hit, own in kept] == [("a", 3)]
    kept = within_budget(hits, offered, most_tokens=400)
    assert [(hit.path[0], len(own)) for hit, own in kept] == [("a", 3), ("b", 3)]
    assert [len(own) for _, own in within_budget(hits, offered, most_tokens=1)] == [1]
