"""Real vaults: every link that plain text search finds is accounted for."""

import re
from collections import Counter
from pathlib import Path

import pytest

from vault_indexer.model import LinkKind, Note
from vault_indexer.parse import Anchors, VaultPaths, parse_note, resolve

VAULT = Path(__file__).parents[2].parent / "shared" / "data" / "vaults" / "obsidian-help"
FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})")
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
WIKILINK = re.compile(r"!?\[\[[^\[\]\n]+\]\]")

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not VAULT.is_dir(), reason="needs ../shared/data/vaults/obsidian-help"),
]


@pytest.fixture(scope="module")
def notes() -> dict[str, Note]:
    files = sorted(VAULT.rglob("*.md"))
    return {note.path: note for note in (parse_note(name(file), file.read_bytes()) for file in files)}


def name(file: Path) -> str:
    return file.relative_to(VAULT).as_posix()


def searched(text: str) -> Counter[str]:
    """Wikilinks and embeds (by their first character) outside code, found without our parser."""
    found: Counter[str] = Counter()
    fence = ""
    for line in text.splitlines():
        match = FENCE.match(line)
        if match and (not fence or match[1].startswith(fence)):
            fence = "" if fence else match[1]
        elif not fence:
            found.update(link[0] for link in WIKILINK.findall(CODE_SPAN.sub("", line)))
    return found


def test_every_wikilink_and_embed_is_parsed(notes: dict[str, Note]) -> None:
    kinds = (LinkKind.WIKILINK, LinkKind.EMBED, LinkKind.FRONTMATTER)
    total: Counter[str] = Counter()
    for path, note in notes.items():
        parsed = Counter(note.text[link.start] for link in note.links if link.kind in kinds)
        assert parsed == searched(note.text), path
        total += parsed
    assert total == {"[": 1524, "!": 283}


def test_unresolved_links_are_missing_files_and_examples(notes: dict[str, Note]) -> None:
    """33 pictures, films and sounds that the download lacks, and 6 examples of how to write a link."""
    paths = VaultPaths(name(file) for file in VAULT.rglob("*") if file.is_file())
    unresolved = [
        link.target
        for path, note in notes.items()
        for link in note.links
        if resolve(link.target, path, paths).path is None
    ]
    assert len(unresolved) == 39
    examples = [target for target in unresolved if target.removesuffix(".md") == "Example"]
    assert len(examples) == 6
    media = [target for target in unresolved if target.endswith((".png", ".mp4", ".ogg"))]
    assert len(media) == 33


def test_every_heading_and_block_that_is_linked_is_found(notes: dict[str, Note]) -> None:
    paths = VaultPaths(name(file) for file in VAULT.rglob("*") if file.is_file())
    missing = []
    for path, note in notes.items():
        for link in note.links:
            goal = notes.get(resolve(link.target, path, paths).path or "")
            if goal and link.subpath:
                place = Anchors(goal.headings, goal.blocks).find(link.subpath)
                missing += [(path, link.line, place.problem)] if place.problem else []
    assert missing == []
