"""The content of a hit is the text of its note at the hit's place."""

import json
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


def test_the_texts_of_drawings_are_found(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    texts = "# Excalidraw Data\n\n## Text Elements\nThe boiler feeds\nthe radiator ^a1b2c3d4\n"
    drawn = f"---\nexcalidraw-plugin: parsed\n---\n{texts}\n%%\n## Drawing\n```compressed-json\nN4KA\n```\n%%"
    (tmp_path / "vault" / "Heating.excalidraw.md").write_text(drawn)
    bare = {"type": "excalidraw", "elements": [{"type": "text", "text": "A cellar\nlamp", "x": 0, "y": 0}]}
    (tmp_path / "vault" / "Light.excalidraw").write_text(json.dumps(bare))
    (tmp_path / "vault" / "Plan.md").write_text(
        "See [[Heating.excalidraw#^a1b2c3d4]] and ![[Light.excalidraw]].\n"
    )
    with opened(assembly_of(tmp_path / "vault", tmp_path / "index")) as session:
        service = VaultService(session)
        found = {
            query: [
                (hit.title, hit.kind, hit.snippet) for hit in service.search(SearchRequest(query)).results
            ]
            for query in ('"feeds the radiator"', '"cellar lamp"', '"a1b2c3d4"', '"Text Elements"')
        }
        links = service.links("Plan.md")
    assert found == {
        '"feeds the radiator"': [("Heating", "note", "The boiler feeds\nthe radiator")],
        '"cellar lamp"': [("Light", "canvas", "A cellar\nlamp")],
        '"a1b2c3d4"': [],
        '"Text Elements"': [],
    }
    assert [link.resolved for link in links.outgoing] == ["Heating.excalidraw.md", "Light.excalidraw"]
