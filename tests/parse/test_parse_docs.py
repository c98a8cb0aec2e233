"""The page for users says what the parser and the resolver do, row by row."""

import json
import re
from pathlib import Path
from typing import cast

import pytest

from vault_indexer.model import Link, LinkKind, LinkStyle
from vault_indexer.parse import StyledPaths, VaultPaths, detect_style, parse_note, resolve
from vault_indexer.parse.blocks import MAX_BLOCKS
from vault_indexer.parse.inline import MAX_BRACKETS
from vault_indexer.parse.link_syntax import MAX_FINDS, MAX_LINK, MAX_TAG
from vault_indexer.parse.notes import MAX_HEADING, MAX_TAGS

PAGE = (Path(__file__).parents[2] / "docs" / "links-and-syntax.md").read_text(encoding="utf-8")
CODE = re.compile(r"``\s(.+?)\s``|`([^`]+)`")


def rows(header: str) -> list[list[str]]:
    """The cells of every table with this header row."""
    found: list[list[str]] = []
    for table in re.findall(rf"^{re.escape(header)}\n\|[-| ]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE):
        for line in table.splitlines():
            cells = re.split(r"(?<!\\)\|", line.strip("|"))
            found.append([cell.replace("\\|", "|").strip() for cell in cells])
    return found


def code(cell: str) -> str:
    match = CODE.search(cell)
    assert match, f"no code in {cell!r}"
    return match[1] or match[2]


def described(source: str, style: LinkStyle = "obsidian") -> str:
    note = parse_note("n.md", f"{source}\n".encode(), style)
    found = [f"heading of level {heading.level} `{heading.text}`" for heading in note.headings]
    found += [describe_link(link) for link in note.links]
    if note.tags:
        found.append(("tags " if len(note.tags) > 1 else "tag ") + ", ".join(f"`{tag}`" for tag in note.tags))
    found += [f"block `{block.id}`" for block in note.blocks]
    return ", ".join(found) or "nothing"


def describe_link(link: Link) -> str:
    said = "embed of " if link.kind is LinkKind.EMBED else "link to "
    said += f"`{link.target}`" if link.target else "this note"
    said += f", part `{link.subpath}`" if link.subpath else ""
    return said + (f", shown as `{link.display}`" if link.display else "")


@pytest.mark.parametrize(("written", "understood"), rows("| written | understood as |"))
def test_what_is_written_is_understood_as_the_page_says(written: str, understood: str) -> None:
    assert described(code(written)) == understood


@pytest.mark.parametrize(("link", "source", "leads"), rows("| link | in the note | leads to |"))
def test_links_lead_where_the_page_says(link: str, source: str, leads: str) -> None:
    block = re.search(r"^```vault\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert block
    (parsed,) = parse_note(code(source), code(link).encode()).links
    found = resolve(parsed.target, code(source), VaultPaths(block[1].splitlines()))
    said = f"`{found.path}`" if found.path else "nowhere"
    assert said + (", ambiguous" if found.ambiguous else "") == leads


@pytest.mark.parametrize(("style", "written", "understood"), rows("| style | written | understood as |"))
def test_syntax_of_another_program_is_understood_as_the_page_says(
    style: str, written: str, understood: str
) -> None:
    assert described(code(written), cast("LinkStyle", code(style))) == understood


@pytest.mark.parametrize(
    ("style", "link", "source", "leads"), rows("| style | link | in the note | leads to |")
)
def test_links_for_another_program_lead_where_the_page_says(
    style: str, link: str, source: str, leads: str
) -> None:
    block = re.search(r"^```site\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert block
    program = cast("LinkStyle", code(style))
    (parsed,) = parse_note(code(source), code(link).encode(), program).links
    found, _ = StyledPaths(program, block[1].splitlines()).find(parsed.target, code(source))
    assert (f"`{found.path}`" if found.path else "nowhere") == leads


@pytest.mark.parametrize(("style", "files"), rows("| `links.style` | recognised by |"))
def test_the_style_of_a_vault_is_recognised_by_each_file_of_the_page(style: str, files: str) -> None:
    *folders, names = files.split(": ")
    beside = {code(folder) for folder in folders}
    for name in CODE.findall(names):
        assert detect_style({name[1], *beside}.__contains__) == code(style)
        assert not beside or detect_style({name[1]}.__contains__) == "obsidian"


def test_the_page_names_the_limits() -> None:
    limits = re.search(r"^- \*\*Limits\.\*\* (.*?)(?=^\S|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert limits
    said = " ".join(limits[1].split())
    for figure in (
        f"{MAX_BLOCKS:,} blocks",
        f"{MAX_FINDS:,} links and tags",
        f"{MAX_TAGS:,} different tags",
        f"{MAX_BRACKETS} open brackets",
        f"{MAX_LINK:,} characters of a link's target or text",
        f"{MAX_TAG} of a tag",
        f"heading of more than {MAX_HEADING:,} characters",
    ):
        assert figure in said


@pytest.mark.parametrize(("written", "properties"), rows("| in the text | property |"))
def test_fields_are_the_properties_that_the_page_names(written: str, properties: str) -> None:
    fields = parse_note("n.md", f"{code(written)}\n".encode()).fields
    shown = [f"`{name}`: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    assert (", ".join(shown) or "none") == properties
