"""A folder of linked notes is renamed under the running daemon: its links end as in a fresh build.

The folder holds nearly all of the vault: what has only moved is not taken for a loss.
"""

import unicodedata
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from reliability_lab import in_one_process
from reliability_lab import opened as opened_here
from vault_at_work import WORDLLAMA, Place, daemon, opened, place, wait_for

from vault_indexer.model import LinksAnswer, SearchRequest
from vault_indexer.service import VaultService

COUNT = 50


def vault_of_links() -> dict[str, str]:
    """Fifty notes that link to each other by name, by path and relatively; around them links to the folder
    under its old name, under its new one, and by bare names."""
    notes = {
        f"Old/Note {number}.md": (
            f"# Note {number}\n\nBy name [[Note {(number + 1) % COUNT}]], by path "
            f"[[Old/Note {(number + 2) % COUNT}|path]], beside [next](Note%20{(number + 3) % COUNT}.md),\n"
            f"out [index](../Index.md), back [[#Note {number}]] and nowhere [[Missing {number % 5}]].\n"
        )
        for number in range(COUNT)
    }
    names = range(0, COUNT, 7)
    notes["Index.md"] = "".join(f"- [[Note {n}]]\n- [[Old/Note {n}]]\n- [[New/Note {n}]]\n" for n in names)
    notes["Deep/er/Far.md"] = (
        "[one](../../Old/Note%201.md) ![two](../../New/Note%202.md)\n![[Note 3#Note 3]]\n"
    )
    notes["Elsewhere/Note 4.md"] = "# A second note of that name\n\n[[Note 4]] and [[Note 5]]\n"
    return notes


@pytest.mark.long
def test_after_a_folder_is_renamed_everything_is_as_in_a_fresh_build(tmp_path: Path) -> None:
    where = place(tmp_path, vault_of_links())
    with daemon(where) as service:
        before = links_of_all(service, where)
        (where.vault / "Old").rename(where.vault / "New")
        wait_for(lambda: is_done(service))
        live = (list(service.export()), links_of_all(service, where), service.unresolved_links())
    other = Place(where.vault, tmp_path / "fresh", where.config)
    with opened(other) as built:
        fresh = (list(built.export()), links_of_all(built, other), built.unresolved_links())
    assert live == fresh
    assert before["Index.md"] != live[1]["Index.md"]
    assert [link.resolved for link in live[1]["Index.md"].outgoing[:3]] == [
        "New/Note 0.md",
        None,
        "New/Note 0.md",
    ]


def is_done(service: VaultService) -> bool:
    """No note of the old folder is left, and all of the new one are there."""
    lines = "\n".join(service.export())
    return '"note":"Old/' not in lines and lines.count('"note":"New/') == COUNT


def links_of_all(service: VaultService, where: Place) -> dict[str, LinksAnswer]:
    paths = (str(file.relative_to(where.vault)) for file in sorted(where.vault.rglob("*.md")))
    return {path: service.links(path) for path in paths}


LOGSEQ = {
    "logseq/config.edn": "{}\n",
    "pages/Cat.md": "alias:: Tomcat\n\n- Sees [[Log]].\n",
    "pages/Log.md": "- [[Tomcat]] and [[Kitten]]\n",
}
MKDOCS = {
    "mkdocs.yml": "site_name: Animals\n",
    "docs/cat.md": "---\nslug: tomcat\n---\n# Cat\n",
    "docs/log.md": "[a](/tomcat/) and [b](../kitten/)\n",
}


@pytest.mark.parametrize(
    ("files", "cat", "log", "renamed"),
    [
        (LOGSEQ, "pages/Cat.md", "pages/Log.md", "alias:: Kitten\n\n- Sees [[Log]].\n"),
        (MKDOCS, "docs/cat.md", "docs/log.md", "---\nslug: kitten\n---\n# Cat\n"),
    ],
)
def test_links_follow_the_names_that_a_note_gives_itself(
    tmp_path: Path, files: dict[str, str], cat: str, log: str, renamed: str
) -> None:
    where = place(tmp_path, files)
    where.configure(WORDLLAMA)
    with opened_here(in_one_process(where.target())) as session:
        service = VaultService(session)
        assert [link.resolved for link in service.links(log).outgoing] == [cat, None]
        (where.vault / cat).write_text(renamed, "utf-8")
        session.wait_fresh(1.0)
        assert [link.resolved for link in service.links(log).outgoing] == [None, cat]
        assert service.verify(repair=False) == ()


@pytest.mark.long
def test_a_command_finds_that_a_vault_has_become_a_site(tmp_path: Path) -> None:
    where = place(tmp_path, {name: text for name, text in MKDOCS.items() if name != "mkdocs.yml"})
    where.configure(WORDLLAMA)
    resolved = []
    for _ in range(2):
        with opened_here(in_one_process(where.target())) as session:
            service = VaultService(session)
            resolved.append([link.resolved for link in service.links("docs/log.md").outgoing])
        where.write("mkdocs.yml", MKDOCS["mkdocs.yml"])
    assert resolved == [[None, None], ["docs/cat.md", None]]


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
