"""A carriage return alone ends a line, also where blocks are nested deeper than they are read."""

from __future__ import annotations

import pytest

from vault_indexer.parse.blocks import scan_blocks


@pytest.mark.parametrize("text", ["# A\n\ntext\n\n- b\n", f"first\n\n{'> ' * 200}deep\n\nlast\n"])
def test_blocks_are_those_of_the_same_lines_with_line_feeds(text: str) -> None:
    assert scan_blocks(text.replace("\n", "\r"), 0, len(text)) == scan_blocks(text, 0, len(text))
