"""A search gives the text around its hits when it is asked for."""

from small_vault import Ask


def test_a_hit_comes_with_its_section(ask: Ask) -> None:
    plain = ask("collect leaves", limit=1).results[0]
    wide = ask("collect leaves", limit=1, expand="section").results[0]
    assert plain.passage is None
    assert wide.passage is not None
    assert wide.passage.start_pos <= wide.start_pos < wide.end_pos <= wide.passage.end_pos
    assert "collect leaves" in wide.passage.text
