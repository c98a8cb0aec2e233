"""Every command is in the guide, and the guide has no command that is not there."""

from __future__ import annotations

import re

from python_source import ROOT

from vault_indexer.cli.app import COMMANDS


def documented() -> set[str]:
    """The commands named in the guide's headings: "## `indexer start`, `stop`, `status`" names three."""
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#{2,3} (`indexer .*)$", guide, re.MULTILINE)
    names = [name for heading in headings for name in re.findall(r"`(?:indexer )?([a-z]+)", heading)]
    return set(names)


def test_the_guide_describes_exactly_the_commands_there_are() -> None:
    assert documented() == {name for name, _, _ in COMMANDS}
