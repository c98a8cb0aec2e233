"""How many links the clusters of a vault have among themselves and between each other."""

from pathlib import Path

from reliability_lab import assembly_of, opened

from vault_indexer.model import ClusterEdge
from vault_indexer.service import VaultService


def test_links_count_within_a_folder_and_between_two(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    notes = {
        "one/A.md": "[[one/B]] [[one/C]] [[two/D]]",
        "one/B.md": "[[one/C]]",
        "one/C.md": "",
        "two/D.md": "[[two/E]] [[one/A]] [[one/B]]",
        "two/E.md": "",
    }
    for path, links in notes.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(f"# {path}\n\n{links}\n", "utf-8")
    with opened(assembly_of(vault, tmp_path / "index")) as session:
        found = VaultService(session).clusters("folder")
    assert [(one.folder, one.notes, one.links) for one in found.clusters] == [("one", 3, 3), ("two", 2, 1)]
    assert found.edges == (ClusterEdge(0, 1, 3),)
