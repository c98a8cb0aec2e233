"""Rewrites the syntax that other programs add to Markdown, such as shortcodes, as equivalent Markdown.

The rewritten text has the length and the line breaks of the original, so that every offset stays valid. Code
is not changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from urllib.parse import unquote

from vault_indexer.model import BlockId, JsonValue, LinkStyle
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
_BLOCK = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
"""The id of a block of Logseq, as in `id:: ID`, `((ID))` and `{{embed ((ID))}}`."""

_ID = re.compile(_BLOCK)
_CODE_NAMES = "highlight|code-toggle"
_CODE_START, _CODE_END = r"\{(?:\{[<%]|%)-?[ \t]*", r"(?![\w-])[^{}\n]*\}"
_CODE = (
    rf"(?P<indent>^[ \t]*)(?P<opening>{_CODE_START}(?P<name>{_CODE_NAMES}){_CODE_END}\}}?[ \t]*)"
    rf"(?P<code>\r?\n(?:(?!{_CODE_START}(?P=name){_CODE_END}).)*?^[ \t]*)"
    rf"(?P<closing>{_CODE_START}(?:/[ ]*|end)(?P=name){_CODE_END}\}}?)"
)
"""A block of code between two tags."""

_RAW_START, _RAW_END = r"\{%-?[ \t]*raw[ \t]*-?%\}", r"\{%-?[ \t]*endraw[ \t]*-?%\}"
_RAW = rf"(?P<raw>{_RAW_START})(?P<shown>(?:(?!{_RAW_START}).)*?)(?P<endraw>{_RAW_END})"
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


def _with_tags(tag: str) -> tuple[str, ...]:
    plain = r"[^\s()<>{}]*"
    return (
        rf"(?P<lead>\]\([ \t]*|^[ ]{{0,3}}\[[^\]\n]+\]:[ \t]*)(?P<target>{plain}(?:(?:{tag}){plain})+)",
        _CODE,
        _RAW,
        rf"(?P<line>^[ \t]*(?:(?:{tag})[ \t]*)+(?=\r?$))",
        rf"(?P<tag>{tag})",
    )


_SYNTAX: Mapping[LinkStyle, tuple[str, ...]] = MappingProxyType(
    {
        "dendron": (rf"\[\[(?P<text>[^\[\]|\n]*?)(?P<bar>\\?\|)(?P<note>(?!{_SIZE}\])[^\[\]|\n]+)\]\]",),
        "docusaurus": (rf"(?P<line>^(?:{_MDX_IMPORT}|{_MDX_EXPORT}|{_MDX_COMPONENT}|{_MDX_COMMENT}))",),
        "hugo": _with_tags(_SHORTCODE),
        "jekyll": _with_tags(_LIQUID),
        "logseq": (
            r"(?P<lead>\]\()\[\[(?P<page>[^\[\]\n]+)\]\](?=\))",
            rf"(?P<opening>\]\(|\{{\{{embed +)?\(\((?P<block>{_BLOCK})\)\)(?P<closing> *\}}\}})?",
            rf"(?P<line>^[ \t]*(?:id::[ \t]*{_BLOCK}|collapsed::[ \t]*\w+)[ \t]*(?=\r?$))",
        ),
        "mkdocs": _with_tags(_LIQUID_TAG),
    }
)


@cache
def _pattern(style: LinkStyle) -> re.Pattern[str]:
    return re.compile("|".join((CODE_SPAN, *_SYNTAX[style])), re.DOTALL | re.MULTILINE)


def as_markdown(text: str, style: LinkStyle) -> str:
    """The text with the syntax of `style` rewritten: links as in Obsidian, tags as blanks."""
    return rewrite_prose(text, _pattern(style), _rewrite) if style in _SYNTAX else text


def _rewrite(match: re.Match[str]) -> str:
    found = match.groupdict("")
    if "note" in found:
        return f"[[{found['note']}{found['bar']}{found['text']}]]"
    if found.get("page"):
        return f"{found['lead']} <{found['page']}> "
    if found.get("block"):
        lead = "](" if found["opening"] == "](" else ""
        return lead + (f" <{found['block']}> " if lead else f"[]({found['block']})".ljust(len(match[0])))
    if found.get("closing"):
        fences = ("```".ljust(len(found["opening"])), "```".ljust(len(found["closing"])))
        return found["indent"] + found["code"].join(fences)
    if found.get("target"):
        return found["lead"] + _destination(found["target"])
    begins = not match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
    if found.get("raw"):
        begins = begins and found["shown"].lstrip(" \t")[:1] not in ("\r", "\n")
        return _hide(found["raw"], before_text=begins) + found["shown"] + " " * len(found["endraw"])
    return _hide(match[0], before_text=begins and not found.get("line"))


def _destination(target: str) -> str:
    """The address in a destination, with the blanks that Markdown allows after it."""
    path = _TAG.sub(_address_in, target)
    if _OUTSIDE in path:
        path = _OUTSIDE
    return (f"<{path}>" if " " in path else path).ljust(len(target))


def _address_in(tag: re.Match[str]) -> str:
    found = _ADDRESS.search(tag[0].strip("{}<>%- \t\r\n"))
    return (found["page"] or found["url"] or "") if found else _OUTSIDE


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
_BLOCK_ID = re.compile(rf"^[ \t]*(?:- )?id::[ \t]*(?P<id>{_BLOCK})[ \t]*\r?$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*- ", re.MULTILINE)
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


def page_blocks(text: str, style: LinkStyle) -> Iterator[BlockId]:
    """The blocks of Logseq's page that have an id. Each begins with its bullet and ends before the line of
    its id."""
    start = at = 0
    line = 1
    for match in _BLOCK_ID.finditer(text) if style == "logseq" else ():
        for bullet in _BULLET.finditer(text, at, match.end()):
            line += text.count("\n", start, bullet.start())
            start = bullet.start()
        at = match.end()
        yield BlockId(match["id"], start, start + len(text[start : match.start()].rstrip()), line)


def is_block(name: str) -> bool:
    """Whether a name is the id of a block of Logseq."""
    return _ID.fullmatch(name) is not None
