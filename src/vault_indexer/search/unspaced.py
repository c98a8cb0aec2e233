"""What pairs of characters say in scripts of letters without spaces: Thai, Lao, Khmer, Burmese, Tibetan.

The index knows no words there. A pair of Han characters often is a word, but a pair of letters is a piece of
a syllable that nearly every text holds. So what counts is how many pairs in a row a text holds, and pairs in
words that ask or join count nothing. On XQuAD th (tuning halves, `benchmarks/confidence.py`) that raised the
AUROC from .959 to .967 far and from .925 to .929 near. On zh runs lower it (near from .940 to .925), so Han,
kana and Hangul count by pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING

from vault_indexer.text.scripts import UNSPACED_LETTERS
from vault_indexer.text.terms import QueryTerm
from vault_indexer.text.tokens import RUN, clusters

if TYPE_CHECKING:
    from vault_indexer.arrays import Floats

UNSPACED = re.compile(f"[{UNSPACED_LETTERS}]")

_IDLE_WORDS = """
อะไร ใคร ไหน ที่ไหน เมื่อไหร่ เมื่อไร เมื่อใด กี่ เท่าไหร่ เท่าไร เท่าใด ทำไม เหตุใด อย่างไร ยังไง ใด ไหม หรือไม่
จำนวน ชื่อ ประเภท ชนิด
ที่ ซึ่ง อัน ของ และ หรือ ใน เป็น คือ มี ได้ ให้ จาก กับ โดย ว่า ไม่ ถูก ต่อ เพื่อ แต่ แล้ว ก็ จะ
ไป มา นี้ นั้น ตาม ระหว่าง เมื่อ
การ ความ บน แห่ง ถึง อยู่ ด้วย
ໃຜ ຫຍັງ ໃສ ເມື່ອໃດ ຈັກ ເທົ່າໃດ ແນວໃດ
អ្វី អ្នកណា ណា ពេលណា ប៉ុន្មាន ហេតុអ្វី យ៉ាងណា
ဘာ ဘယ်သူ ဘယ်နေရာ ဘယ်အချိန် ဘယ်လောက် ဘာကြောင့် ဘယ် မည်သူ မည်သည့်
"""
_IDLE = re.compile("|".join(sorted(map(re.escape, _IDLE_WORDS.split()), key=len, reverse=True)))
"""Words that ask (Thai, Lao, Khmer, Burmese) or join (Thai): a text that answers need not hold them."""


def pair_contents(text: str) -> Mapping[str, float]:
    """How much each pair of such letters in a query says, in [0, 1]: 0 within an idle word, half at its edge.
    Of a pair that stands at several places the most counts."""
    contents: dict[str, float] = {}
    for run in _runs(text):
        joined = "".join(run)
        idle = {place for match in _IDLE.finditer(joined) for place in range(*match.span())}
        says = [start not in idle for start in accumulate(map(len, run[:-1]), initial=0)]
        for pair, (first, second) in zip(_pairs(run), pairwise(says), strict=True):
            contents[pair] = max(contents.get(pair, 0.0), (first + second) / 2)
    return contents


def weigh_runs(text: str, words: Sequence[QueryTerm], held: Floats) -> Floats:
    """`held` with a lower share for pairs that stand in shorter runs of held pairs.

    `held` says for each text (row) how far it holds each word (column), in [0, 1]. Of n characters without a
    space in the query, l in a row whose pairs are all held count (1 - 1/l) / (1 - 1/n) each, so all count 1.
    """
    column = {term.word: number for number, term in enumerate(words)}
    rows = [[column[pair] for pair in _pairs(run)] for run in _runs(text)]
    if not rows:
        return held
    weighed = held.copy()
    for values, own in zip(weighed, held, strict=True):
        shares: dict[int, float] = {}
        for row in rows:
            for is_held, places in groupby(row, key=lambda place: own[place] > 0):
                run = list(places) if is_held else []
                for place in run:
                    share = (1 - 1 / (len(run) + 1)) / (1 - 1 / (len(row) + 1))
                    shares[place] = max(shares.get(place, 0.0), share)
        for place, share in shares.items():
            values[place] *= share
    return weighed


def _runs(text: str) -> Iterator[list[str]]:
    """The characters of each run, with their marks, of which there are two at least."""
    for run in RUN.findall(text):
        characters = clusters(run)
        if len(characters) > 1 and UNSPACED.match(run):
            yield characters


def _pairs(run: Sequence[str]) -> Iterator[str]:
    return map("".join, pairwise(run))
