"""Names of files in NFD, as HFS+ has them, with links and queries in NFC; and the reverse."""

import unicodedata
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from vault_at_work import WORDLLAMA, Place, opened, place

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

Form = Literal["NFC", "NFD"]
PATHS = ["Küche/Café.md", "Wörter.md", "Å.png"]


def vault_in(folder: Path, names: Form, text: Form) -> Place:
    own, written = partial(unicodedata.normalize, names), partial(unicodedata.normalize, text)
    notes = {
        own("Küche/Café.md"): written("# Bohnen\n\nSiehe [[Wörter]].\n"),
        own("Wörter.md"): written(
            "[[Café]] [[Küche/Café#Bohnen]] ![[Å.png]] [so](K%C3%BCche/Caf%C3%A9.md)\n"
        ),
        own("Å.png"): "-",
    }
    made = place(folder, notes)
    made.configure(WORDLLAMA)
    return made


def found(service: VaultService, query: str) -> list[str]:
    return sorted({hit.path for hit in service.search(SearchRequest(query)).results})


@pytest.mark.parametrize(("names", "text"), [("NFD", "NFC"), ("NFC", "NFD"), ("NFD", "NFD")])
def test_any_form_finds_a_note_and_it_is_shown_as_its_folder_spells_it(
    tmp_path: Path, names: Form, text: Form
) -> None:
    cafe, words, picture = (unicodedata.normalize(names, path) for path in PATHS)
    written = partial(unicodedata.normalize, text)
    with opened(vault_in(tmp_path, names, text)) as service:
        assert sorted(service.note_paths()) == sorted([cafe, words])
        targets = [link.resolved for link in service.links(written("Wörter")).outgoing]
        assert targets == [cafe, cafe, picture, cafe]
        assert service.unresolved_links() == ()
        for name in ("Café", "küche/café", "Küche/Café.md"):
            assert service.path_of(written(name)) == cafe
        for query, paths in {
            "path:küche": [cafe],
            "path:küche/": [cafe],
            'path:"Küche/Café"': [cafe],
            "file:café": [cafe],
            "file:wörter": [words],
            "path:/Küche/": [cafe],
            "-path:küche": [words],
            "links-to:Café": [words],
            "linked-from:Café": [words],
        }.items():
            assert found(service, written(query)) == paths, query


def test_a_rename_from_one_form_to_the_other_leaves_one_note(tmp_path: Path) -> None:
    where = vault_in(tmp_path, "NFC", "NFC")
    old, new = "Wörter.md", unicodedata.normalize("NFD", "Wörter.md")
    with opened(where) as service:
        assert old in service.note_paths()
    (where.vault / old).rename(where.vault / new)
    with opened(where) as service:
        assert [path for path in service.note_paths() if path.startswith("W")] == [new]
        assert [link.resolved for link in service.links("Café").outgoing] == [new]
        assert service.verify(repair=False) == ()
