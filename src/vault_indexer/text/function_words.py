"""The words of a query that say nothing by themselves."""

from __future__ import annotations

from functools import cache

from vault_indexer.text.fold import fold, normalize
from vault_indexer.text.language_signs import FUNCTION_WORDS

_IN_QUERIES = """
en a an i do did done my me am its than then them these those into about should could would let
de kann könnte konnte sein seine seiner seinem seinen ihr ihre ihrer man dies diese dieser dieses durch
de gegen unter hatte hatten waren worden würde gibt gab zwischen während neben
ro ei ele lor acest această acesta aceste acestea cel cea cei cele era erau poate fără între despre
tr şu o bu kendi hem ki diye üzere karşı arasında idi oldu olur ise dir bulunmaktadır bulunur hakkında
ru является являются еще ещё ли же бы были находится между во со об над под при про себя этот эта эти
ru этого
ar هو هي هم الذين ذلك تلك له لها به بها فيه فيها تم عند منذ حتى حيث كل بعض غير ثم قبل بعد خلال
hi हो था थे थी गया गई गए किया कर करने करता करते हुए हुआ हुई होता होती होते तो जो वह उस उसके उनके अपने
hi तक बाद द्वारा रूप
el ο η το οι τα του της των τον την τους τις και κι να σε στο στη στην στον στους στις στα με για από
el που δεν θα είναι ήταν έχει είχε ένα ένας μια μία ως κατά ή αυτό αυτή αυτός όταν πριν μετά μεταξύ
vi bị bởi ra vào lên trên dưới sau trước nó họ thì mà nên vì nếu còn chỉ rất hơn cùng theo hay hoặc
vi việc sự
"""
"""Not among the signs of a language, as others have some of them, too, or as its script is enough."""


@cache
def function_words(language: str) -> frozenset[str]:
    """The folded function words of a language (ISO 639-1); none for one that is not known."""
    return words_of(language, FUNCTION_WORDS + _IN_QUERIES)


def words_of(language: str, table: str) -> frozenset[str]:
    """The folded words of a language in a table; each of its lines begins with the code of a language."""
    lines = (line.split() for line in table.splitlines() if line)
    return frozenset(fold(normalize(word)) for code, *words in lines if code == language for word in words)


def is_function_word(word: str, language: str) -> bool:
    """Whether a word, as written, says nothing by itself in a language (ISO 639-1)."""
    return fold(normalize(word)) in function_words(language)
