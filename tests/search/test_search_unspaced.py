"""Relevance in scripts of letters without spaces: runs of held pairs count, single pairs hardly do."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_indexer import open_vault
from vault_indexer.api import Vault
from vault_indexer.search.confidence import pair_contents, weigh_runs
from vault_indexer.text.query import analyze_query

NOTES = {
    "bread": "ขนมปังข้าวไรย์ต้องหมักแป้งไว้หนึ่งคืนก่อนอบ ใช้เกลือเล็กน้อยและน้ำอุ่น อบในเตาร้อนประมาณสี่สิบนาทีจนเปลือกเป็นสีน้ำตาล",
    "cats": "แมวที่ป่วยมักจะไม่กินอาหารและนอนทั้งวัน ควรพาไปหาสัตวแพทย์เพื่อตรวจเลือดและวัดอุณหภูมิร่างกาย",
    "saturn": "ดาวเสาร์มีวงแหวนที่ประกอบด้วยน้ำแข็งและฝุ่น ดวงจันทร์ที่ใหญ่ที่สุดชื่อไททัน นักดาราศาสตร์มองเห็นได้ด้วยกล้องโทรทรรศน์",
    "garden": "ทากชอบกินใบผักกาดในสวนตอนกลางคืน เราสามารถวางแผ่นไม้ไว้แล้วเก็บทากในตอนเช้า หรือโรยเปลือกไข่รอบต้นไม้",
    "train": "รถไฟจากกรุงเทพไปเชียงใหม่ออกทุกเย็น ใช้เวลาเดินทางประมาณสิบสามชั่วโมง ควรจองตั๋วนอนล่วงหน้าในช่วงวันหยุด",
}


@pytest.fixture(scope="module")
def thai(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    folder = tmp_path_factory.mktemp("vault")
    for name, text in NOTES.items():
        for number in range(8):  # so many that a small vault is not given the benefit of the doubt
            (folder / f"{name} {number}.md").write_text(text, encoding="utf-8")
    with open_vault(folder, tmp_path_factory.mktemp("index")) as vault:
        yield vault


UNANSWERABLE = ("นักเรียนในกรุงเทพมีจำนวนประมาณกี่คน", "เกลือในทะเลประกอบด้วยอะไร", "ทหารนอนในสวนของเมืองตั้งแต่เมื่อไร")
ANSWERABLE = ("ดวงจันทร์ที่ใหญ่ที่สุดของดาวเสาร์ชื่ออะไร", "แมวที่ป่วยควรพาไปที่ไหน", "ขนมปังข้าวไรย์")


@pytest.mark.long
@pytest.mark.parametrize("query", [*UNANSWERABLE, *ANSWERABLE])
def test_a_question_is_likely_if_a_thai_note_answers_it(thai: Vault, query: str) -> None:
    answer = thai.search(query)
    assert (answer.verdict in ("likely", "strong")) == (query in ANSWERABLE), answer.results[0].relevance


def test_pairs_in_words_that_ask_say_nothing() -> None:
    contents = pair_contents("แมวกินอะไร")
    assert contents["กิ" + "น"] == 1
    assert contents["นอ"] == 0.5
    assert contents["อะ"] == 0
    assert pair_contents("天气怎么样 weather") == {}


WORDS = analyze_query("กขคงจฉ ชซฌ 天气 word", ())


@given(st.lists(st.booleans(), min_size=len(WORDS), max_size=len(WORDS)), st.integers(0, len(WORDS) - 1))
def test_more_held_pairs_never_weigh_less(held: list[bool], one: int) -> None:
    more = [*held[:one], True, *held[one + 1 :]]
    less_of, more_of = weigh_runs("กขคงจฉ ชซฌ 天气 word", WORDS, np.array([held, more], np.float64))
    assert (less_of <= more_of).all()
    assert (less_of <= np.array(held)).all()
    assert (weigh_runs("กขคงจฉ ชซฌ 天气 word", WORDS, np.ones((1, len(WORDS)))) == 1).all()


def test_held_pairs_in_a_row_weigh_more_than_scattered_ones() -> None:
    words = analyze_query("กขคงจฉ", ())
    row, scattered = weigh_runs("กขคงจฉ", words, np.array([[1, 1, 1, 0, 0], [1, 0, 1, 0, 1]], np.float64))
    assert row.sum() > scattered.sum()
