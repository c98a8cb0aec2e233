"""Splits text into sentences.

The splitter uses rules and one pass. It needs no model and no language, and its time is linear in the text.
It recognizes full stops that do not end a sentence (abbreviations, initials, decimals, list numbers, German
ordinals), quotes and brackets that close after the stop, and scripts without a space after a sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from vault_indexer.text.scripts import CLUSTER_MARKS, LAO, MARKS, THAI

Span = tuple[int, int]

_CLOSERS = "\"'”’»›)\\]}*_`」』）】》〉"
_ALSO_OPENERS = "“‘«‹"
"""Quotes that close in German and open in most languages; between a stop and white space they close."""

_MARK = rf"[{MARKS}{CLUSTER_MARKS}\u3099\u309a\ufe00-\ufe0f]"
"""Marks that are displayed together with the preceding character, which may be a blank."""

# A stop counts only before white space. The look-behind keeps the time linear for a long run of stops.
_CANDIDATE = re.compile(
    rf"(?P<stop>(?<![.!?…])[.!?…؟۔]++[{_CLOSERS}{_ALSO_OPENERS}]*+)(?=\s++(?!{_MARK})|$)"
    rf"|(?P<wide>[。！？｡．।។៕။།༎]++[{_CLOSERS}]*+{_MARK}*+)"
    r"|(?P<blank>\n[ \t\r\f\v]*+\n)"
    r"|(?P<item>\n(?=[ \t>]*+(?:[-*+]|(?<=[ \t])\d{1,9}[.)])[ \t]+\S))"
)
_SIGN = re.compile(r"[.!?…؟۔。！？｡．।។៕။།༎\n]")
"""What can begin a candidate: a search for one character is many times faster than for a candidate."""

_WHOLE = re.compile(
    r"``[^`\n]*+(?:`[^`\n]++)*``|`[^`\n]++`"
    r"|\[\[[^\[\]\n]*+\]\]|\[[^\[\]\n]*+\]\([^()\n]*+\)|<[^<>\s]++>"
    r"|\*\*(?=[^\s*])(?:[^*\n]++|\n(?!\s))+(?<=\S)\*\*|~~(?=\S)[^~\n]++(?<=\S)~~|==(?=\S)[^=\n]++(?<=\S)=="
    r"|(?<![\w*])\*(?=[^\s*])[^*\n]++(?<=\S)\*(?![\w*])|(?<!\w)_(?=[^\s_])[^_\n]++(?<=\S)_(?!\w)"
)
_OPENS_WHOLE = re.compile(r"[`\[<*~=_]")

_WORD_BEFORE = re.compile(r"(?:^|[\s(\[{\"'“‘«*_>#|/])([^\s(\[{\"'“‘«*_>#|/]*)$")
_LONGEST_ABBREVIATION = 12
_LONGEST_PART = 3
"""The longest part of an abbreviation with several parts: `v. Chr.`, `f. eks.`"""
_NEXT = re.compile(r"\s*+[\"'“”‘’«»‹›(\[{*_`¿¡]*+(?P<first>\w)?(?P<rest>\w*+)")

_BEFORE_NUMBERING = " \t>·"
"""Quote marks, and the point before an item in a snippet."""

_LEAST_RUN = 12
_LEAST_CLAUSE = 40
"""In Thai and Lao a space between runs of 12 characters ends a clause if the text on both sides has at least
40. Between shorter runs it sets off a name or a number."""

_RUN = f"[{THAI}{LAO}]{{{_LEAST_RUN}}}"
_CLAUSE_END = re.compile(rf"(?<={_RUN})[ \t\n]++(?!{_MARK})(?={_RUN})")

# Written with their inner dots but without the last one, folded to lower case.
_ALWAYS = """
mr mrs ms dr prof rev hon sr sra srta dª jr gen col lt sgt capt cmdr adm gov sen rep pres mme mlle dipl
ing exmo exma e.g eg i.e ie vs viz al z.b d.h u.a o.ä bzw ggf evtl inkl exkl p.ex p.ej i.a s.o s.u m.e cf vgl
mm fa str tel tél ca approx op cit ibid ltd corp bros blvd ave mt st messrs ph.d dhr mevr drs bijv o.a d.w.z
m.in i.d.r z.t v.a u.u u.ä o.g v.chr n.chr sig sigg dott avv
p.es np tzn mgr inż ul т.е т.к т.н напр им проф акад ул bl.a t.ex f.eks d.v.s např tzv mudr örn vb esim stk
น ดร ศ ผศ รศ นพ พญ จ อ ต ถ กม ซม มม กก ດຣ ກມ ກກ ຊມ
"""
# `พ.ศ`, `ธ.ค`, `ສ.ປ.ປ`: in Thai and Lao they follow other words without a space.
_DOTTED_END = re.compile(rf"[{THAI}{LAO}]\.[{THAI}{LAO}]{{1,3}}$")
# They are also ordinary words ("no", "art"), so they count as abbreviations only before a number.
_BEFORE_NUMBER = """
fig figs eq eqs ref refs no nos nr núm nº vol vols p pp pg pág págs ch chap cap sec sect art arts tab abb abs
kap bd s ss c par line jan feb mar apr jun jul aug sep sept oct okt nov dec dez
"""
_MONTHS = "januar februar märz april mai juni juli august september oktober november dezember jahrhundert"
_ABBREVIATIONS = frozenset(_ALWAYS.split())
_NUMBER_ABBREVIATIONS = frozenset(_BEFORE_NUMBER.split())
_ACRONYM = re.compile(r"(?:[A-Z]\.)+[A-Z]")
"""`U.S`, without its last stop. The next word decides whether that is an end: `U.S. Army`, `U.S. He`."""
_BEGINS = """
The This That These Those There He She It We You They I A An And But In On At As If When Where While After
Before Since Then So His Her Its Our Their My What Who How Why For From With However
"""
_FIRST_WORDS = frozenset(_BEGINS.split())
_GERMAN_MONTHS = frozenset(_MONTHS.split())
_DOTTED = sorted((each for each in _ABBREVIATIONS if "." in each), key=len, reverse=True)
_SPACED_PARTS = (re.escape(each).replace(r"\.", r"\.\s") for each in _DOTTED)
_SPACED_ABBREVIATION = re.compile(rf"(?<!\w)(?:{'|'.join(_SPACED_PARTS)})\.", re.IGNORECASE)
"""`z. B.`, `i. d. R.`: the same abbreviations with a space after each stop."""


def whole_spans(text: str) -> list[Span]:
    """Returns the spans within which no sentence ends (links, code, emphasis), in order, not nested."""
    return [match.span() for match in _WHOLE.finditer(text)] if _OPENS_WHOLE.search(text) else []


def sentences(text: str, whole: Sequence[Span] | None = None) -> list[Span]:
    """Returns the spans of the sentences, in order and without surrounding white space.

    Together they contain every non-blank character. A blank line always ends a sentence, and a list item
    always begins one, so headings, items and paragraphs are never joined. No sentence ends within a span of
    `whole` (None: `whole_spans` of the text).
    """
    spans: list[Span] = []
    start = past = 0
    kept = whole_spans(text) if whole is None else whole
    ends = [end for _, end in kept]
    for sign in _SIGN.finditer(text):
        match = _CANDIDATE.match(text, sign.start()) if sign.start() >= past else None
        if match is None:
            continue
        past = match.end()
        if match.lastgroup == "stop" and not _ends_sentence(text, match):
            continue
        if match.lastgroup in ("stop", "wide") and _is_within(kept, ends, match.end()):
            continue
        start = _append(spans, text, start, match.end())
    _append(spans, text, start, len(text))
    return spans


def _is_within(spans: Sequence[Span], ends: list[int], pos: int) -> bool:
    index = bisect_right(ends, pos)
    return index < len(spans) and spans[index][0] < pos


def clauses(text: str) -> list[Span]:
    """Returns spans that tile a sentence. There are several only in Thai and Lao, which have no full stops.

    A clause has at least 40 characters, and includes the space after it.
    """
    starts = [0]
    for space in _CLAUSE_END.finditer(text):
        if space.start() - starts[-1] >= _LEAST_CLAUSE <= len(text) - space.end():
            starts.append(space.end())
    return list(zip(starts, (*starts[1:], len(text)), strict=True))


def _append(spans: list[Span], text: str, start: int, end: int) -> int:
    piece = text[start:end]
    bare = piece.strip()
    if bare:
        first = start + len(piece) - len(piece.lstrip())
        spans.append((first, first + len(bare)))
    return end


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    """Whether the stop at `match` ends a sentence, judged by the words before and after it."""
    following = _NEXT.match(text, match.end())
    first = following["first"] if following else None
    if first is not None and first.islower():
        return False
    stop = match["stop"]
    if stop[0] != "." or stop[1:2] in {".", "!", "?"}:
        return True
    before = _WORD_BEFORE.search(text[max(0, match.start() - _LONGEST_ABBREVIATION) : match.start()])
    word = before[1] if before else ""
    if word.isdecimal():
        return not _is_numbering(text, match.start() - len(word), first, following)
    if len(word) == 1 and word.isalpha() and word.isupper():
        return False
    if first is not None and _ACRONYM.fullmatch(word):
        return f"{first}{following['rest'] if following else ''}" in _FIRST_WORDS
    if len(word) <= _LONGEST_PART and _is_in_spaced_abbreviation(text, match.start()):
        return False
    folded = word.lower()
    if folded in _NUMBER_ABBREVIATIONS:
        return first is None or not first.isdecimal()
    return folded not in _ABBREVIATIONS and not _DOTTED_END.search(folded)


def _is_in_spaced_abbreviation(text: str, stop: int) -> bool:
    window = _SPACED_ABBREVIATION.finditer(
        text, max(0, stop - _LONGEST_ABBREVIATION), stop + _LONGEST_ABBREVIATION
    )
    return any(match.start() < stop < match.end() for match in window)


def _is_numbering(text: str, start: int, first: str | None, following: re.Match[str] | None) -> bool:
    """Whether a number is a list number at the start of a line, or a German ordinal before a month."""
    line = text[max(0, start - _LONGEST_ABBREVIATION) : start]
    if not line.rpartition("\n")[2].strip(_BEFORE_NUMBERING):
        return "\n" in line or start <= _LONGEST_ABBREVIATION
    return bool(first and following and (first + following["rest"]).lower() in _GERMAN_MONTHS)
