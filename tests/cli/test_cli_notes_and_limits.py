"""How a note is named and how long a list may be: the same through the daemon and without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from cli_sandbox import Ran, Sandbox, make

from vault_indexer import open_vault
from vault_indexer.errors import UnknownNoteError, UsageError

pytestmark = pytest.mark.long


NOTES = {
    "Hub.md": "# Hub\n\n[[Bread]] [[Night sky]] [[Missing one]] [[Missing two]] [[Missing three]]\n",
    "Alone 1.md": "# Alone 1\n\nThe Hub is named here.\n",
    "Alone 2.md": "# Alone 2\n\nThe Hub is named here, too.\n",
    "Alone 3.md": "# Alone 3\n\nNothing.\n",
    "One.md": "# One\n\n[[Hub]]\n",
    "Two.md": "# Two\n\n[[Hub]]\n",
    "Three.md": "# Three\n\n[[Hub]]\n",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A vault with an index and a symbolic link to it, `alias`."""
    made = make(tmp_path_factory.mktemp("limits"))
    for path, text in NOTES.items():
        made.write(path, text)
    (made.root / "alias").symlink_to(made.vault)
    (made.root / "outside.md").write_text("# Outside\n")
    assert made.indexer("rebuild").code == 0
    return made


@pytest.fixture(scope="module", params=["in this process", "through the daemon"])
def place(request: pytest.FixtureRequest, vault: Sandbox) -> Iterator[Sandbox]:
    if request.param == "in this process":
        yield vault
        return
    started = vault.indexer("start")
    assert started.code == 0, started.err
    yield vault
    assert vault.indexer("stop").code == 0


def answered(ran: Ran) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    return ran.data


def test_every_answer_names_the_note_by_its_vault_path(place: Sandbox) -> None:
    for command, key in ((("related",), "note"), (("links",), "path"), (("links", "--mentions"), "path")):
        assert answered(place.indexer(*command, "hub", "--json"))[key] == "Hub.md"


def test_an_absolute_path_inside_the_vault_names_a_note(place: Sandbox) -> None:
    inside = place.vault / "Kitchen" / "Bread.md"
    assert answered(place.indexer("related", str(inside), "--json"))["note"] == "Kitchen/Bread.md"
    linked = place.root / "alias" / "Kitchen" / "Bread"
    assert answered(place.indexer("links", str(linked), "--json"))["path"] == "Kitchen/Bread.md"
    ran = place.indexer("search", "starter", "--explain", str(inside), "--json")
    assert ran.data["path"] == "Kitchen/Bread.md", ran.err


def test_an_absolute_path_that_is_no_note_of_the_index_is_named(place: Sandbox) -> None:
    outside = str(place.root / "outside.md")
    for command in (("related", outside), ("links", outside), ("search", "x", "--explain", outside)):
        ran = place.indexer(*command)
        assert (ran.code, ran.err) == (2, f"indexer: {outside} is outside the vault {place.vault}\n")
    # Only a relative name may stand for a note in any folder.
    missing = str(place.vault / "Bread.md")
    ran = place.indexer("links", missing)
    hint = "; did you mean Kitchen/Bread.md?"
    assert (ran.code, ran.err) == (2, f"indexer: no such note in the index: {missing!r}{hint}\n")


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("Bred", "; did you mean Kitchen/Bread.md?"),
        ("kitchen/braed", "; did you mean Kitchen/Bread.md?"),
        ("x", ""),
    ],
)
def test_a_misspelt_note_is_told_the_nearest_name(place: Sandbox, written: str, hint: str) -> None:
    ran = place.indexer("related", written)
    assert (ran.code, ran.err) == (2, f"indexer: no such note in the index: {written!r}{hint}\n")


def test_python_takes_the_same(vault: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(vault.root / "config"))
    with open_vault(vault.vault, vault.index_dir) as opened:
        assert len(opened.unresolved_links(limit=2)) == len(opened.orphans(limit=2)) == 2
        assert len(opened.orphans()) == 3
        assert opened.links(str(vault.vault / "Hub.md")).path == "Hub.md"
        with pytest.raises(UnknownNoteError, match="outside the vault"):
            opened.related("/etc/passwd")
        with pytest.raises(UnknownNoteError, match="no such note"):
            opened.related(f"{vault.vault}/../vault/Nowhere\0")
        for limit in (0, -1, 201):
            with pytest.raises(UsageError, match=f"limit {limit}"):
                opened.related("Hub", limit)
            with pytest.raises(UsageError, match=f"limit {limit}"):
                opened.mentions("Hub", limit)
        with pytest.raises(UsageError, match="limit 0"):
            opened.orphans(limit=0)
