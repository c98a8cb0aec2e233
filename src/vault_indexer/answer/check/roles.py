"""Relations within a sentence: which value belongs to which thing, who acts on whom, directions, order,
causes and conditions.

Without a parser, the order of words decides. Two clauses of a note are parallel if they share words or have
values of the same kind; then the words and values in the same position compete, and a claim must not combine
one of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import combinations, pairwise

from vault_indexer.answer.check.dates import find_dates
from vault_indexer.answer.check.lexicon import UNSPACED_LANGUAGES, WordClass, blank, lexicon, tokens
from vault_indexer.answer.check.numbers import quantities
from vault_indexer.answer.check.words import (
    content_words,
    has_contrary,
    is_form,
    is_held,
    share_held,
    stems_of,
)
from vault_indexer.search import function_words
from vault_indexer.system import record
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.stem import stem

_SEGMENT = re.compile(r"[;.!?](?=\s)|\n|,\s+(?:and|but|und|aber|y|pero|et|mais)\s")
_ARTICLES = {
    "en": "the a an",
    "de": "der die das den dem des ein eine einen einem einer",
    "es": "el la los las un una",
    "fr": "le la les un une",
}
"""In other languages, names of persons may have one."""
_SAME_ACTOR = re.compile(r"\.? |\s?&\s?| (?:and|und|y|e|et) ")
"""What is between two words of one name, or two names that act together ("Dr. Moss", "Hill & Son")."""

_LEAST_OF_CONDITION = 0.5
_LEAST_PARALLEL = 2
"""The minimum words and values of a clause that may be parallel to another one."""

_ORDERS: Sequence[Sequence[WordClass]] = (("earlier", "later", "sequence"), ("causes",))

_LINKS: Sequence[WordClass] = ("conditions", "exceptions", "until", "causes", "concessions")
"""Exceptions are conditions, too, so the later class counts."""

_MODAL: Sequence[WordClass] = ("only", "possible", "necessary")
"""Limits and modal verbs do not compete with the words of another clause. They are compared separately."""

_JOINING = ("和", "与", "與", "、", "或", "及", "と", "や")
_TOKEN = re.compile(r"\w+")
_NEXT_WORD = re.compile(r" (\w+)")


@record
class _Item:
    """A content word (`kind` "") or a value of a clause, in its canonical form."""

    kind: str
    form: str
    is_modifier: bool = field(default=False, compare=False)
    """Whether another content word follows at once."""

    def is_in(self, items: Sequence[_Item]) -> bool:
        if self.kind:
            return self in items
        return any(not one.kind and (one.form == self.form or is_form(one.form, self.form)) for one in items)


def role_conflict(clause: str, claim: str, stated: Sequence[str], text: str, language: str) -> str:
    """Returns the reason why a clause of a claim relates words or values differently from the note's `text`,
    whose clauses are `stated`, or ""."""
    if language in UNSPACED_LANGUAGES:
        is_turned = any(_is_turned_round(clause, one) for one in stated)
        return "it swaps two words of the note" if is_turned else ""
    if _is_mixed(clause, stated, language) or _is_crossed(claim, stated, language):
        return "the note says it about something else"
    if _is_redirected(claim, text, language):
        return "it reverses a direction"
    if _is_reversed(clause, stated, language):
        return "it changes who does what"
    if _is_reordered(claim, text, language):
        return "it reverses an order"
    if _lacks_condition(claim, text, language) or _lacks_alternative(claim, text, language):
        return "it leaves out a condition"
    if _turns_link(claim, text, language):
        return "it reverses a condition, cause or time limit"
    if _is_replaced(claim, stated, language):
        return "the note says it about something else"
    is_turned = _is_exchanged(claim, text, language) or _is_swapped(clause, claim, stated, language)
    return "it swaps two words of the note" if is_turned else ""


def _items(clause: str, language: str) -> list[_Item]:
    """Returns the content words and values of a clause in order."""
    dates = find_dates(clause, language)
    numbers = quantities(blank(clause, ((one.start, one.end) for one in dates)), language)
    found: list[tuple[int, _Item]] = []
    for date in dates:
        form = " ".join(f"{name}={value}" for name, value in sorted(date.parts.items()))
        found.append((date.start, _Item(f"date {date.kind}", form)))
    for number in numbers:
        unit, value = number.base or (number.unit, number.value)  # minutes compete with hours
        found.append((number.start, _Item(f"number {unit}", f"{value}")))
    plain = blank(clause, ((date.start, date.end) for date in dates))
    plain = blank(plain, ((number.start, number.end) for number in numbers))
    for name in _MODAL:
        plain = lexicon(language).without(name, plain)
    idle = function_words(language)
    for token in tokens(plain, language):
        if len(token.folded) > 1 and (token.folded not in idle or token.stem in lexicon(language).opposites):
            behind = _NEXT_WORD.match(plain, token.end)
            is_modifier = behind is not None and fold(normalize(behind[1])) not in idle
            found.append((token.start, _Item("", token.stem, is_modifier)))
    return [item for _, item in sorted(found, key=lambda one: one[0])]


def _is_mixed(clause: str, stated: Sequence[str], language: str) -> bool:
    """Whether a clause takes words or values from several clauses of the note that compete."""
    if len(stated) < 2:
        return False
    own = _items(clause, language)
    others = [_items(one, language) for one in stated]
    return all(
        _takes_from_another(own, base, others, language) for base in others if _shares(own, base)
    ) and any(_shares(own, base) for base in others)


def _shares(own: Sequence[_Item], base: Sequence[_Item]) -> bool:
    return any(item.is_in(base) for item in own)


def _takes_from_another(
    own: Sequence[_Item], base: Sequence[_Item], others: Sequence[Sequence[_Item]], language: str
) -> bool:
    """Whether an item of `own` that `base` lacks replaces one of `base`, which `own` lacks."""
    return any(
        not rival.is_in(own)
        for item in own
        if not item.is_in(base)
        for other in others
        if other is not base and item.is_in(other)
        for rival in _rivals(item, other, base, language)
    )


def _rivals(item: _Item, other: Sequence[_Item], base: Sequence[_Item], language: str) -> Iterator[_Item]:
    """Yields the items of `base` at the place that an item has in the parallel clause `other`."""
    if item.kind:
        yield from (one for one in base if one.kind == item.kind)
        return
    opposites = lexicon(language).opposites.get(item.form, frozenset())
    yield from (one for one in base if one.form in opposites)
    at = next(place for place, one in enumerate(other) if item.is_in([one]))
    for step in (1, -1):
        beside = other[at + step] if 0 <= at + step < len(other) else None
        if beside is None:
            continue
        for place, one in enumerate(base):
            is_same = one.kind == beside.kind if beside.kind else beside.is_in([one])
            if is_same and 0 <= place - step < len(base):
                rival = base[place - step]
                if not rival.kind and not rival.is_in(other):
                    yield rival


def _is_crossed(claim: str, stated: Sequence[str], language: str) -> bool:
    """Whether a claim crosses two consecutive clauses of the note, of which the second may omit the words
    that it shares with the first ("Adults pay 12 euros, children 5 euros")."""
    own = _items(claim, language)
    theirs = [_items(one, language) for one in stated]
    if not all(any(item.is_in(one) for one in theirs) for item in own):
        return False  # another word may stand for what is missing
    return any(_crosses(own, first, second) for first, second in pairwise(theirs))


def _is_swapped(clause: str, claim: str, stated: Sequence[str], language: str) -> bool:
    """Whether a clause begins as one clause of the note and ends as the next one, and the rest of the claim
    the other way round ("He closed the door but opened the window")."""
    mine = _items(clause, language)
    rest = [one for one in _items(claim, language) if not one.is_in(mine)]
    for first, second in pairwise(_items(one, language) for one in stated):
        ours = [one for one in first if not one.is_in(second)]
        others = [one for one in second if not one.is_in(first)]
        if len(ours) > 1 and len(others) > 1 and not ours[0].kind and not others[0].kind:
            is_mine = ours[0].is_in(mine) and others[-1].is_in(mine)
            if is_mine and others[0].is_in(rest) and ours[-1].is_in(rest):
                return True
    return False


def _crosses(own: Sequence[_Item], first: Sequence[_Item], second: Sequence[_Item]) -> bool:
    """Whether `own` ends as the first clause with something of the second, or ends as the second one and
    begins as the first, without the beginning of the second."""
    ours, theirs = (
        [one for one in items if not one.is_in(rest)] for items, rest in ((first, second), (second, first))
    )
    if len(first) < _LEAST_PARALLEL or len(second) < _LEAST_PARALLEL or not ours or not theirs:
        return False
    if all(one.is_in(own) for one in theirs) or not any(one.is_in(own) for one in theirs):
        return False
    if ours[-1].is_in(own) and not theirs[-1].is_in(own):
        return not all(one.is_in(own) for one in ours)
    begins = theirs[0]
    behind = next((after for one, after in pairwise(second) if one is begins), None)
    if begins.is_modifier and behind in theirs:
        begins = behind
    return theirs[-1].is_in(own) and not ours[-1].is_in(own) and ours[0].is_in(own) and not begins.is_in(own)


def _is_exchanged(claim: str, text: str, language: str) -> bool:
    """Whether two words change places around words that stay ("Oak is harder than pine")."""
    own, theirs = _sequence(claim, language), _sequence(text, language)
    if _contains(theirs, own):
        return False
    idle = function_words(language)
    joins = {word for phrase in lexicon(language).classes["joins"].phrases for word in phrase}
    for start, end in combinations(range(len(own)), 2):
        between = own[start + 1 : end]
        if not between or own[start] == own[end] or not joins.isdisjoint(between):
            continue
        if idle.issuperset(between) and not idle.isdisjoint((own[start], own[end])):
            continue
        turned = [own[end], *between, own[start]]
        for at in range(len(theirs) - len(turned) + 1):
            is_same_place = own[start - 1 : start] == theirs[at - 1 : at] if start and at else True
            if theirs[at : at + len(turned)] == turned and is_same_place:
                return True
    return False


def _is_turned_round(own: str, other: str) -> bool:
    """Whether two texts in a script without spaces differ only in two parts that change places around a
    third, which does not join them ("A and B")."""
    own, other = (text.rstrip("。.") for text in (own, other))
    if len(own) != len(other) or own == other:
        return False
    differing = [at for at, (one, two) in enumerate(zip(own, other, strict=True)) if one != two]
    own, other = (text[differing[0] : differing[-1] + 1] for text in (own, other))
    return any(
        other == own[last:] + own[first:last] + own[:first]
        for first, last in combinations(range(1, len(own)), 2)
        if own[first:last] not in _JOINING
    )


def _contains(words: Sequence[str], run: Sequence[str]) -> bool:
    return any(words[at : at + len(run)] == run for at in range(len(words) - len(run) + 1))


def _is_replaced(claim: str, stated: Sequence[str], language: str) -> bool:
    """Whether a word of another clause replaces one between two words that stay ("when the rice boils" for
    "when the milk boils, add the rice"). If the claim contains all of that clause, it may be elliptical."""
    own, idle = _sequence(claim, language), function_words(language)
    theirs = [_sequence(one, language) for one in stated]
    places = {place for one in theirs for place in zip(one, one[1:], one[2:], strict=False)}

    def is_foreign(word: str) -> bool:
        homes = [one for one in theirs if word in one]
        return bool(homes) and all(set(one) - idle - set(own) for one in homes)

    return any(
        (first, last) == (before, behind)
        and not idle.issuperset((before, behind))
        and idle.isdisjoint((word, other))
        and other not in own
        and not word.isdecimal()
        and is_foreign(word)
        for before, word, behind in zip(own, own[1:], own[2:], strict=False)
        if (before, word, behind) not in places
        for first, other, last in places
    )


def _sequence(text: str, language: str) -> list[str]:
    """Returns the words and numbers in order: function words as written, of others the stems."""
    idle = function_words(language)
    words = (fold(normalize(word)) for word in _TOKEN.findall(text))
    return [word if word in idle else stem(word, language) for word in words]


def _is_redirected(claim: str, text: str, language: str) -> bool:
    """Whether a claim states an origin, destination or replaced thing that contradicts the note."""
    sources, targets = _behind("sources", text, language), _behind("targets", text, language)
    own_sources, own_targets = _behind("sources", claim, language), _behind("targets", claim, language)
    to_source = (own_targets & sources) - targets
    from_target = (own_sources & targets) - sources
    replaced, own_replaced = _behind("replaced", text, language), _behind("replaced", claim, language)
    if replaced and own_replaced and replaced.isdisjoint(own_replaced):
        return True  # "butter instead of oil"
    if language in ("es", "fr"):  # "de" and "a" also join words
        return bool(to_source and from_target)
    names = {one for one in own_targets if one in _names(text, language)}
    return bool(to_source or from_target or (targets and names - targets))


def _behind(name: WordClass, text: str, language: str) -> set[str]:
    """Returns the first content words or values behind the words of a class."""
    found = set()
    for _, end in lexicon(language).find(name, text):
        if items := _items(text[end:], language)[:1]:
            found.add(items[0].form)
    return found


def _names(text: str, language: str) -> list[str]:
    """Returns the stems of the capitalised words without an article, in order. Of a name of several words,
    and of names joined by "and", it is the last one."""
    found: list[str] = []
    end = -1
    text = blank(text, ((one.start, one.end) for one in find_dates(text, language)))
    articles = _ARTICLES.get(language, "").split()
    for token in tokens(text, language):
        is_name = text[token.start].isupper() and token.folded not in function_words(language)
        before = text[: token.start].rsplit(maxsplit=1)[-1:]
        if is_name and not (before and before[0].lower() in articles and text[token.start - 1] == " "):
            if found and _SAME_ACTOR.fullmatch(text[end : token.start]):
                found.pop()
            found.append(token.stem)
            end = token.end
    return found


def _is_reversed(clause: str, stated: Sequence[str], language: str) -> bool:
    """Whether two names that act on each other in a clause of the note change places. In German, where
    every noun is capitalised and word order is free, the other words must be the same as in the note."""
    own = _actors(clause, language)
    is_found = False
    for one in stated:
        theirs = _actors(one, language)
        common = [name for name in theirs if name in own]
        if len(common) < 2 or (language == "de" and not _is_alike(clause, one, common, language)):
            continue
        is_same_order = [name for name in own if name in common] == common
        is_same_voice = _is_passive(clause, own, language) == _is_passive(one, theirs, language)
        converse = lexicon(language).converse  # with such a word, the names must change places
        is_converse = has_contrary(stems_of(clause, language), stems_of(one, language), converse)
        if is_same_order == (is_same_voice != is_converse):
            return False
        is_found = True
    return is_found


def _is_alike(clause: str, other: str, names: Sequence[str], language: str) -> bool:
    one, two = (
        [item for item in _items(text, language) if item.form not in names] for text in (clause, other)
    )
    return one == two


def _actors(clause: str, language: str) -> list[str]:
    """Returns the names of a clause without those behind "from" or a first "to"."""
    sources, targets = (_behind(name, clause, language) for name in ("sources", "targets"))
    agents, names = _behind("agents", clause, language), _names(clause, language)
    directed = sources | (targets if names and names[0] in targets else set())
    return [name for name in names if name not in directed or name in agents]


def _is_passive(clause: str, actors: Sequence[str], language: str) -> bool:
    """Whether one of the actors is named with "by". The name may have several words."""
    spans = lexicon(language).find("agents", clause)
    behind = {name for _, end in spans for name in _names(clause[end:], language)[:1]}
    return not behind.isdisjoint(actors)


def _is_reordered(claim: str, text: str, language: str) -> bool:
    return any(_are_crossed(claim, text, names, language) for names in _ORDERS)


def _are_crossed(claim: str, text: str, names: Sequence[WordClass], language: str) -> bool:
    own, theirs = _in_order(claim, names, language), _in_order(text, names, language)
    if own is None or theirs is None:
        return False
    first, second = (content_words(one, language) for one in theirs)
    straight = share_held(own[0], first, language) + share_held(own[1], second, language)
    crossed = share_held(own[0], second, language) + share_held(own[1], first, language)
    return crossed > straight


def _in_order(text: str, names: Sequence[WordClass], language: str) -> tuple[str, str] | None:
    """Returns the part of a text about the earlier event or the cause, and the other part, or None if no word
    of these classes joins two parts."""
    own = lexicon(language)
    for name in names:
        for start, end in own.find(name, text):
            before, behind = text[:start].strip(" ,"), text[end:]
            if not content_words(before, language):
                if name == "sequence":
                    continue
                behind, _, before = behind.partition(",")
            if not content_words(before, language) or not content_words(behind, language):
                continue
            return (behind, before) if name in ("later", "causes") else (before, behind)
    return None


def _lacks_condition(claim: str, text: str, language: str) -> bool:
    """Whether a claim lacks a condition that limits it in the note."""
    own = lexicon(language)
    if own.find("conditions", claim):
        return False
    segments = [segment for segment in _SEGMENT.split(text) if content_words(segment, language)]
    words = content_words(claim, language)
    known = [(segment, content_words(segment, language)) for segment in segments]
    ranked = [(sum(is_held(one, own, language) for one in words), segment) for segment, own in known]
    best = max((count for count, _ in ranked), default=0)
    about = [segment for count, segment in ranked if count == best]
    return bool(about) and all(_is_limited(segment, claim, language) for segment in about)


def _turns_link(claim: str, text: str, language: str) -> bool:
    """Whether a claim joins the same words in another way, such as "if" for "unless", or "because" for
    "until"."""
    own = lexicon(language)
    if len(own.find("negators", claim)) != len(own.find("negators", text)):
        return False
    theirs = _links(text, language)

    def is_like(words: str, other: str) -> bool:
        return share_held(words, content_words(other, language), language) == 1

    return any(
        any(is_like(words, other) for kind, other in theirs if kind != name)
        and not any(is_like(words, other) for kind, other in theirs if kind == name)
        for name, words in _links(claim, language)
    )


def _links(text: str, language: str) -> list[tuple[WordClass, str]]:
    """Returns the text behind each condition, exception, time limit, cause and concession, up to a comma."""
    own = lexicon(language)
    found = {span: name for name in _LINKS for span in own.find(name, text)}
    spans = sorted(found)
    return [
        (found[span], _SEGMENT.split(text[span[1] : following[0]].lstrip(" ,"))[0].partition(",")[0])
        for span, following in pairwise([*spans, (len(text), 0)])
    ]


def _lacks_alternative(claim: str, text: str, language: str) -> bool:
    """Whether a claim states a fact about one case in the note without naming the case, or attributes a fact
    about all other cases to it ("In rain we meet in the hall, otherwise in the garden")."""
    own = lexicon(language)
    found = own.find("otherwise", text)
    if not found or own.find("otherwise", claim):
        return False
    before = next(
        (one for one in reversed(_SEGMENT.split(text[: found[0][0]])) if content_words(one, language)), ""
    )
    behind = _SEGMENT.split(text[found[0][1] :])[0]
    case, other = _items(before, language), _items(behind, language)
    mine = _items(claim, language)
    if not case or not other:
        return False
    has_other = any(one.is_in(mine) and not one.is_in(case) for one in other)
    return case[0].is_in(mine) if has_other else case[-1].is_in(mine) and not case[0].is_in(mine)


def _is_limited(segment: str, claim: str, language: str) -> bool:
    """Whether a segment has a condition of whose words the claim has too few, or an exception that the claim
    does not make."""
    mine = _items(claim, language)
    is_denied = bool(lexicon(language).find("negators", claim))
    for name, condition in _links(segment, language):
        if name not in ("conditions", "exceptions"):
            continue
        is_exception = name == "exceptions"
        items = _items(condition, language)
        held = sum(one.is_in(mine) for one in items)
        if items and (held < _LEAST_OF_CONDITION * len(items) or (is_exception and not is_denied)):
            return True
    return False
