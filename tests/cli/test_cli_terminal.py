"""What a person sees at a terminal: nothing is cut, what matches is marked, paths can be clicked."""

from __future__ import annotations

import os
import re
import time

import pytest
from cli_sandbox import Sandbox

from vault_indexer.cli.connection.daemon_command import HINT_FILE

pytestmark = pytest.mark.long


HINT = "Searches are faster while the daemon runs (indexer start)."

STYLES = re.compile(r"\x1b\[[0-9;]*m")
LINKS = re.compile(r"\x1b\]8;[^;]*;([^\x1b]*)\x1b\\")

LONG_PATH = "A folder of long name/And one within it/The note whose name is no shorter than the others.md"
LONG_LINE = "See [[Night sky]], which tells of telescopes, of rings, of cold fingers and of thermos flasks"


def shown(text: str) -> str:
    """The text without styles and hyperlinks."""
    return LINKS.sub("", STYLES.sub("", text))


def test_links_and_related_cut_nothing_at_eighty_columns(sandbox: Sandbox) -> None:
    sandbox.write(LONG_PATH, f"# Long\n\n{LONG_LINE}.\n")
    assert sandbox.indexer("rebuild").code == 0
    for command in (("links", "Night sky"), ("related", "Night sky"), ("links", "--mentions", "Saturn")):
        text = shown(sandbox.terminal(*command).out)
        assert all(len(line) <= 80 for line in text.splitlines()), text
        assert "…" not in text
    words = " ".join(shown(sandbox.terminal("links", "Night sky").out).split())
    assert LONG_PATH in words
    assert LONG_LINE in words
    near = " ".join(shown(sandbox.terminal("related", "Night sky").out).split())
    assert LONG_PATH in near
    assert "links to" in near or "linked from" in near
    piped = sandbox.indexer("related", "Night sky").out
    assert len([line for line in piped.splitlines() if LONG_PATH in line and "cosine" in line]) == 1


def test_a_path_is_a_hyperlink_at_a_terminal_alone(served: Sandbox) -> None:
    file = (served.vault / "Sky/Night sky.md").as_uri()
    for command in (("search", "telescope"), ("related", "Welcome"), ("links", "Welcome")):
        assert file in LINKS.findall(served.terminal(*command).out), command
        assert "\x1b" not in served.indexer(*command).out


def test_a_search_without_a_daemon_hints_at_start_once_a_day(sandbox: Sandbox) -> None:
    assert sandbox.indexer("rebuild").code == 0
    for quiet in ("--json", "--paths"):
        assert HINT not in sandbox.terminal("search", "telescope", quiet).out
    piped = sandbox.indexer("search", "telescope")
    assert HINT not in piped.out + piped.err
    assert shown(sandbox.terminal("search", "telescope").out).count(HINT) == 1
    assert HINT not in sandbox.terminal("search", "telescope").out
    two_days_ago = time.time() - 2 * 24 * 60 * 60
    os.utime(sandbox.index_dir / HINT_FILE, (two_days_ago, two_days_ago))
    assert HINT in sandbox.terminal("search", "telescope").out


def test_a_search_through_the_daemon_needs_no_hint(served: Sandbox) -> None:
    assert HINT not in served.terminal("search", "telescope").out
    assert not (served.index_dir / HINT_FILE).exists()
