"""The facts of a clause: numbers, dates, units, names, code, negations, limits and obligations.

`conflict` compares them with one statement. Numbers and dates are compared as a whole, with sign and unit,
and must occur there near words that the clause shares.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from vault_indexer.answer.check.dates import DateMention, find_dates, missing_date
from vault_indexer.answer.check.lexicon import (
    UNSPACED_LANGUAGES,
    Lexicon,
    WordClass,
    blank,
    elision,
    expand_contractions,
    lexicon,
)
from vault_indexer.answer.check.numbers import Quantity, quantities
from vault_indexer.answer.check.roles import role_conflict
from vault_indexer.answer.check.words import (
    CODE,
    NO_TITLE,
    clauses,
    clauses_about,
    content_words,
    has_contrary,
    is_form,
    overlap,
    stems_of,
    without_limits,
)
from vault_indexer.search import function_words, is_common_word
from vault_indexer.system import record
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.scripts import SPACED_LETTER, SPACED_LETTER_OR_DIGIT
from vault_indexer.text.stem import stem

_WORD = re.compile(rf"{SPACED_LETTER}(?:{SPACED_LETTER_OR_DIGIT}|['’-](?={SPACED_LETTER}))*")
_NAME_BEHIND = re.compile(r"\s+(\S)")
_NEXT_WORD = re.compile(r" (\w+)")
_START = re.compile(rf"(?:^|{NO_TITLE}\.|[!?…:]|\n)[\s\"'“”‘’«»„(\[*_`¿¡-]*\Z")
_POSSESSIVE = re.compile(r"['’]s?\Z")
_KNOWN_WELL = ("en", "es", "fr", "it", "pt", "nl")
"""Languages of which `is_common_word` recognizes three in four frequent words."""

_ARTICLES = """
der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner im am zum zur ins ans
vom beim mein meine meinen meinem meiner dein deine sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer
unser unsere unseren unserem unserer dieser diese dieses diesen diesem jeder jede jedes jeden jedem
"""
_GERMAN_ARTICLES = frozenset(_ARTICLES.split())


_IDEOGRAPHS = "\u4e00-\u9fff"
_TRANSLITERATED = (
    "阿埃艾爱奥巴班邦鲍贝比彼毕博伯勃布查茨达丹德登迪蒂杜多厄恩尔法菲费弗夫芬福盖戈哥格葛古瓜圭哈海汉赫"
    "胡华霍基吉加贾捷杰金卡凯坎康柯科克肯库奎拉莱兰朗劳勒雷黎里利莉连列林琳卢鲁路伦罗洛马玛迈麦曼梅门蒙米密"
    "缅敏摩莫默姆穆拿纳娜乃奈南内尼涅宁纽努诺欧帕派潘佩彭皮珀普奇齐恰乔切琴若萨塞赛桑瑟森沙莎山绍舍申圣施"
    "史士斯丝司斯松苏索塔泰坦汤唐陶特腾廷图托瓦万威韦维魏温翁沃乌西希锡夏香肖谢辛休修雅亚延扬耶伊依英约扎詹"
    "兹佐特历山大顿逊文娅妮堡根丘亨詹"
)
_SURNAMES = "王李刘陈杨赵吴徐孙朱郭宋郑韩冯董萧曹袁邓傅沈吕蒋蔡丁薛阎戴姜范"
_SURNAMES_AND_WORDS = "张黄周何程许曾叶余钟"
_LEAST_FOREIGN = 3
_PLACES = """
北京 上海 广州 深圳 香港 台湾 澳门 天津 重庆 南京 武汉 中国 美国 英国
法国 德国 日本 韩国 朝鲜 俄国 俄罗斯 苏联 印度 泰国 越南 巴西 加拿大 墨西哥
澳大利亚 西班牙 葡萄牙 意大利 希腊 荷兰 瑞士 瑞典 挪威 芬兰 丹麦 波兰 奥地利 比利时
匈牙利 土耳其 埃及 南非 以色列 伊朗 伊拉克 沙特 阿富汗 巴基斯坦 印尼 新加坡 马来西亚 菲律宾
蒙古 伦敦 巴黎 柏林 罗马 马德里 莫斯科 纽约 东京 华盛顿 芝加哥 洛杉矶 旧金山 波士顿
华沙 维也纳 布鲁塞尔 开罗 悉尼 墨尔本 多伦多 欧洲 亚洲 非洲 美洲 北美 南美 大洋洲
加州 德州 佛罗里达 德克萨斯 加利福尼亚 太平洋 大西洋 印度洋 北冰洋 地中海 元朝 明朝 清朝 宋朝
唐朝 汉朝
"""
_FOREIGN = re.compile(f"[{_TRANSLITERATED}]{{{_LEAST_FOREIGN},}}")
_FOREIGN_WHOLE = re.compile(f"[{_TRANSLITERATED}]{{2,}}")
_SURNAME = re.compile(f"[{_SURNAMES}]|[{_SURNAMES_AND_WORDS}].")
_NOVEL = re.compile(f"[{_IDEOGRAPHS}]+")
_IDLE = frozenset("在的是了和把被与從从到于对就都也而以为之其个这那有一年月日")
_NAMES_OF_PLACES = tuple(_PLACES.split())


def unknown_names(sentence: str, evidence: str, language: str) -> list[str]:
    """Returns the names of the sentence that the evidence does not contain, in any form or as initials.

    In scripts with capitals a name is a capitalised word. At the beginning of a sentence it must not be a
    common word. In German, where every noun is capitalised, it must have no article. In Chinese a name is a
    known place, or characters that the evidence lacks and that are used for transliteration or follow a
    surname.
    """
    known = {_plain(match[0]) for match in _WORD.finditer(evidence)}
    stems = {stem(word, language) for word in known}
    initials = "".join(match[0][0] for match in _WORD.finditer(evidence) if match[0][0].isupper())
    found = [
        name
        for name in capitalised_words(sentence, language)
        if not _is_held(_plain(name), known, stems, language) and not (name.isupper() and name in initials)
    ]
    return found + list(_chinese_names(sentence, evidence))


def unknown_code(sentence: str, evidence: str) -> list[str]:
    """Returns the code of the sentence (in backticks, flags, paths, identifiers) that the evidence lacks."""
    text = unicodedata.normalize("NFC", evidence)
    codes = [
        match["span"] or match["token"] for match in CODE.finditer(unicodedata.normalize("NFC", sentence))
    ]
    return [code for code in codes if code not in text]


def capitalised_words(sentence: str, language: str) -> Iterator[str]:
    idle = function_words(language) | function_words("en")
    before = ""
    for match in _WORD.finditer(sentence):
        elided = elision(match[0], language)
        word = _POSSESSIVE.sub("", match[0][elided.end() :] if elided else match[0])
        previous, before = before, word.lower()
        if not word[:1].isupper() or _plain(word) in idle:
            continue
        begins = bool(_START.search(sentence[: match.start()]))
        if begins and not word.isupper() and (is_common_word(word) or _is_alone(sentence, match, language)):
            continue
        # German nouns begin with a capital letter: after an article, or first, a word need not be a name.
        if language == "de" and (previous in _GERMAN_ARTICLES or begins):
            continue
        yield word


def _is_alone(sentence: str, match: re.Match[str], language: str) -> bool:
    """Whether no other name follows the first word of a sentence. If `is_common_word` recognizes few words of
    the language, such a word is not a name, and the check of words reports it."""
    behind = _NAME_BEHIND.match(sentence, match.end())
    return language not in _KNOWN_WELL and not (behind and behind[1].isupper())


def _plain(word: str) -> str:
    return fold(normalize(_POSSESSIVE.sub("", word)))


def _is_held(name: str, known: Collection[str], stems: Collection[str], language: str) -> bool:
    if name in known or stem(name, language) in stems:
        return True
    parts = [part for part in name.split("-") if part]
    if len(parts) > 1:
        return all(_is_held(part, known, stems, language) for part in parts)
    return any(is_form(name, word) for word in known)


def _chinese_names(sentence: str, evidence: str) -> Iterator[str]:
    yield from (place for place in _NAMES_OF_PLACES if place in sentence and place not in evidence)
    known = _IDLE.union(evidence)
    novel = "".join(char if char not in known else " " for char in sentence)
    for match in _NOVEL.finditer(novel):
        run = match[0]
        if _FOREIGN.search(run) or _FOREIGN_WHOLE.fullmatch(run) or _SURNAME.search(run):
            yield run


_LEAST_BASE = 4


def count_negations(text: str, language: str) -> int:
    """Returns the number of words that deny or reverse ("not", "fails to"), without affixes. An unknown
    language counts as English."""
    own = lexicon(language)
    plain = own.without("no_negations", expand_contractions(text))
    reversing = own.find("reversing", plain)
    return len(reversing) + len(own.find("negators", own.without("reversing", plain)))


def same_polarity(clause: str, evidence: Sequence[str], language: str) -> bool:
    """Whether a clause has the same polarity as the clauses of the evidence on its subject.

    An affix ("unhealthy" for "healthy") or a contrary word ("closed" for "open") reverses the sense like a
    negating word, so "not healthy" and "unhealthy" agree.
    """
    own, stated = lexicon(language), " \n".join(evidence)
    here = count_negations(clause, language)
    there = sum(count_negations(one, language) for one in evidence)
    is_same = (here > 0) == (there > 0)
    if _is_turned(clause, stated, own):
        return not is_same
    if not is_same and own.find("exceptions", clause) and own.find("only", stated):  # "not … unless"
        return True
    if not is_same:  # "not enough people came", "too few people came"
        positive, negative = (clause, stated) if there else (stated, clause)
        return not set(own.words("implied", positive)) <= set(own.words("implied", negative))
    return here <= max(there, 1)


def _is_turned(clause: str, evidence: str, own: Lexicon) -> bool:
    if own.language in UNSPACED_LANGUAGES:
        return _has_contrary_part(clause, evidence, own.opposites)
    here, there = stems_of(clause, own.language), stems_of(evidence, own.language)
    by_affix = _has_affix(here, there, own) != _has_affix(there, here, own)
    is_contrary = has_contrary(here, there, own.opposites)
    if is_contrary and has_contrary(here, there, own.converse):  # "The cellar is below the kitchen"
        is_contrary = not _are_exchanged(content_words(clause, own.language), there)
    return by_affix or is_contrary


def _are_exchanged(here: Mapping[str, str], there: Iterable[str]) -> bool:
    """Whether the first two capitalised words that both have in common change places, or the first and the
    last word."""
    words, common = list(here), [word for word in there if word in here]
    named = [word for word in common if here[word][0].isupper()][:2]
    first, *_, last = named if len(named) > 1 else (common or ("",)) * 2
    return len(common) > 1 and words.index(first) > words.index(last)


def _has_contrary_part(here: str, there: str, opposites: Mapping[str, frozenset[str]]) -> bool:
    return any(
        word in here and word not in there and contrary in there and contrary not in here
        for word, contraries in opposites.items()
        for contrary in contraries
    )


def _has_affix(own: Mapping[str, str], other: Mapping[str, str], words: Lexicon) -> bool:
    """Whether a word of `own` is a word of `other` with a negating affix."""
    return any(
        base in other
        for own_stem, word in own.items()
        if own_stem not in other
        for base in _bases(word, words)
        if base not in own
    )


def _bases(word: str, words: Lexicon) -> Iterable[str]:
    for prefix in words.prefixes:
        if word.startswith(prefix) and len(word) - len(prefix) >= _LEAST_BASE:
            yield stem(word[len(prefix) :], words.language)
    for suffix in words.suffixes:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_BASE:
            yield stem(word[: -len(suffix)], words.language)


_CLEARLY_MORE = 3
"""A fact belongs to something else if another part of the note shares more than this multiple of words with
the clause. Chosen on the tuning half of `benchmarks/claims`."""

_LIMITING: Sequence[WordClass] = ("most", "some", "few")


@record
class Statement:
    """A sentence of a note for comparison: its text and the headings above it. `whole` contains both and the
    sentence with markup. `clauses` are those of the text, and `words` the content words of `whole`."""

    text: str
    heading: str
    whole: str
    language: str
    clauses: tuple[str, ...]
    words: Mapping[str, str]

    @classmethod
    def read(cls, text: str, heading: str, quote: str, language: str) -> Statement:
        """Creates a statement from the readable sentence, the headings above it, and the sentence as
        written."""
        text, heading, quote = (unicodedata.normalize("NFKC", part) for part in (text, heading, quote))
        whole = f"{text} \n{heading} \n{quote}"
        return cls(
            text, heading, whole, language, tuple(clauses(text, language)), content_words(whole, language)
        )

    def added_limits(self, clause: str) -> tuple[str, ...]:
        """Returns the words of a clause that oblige or generalise, if this statement has no words of that
        kind."""
        own, whole = lexicon(self.language), _without_months(self.whole, self.language)
        clause = _without_months(clause, self.language)
        found: list[str] = []
        names: Sequence[WordClass] = ("all", "necessary", "possible", "future")
        for name in names:
            if not own.find(name, whole) and not (name == "future" and own.find("intended", whole)):
                found += [clause[start:end] for start, end in own.find(name, clause)]
        return tuple(found)


def _without(text: str, dates: Iterable[DateMention]) -> str:
    return blank(text, ((one.start, one.end) for one in dates))


def _without_dates(text: str, language: str) -> str:
    return _without(text, find_dates(text, language))


def _without_months(text: str, language: str) -> str:
    """Returns the text with blanks in place of its dates, where English "May" does not mean "may". A month
    alone at the beginning of a line remains, because it may be a verb, as in "May contain nuts"."""

    def is_sure(date: DateMention) -> bool:
        return len(date.parts) > 1 or bool(text[: date.start].rpartition("\n")[2].strip())

    return _without(text, filter(is_sure, find_dates(text, language)))


def conflict(clause: str, claim: str, statement: Statement) -> str:
    """Returns the reason, as a clause for the user, why the statement does not support a clause of a claim,
    or "" if no fact differs."""
    clause, claim = (unicodedata.normalize("NFKC", one) for one in (clause, claim))
    if reason := next(filter(None, (check(clause, statement) for check in _CHECKS)), ""):
        return reason
    about = clauses_about(clause, statement.clauses, statement.language)
    return (
        _polarity_conflict(clause, claim, about, statement)
        or _limit_conflict(clause, claim, about, statement)
        or _time_conflict(claim, about, statement.language)
        or role_conflict(clause, claim, statement.clauses, statement.text, statement.language)
    )


def _number_conflict(clause: str, statement: Statement) -> str:
    language = statement.language
    dates, stated_dates = find_dates(clause, language), find_dates(statement.whole, language)
    numbers = quantities(statement.whole, language)
    years = frozenset(int(one.value) for one in numbers if one.kind == "year" and one.value.isdecimal())
    if missing := missing_date(dates, stated_dates, years):
        return f"the date or time {missing} is not in what it cites"
    own = quantities(_without(clause, dates), language)
    bare = _without_dates(statement.text, language)
    stated = quantities(bare, language)
    counts = {one.value for one in stated if _counts_noun(one, bare, language)}
    stated += quantities(statement.heading, language)
    # Each number must occur as often as in the claim: "from 3 to 5" does not support "from 5 to 5".
    values = Counter(one.value for one in stated)
    values.update(str(value) for one in stated_dates for value in one.parts.values())
    bases = {one.base for one in stated if one.base}
    own = [one for one in own if one.value in values or one.base not in bases]  # "14 days", "two weeks"
    if lacking := sorted(Counter(one.value for one in own) - values):
        return f"the number {lacking[0]} is not in what it cites"
    return _unit_conflict(own, stated, counts)


def _counts_noun(number: Quantity, text: str, language: str) -> bool:
    """Whether a content word follows a number without a unit ("30 copies")."""
    noun = _NEXT_WORD.match(text, number.end)
    return not number.unit and noun is not None and bool(content_words(noun[0], language))


def _unit_conflict(own: Sequence[Quantity], stated: Sequence[Quantity], counts: Collection[str]) -> str:
    """`counts` contains the numbers that count a noun in the statement, and therefore have no unit."""
    everywhere = {one.unit for one in stated}
    for quantity in own:
        units = {one.unit for one in stated if one.value == quantity.value}
        is_other = bool(quantity.unit and units) and quantity.unit not in units
        is_open = "" in units and quantity.unit in everywhere and quantity.value not in counts
        if is_other and not is_open:
            return f"{quantity.value} is not in {quantity.unit} in what it cites"
    return ""


def _code_conflict(clause: str, statement: Statement) -> str:
    code = unknown_code(clause, statement.whole)
    return f"{code[0]!r} is not in what it cites" if code else ""


def _name_conflict(clause: str, statement: Statement) -> str:
    language = statement.language
    masked = _without_dates(clause, language)
    if language in UNSPACED_LANGUAGES:
        masked = without_limits(masked, language)
    names = unknown_names(masked, statement.whole, statement.language)
    return f"the name {names[0]} is not in what it cites" if names else ""


def _polarity_conflict(clause: str, claim: str, about: Sequence[str], statement: Statement) -> str:
    """Compares the negations of a clause, with the other clauses of the claim that are about the same."""
    language = statement.language
    if not content_words(clause, language) or same_polarity(clause, about, language):
        return ""
    others = [
        one for one in clauses(claim, language) if clauses_about(one, statement.clauses, language) == about
    ]
    if same_polarity(" \n".join(others), about, language):
        return ""
    return "it denies what the note says, or says what the note denies"


def _limit_conflict(clause: str, claim: str, about: Sequence[str], statement: Statement) -> str:
    own, language = lexicon(statement.language), statement.language
    texts = (clause, claim, "\n".join(about), statement.text)
    clause, claim, said, stated = (
        blank(plain, ((one.start, one.end) for one in quantities(plain, language)))  # "half an hour"
        for plain in (_without_months(one, language) for one in texts)
    )

    def has(name: WordClass, text: str) -> bool:
        return bool(own.find(name, text))

    for name in _LIMITING:
        is_negative = name == "few" and count_negations(stated, language)  # "not enough", "too few"
        if (has(name, clause) and not has(name, stated) and not is_negative) or (
            has(name, said) and not has(name, claim)
        ):
            return "it claims more or less than the note"
    if has("all", clause) and not has("all", stated) and any(has(one, said) for one in _LIMITING):
        return "it claims more than the note"
    if has("only", clause) and not has("only", stated):
        return "it excludes what the note does not"
    is_denied = bool(count_negations(said, language))  # "not allowed" is certain
    if has("possible", said) and not has("possible", claim) and not is_denied:
        return "it is more certain than the note"
    if has("necessary", said) and has("possible", clause) and not has("necessary", clause):
        return "it makes optional what the note requires"
    return ""


def _time_conflict(claim: str, about: Sequence[str], language: str) -> str:
    own, said = lexicon(language), "\n".join(about)
    is_past = own.find("past", claim) and not own.find("present", claim)  # "It is repaired in May"
    is_dated = find_dates(claim, language) and not is_past  # "The bridge opens in May" is of the future, too
    claim = _without_months(claim, language)
    names: Sequence[WordClass] = ("future", "intended", "possible")
    if (own.find("future", said) or own.find("intended", said)) and not (
        is_dated or any(own.find(name, claim) for name in names)
    ):
        return "it says of now or the past what the note says of the future"
    if own.find("former", said) and not own.find("former", claim):
        return "it says of now what the note says of the past"
    return ""


def _binding_conflict(clause: str, statement: Statement) -> str:
    """Returns a reason if the note states a fact about something else: the parts of the note with the fact
    share few words with the clause, while another part shares many and has another fact of the same kind."""
    language = statement.language
    shared = {one: overlap(one, clause, language) for one in statement.clauses}
    if len(shared) == 1:
        return ""
    finders = (_date_facts, _quantity_facts, _name_facts)
    own = {fact for find_facts in finders for fact in find_facts(clause, language)}
    # A clause with all facts of the claim may leave out the words that it shares with the one before.
    if len(own) > 1 and any(
        own.issubset(fact for find_facts in finders for fact in find_facts(one, language)) for one in shared
    ):
        return ""
    for find_facts in finders:
        of_clauses = {one: find_facts(one, language) for one in shared}
        for fact in find_facts(clause, language):
            holders = [shared[one] for one, facts in of_clauses.items() if fact in facts]
            others = [
                shared[one]
                for one, facts in of_clauses.items()
                if fact not in facts and any(kind == fact[0] for kind, _ in facts)
            ]
            if holders and max(others, default=0) > _CLEARLY_MORE * max(holders):
                return f"the note says {fact[1]} about something else"
    return ""


Fact = tuple[str, str]
"""The kind of a fact, and its displayed form."""


def _date_facts(text: str, language: str) -> list[Fact]:
    return [
        (one.kind, " ".join(f"{value}" for _, value in sorted(one.parts.items())))
        for one in find_dates(text, language)
    ]


def _quantity_facts(text: str, language: str) -> list[Fact]:
    return [(one.kind, one.value) for one in quantities(_without_dates(text, language), language)]


def _name_facts(text: str, language: str) -> list[Fact]:
    if language == "de":  # every noun has a capital there
        return []
    masked = _without_dates(text, language)
    return [("name", name) for name in capitalised_words(masked, language)]


_CHECKS: Sequence[Callable[[str, Statement], str]] = (
    _number_conflict,
    _code_conflict,
    _name_conflict,
    _binding_conflict,
)
