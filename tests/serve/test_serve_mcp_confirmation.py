"""The codes with which an agent makes a change that its user has agreed to."""

from __future__ import annotations

from vault_indexer.serve.mcp.server import ConfirmationCodes


def test_a_code_is_valid_once_and_for_its_own_change_alone() -> None:
    codes = ConfirmationCodes()
    code = codes.issue("garden", "word")
    assert codes.redeem(code, "garden", "word")
    assert not codes.redeem(code, "garden", "word")
    assert not codes.redeem("unknown", "garden", "word")
    for vault, strategy in (("work", "word"), ("garden", "sentence")):
        assert not codes.redeem(codes.issue("garden", "word"), vault, strategy)


def test_the_latest_32_codes_are_valid() -> None:
    codes = ConfirmationCodes()
    issued = [codes.issue("garden", "word") for _ in range(33)]
    assert [codes.redeem(code, "garden", "word") for code in issued] == [False, *[True] * 32]
