"""The numbers that a text states, in digits or in words, each as one canonical value."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from vault_indexer.text.fold import fold, normalize

_DIGITS = re.compile(r"\d+(?:[.,'’\u00a0\u202f ]\d{3}(?!\d))*(?:[.,]\d+)?")
_GROUPS = re.compile(r"[.,'’\u00a0\u202f ](?=\d{3}(?!\d))")
_WORD = re.compile(r"[^\W\d_]+")
_SCALE = re.compile(r"\s*([^\W\d_]+)")
_CHINESE = re.compile("[零〇一二三四五六七八九十百千万萬亿億两兩]+")
_CHINESE_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_CHINESE_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "萬": 10_000, "亿": 10**8, "億": 10**8}

# One is left out: it is an article, or a pronoun, in most of these languages.
_WORDS = """
2 two second dos segundo segunda два две двух двум второй вторая deux zwei zweite hai dois duas due
3 three third tres tercer tercero tercera три трёх трех третий третья trois drei dritte três tre
4 four fourth cuatro cuarto cuarta четыре четырёх четырех четвертый quatre vier vierte bốn quatro quattro
5 five fifth cinco quinto quinta пять пяти пятый cinq fünf cinque
6 six sixth seis sexto шесть шести шестой sechs sáu sei
7 seven seventh siete séptimo семь семи седьмой sept sieben bảy sete sette
8 eight eighth ocho octavo восемь восьми huit acht tám oito otto
9 nine ninth nueve noveno девять девяти neuf neun chín nove
10 ten tenth diez décimo десять десяти dix zehn mười dez dieci
11 eleven once одиннадцать onze elf undici
12 twelve doce двенадцать двенадцати douze zwölf doze dodici
13 thirteen trece тринадцать treize dreizehn
14 fourteen catorce четырнадцать quatorze vierzehn
15 fifteen quince пятнадцать quinze fünfzehn
16 sixteen dieciséis шестнадцать seize sechzehn
17 seventeen diecisiete семнадцать siebzehn
18 eighteen dieciocho восемнадцать achtzehn
19 nineteen diecinueve девятнадцать neunzehn
20 twenty veinte двадцать двадцати vingt zwanzig vinte venti
30 thirty treinta тридцать тридцати trente dreißig trinta trenta
40 forty cuarenta сорок quarante vierzig quarenta
50 fifty cincuenta пятьдесят cinquante fünfzig cinquenta
60 sixty sesenta шестьдесят soixante sechzig
70 seventy setenta семьдесят siebzig
80 eighty ochenta восемьдесят achtzig
90 ninety noventa девяносто neunzig
100 hundred cien ciento сто cent hundert cem cento trăm
1000 thousand mil тысяча тысячи тысяч mille tausend nghìn
1000000 million millón millones миллион миллиона миллионов millions millionen milhão milhões triệu
1000000000 billion миллиард миллиарда миллиардов milliard milliards milliarde milliarden tỷ
"""
_VALUES = {
    fold(normalize(word)): int(value)
    for value, *words in map(str.split, _WORDS.strip().splitlines())
    for word in words
}
_IN_SPANISH = {"once"}
"""Number words that are common words of another language."""

_LEAST_SCALE = 1_000


def numbers_in(text: str, language: str = "") -> Counter[str]:
    """The values that the text states, and how often each. `2 million`, `2,000,000` and `两百万` are one
    value."""
    return Counter(_numbers(unicodedata.normalize("NFKC", text), language))


def _numbers(text: str, language: str) -> Iterator[str]:
    scales: set[int] = set()  # where one begins that the number before it was multiplied by
    for match in _DIGITS.finditer(text):
        value = Decimal(_GROUPS.sub("", match[0]).replace(",", "."))
        yield _canonical(value * _factor_behind(text, match.end(), scales))
    for word in _WORD.finditer(text):
        folded = fold(normalize(word[0]))
        is_foreign = folded in _IN_SPANISH and language != "es"
        if folded in _VALUES and word.start() not in scales and not is_foreign:
            yield _canonical(Decimal(_VALUES[folded]) * _factor_behind(text, word.end(), scales))
    for run in _CHINESE.finditer(text):
        if run[0] != "一" and run.start() not in scales:
            yield _canonical(Decimal(_chinese(run[0])))


def _factor_behind(text: str, end: int, scales: set[int]) -> int:
    """What the word behind a number multiplies it by, as in "2 million"."""
    scale = _SCALE.match(text, end)
    factor = _factor(scale[1]) if scale else 1
    if scale and factor > 1:
        scales.add(scale.start(1))
    return factor


def _factor(word: str) -> int:
    first = _CHINESE_SCALES.get(word[0], 1)
    if first >= _CHINESE_SCALES["万"]:
        return first
    value = _VALUES.get(fold(normalize(word)), 1)
    return value if value >= _LEAST_SCALE else 1


def _chinese(run: str) -> int:
    if all(char in _CHINESE_DIGITS for char in run):  # a year: digit by digit
        return int("".join(str(_CHINESE_DIGITS[char]) for char in run))
    total = section = digit = 0
    for char in run:
        if char in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[char]
            continue
        scale = _CHINESE_SCALES[char]
        if scale >= _CHINESE_SCALES["万"]:
            total += (section + digit or 1) * scale
            section = 0
        else:
            section += (digit or 1) * scale
        digit = 0
    return total + section + digit


def _canonical(value: Decimal) -> str:
    return f"{value.normalize():f}"
