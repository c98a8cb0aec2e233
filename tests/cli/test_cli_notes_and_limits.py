"""How a note is named and how long a list may be."""

from __future__ import annotations

import pytest
from cli_sandbox import Sandbox, make

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


def test_a_note_is_named_by_its_path_and_a_misspelt_one_is_told_the_nearest_name(vault: Sandbox) -> None:
    for command, key in ((("related",), "note"), (("links",), "path"), (("links", "--mentions"), "path")):
        assert vault.indexer(*command, "hub", "--json").data[key] == "Hub.md"
    for inside in (vault.vault / "Kitchen" / "Bread.md", vault.root / "alias" / "Kitchen" / "Bread"):
        assert vault.indexer("related", str(inside), "--json").data["note"] == "Kitchen/Bread.md"
        explained = vault.indexer("search", "starter", "--explain", str(inside), "--json")
        assert explained.data["path"] == "Kitchen/Bread.md", explained.err
    # Only a relative name may stand for a note in any folder.
    for written in (str(vault.vault / "Bread.md"), "Bred", "kitchen/braed"):
        ran = vault.indexer("links", written)
        assert (ran.code, ran.complains("did you mean Kitchen/Bread.md?")) == (2, True)
    outside = str(vault.root / "outside.md")
    for asked in (("related", outside), ("links", outside), ("search", "x", "--explain", outside)):
        ran = vault.indexer(*asked)
        assert (ran.code, ran.err) == (2, f"indexer: {outside} is outside the vault {vault.vault}\n")


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
