"""Which language a text is written in: by its script, and where many share one, by its function words.

Small on purpose: no model file and nothing to import, about 0.1 ms a note. Function words tell languages of
prose apart about as well as trigrams do, and say nothing about code, where silence is right.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache

from vault_indexer.text.fold import normalize
from vault_indexer.text.function_words import function_words
from vault_indexer.text.language_signs import FUNCTION_WORDS, LETTERS

_SAMPLE = 2_000
_LEAST_SHARE = 0.08
"""Of the words, those that must be function words of the language (prose has 0.3 to 0.5)."""

_LETTER_WORTH = 0.25

_CLEAR_SHARE = 0.1
_CLEARER = 2.0
"""A query is in a language that the vault does not have only if at least this share of its words says so, and
twice as many as for any language of the vault; it is in a rarer language of the vault only if twice as many
say so as for the main one. English questions hold words that are Czech ("a", "do", "by"), and a vault of many
English notes may have a few Czech ones, or some that were taken for it."""

_SCRIPTS = {
    "ja": re.compile("[\u3041-\u30fa\uff66-\uff9f]"),
    "ko": re.compile("[\u1100-\u11ff\uac00-\ud7a3]"),
    "zh": re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"),
    "th": re.compile("[\u0e01-\u0e3a]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "he": re.compile("[\u05d0-\u05ea]"),
    "hy": re.compile("[\u0531-\u058f]"),
    "ta": re.compile("[\u0b80-\u0bff]"),
}
"""Scripts that name a language by themselves; Japanese before Chinese, since it uses its characters too."""

_SHARED_SCRIPTS = {
    "ru": re.compile("[\u0400-\u04ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
}
"""Scripts that several languages are written in, each with the one that has most readers."""

_WORDS = re.compile(r"[^\W\d_][^\W\d_\u0300-\u036f]*[\u0300-\u036f\u0900-\u094f\w]*")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_NOT_PROSE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|\{\{.*?\}\}", re.DOTALL)
_NOT_PROSE_OF_NOTES = re.compile(
    r"""
    (?P<fence>```|~~~).*?(?:(?P=fence)|\Z) | `[^`\n]*` | \{\{.*?\}\} | %%.*?%% | <[^>\n]*>
    | \$\$.*?(?:\$\$|\Z) | \$[^$\n]+\$ | !?\[\[[^\]\n]*\]\] | (?<=\])\([^)\n]*\) | [a-z]+://\S+
    | [A-Za-z0-9+/=_-]{40,}
    """,
    re.DOTALL | re.VERBOSE,
)
"""Code, templates, comments, HTML, math, links, addresses, and data as base64."""

_NOTE_SAMPLE = 4 * _SAMPLE
_FEW_LETTERS = 20
"""So few letters in a script that languages share tell no language of a note."""


def detect(text: str, among: Collection[str] = ()) -> str:
    """ISO 639-1 code of the text's language, or "" where it cannot be told. Looks at its beginning only.

    With `among`, one of these or "": a short query needs the help.
    """
    prose = normalize(_NOT_PROSE.sub(" ", text[: 2 * _SAMPLE])[:_SAMPLE])
    letters = sum(map(str.isalpha, prose))
    by_script = "" if prose.isascii() else _by_script(prose, letters)
    if by_script:
        return by_script if not among or by_script in among else ""
    return _by_function_words(prose, among)


def detect_note(text: str) -> str:
    """ISO 639-1 code of the language of a note's body, or "" where it cannot be told: by its prose alone. It
    cannot be told by few letters, nor by words of a single letter: such are variables."""
    prose = _NOT_PROSE_OF_NOTES.sub(" ", text[:_NOTE_SAMPLE])[:_SAMPLE]
    code = detect(prose)
    if not code or code in _SCRIPTS:
        return code
    if sum(map(str.isalpha, prose)) < _FEW_LETTERS:
        return ""
    owners, letters = _signs()
    words = {word for word in _WORDS.findall(normalize(prose)) if len(word) > 1}
    signs = [owners.get(word, ()) for word in words]
    signs += [letters.get(letter, ()) for letter in set(_BEYOND_ASCII.findall(prose))]
    return code if any(code == one for sign in signs for one, _ in sign) else ""


def detect_query(text: str, languages: Sequence[str]) -> str:
    """The language of a query to a vault of these languages, most frequent first: the first one, unless the
    query is clearly in another one; "" where it cannot be told. Where only the script is known, it is the
    first language of the vault with that script, or else the one that most people write in it."""
    return _detect_query(text, tuple(languages))


@lru_cache(maxsize=64)  # a search asks for the same some three times
def _detect_query(text: str, languages: tuple[str, ...]) -> str:
    own, other = detect(text, languages), detect(text)
    votes = _function_word_votes(normalize(text))
    if other and other not in languages:
        best_own = max((votes.get(code, 0.0) for code in languages), default=0.0)
        words = len(_WORDS.findall(text))
        if other in _SCRIPTS or votes.get(other, 0.0) >= max(_CLEAR_SHARE * words, _CLEARER * best_own):
            return other
    if not own:
        return _by_shared_script(text, languages)
    if not languages or own in _SCRIPTS:
        return own
    main = languages[0]
    return own if votes.get(own, 0.0) >= _CLEARER * votes.get(main, 0.0) else main


def _by_script(prose: str, letters: int) -> str:
    kana = len(_SCRIPTS["ja"].findall(prose))
    for code, pattern in _SCRIPTS.items():
        found = len(pattern.findall(prose))
        if code == "ja":
            found += 3 * kana  # a kana weighs more than the ideographs around it
            if kana * 10 < letters:
                continue
        # A character of these scripts says as much as a few letters.
        if found * (3 if code in ("ja", "ko", "zh") else 2) >= max(letters, 1):
            return code
    return ""


def _by_shared_script(text: str, languages: Sequence[str]) -> str:
    letters = sum(map(str.isalpha, text))
    for code, pattern in _SHARED_SCRIPTS.items():
        if 2 * len(pattern.findall(text)) > letters:
            return next((one for one in languages if pattern.search("".join(function_words(one)))), code)
    return ""


def _by_function_words(prose: str, among: Collection[str]) -> str:
    votes = _function_word_votes(prose)
    ranked = [(code, count) for code, count in votes.items() if not among or code in among]
    if not ranked:
        return ""
    ranked.sort(key=lambda vote: (-vote[1], vote[0]))
    code, most = ranked[0]
    clear = len(ranked) == 1 or most > ranked[1][1] * 1.05
    return code if clear and most >= _LEAST_SHARE * len(_WORDS.findall(prose)) else ""


def _function_word_votes(prose: str) -> Mapping[str, float]:
    votes: defaultdict[str, float] = defaultdict(float)
    words = _WORDS.findall(prose)
    owners, letters = _signs()
    for word in words:
        for code, worth in owners.get(word, ()):
            votes[code] += worth
    if not prose.isascii():
        for letter in _BEYOND_ASCII.findall(prose):
            for code, worth in letters.get(letter, ()):
                votes[code] += worth * _LETTER_WORTH
    return votes


_Votes = dict[str, tuple[tuple[str, float], ...]]


@cache
def _signs() -> tuple[_Votes, _Votes]:
    """Function words and letters, each with its languages; the more of them, the less it says."""
    words = [
        (code, word) for code, *found in map(str.split, FUNCTION_WORDS.split("\n")[1:-1]) for word in found
    ]
    letters = [
        (code, letter) for code, found in map(str.split, LETTERS.split("\n")[1:-1]) for letter in found
    ]
    return _votes((code, normalize(word)) for code, word in words), _votes(letters)


def _votes(signs: Iterable[tuple[str, str]]) -> _Votes:
    owners: dict[str, list[str]] = {}
    for code, sign in signs:
        owners.setdefault(sign, []).append(code)
    return {sign: tuple((code, len(codes) ** -0.5) for code in codes) for sign, codes in owners.items()}
