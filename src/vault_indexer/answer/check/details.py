"""The details of a sentence that a paraphrase keeps: its names, and its code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator

from vault_indexer.answer.check.words import CODE, is_form
from vault_indexer.search import function_words, is_common_word
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.scripts import SPACED_LETTER, SPACED_LETTER_OR_DIGIT
from vault_indexer.text.stem import stem

_WORD = re.compile(rf"{SPACED_LETTER}(?:{SPACED_LETTER_OR_DIGIT}|['’-](?={SPACED_LETTER}))*")
_NAME_BEHIND = re.compile(r"\s+(\S)")
_START = re.compile(r"(?:^|[.!?…:]|\n)[\s\"'“”‘’«»„(\[*_`¿¡-]*\Z")
_POSSESSIVE = re.compile(r"['’]s?\Z")
_KNOWN_WELL = ("en", "es", "fr", "it", "pt", "nl")
"""Languages of whose frequent words `is_common_word` knows three in four."""

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
    """The names of the sentence that the evidence does not hold, in any form or as initials.

    In scripts with capitals a name is a capitalised word; at the beginning of a sentence only one that is no
    common word; in German, where every noun is, one without an article. In Chinese it is a known place, or
    characters of transliteration or after a surname that the evidence lacks.
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
    """The code of the sentence (in backticks, flags, paths, identifiers) that the evidence does not hold."""
    text = unicodedata.normalize("NFC", evidence)
    codes = [
        match["span"] or match["token"] for match in CODE.finditer(unicodedata.normalize("NFC", sentence))
    ]
    return [code for code in codes if code not in text]


def capitalised_words(sentence: str, language: str) -> Iterator[str]:
    """The words of a sentence that are written as names are."""
    idle = function_words(language) | function_words("en")
    before = ""
    for match in _WORD.finditer(sentence):
        word = _POSSESSIVE.sub("", match[0])
        previous, before = before, word.lower()
        if not word[:1].isupper() or _plain(word) in idle:
            continue
        begins = bool(_START.search(sentence[: match.start()]))
        if begins and not word.isupper() and (is_common_word(word) or _is_alone(sentence, match, language)):
            continue
        if language == "de" and (previous in _GERMAN_ARTICLES or begins):
            continue
        yield word


def _is_alone(sentence: str, match: re.Match[str], language: str) -> bool:
    """Whether no other name follows the first word of a sentence. Where `is_common_word` knows few words of
    the language, such a word is no name, and the check of words names it."""
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
