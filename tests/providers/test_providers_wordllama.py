from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from waiting import PROCESS_S

from vault_indexer.providers import WordLlamaEmbedder, WordLlamaTokenizer
from vault_indexer.providers.token_weights import WORD, WordLlamaTokens, load_tokenizer, wordllama_file

if TYPE_CHECKING:
    from vault_indexer.ports import Tokenizer

TOKENS = WordLlamaTokens()
EMBEDDER = WordLlamaEmbedder()
REFERENCE = load_tokenizer()
REFERENCE.encode_special_tokens = True

TEXTS = [
    "Search operators narrow what is found.",
    "  two  spaces,\ttabs\tand trailing   ",
    "line\n\n\nbreaks\r\nof both kinds\r",
    "```python\ndef f(x_1):\n    return x_1 ** 2\n```",
    "| a | b |\n|---|:-:|\n| 1 | 2.5 |",
    "10 m². And 3 m², (m²). ½ cup, x¹",
    "[[Link|name]] #tag ^block %%comment%% $x^2$ https://example.org/a_b?c=d&e=%20",
    "Война и мир — Лев Толстой. 战争与和平 戦争と平和, 전쟁과 평화 สงครามและสันติภาพ",
    "e\u0301 é \u200d 👩‍👩‍👧 🇪🇸 \ufffd\ufffd \x00 \ue000 ︎",
    "word",
    " ",
    "\n",
    "x" * 300,
]

plain_text = st.text(max_size=200) | st.text(alphabet=" \n\r\tab1_².,-#|é²字ก\ufffd", max_size=60)


def test_no_token_crosses_a_border_between_words() -> None:
    """The law on which the cache of words stands."""
    vocabulary = json.loads(wordllama_file("tokenizers/l2_supercat_tokenizer_config.json").read_text("utf-8"))
    pieces = [token.replace("▁", " ") for token in vocabulary["model"]["vocab"] if token[:3] != "<0x"]
    crossing = [piece for piece in pieces if not WORD.fullmatch(piece)]
    assert crossing == ["<unk>", "<s>", "</s>"]


@given(plain_text)
@example("²." * 3 + " ² .² ,")
@example("Some  words, and 数字.\n" * 12_000)  # which is cut at a line
def test_ids_are_those_of_the_tokenizer(text: str) -> None:
    (ids,) = TOKENS.ids([text])
    assert ids.tolist() == REFERENCE.encode(text, add_special_tokens=False).ids


def test_vectors_are_those_of_wordllama() -> None:
    wordllama = pytest.importorskip("wordllama")
    original = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    expected = original.embed(TEXTS, norm=True)
    cosines = np.sum(EMBEDDER.embed(TEXTS) * expected, axis=1)
    assert cosines == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


@given(st.lists(plain_text, max_size=8))
def test_a_vector_does_not_depend_on_its_batch(texts: list[str]) -> None:
    together = EMBEDDER.embed(texts)
    assert together.shape == (len(texts), 256)
    assert together.dtype == np.float32
    for text, vector in zip(texts, together, strict=True):
        assert vector.tobytes() == EMBEDDER.embed_query(text).tobytes()
        length = float(np.linalg.norm(vector))
        assert length == pytest.approx(1.0, abs=1e-5) if text else length == 0.0


def test_a_long_text_counts_to_its_end() -> None:
    start = "The harbour was quiet at dawn.\n" * 8_000
    end = "Compilers translate source code into machine code.\n" * 40_000
    vector = EMBEDDER.embed_query(start + end)
    assert vector @ EMBEDDER.embed_query(end) > 0.9 > vector @ EMBEDDER.embed_query(start)


def test_markup_that_looks_like_a_special_token_is_text() -> None:
    (ids,) = TOKENS.ids(["<s>gone</s>"])
    assert not {1, 2} & set(ids.tolist())


def test_offsets_cover_the_words_in_order() -> None:
    tokenizer: Tokenizer = WordLlamaTokenizer()
    text = "Größe: 战争 and tokenization 👩‍👧\n- end"
    spans = tokenizer.offsets(text)
    assert spans == sorted(spans)
    covered = {position for start, end in spans for position in range(start, end)}
    assert {position for position, char in enumerate(text) if not char.isspace()} <= covered
    assert tokenizer.offsets("") == []
    long = tokenizer.offsets("Some words.\n" * 20_000)
    assert (long, long[-1][1]) == (sorted(long), 240_000)


@pytest.mark.long
def test_a_process_loads_the_vocabulary_once_and_only_when_asked() -> None:
    """Two embedders (a build has three) share it; a tokenizer that measures nothing has none."""
    code = (
        "import tokenizers\n"
        "from vault_indexer.providers import WordLlamaEmbedder, WordLlamaTokenizer\n"
        "loads, load = [], tokenizers.Tokenizer.from_file\n"
        "class Counted:\n"
        "    def from_file(path):\n"
        "        loads.append(path)\n"
        "        return load(path)\n"
        "tokenizers.Tokenizer = Counted\n"
        "one, other = WordLlamaEmbedder(), WordLlamaEmbedder()\n"
        "print(len(loads))\n"
        "assert (one.embed_query('tea') == other.embed_query('tea')).all()\n"
        "tokenizer = WordLlamaTokenizer()\n"
        "print(len(loads))\n"
        "tokenizer.offsets('tea')\n"
        "tokenizer.offsets('tea')\n"
        "print(len(loads))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PROCESS_S)
    assert ran.stdout == "0\n1\n2\n", ran.stderr
