"""Words and phrases as regular expressions over the text as it is: positions need no translation.

Case, accents and compatibility forms do not matter, whole words do. What stands between two words (white
space, punctuation, markup, but no blank line) does not matter either, unless the phrase itself has
punctuation there: then that is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.scripts import MARKS, SPACELESS
from vault_indexer.text.terms import VARIANT_MARK
from vault_indexer.text.tokens import LONGEST_TERM, run_terms

_LETTER = rf"[^\W_{SPACELESS}]"
_PIECE = re.compile(
    rf"(?P<word>{_LETTER}(?:{_LETTER}|[{MARKS}])*+)|(?P<run>[{SPACELESS}][{SPACELESS}{MARKS}]*+)"
)
_GAP = r"(?:(?!\n[ \t]*\n)[\W_]){1,16}?"
_SPACE = r"\s++"
_ACCENTS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
_PUNCTUATION = MappingProxyType({"'": "'’ʼ‘`´", '"': '"“”„«»', "-": "-‐‑–—"})
_CYRILLIC = range(0x0400, 0x0530)
_ACCENTED_SCRIPTS = 0x0700
_FOLDED_BLOCKS = ((0x21, 0x0700), (0x1E00, 0x2000), (0x2070, 0x2190), (0xFB00, 0xFE00), (0xFE70, 0xFFF0))


@dataclass(frozen=True, slots=True)
class TextPattern:
    """`needs`: a text that matches holds, for each entry, at least one of its index terms. `begins`: and a
    term that begins with each of these."""

    regex: re.Pattern[str]
    needs: tuple[tuple[str, ...], ...]
    begins: tuple[str, ...] = ()


@lru_cache(maxsize=512)
def text_pattern(words: str) -> TextPattern:
    """The pattern of a word or phrase; a text without letter or digit is wanted as it is."""
    told = normalize(words.strip())
    regex: list[str] = []
    needs: list[tuple[str, ...]] = []
    begins: list[str] = []
    at = 0
    for match in _PIECE.finditer(told):
        gap = told[at : match.start()]
        regex.append(_between(gap, first=not regex, after_run=_is_run(told, at)))
        at = match.end()
        if match.lastgroup == "word":
            regex.append(_word(fold(match[0])))
            needs.extend(_terms(match[0]))
        else:
            regex.append("".join(_letters(char) for char in match[0]))
            *pairs, last = run_terms(match[0])
            needs.extend((pair,) for pair in pairs)
            begins.extend([] if pairs else [last])
    regex.append("".join(map(_literal, told[at:])))
    return TextPattern(re.compile("".join(regex)), tuple(dict.fromkeys(needs)), tuple(begins))


def _is_run(told: str, at: int) -> bool:
    return bool(at and re.match(f"[{SPACELESS}]", told[at - 1]))


def _between(gap: str, *, first: bool, after_run: bool) -> str:
    if first:
        return "".join(map(_literal, gap))
    if not gap:
        return ""  # from one script to another
    if gap.isspace():
        return f"(?:{_GAP})?" if after_run else _GAP
    return "".join(map(_literal, re.sub(r"\s+", " ", gap)))


def _literal(char: str) -> str:
    if char.isspace():
        return _SPACE
    known = _PUNCTUATION.get(char)
    return f"[{re.escape(known)}]" if known else re.escape(char)


def _terms(word: str) -> list[tuple[str, ...]]:
    """A single letter within a compound is no index term."""
    folded = fold(word)
    if len(folded) < 2:
        return []
    exact = word[:LONGEST_TERM]
    return [tuple(dict.fromkeys((exact, folded[:LONGEST_TERM], VARIANT_MARK + fold(exact))))]


def _word(folded: str) -> str:
    out = [rf"(?<!{_LETTER})"]
    at = 0
    while at < len(folded):
        size = 2 if folded[at : at + 2] in _spellings() and at + 1 < len(folded) else 1
        out.append(_letters(folded[at : at + size]))
        at += size
    out.append(rf"(?!{_LETTER})")
    return "".join(out)


@lru_cache(maxsize=4096)
def _letters(folded: str) -> str:
    """All spellings of one folded letter (or of two that some letter stands for, as "ss" for ß)."""
    if len(folded) == 2:
        return f"(?:{_letters(folded[0])}{_letters(folded[1])}|[{re.escape(_spellings()[folded])}])"
    chars = _spellings().get(folded, "") + folded
    one = f"[{re.escape(''.join(dict.fromkeys(chars)))}]"
    if ord(folded) in _CYRILLIC:
        apart = _decomposed(folded)
        return f"(?:{one}|{apart})\u0301?" if apart else f"{one}\u0301?"
    return f"{one}[{_ACCENTS}]*+" if ord(folded) < _ACCENTED_SCRIPTS and folded.isalpha() else one


def _decomposed(letter: str) -> str:
    """й and ї as two characters, which `fold` keeps apart from и and і."""
    pairs = {"й": "[иИ]\u0306", "ё": "[еЕ]\u0308", "ї": "[іІ]\u0308", "ў": "[уУ]\u0306"}
    return pairs.get(letter, "")


@cache
def _spellings() -> Mapping[str, str]:
    """From what `fold` gives, one or two characters, to the single characters it gives it for."""
    found: dict[str, list[str]] = {}
    for first, end in _FOLDED_BLOCKS:
        for code in range(first, end):
            char = chr(code)
            if char.isalnum():
                folded = fold(normalize(char))
                if 1 <= len(folded) <= 2 and folded.isalnum():
                    found.setdefault(folded, []).append(char)
    return MappingProxyType({folded: "".join(chars) for folded, chars in found.items()})


@lru_cache(maxsize=1 << 15)
def plain(text: str) -> str:
    """A text without case and accents and with single spaces, to compare whole names by."""
    return " ".join(fold(normalize(text)).split())
