"""A full stop behind an abbreviation ends no sentence in Thai and Lao, whose sentences have none."""

from __future__ import annotations

import pytest

from vault_indexer.text.sentences import sentences


@pytest.mark.parametrize(
    "text",
    [
        "กรุงเทพมหานครก่อตั้งขึ้นในปีพ.ศ. 2325 โดยพระบาทสมเด็จพระพุทธยอดฟ้า",
        "อยุธยาก่อตั้งเมื่อ ค.ศ. 1351 ริมแม่น้ำ",
        "รถไฟออกเวลา 10.30 น. จากสถานีกลาง",
        "เขาเกิดวันที่ 5 ธ.ค. 2470 ที่เมืองนั้น",
        "บทความของ ดร. สมชาย และ ผศ. วิภา",
        "ระยะทาง 12 กม. จากเมือง หนัก 3 กก. พอดี",
        "ນະຄອນຫຼວງຖືກສ້າງໃນປີ ຄ.ສ. 1560 ໂດຍພະເຈົ້າ",
        "ສ.ປ.ປ. ລາວ ຕັ້ງຢູ່ໃນອາຊີ",
        "ບົດຂອງ ດຣ. ສົມສັກ",
    ],
)
def test_an_abbreviation_of_thai_or_lao_ends_no_sentence(text: str) -> None:
    assert [text[first:last] for first, last in sentences(text)] == [text]


def test_a_stop_behind_a_word_of_thai_or_lao_ends_a_sentence() -> None:
    assert len(sentences("เขาชอบคน. เธอไม่ชอบ")) == 2
    assert len(sentences("ລາວມັກຄົນ. ນາງບໍ່ມັກ")) == 2
