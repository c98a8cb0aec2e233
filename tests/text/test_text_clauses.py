"""Thai and Lao have no full stops: a space between long runs ends a clause."""

from __future__ import annotations

from unicodedata import category

from hypothesis import given
from hypothesis import strategies as st

from vault_indexer.parse import readable
from vault_indexer.text.sentences import clauses

THAI = (
    "กรุงเทพมหานครเป็นเมืองหลวงและนครที่มีประชากรมากที่สุดของประเทศไทย"
    " เป็นศูนย์กลางการปกครองการศึกษาการคมนาคมขนส่งและการเงินการธนาคาร"
    " ก่อตั้งขึ้นโดยพระบาทสมเด็จพระพุทธยอดฟ้าจุฬาโลกมหาราช ในปี 2325 บนฝั่งตะวันออกของแม่น้ำเจ้าพระยา"
)
LAO = "ນະຄອນຫຼວງວຽງຈັນເປັນເມືອງຫຼວງແລະເປັນນະຄອນທີ່ໃຫຍ່ທີ່ສຸດຂອງປະເທດລາວ ຕັ້ງຢູ່ແຄມແມ່ນ້ຳຂອງແລະມີຊາຍແດນຕິດກັບປະເທດໄທທາງທິດໃຕ້ຂອງເມືອງ"
PIECES = st.sampled_from(
    ["กรุงเทพมหานครเป็นเมืองหลวง", "นาย", "ນະຄອນຫຼວງວຽງຈັນເປັນເມືອງ", "2325", " ", "\u0e49", "a", "\n"]
)


def test_a_paragraph_of_thai_is_read_as_clauses() -> None:
    shown = readable(THAI)
    lengths = [last - first for first, last in shown.units]
    assert len(lengths) == 3 and all(40 <= length <= 200 for length in lengths)
    assert [len(readable(LAO).units), len(clauses("Two words of English. " * 9))] == [2, 1]


@given(st.lists(PIECES, max_size=40).map("".join))
def test_clauses_tile_the_text_and_cut_off_no_mark(text: str) -> None:
    spans = clauses(text)
    assert "".join(text[first:last] for first, last in spans) == text
    assert all(not category(text[first]).startswith("M") for first, _ in spans[1:])
    assert all(last - first >= 40 for first, last in spans if len(spans) > 1)
