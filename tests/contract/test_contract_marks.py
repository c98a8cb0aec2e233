"""How long a query and the name of a note may be, and the marks of a type."""

from typing import Annotated

import pytest

from vault_indexer.contract.marks import check_note_name, check_query, split_marks
from vault_indexer.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"), [("a" * 4096, 0), ("a" * 4097, 4097), ("é" * 2048, 0), ("é" * 2049, 4098)]
)
def test_a_query_and_a_name_have_at_most_4096_bytes(text: str, size: int) -> None:
    for check, what in ((check_query, "the query"), (check_note_name, "the path of the note")):
        try:
            check(text)
        except UsageError as error:
            assert str(error) == f"{what} has {size} bytes: the maximum is 4096"
        else:
            assert not size


def test_a_query_may_be_empty_only_while_it_is_typed() -> None:
    check_query("", may_be_empty=True)
    with pytest.raises(UsageError, match="the maximum is 4096"):
        check_query("a" * 4097, may_be_empty=True)
    for text in ("", "  \n"):
        with pytest.raises(UsageError, match="the query is empty"):
            check_query(text)
        with pytest.raises(UsageError, match="no note is named"):
            check_note_name(text)


def test_a_type_has_marks_or_none() -> None:
    assert split_marks(Annotated[int, "a", "b"]) == (int, ("a", "b"))
    assert split_marks(int) == (int, ())
