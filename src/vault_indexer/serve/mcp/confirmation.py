"""Codes that tie a change to the call before it, in which the agent was told to ask the user."""

from __future__ import annotations

import secrets

_MAX_CODES = 32


class ConfirmationCodes:
    """One-time codes, each for one strategy of one vault. The event loop of the server is the only caller."""

    def __init__(self) -> None:
        self._issued: dict[str, tuple[str, str]] = {}

    def issue(self, vault: str, strategy: str) -> str:
        """A new code. Of the codes that nobody used the latest 32 are valid."""
        while len(self._issued) >= _MAX_CODES:
            del self._issued[next(iter(self._issued))]
        code = secrets.token_hex(4)
        self._issued[code] = (vault, strategy)
        return code

    def redeem(self, code: str, vault: str, strategy: str) -> bool:
        """Whether the code was issued for this change. It is not valid a second time."""
        return self._issued.pop(code, None) == (vault, strategy)
