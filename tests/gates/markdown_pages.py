"""Markdown of our own, read simply: wikilinks, headings and code blocks of the docs and the demo vault."""

from __future__ import annotations

import re
from pathlib import Path

FENCE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
WIKILINK = re.compile(r"\[\[([^\[\]\n]{1,512})\]\]")


def prose(text: str) -> str:
    """The text without fenced code and code spans."""
    return CODE_SPAN.sub("", FENCE.sub("", text))


def wikilinks(text: str) -> list[tuple[str, str]]:
    """Target and subpath of each wikilink outside code."""
    found = []
    for inner in WIKILINK.findall(prose(text)):
        target, _, subpath = inner.replace("\\|", "|").partition("|")[0].partition("#")
        found.append((target.strip(), subpath.strip()))
    return found


def subpaths(text: str) -> set[str]:
    """What a link may point at within the page: its headings, and its block ids with `^`."""
    headings = re.findall(r"^#{1,6} +(.+?) *$", FENCE.sub("", text), re.MULTILINE)
    blocks = re.findall(r"(?:^|\s)(\^[A-Za-z0-9-]+) *$", text, re.MULTILINE)
    return {heading.casefold() for heading in headings} | {block.casefold() for block in blocks}


def find(vault: Path, target: str) -> Path | None:
    """The file a target names: by its path from the root, else by its name or the end of its path."""
    wanted = target.casefold()
    for file in sorted(vault.rglob("*"), key=lambda path: len(path.as_posix())):
        path = file.relative_to(vault).as_posix().casefold()
        if f"/{path}".endswith((f"/{wanted}", f"/{wanted}.md")) and file.is_file():
            return file
    return None


def broken_links(vault: Path) -> list[str]:
    """`page: [[link]]` for each wikilink in the folder's pages that leads nowhere."""
    broken = []
    for page in sorted(vault.rglob("*.md")):
        for target, subpath in wikilinks(page.read_text(encoding="utf-8")):
            file = find(vault, target) if target else page
            if file is None or (
                subpath
                and file.suffix == ".md"
                and subpath.rpartition("#")[2].casefold() not in subpaths(file.read_text(encoding="utf-8"))
            ):
                broken.append(f"{page.relative_to(vault)}: [[{target}{'#' * bool(subpath)}{subpath}]]")
    return broken


def shell_blocks(text: str) -> list[str]:
    """Fenced blocks of commands: those of a shell, and texts that begin with a prompt."""
    blocks: list[str] = re.findall(
        r"^```(?:console|sh|text(?=\n\$ ))\n(.*?)^```", text, re.MULTILINE | re.DOTALL
    )
    return blocks
