"""The content of a hit is the text of its note at the hit's place."""

import json

from indexed_vault import OpenNotes

from vault_indexer.model import SearchRequest

TEXT = "# Tides\n\nThe ferry waits for the tide.\n\n## Moon\n\nSpring tides follow the full moon.\n"


def test_the_content_of_each_hit_is_the_text_between_its_positions(open_notes: OpenNotes) -> None:
    hits = open_notes({"Tides.md": TEXT})[0].search(SearchRequest("tide moon ferry")).results
    assert {hit.content for hit in hits} == {TEXT[hit.start_pos : hit.end_pos] for hit in hits}
    assert "".join(sorted(hit.content for hit in hits)).count("tide") >= 2


def test_the_texts_of_drawings_are_found(open_notes: OpenNotes) -> None:
    texts = "# Excalidraw Data\n\n## Text Elements\nThe boiler feeds\nthe radiator ^a1b2c3d4\n"
    drawn = f"---\nexcalidraw-plugin: parsed\n---\n{texts}\n%%\n## Drawing\n```compressed-json\nN4KA\n```\n%%"
    bare = {"type": "excalidraw", "elements": [{"type": "text", "text": "A cellar\nlamp", "x": 0, "y": 0}]}
    plan = "See [[Heating.excalidraw#^a1b2c3d4]] and ![[Light.excalidraw]].\n"
    service, _ = open_notes(
        {"Heating.excalidraw.md": drawn, "Light.excalidraw": json.dumps(bare), "Plan.md": plan}
    )
    found = {
        query: [(hit.title, hit.kind, hit.snippet) for hit in service.search(SearchRequest(query)).results]
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
