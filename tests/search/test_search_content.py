"""The content of a hit is the text of its note at the hit's place."""

from __future__ import annotations

from pathlib import Path

from reliability_lab import assembly_of, opened

from vault_indexer.model import SearchRequest
from vault_indexer.service import VaultService

TEXT = "# Tides\n\nThe ferry waits for the tide.\n\n## Moon\n\nSpring tides follow the full moon.\n"


def test_the_content_of_each_hit_is_the_text_between_its_positions(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Tides.md").write_text(TEXT)
    with opened(assembly_of(tmp_path / "vault", tmp_path / "index")) as session:
        hits = VaultService(session).search(SearchRequest("tide moon ferry")).results
    assert {hit.content for hit in hits} == {TEXT[hit.start_pos : hit.end_pos] for hit in hits}
    assert "".join(sorted(hit.content for hit in hits)).count("tide") >= 2
