"""Rewrites what other programs add to Markdown, such as shortcodes, as Markdown that shows the same.

The rewritten text has the length and the line breaks of the original, so that every offset stays valid. Code
keeps its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import unquote

from vault_indexer.model import JsonValue, LinkStyle
from vault_indexer.parse.readable import CODE_SPAN, rewrite_prose

_SHORTCODE = r"\{\{(?:<(?!/\*)(?:(?!\{\{).){0,2000}?>|%(?!/\*)(?:(?!\{\{).){0,2000}?%)\}\}"
_LIQUID_TAG = r"\{%(?:(?!\{%).){0,2000}?%\}"
_LIQUID = rf"{_LIQUID_TAG}|\{{\{{(?:(?!\{{\{{).){{0,2000}}?\}}\}}|\{{:[^{{}}\n]{{1,500}}\}}"
_SIZE = r"\d+(?:x\d+)?"
_MDX_IMPORT = r"import\s+(?:[\w$*{},\s]{1,500}?\sfrom\s+)?[\"'][^\"'\n]+[\"'][^\n]*"
_MDX_EXPORT = r"export\s+(?:default|const|let|var|function|class|async)\b[^\n]*(?:\n(?![ \t]*\r?\n)[^\n]+)*"
_MDX_COMMENT = r"[ \t]*\{/\*(?:(?!\{/\*).){0,2000}?\*/\}"
_VALUE = r"\"[^\"]{0,500}\"|'[^']{0,500}'|\{(?:[^{}]|\{[^{}]{0,500}\}){0,1000}\}"
_MDX_COMPONENT = rf"[ \t]*</?[A-Z][\w.]*(?:[^<>{{}}\n\"']|{_VALUE}|\n(?![ \t]*\n)){{0,2000}}>[ \t]*(?=\r?$)"
_CODE_NAMES = "highlight|code-toggle"
_CODE_START, _CODE_END = r"\{(?:\{[<%]|%)-?[ \t]*", r"(?![\w-])[^{}\n]*\}"
_CODE = (
    rf"(?P<opening>^[ \t]*{_CODE_START}(?P<name>{_CODE_NAMES}){_CODE_END}\}}?[ \t]*)"
    rf"(?P<code>\r?\n(?:(?!{_CODE_START}(?P=name){_CODE_END}).)*?^[ \t]*)"
    rf"(?P<closing>{_CODE_START}(?:/[ ]*|end)(?P=name){_CODE_END}\}}?)"
)
"""A block of code between two tags."""

_SHOWN = re.compile(r"\b(?:alt|caption|label|title)\s*=\s*\"([^\"\n]*)\"")
"""A parameter whose value a reader sees."""

_ADDRESS = re.compile(
    r"""
      (?:(?:rel)?ref|link|post_url)\s+(?:path\s*=\s*)?["'`]?(?P<page>[^"'`\n]*[^"'`\s])
    | ["'](?P<url>[^"'\n]*)["']\s*\|\s*(?:relative|absolute)_url
    | (?:site\.(?:base)?url|base_?url)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TAG = re.compile(rf"{_SHORTCODE}|{_LIQUID}", re.DOTALL)
_OUTSIDE = "//"
"""Replaces an address that only the program can compute: a place outside the vault."""


def _with_tags(tag: str) -> re.Pattern[str]:
    plain = r"[^\s()<>{}]*"
    return re.compile(
        rf"{CODE_SPAN}"
        rf"|(?P<lead>\]\([ \t]*|^[ ]{{0,3}}\[[^\]\n]+\]:[ \t]*)(?P<target>{plain}(?:(?:{tag}){plain})+)"
        rf"|{_CODE}"
        rf"|(?P<line>^[ \t]*(?:(?:{tag})[ \t]*)+(?=\r?$))"
        rf"|(?P<tag>{tag})",
        re.DOTALL | re.MULTILINE,
    )


_PATTERNS: Mapping[LinkStyle, tuple[str, re.Pattern[str]]] = MappingProxyType(
    {
        "dendron": (
            "|",
            re.compile(
                rf"{CODE_SPAN}"
                rf"|\[\[(?P<text>[^\[\]|\n]*?)(?P<bar>\\?\|)(?P<note>(?!{_SIZE}\])[^\[\]|\n]+)\]\]",
                re.DOTALL,
            ),
        ),
        "docusaurus": (
            "",
            re.compile(
                rf"{CODE_SPAN}|(?P<line>^(?:{_MDX_IMPORT}|{_MDX_EXPORT}|{_MDX_COMPONENT}|{_MDX_COMMENT}))",
                re.DOTALL | re.MULTILINE,
            ),
        ),
        "hugo": ("{{", _with_tags(_SHORTCODE)),
        "jekyll": ("{", _with_tags(_LIQUID)),
        "logseq": (
            "]([[",
            re.compile(rf"{CODE_SPAN}|(?P<lead>\]\()\[\[(?P<page>[^\[\]\n]+)\]\](?=\))", re.DOTALL),
        ),
        "mkdocs": ("{%", _with_tags(_LIQUID_TAG)),
    }
)
"""The syntax of each style, and a sign of it in a text."""


def as_markdown(text: str, style: LinkStyle) -> str:
    """The text with the syntax of `style` rewritten: links as in Obsidian, tags as blanks."""
    sign, pattern = _PATTERNS.get(style, ("", None))
    return text if pattern is None or sign not in text else rewrite_prose(text, pattern, _rewrite)


def _rewrite(match: re.Match[str]) -> str:
    found = match.groupdict("")
    if "note" in found:
        return f"[[{found['note']}{found['bar']}{found['text']}]]"
    if "page" in found:
        return f"{found['lead']} <{found['page']}> "
    if found.get("closing"):
        indent = len(found["opening"]) - len(found["opening"].lstrip())
        fences = (
            f"{found['opening'][:indent]}```".ljust(len(found["opening"])),
            "```".ljust(len(found["closing"])),
        )
        return found["code"].join(fences)
    if found.get("target"):
        return found["lead"] + _destination(found["target"])
    before = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    return _hide(match[0], before_text=not found.get("line") and not before.strip())


def _destination(target: str) -> str:
    """The address in a destination, with the blanks that Markdown allows after it."""
    parts: list[str] = []
    end = 0
    for tag in _TAG.finditer(target):
        address = _ADDRESS.search(tag[0].strip("{}<>%- \t\r\n"))
        parts += (
            target[end : tag.start()],
            (address["page"] or address["url"] or "") if address else _OUTSIDE,
        )
        end = tag.end()
    path = "".join((*parts, target[end:]))
    if _OUTSIDE in path:
        path = _OUTSIDE
    return (f"<{path}>" if " " in path else path).ljust(len(target))


def _hide(tags: str, *, before_text: bool) -> str:
    """Blanks for tags, except for the texts that they show, such as captions. Blanks at the start of a line
    would make the text after them code: there, an empty element replaces the tags."""
    shown = {at for match in _SHOWN.finditer(tags) for at in range(*match.span(1))}
    hidden = [char if at in shown or char in "\r\n" else " " for at, char in enumerate(tags)]
    if shown or before_text:
        first = len(tags) - len(tags.lstrip())
        hidden[first : first + 2] = "<x"
        hidden[min(shown, default=len(tags)) - 1] = ">"
    return "".join(hidden)


# The pages of Logseq.


PAGE_SUFFIX = re.compile(r"\.(?:md|markdown|mdx|html?)\Z", re.IGNORECASE)
_PROPERTY = re.compile(r"[ \t]*(?:[-*][ \t]+)?(?P<name>[\w-]+)::[ \t]*(?P<value>[^\r\n]*)(?:\r?\n|\Z)")
_BRACKETS = re.compile(r"\[\[|\]\]")


def page_name(path: str) -> str:
    """The name of Logseq's page in a file: `pages/a___b.md` and `pages/a%2Fb.md` contain `a/b`."""
    return unquote(PAGE_SUFFIX.sub("", path.rpartition("/")[2]).replace("___", "/"))


def page_properties(text: str, start: int, style: LinkStyle) -> dict[str, JsonValue]:
    """The properties `name:: value` in the first lines of Logseq's page; links in values without brackets."""
    found: dict[str, JsonValue] = {}
    while style == "logseq" and (match := _PROPERTY.match(text, start)):
        found.setdefault(match["name"].lower(), _BRACKETS.sub("", match["value"]).strip())
        start = match.end()
    return found
