"""Whether two texts deny the same: negations are counted, by word and by affix."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from vault_indexer.search import function_words
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.stem import stem

_NEGATORS = """
en not never no none nobody nothing nowhere neither nor without cannot hardly barely scarcely seldom rarely
de nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne weder nirgends kaum
fr pas jamais aucun aucune rien sans ni non nulle nul
es no nunca jamás nadie nada ningún ninguna ninguno ni tampoco sin
pt não nunca jamais ninguém nada nenhum nenhuma nem sem
it non mai nessuno nessuna niente nulla né senza
nl niet geen nooit niemand niets zonder noch nergens
ru не нет ни нельзя без никогда никто ничто ничего никакой нигде
uk не немає ні без ніколи ніхто ніщо
pl nie nigdy nikt nic bez żaden ani
cs ne není nikdy nikdo nic bez žádný ani
sv inte aldrig ingen inget utan varken
da ikke aldrig ingen intet uden hverken
nb ikke aldri ingen intet uten verken
vi không chưa chẳng chả đừng chớ bất vô
tr değil yok hiç asla
id tidak bukan tanpa belum jangan
"""

_NO_NEGATIONS = """
en not only, not just, not merely, nothing but, no doubt, no less than, no fewer than, no sooner
de nicht nur, nicht zuletzt, nicht weniger als
fr non seulement, pas seulement, sans doute, non loin
es no solo, no sólo, no solamente, no obstante, sin embargo, sin duda, no menos
pt não só, não apenas, sem dúvida
it non solo, non soltanto, senza dubbio
nl niet alleen
ru не только, не менее, тем не менее, не более, несмотря на, ни один из
vi không chỉ, không những, không gian, không khí, hàng không, không quân, vô cùng, vô tuyến
"""

_PREFIXES = """
en un in im il ir dis non anti
de un nicht
fr in im il ir dé dés mé
es in im i des a
pt in im i des
it in im i dis s
nl on
ru не без бес
"""

_SUFFIXES = """
en less
de los frei
nl loos
"""

_IN_CHINESE = re.compile("[不没沒无無非未勿]")
_NOT_IN_CHINESE = re.compile(
    "不同|不断|不斷|不仅|不僅|不但|不过|不過|不久|不少|不管|不论|不論|不只|不止|不单|不得不|无论|無論|无数|無數|无线|"
    "非常|非洲|南非|北非|东非|西非|除非|未来|未來|不丹|非凡|无疑"
)
_CONTRACTED = re.compile(r"\b(\w+?)n['’]t\b")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_CLAUSE = re.compile(r"[,;:—–()，；：、。.!?！？\n]+")
_LEAST_BASE = 4
_ABOUT = 0.5
"""A clause is about what a sentence says from this share of its content words on."""


def _table(lines: str, separator: str | None = None) -> Mapping[str, tuple[str, ...]]:
    rows = (line.partition(" ") for line in lines.strip().splitlines())
    return MappingProxyType(
        {code: tuple(_folded(word.strip()) for word in words.split(separator)) for code, _, words in rows}
    )


def _folded(text: str) -> str:
    return fold(normalize(text))


NEGATORS = _table(_NEGATORS)
NO_NEGATIONS = _table(_NO_NEGATIONS, ",")
PREFIXES = _table(_PREFIXES)
SUFFIXES = _table(_SUFFIXES)


def count_negations(text: str, language: str) -> int:
    """How many words of the text deny; affixes are not counted. A language that is not known counts as
    English."""
    if language in ("zh", "ja"):
        return len(_IN_CHINESE.findall(_NOT_IN_CHINESE.sub("", text)))
    plain = _folded(_CONTRACTED.sub(r"\1 not", text))
    for phrase in NO_NEGATIONS.get(language, ()):
        plain = re.sub(rf"\b{re.escape(phrase)}\b", " ", plain)
    negators = NEGATORS.get(language, NEGATORS["en"])
    return sum(word in negators for word in _WORD.findall(plain))


def denies_the_same(sentence: str, evidence: str, language: str) -> bool:
    """Whether the sentence denies where the evidence does.

    Of the evidence only the clauses count that the sentence is about. An affix ("unhealthy" for "healthy")
    turns the sense as a word does, so "not healthy" and "unhealthy" agree.
    """
    own, clauses = _stems(sentence, language), _clauses_about(sentence, evidence, language)
    here = count_negations(sentence, language)
    there = sum(count_negations(clause, language) for clause in clauses)
    other = _stems(" ".join(clauses), language)
    turned = _is_turned(own, other, language) != _is_turned(other, own, language)
    if turned:
        return (here > 0) != (there > 0)
    return (here > 0) == (there > 0) and here <= there


def _clauses_about(sentence: str, evidence: str, language: str) -> list[str]:
    """The clauses of the evidence whose content words are largely in the sentence; all, where none is."""
    own = _content(sentence, language)
    clauses = [clause for clause in _CLAUSE.split(evidence) if clause.strip()]
    return [clause for clause in clauses if _is_about(_content(clause, language), own)] or clauses


def _is_about(clause: Collection[str], sentence: Collection[str]) -> bool:
    return bool(clause) and sum(one in sentence for one in clause) >= _ABOUT * len(clause)


def _content(text: str, language: str) -> set[str]:
    if language in ("zh", "ja"):
        return set(text) - set("的了是在和與与及或被把从對对就都也而以為为之其，。、 ")
    idle = function_words(language)
    return {stem(word, language) for word in _words(text) if word not in idle and len(word) > 1}


def _stems(text: str, language: str) -> dict[str, str]:
    """The words of a text by their stems."""
    return {stem(word, language): word for word in _words(text)}


def _words(text: str) -> list[str]:
    return [_folded(word) for word in _WORD.findall(text)]


def _is_turned(own: Mapping[str, str], other: Mapping[str, str], language: str) -> bool:
    """Whether a word of the one is a word of the other with an affix that denies."""
    return any(
        base in other
        for own_stem, word in own.items()
        if own_stem not in other
        for base in _bases(word, language)
        if base not in own
    )


def _bases(word: str, language: str) -> Iterable[str]:
    for prefix in PREFIXES.get(language, ()):
        if word.startswith(prefix) and len(word) - len(prefix) >= _LEAST_BASE:
            yield stem(word[len(prefix) :], language)
    for suffix in SUFFIXES.get(language, ()):
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_BASE:
            yield stem(word[: -len(suffix)], language)
