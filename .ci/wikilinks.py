"""A hook of mkdocs: wikilinks become Markdown links, and the navigation is the start page's list."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from markdown.extensions.toc import slugify

_FENCE, _SPAN = r"^(`{3,}|~{3,})[^\n]*\n.*?^\1[ \t]*$", r"(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)"
_CODE = re.compile(f"{_FENCE}|{_SPAN}", re.MULTILINE | re.DOTALL)
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n]+)\]\]")
_START = "Home.md"
_GROUP = re.compile(r"^\*\*(.+)\*\*$|^- \[\[([^\]|]+)\|([^\]]+)\]\]", re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """The start page is the site's, and the navigation its groups, each with its pages."""
    groups: list[dict[str, list[dict[str, str]]]] = []
    start = files.get_file_from_path(_START)
    text = start.content_string
    start.dest_uri = start.url = "index.html"
    start.abs_dest_path = str(Path(config["site_dir"], start.dest_uri))
    for group, target, title in _GROUP.findall(text):
        if group:
            groups.append({group: []})
        elif groups:
            next(iter(groups[-1].values())).append({title: _path_of(target, files)})
    config["nav"] = [{"Home": _START}, *groups]
    return files


def on_page_markdown(markdown: str, page: Any, files: Any, **_rest: Any) -> str:
    """The page with links that a Markdown renderer knows. Code stays as it is."""
    own = page.file.src_uri
    written, done = [], 0
    for code in _CODE.finditer(markdown):
        written += [_linked(markdown[done : code.start()], own, files), code[0]]
        done = code.end()
    return "".join([*written, _linked(markdown[done:], own, files)])


def _linked(text: str, own: str, files: Any) -> str:
    def link(match: re.Match[str]) -> str:
        target, _, shown = match[2].replace("\\|", "|").partition("|")
        name, _, heading = target.partition("#")
        path = posixpath.relpath(_path_of(name, files), posixpath.dirname(own)) if name else ""
        anchor = f"#{slugify(heading, '-')}" if heading else ""
        return f"{match[1]}[{shown or heading or name}]({path}{anchor})"

    return _WIKILINK.sub(link, text)


def _path_of(name: str, files: Any) -> str:
    """The file that a link names: by the end of its path, the shortest first. Raises KeyError."""
    ends = (f"/{name}".casefold(), f"/{name}.md".casefold())
    paths = [file.src_uri for file in files if f"/{file.src_uri}".casefold().endswith(ends)]
    if not paths:
        raise KeyError(name)
    return str(min(paths, key=len))
