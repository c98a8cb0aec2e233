"""The names of clusters tell them apart."""

from pathlib import Path

from reliability_lab import assembly_of, opened

from vault_indexer.service import VaultService


def test_communities_of_equal_titles_have_different_names(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    for folder in ("one", "two"):
        (vault / folder).mkdir(parents=True)
        for name, linked in (("Index", "A B"), ("A", "Index B"), ("B", "Index")):
            links = " ".join(f"[[{folder}/{other}]]" for other in linked.split())
            (vault / folder / f"{name}.md").write_text(f"# {name}\n\n{links}\n", "utf-8")
    with opened(assembly_of(vault, tmp_path / "index")) as session:
        names = [one.name for one in VaultService(session).clusters("community").clusters]
    assert len(set(names)) == len(names) == 2
    assert names[0].count(", ") == 1
    assert names[1].startswith("two/")
