"""Finds the numbers in a text, in digits or in words, each with a canonical signed value and a unit."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files

from vault_indexer.answer.check.lexicon import any_of, languages, lexicon
from vault_indexer.system import record
from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.scripts import LETTER
from vault_indexer.text.tokens import RUN

_DIGITS = re.compile(r"\d+(?:[.,'’\u00a0\u202f ]\d{3}(?!\d))*(?:[.,]\d+)?")
_GROUPS = re.compile(r"[.,'’\u00a0\u202f ](?=\d{3}(?!\d))")
_WORD = re.compile(f"{LETTER}+")
_SCALE = re.compile(rf"\s*({LETTER}+)")
_CHINESE = re.compile("(?!零下)[零〇一二三四五六七八九十百千万萬亿億两兩]+")
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
"""Spanish number words that are common words of another language."""

_LEAST_SCALE = 1_000

_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_UNIT = re.compile(rf"[ \u00a0\u202f-]?([%$€£¥₽]|°[cCfF]?|{LETTER}+)")
_LONGEST_UNIT = 5
_CURRENCY = re.compile(r"([$€£¥₽])\s?\Z")


@record
class Quantity:
    """A number of a text: its canonical value with its sign, its unit ("" for none), and its span with the
    unit."""

    value: str
    unit: str
    start: int
    end: int

    @property
    def kind(self) -> str:
        """The unit, "year", or "". Two numbers of the same kind can be mistaken for each other."""
        return self.unit or ("year" if _YEAR.fullmatch(self.value) else "")


def quantities(text: str, language: str = "") -> list[Quantity]:
    """Returns the numbers of a text in order, each with its unit. Spans refer to the text in form NFKC.

    `2 million`, `2,000,000` and `两百万` are one value; `-18` and `18` are two."""
    text = unicodedata.normalize("NFKC", text)
    found = [_quantity(text, *one) for one in _numbers(text, language)]
    return sorted(found, key=lambda one: one.start)


def value_of_word(word: str) -> int | None:
    """Returns the value of a number word in any of the languages, such as 3 for "three"."""
    return _VALUES.get(fold(normalize(word)))


def _quantity(text: str, value: Decimal, start: int, end: int) -> Quantity:
    if sign := _minus().search(text[max(start - 12, 0) : start]):
        value, start = -value, max(start - 12, 0) + sign.start()
    if symbol := _CURRENCY.search(text, max(start - 2, 0), start):
        return Quantity(_canonical(value), _units()[symbol[1]], symbol.start(), end)
    behind = _UNIT.match(text, end)
    unit, length = _unit_of(behind[1]) if behind else ("", 0)
    if behind is None or not unit or (unit == "year" and _YEAR.fullmatch(_canonical(value))):
        return Quantity(_canonical(value), "", start, end)
    return Quantity(_canonical(value), unit, start, behind.start(1) + length)


def _unit_of(word: str) -> tuple[str, int]:
    """Returns the unit of a word, and its length in characters. In scripts without spaces it is the unit with
    which the word begins."""
    folded = word.lower()
    sizes = range(min(len(folded), _LONGEST_UNIT), 0, -1) if RUN.match(folded) else [len(folded)]
    for size in sizes:
        if unit := _units().get(folded[:size]):
            return unit, size
    return "", 0


@cache
def _minus() -> re.Pattern[str]:
    """Returns a pattern for a minus sign before a number. A hyphen between letters or digits does not
    match."""
    words = any_of(word for language in languages() for word in lexicon(language).minus)
    spaceless = RUN.pattern[: RUN.pattern.index("]") + 1]
    signs = rf"[-\u2212]|(?:{words.pattern if words else ''})\s?"
    return re.compile(rf"(?:(?<![^\W_])|(?<={spaceless}))(?:{signs})\Z", re.IGNORECASE)


@cache
def _units() -> Mapping[str, str]:
    table = tomllib.loads((files("vault_indexer.answer.check") / "units.toml").read_text(encoding="utf-8"))
    return {form.strip().lower(): name for name, forms in table.items() for form in forms.split(",")}


def _numbers(text: str, language: str) -> Iterator[tuple[Decimal, int, int]]:
    scales: dict[int, int] = {}  # begin and end of a scale that the number before it was multiplied by
    for match in _DIGITS.finditer(text):
        value = Decimal(_GROUPS.sub("", match[0]).replace(",", "."))
        factor, end = _factor_behind(text, match.end(), scales)
        yield value * factor, match.start(), end
    for word in _WORD.finditer(text):
        folded = fold(normalize(word[0]))
        is_foreign = folded in _IN_SPANISH and language != "es"
        if folded in _VALUES and word.start() not in scales and not is_foreign:
            factor, end = _factor_behind(text, word.end(), scales)
            yield Decimal(_VALUES[folded]) * factor, word.start(), end
    for run in _CHINESE.finditer(text):
        if run[0] != "一" and run.start() not in scales:
            yield Decimal(_chinese(run[0])), run.start(), run.end()


def _factor_behind(text: str, end: int, scales: dict[int, int]) -> tuple[int, int]:
    """Returns the factor of the word after a number, as in "2 million", and the end of the number."""
    scale = _SCALE.match(text, end)
    factor = _factor(scale[1]) if scale else 1
    if scale is None or factor == 1:
        return 1, end
    scales[scale.start(1)] = scale.end(1)
    return factor, scale.end(1)


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
