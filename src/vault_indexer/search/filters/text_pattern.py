"""Words and phrases as regular expressions over the rendered text and over its source.

Case, accents and the encoding of letters are ignored, and only whole words match. Signs match as written: `①`
is not `1`, and `x²` is not `x2`, although `x2` finds both, as `cafe` finds `café`. The characters between two
words (white space or punctuation, but no blank line) are ignored as well, unless the phrase itself has
punctuation there, which must then match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from types import MappingProxyType
from unicodedata import normalize as unicode_form

import numpy as np
from numpy.typing import NDArray

from vault_indexer.search.query import ByteScanner, byte_scanner, encode
from vault_indexer.text.fold import NUKTAS, fold, is_made_sign, normalize, normalize_letters
from vault_indexer.text.scripts import MARKS, SPACED_LETTER_OR_DIGIT, SPACELESS
from vault_indexer.text.tokens import LONGEST_TERM, WORD, run_terms

_LETTER = SPACED_LETTER_OR_DIGIT
_PIECE = re.compile(
    rf"(?P<word>{_LETTER}(?:{_LETTER}|[{MARKS}])*)|(?P<run>[{SPACELESS}][{SPACELESS}{MARKS}]*+)"
)
_GAP = r"(?:(?!\n[ \t]*\n)[\W_]){1,16}?"
_SPACE = r"\s++"
_REFERENCE = "&#?[0-9A-Za-z]{1,32};"
_HIDDEN = "|".join(
    (
        r"\]\((?:[^()\n]|\([^()\n]*\))*\)",
        r"\]\[[^\]\n]*\]",
        r"!?\[\[[^\]\n|]*(?:\||\]\])",
        r"!\[\[[^\]\n]*\]\]",
        r"\[\^[^\]\n]*\]",
        r"<[^<>\n]*(?:\n[^<>\n]+)*>",
        r"<!--(?:[^-\n]|\n[^-\n]|-[^-])*-->",
        r"%%(?:[^%\n]|\n[^%\n])*%%",
    )
)
"""Markup that may contain letters and is not rendered: the ends of links, the targets of wikilinks, pictures,
footnote marks, HTML, comments. All end with the paragraph, so that RE2 reads no text twice."""

_MARK = r"[*_~=`\\\[\]!#]"
_MARKUP = f"(?:{_MARK}|{_HIDDEN})*"
_SCANNED_GAP = f"(?:[^0-9A-Za-z]|{_HIDDEN}|{_REFERENCE})"
_SCANNED_SPACE = rf"(?:[\x00-\x20\x{{80}}-\x{{10ffff}}>|-]|{_MARK}|{_HIDDEN}|{_REFERENCE})+"
"""The equivalents of `_GAP` and `_SPACE` for RE2 on the source. They match at least as much as these do in
the rendered text."""

_SCANNED_WORDS = 5
"""Limit of words of a phrase for a scanner; few texts with these lack others. A rule of thumb."""

_ACCENTS = "\u00ad\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200d\u2060"
_PUNCTUATION = MappingProxyType({"'": "'’ʼ‘`´", '"': '"“”„«»', "-": "-‐‑–—"})
_WIDE = 0xFEE0
"""The code point distance from an ASCII sign to its full-width form."""

_SNIPPET_SIGNS = re.compile(r"(?:^|(?<=\w\s))(?:(?:\||·|\[[^\]]\])(?:\s|$))+(?=\w|$)")
"""The bars, points and boxes between words of snippets, which are no text of tables and lists."""

_SELECTORS = dict.fromkeys((0xFE0E, 0xFE0F))
_INVISIBLE = "\u200d\ufe0e\ufe0f"
"""The characters that may follow a sign: the joiner of a sequence, and the variation selectors."""

_CYRILLIC = range(0x0400, 0x0530)
_DECOMPOSED = {"й": "[иИ]\u0306", "ё": "[еЕ]\u0308", "ї": "[іІ]\u0308", "ў": "[уУ]\u0306"}
"""Letters as two characters, which `fold` does not separate."""

_ACCENTED_SCRIPTS = 0x0700
_INDIC = range(0x0900, 0x0C00)
_FOLDED_BLOCKS = (
    (0x21, 0x0700),
    (0x0900, 0x0C00),
    (0x1E00, 0x2000),
    (0x2070, 0x2190),
    (0xFB00, 0xFE00),
    (0xFE70, 0xFFF0),
    (0x1D400, 0x1D800),
)


@dataclass(frozen=True)
class TextPattern:
    """A word or phrase to search for in texts.

    `words` are the folded words of the pattern. `pairs` are the pairs of characters of scripts without
    spaces, and `begins` are single such characters, which begin a term. `pieces` are compounds that some term
    contains. `cased` contains the letters as written, without accents; None means that case is ignored.
    """

    source: str
    words: tuple[str, ...]
    pairs: tuple[str, ...]
    begins: tuple[str, ...]
    pieces: tuple[str, ...]
    cased: str | None = None

    def __hash__(self) -> int:
        return hash((self.source, self.cased))

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The expression for any text, compiled on first use: that takes 10 ms, and few queries need it."""
        return re.compile(_expression(self.source, _letters))

    @cached_property
    def quick(self) -> re.Pattern[str] | None:
        """The expression for lower-case text without accents, ten times faster; None if there is none."""
        has_word = any(match.lastgroup == "word" for match in _PIECE.finditer(self.source))
        return re.compile(_expression(self.source, re.escape)) if self.source.isascii() and has_word else None

    @cached_property
    def scanner(self) -> ByteScanner | None:
        """The scanner for possible matches in UTF-8 Markdown; None if there is none."""
        return _scanner(self.source, self.cased) if self.source else None

    def is_in(self, text: str | SearchedText) -> bool:
        return next(self.spans(text), None) is not None

    def spans(
        self, text: str | SearchedText, start: int = 0, end: int | None = None
    ) -> Iterator[tuple[int, int]]:
        prepared = SearchedText(text) if isinstance(text, str) else text
        end = len(prepared.text) if end is None else end
        if self.cased is None:
            yield from self._fits(prepared, start, end)
            return
        while found := next(self._fits(prepared, start, end), None):
            first, last = found
            # Found without case, then compared with it, because accents and forms of letters are still
            # ignored.
            if _letters_of(prepared.text[first:last]) == self.cased:
                yield first, last
                start = max(last, first + 1)
            else:
                start = first + 1

    def _fits(self, searched: SearchedText, start: int, end: int) -> Iterator[tuple[int, int]]:
        if self.quick and searched.lowered is not None:
            return (found.span() for found in self.quick.finditer(searched.lowered, start, end))
        return (found.span() for found in self.regex.finditer(searched.text, start, end))


class SearchedText:
    """A text, given as characters or as UTF-8, that is searched for several patterns. It is decoded and
    folded once, on demand.
    """

    def __init__(self, text: str | bytes) -> None:
        if isinstance(text, str):
            self.text = text
        else:
            self.encoded = text

    @cached_property
    def text(self) -> str:
        return self.encoded.decode("utf-8")

    @cached_property
    def encoded(self) -> bytes:
        """The text as UTF-8 for regular expressions. Each character keeps its bytes."""
        return encode(self.text)

    @cached_property
    def lowered(self) -> str | None:
        """The text in lower case with unchanged positions, or None if it has other forms of ASCII letters, so
        that lower case is not sufficient to find letters without accents."""
        if not self.text.isascii() and _folding().search(self.text):
            return None
        lowered = self.text.lower()
        # Some capitals, such as `İ`, become two characters, and positions would no longer fit.
        return lowered if len(lowered) == len(self.text) else None

    def byte_at(self, position: int) -> int:
        """Returns the byte in `encoded` at which a character begins, also for the end of the text."""
        return position if self.text.isascii() else int(self._bytes_of_chars[position])

    def char_at(self, byte: int) -> int:
        """Returns the position of the character that begins at a byte."""
        return byte if self.text.isascii() else int(self._bytes_of_chars.searchsorted(byte))

    @cached_property
    def _bytes_of_chars(self) -> NDArray[np.int64]:
        begins = (np.frombuffer(self.encoded, np.uint8) & 0xC0) != 0x80  # not within a character
        return np.append(np.flatnonzero(begins), len(self.encoded))


@lru_cache(maxsize=512)
def text_pattern(words: str, *, match_case: bool = False) -> TextPattern:
    """Returns the pattern of a word or phrase. A text without letters or digits matches as written."""
    source = normalize_letters(words.strip().translate(_SELECTORS))
    source = _SNIPPET_SIGNS.sub("", source).strip() or source
    found = list(_PIECE.finditer(source))
    written = [match[0] for match in found if match.lastgroup == "word"]
    folded = [fold(word) for word in written if not any(map(is_made_sign, word))]
    runs = [run_terms(match[0]) for match in found if match.lastgroup == "run"]
    # The index cuts words at this length, so a longer one is looked up by its beginning.
    known = tuple(dict.fromkeys(word[:LONGEST_TERM] for word in folded if len(word) > 1))
    return TextPattern(
        source=source,
        words=known,
        pairs=tuple(dict.fromkeys(pair for run in runs for pair in run[:-1])),
        begins=tuple(run[0] for run in runs if len(run) == 1),
        pieces=()
        if known or runs
        else tuple(piece for piece in map(normalize, WORD.findall(source)) if len(piece) > 1),
        cased=_letters_of(words) if match_case else None,
    )


def _letters_of(text: str) -> str:
    return "".join(filter(str.isalnum, text if text.isascii() else unicode_form("NFKD", text)))


def _expression(source: str, letters: Callable[[str], str]) -> str:
    parts: list[str] = []
    at = 0
    for match in _PIECE.finditer(source):
        parts.append(
            _gap_expression(source[at : match.start()], first=not parts, after_run=_is_run(source, at))
        )
        if match.lastgroup == "word":
            parts.append(_word(fold(match[0]), letters))
        else:
            parts.append("".join(map(_letters, match[0])))
        at = match.end()
    return "".join([*parts, *map(_literal, source[at:])])


def _is_run(source: str, offset: int) -> bool:
    return bool(offset and re.match(f"[{SPACELESS}]", source[offset - 1]))


def _gap_expression(gap: str, *, first: bool, after_run: bool) -> str:
    if first:
        return "".join(map(_literal, gap))
    if not gap:
        return ""  # from one script to another
    if gap.isspace():
        return f"(?:{_GAP})?" if after_run else _GAP
    return "".join(map(_literal, re.sub(r"\s+", " ", gap)))


def _scanner(source: str, cased: str | None) -> ByteScanner | None:
    """Returns the scanner of a pattern, without inner borders and limits of distance, which RE2 lacks."""
    found = list(_PIECE.finditer(source))
    letters = _cased_letters(found, cased)
    parts: list[str] = []
    at = 0
    for match in found[:_SCANNED_WORDS]:
        gap = source[at : match.start()]
        parts.append(_scanned_gap(gap, first=not parts, after_run=_is_run(source, at)))
        if match.lastgroup == "word":
            word = fold(match[0])
            parts.append(_scanned_word(word, letters[: len(word)]))
            letters = letters[len(word) :]
        else:
            parts.append(_MARKUP.join(map(_scanned_letter, match[0])))
        at = match.end()
    is_whole = len(found) <= _SCANNED_WORDS
    if is_whole and source[at:]:
        parts.append((_MARKUP if parts else "") + _scanned_literals(source[at:]))
    words = [match.span() for match in found if match.lastgroup == "word"]
    return byte_scanner(
        "".join(parts),
        starts_word=bool(words) and words[0][0] == 0 and not is_made_sign(source[0]),
        ends_word=bool(words) and words[-1][1] == len(source) and is_whole and not is_made_sign(source[-1]),
    )


def _cased_letters(found: list[re.Match[str]], cased: str | None) -> str:
    """Returns the letters of all words in the required case, or "" if case is ignored, or if some letter
    cannot be distinguished from its folded form."""
    if cased is None or not cased.isascii():
        return ""
    return cased if cased.lower() == "".join(fold(match[0]) for match in found) else ""


def _scanned_word(folded: str, cased: str) -> str:
    parts: list[str] = []
    for letters in _letters_in(folded):
        if cased:
            parts.append(f"(?:{_in_case(letters, cased[: len(letters)])}|{_REFERENCE})")
        else:
            parts.append(_scanned_letter(letters))
        cased = cased[len(letters) :]
    return _MARKUP.join(parts)


def _scanned_letter(letters: str) -> str:
    return f"(?:{_greedy(_letters(letters))}|{_REFERENCE})"


def _in_case(letters: str, cased: str) -> str:
    """Returns an expression for the spellings of one or two folded ASCII letters in the case of `cased`."""
    if len(letters) == 2:
        apart = _in_case(letters[0], cased[0]) + _in_case(letters[1], cased[1])
        return f"(?:{apart}|[{re.escape(_spellings()[letters])}])"
    chars = dict.fromkeys(_spellings().get(letters, "") + letters)
    kept = [char for char in chars if len(_letters_of(char)) != 1 or _letters_of(char) == cased]
    return _greedy(rf"[{re.escape(''.join(kept))}][{_ACCENTS}]*+\u200c?")


def _greedy(expression: str) -> str:
    """Returns an expression of `_letters` for RE2, which has no possessive quantifiers."""
    return expression.replace("*+", "*").replace(r"\u200c", "\u200c")


def _scanned_gap(gap: str, *, first: bool, after_run: bool) -> str:
    if first:
        return _scanned_literals(gap) + _MARKUP if gap else ""
    if gap and gap.isspace():
        return _SCANNED_GAP + ("*" if after_run else "+")
    return _MARKUP + (_scanned_literals(re.sub(r"\s+", " ", gap)) + _MARKUP if gap else "")


def _scanned_literals(text: str) -> str:
    return _MARKUP.join(
        _SCANNED_SPACE if char.isspace() else f"(?:{_literal(char)}|{_REFERENCE})" for char in text
    )


def _literal(char: str) -> str:
    if char.isspace():
        return _SPACE
    if not char.isascii():
        return f"{re.escape(char)}[{_INVISIBLE}]*"
    wide = chr(ord(char) + _WIDE) if char.isprintable() else ""
    return f"[{re.escape(_PUNCTUATION.get(char, char) + wide)}]"


def _word(folded: str, letters: Callable[[str], str]) -> str:
    if letters is re.escape:  # the look-behind comes second: an expression that begins with letters is fast
        return rf"{re.escape(folded)}(?<!{_LETTER}{re.escape(folded)})(?!{_LETTER})"
    before = "" if is_made_sign(folded[0]) else rf"(?<!{_LETTER})"
    behind = "" if is_made_sign(folded[-1]) else rf"(?!{_LETTER})"
    return f"{before}{''.join(map(letters, _letters_in(folded)))}{behind}"


def _letters_in(folded: str) -> Iterator[str]:
    """Returns the letters of a word one by one, or two together if some letter is folded to both."""
    at = 0
    while at < len(folded):
        pair = folded[at : at + 2]
        letters = pair if pair in _spellings() else folded[at]
        yield letters
        at += len(letters)


@cache
def _folding() -> re.Pattern[str]:
    """Returns an expression for non-ASCII characters that may represent ASCII letters."""
    chars = {char for folded, own in _spellings().items() if folded.isascii() for char in own}
    return re.compile(
        f"[{re.escape(''.join(sorted(char for char in chars if not char.isascii())))}{_ACCENTS}\u200c]"
    )


@lru_cache(maxsize=4096)
def _letters(folded: str) -> str:
    """Returns an expression for all spellings of a folded letter, or of two that are one: "ss" for ß."""
    if len(folded) == 2:
        return f"(?:{_letters(folded[0])}{_letters(folded[1])}|[{re.escape(_spellings()[folded])}])"
    chars = _spellings().get(folded, "") + folded
    one = f"[{re.escape(''.join(dict.fromkeys(chars)))}]"
    # In Russian texts, an acute accent may mark the stressed vowel.
    if ord(folded) in _CYRILLIC:
        apart = _DECOMPOSED.get(folded)
        return f"(?:{one}|{apart})\u0301?" if apart else f"{one}\u0301?"
    if ord(folded) in _INDIC and folded.isalpha():
        return f"{one}[{NUKTAS}\u200c\u200d]?"
    if ord(folded) < _ACCENTED_SCRIPTS and folded.isalpha():
        return rf"{one}[{_ACCENTS}]*+\u200c?"  # possessive except for the joiner, which may also end a word
    return one


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
