"""The static model's vectors of single words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.providers import WordLlamaEmbedder, word_vectors
from vault_indexer.providers.token_weights import load_tokenizer
from vault_indexer.providers.wordllama import WordLlamaWords, word_numbers

WORDS = word_vectors()
NUMBERS = word_numbers()
TABLE = np.random.default_rng(0).standard_normal((len(NUMBERS), 8)).astype(np.float16)


def likeness(word: str, other: str) -> float:
    return float(WORDS.likeness([word], WORDS.numbers(other))[0, 0])


def test_each_known_word_of_a_text_has_one_number_in_any_case() -> None:
    once = WORDS.numbers("river")
    assert len(once) == 1
    assert WORDS.numbers("River, the RIVER").tolist() == sorted(
        [*once.tolist(), *WORDS.numbers("the").tolist()]
    )
    assert WORDS.numbers("xylotomous Brobdingnag 2024 \u6f22\u5b57").tolist() == []
    assert WORDS.numbers("").tolist() == []


@given(st.text(max_size=60))
def test_numbers_ascend_and_are_of_16_bits(text: str) -> None:
    numbers = WORDS.numbers(text)
    assert numbers.dtype == np.uint16
    assert (np.diff(numbers.astype(int)) > 0).all()


def test_words_of_like_meaning_are_more_alike_than_others() -> None:
    assert likeness("car", "Car") == pytest.approx(1.0)
    assert likeness("car", "vehicle") > likeness("car", "cabinet") + 0.2
    assert likeness("doctor", "hospital") > likeness("doctor", "window") + 0.2


def test_a_word_of_several_tokens_has_no_vector_of_its_own() -> None:
    found = WORDS.likeness(["river", "xylotomous"], WORDS.numbers("river boat"))
    assert found.shape == (2, 2)
    assert not np.isnan(found[0]).any()
    assert np.isnan(found[1]).all()


def test_a_word_without_direction_is_like_no_other() -> None:
    flat = WordLlamaWords(NUMBERS, np.zeros((len(NUMBERS), 2), np.float16))
    assert flat.likeness(["river"], flat.numbers("river boat")).tolist() == [[0.0, 0.0]]


def test_a_word_is_what_the_model_embeds_for_it() -> None:
    vectors = WordLlamaEmbedder().embed(["car", "vehicle"])
    assert likeness("car", "vehicle") == pytest.approx(float(vectors[0] @ vectors[1]), abs=1e-5)


def test_a_number_is_that_of_the_token_which_is_the_word() -> None:
    tokenizer = load_tokenizer()
    for word, number in list(NUMBERS.items())[::97]:
        assert tokenizer.encode(word, add_special_tokens=False).ids == [number]


@given(asked=st.lists(st.lists(st.integers(0, 8), max_size=4), max_size=6), data=st.data())
def test_what_is_kept_is_what_would_be_computed(asked: list[list[int]], data: st.DataObject) -> None:
    known = ["river", "boat", "car", "house", "green", "walk", "seven", "music", "xylotomous"]
    kept = WordLlamaWords(NUMBERS, TABLE)
    for words in asked:
        text = " ".join(data.draw(st.lists(st.sampled_from(known[:8]), min_size=1)))
        spoken = [known[number] for number in words]
        found = kept.likeness(spoken, WORDS.numbers(text))
        np.testing.assert_array_equal(
            found, WordLlamaWords(NUMBERS, TABLE).likeness(spoken, WORDS.numbers(text))
        )


def test_more_words_than_are_kept_are_as_alike_as_before() -> None:
    known = WordLlamaWords(NUMBERS, TABLE)
    every = list(NUMBERS)[:4000]
    numbers = known.numbers("river boat")
    first = known.likeness(every, numbers)
    np.testing.assert_array_equal(first, known.likeness(every, numbers))
