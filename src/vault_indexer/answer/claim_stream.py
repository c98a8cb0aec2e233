"""The sentences of a model's answer, while the model still writes it."""

from __future__ import annotations

import json
import re

from vault_indexer.answer.check import Claim
from vault_indexer.answer.prompt import MOST_CLAIMS, claim_of
from vault_indexer.chunk import UnusableAnswerError, without_thoughts

_BEGINNING = re.compile(r'[^{]*\{\s*"sentences"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


class ClaimStream:
    """Reads an answer piece by piece. It gives a sentence as soon as its JSON object is complete, and none
    any more after something that is not as `prompt` requires: the whole answer tells then what holds."""

    def __init__(self) -> None:
        self._text = ""
        self._at: int | None = None
        self._found = 0
        self._is_over = False

    def feed(self, piece: str) -> list[Claim]:
        """The sentences that this piece completes."""
        self._text += piece
        if self._at is None and "[" in piece:
            self._begin()
        if self._at is None or self._is_over or "}" not in piece:
            return []
        claims = []
        while (claim := self._next(self._at)) is not None:
            claims.append(claim)
        return claims

    def _begin(self) -> None:
        """Where the list of sentences begins, behind what the model thought before it."""
        text = without_thoughts(self._text)
        if beginning := _BEGINNING.match(text):
            self._text, self._at = text, beginning.end()

    def _next(self, at: int) -> Claim | None:
        """The sentence that begins there, once it is whole."""
        between = _BETWEEN.match(self._text, at)
        start = between.end() if between else at
        if start == len(self._text):
            return None
        if self._text[start] != "{" or self._found == MOST_CLAIMS:
            self._is_over = True
            return None
        try:
            value, self._at = _DECODER.raw_decode(self._text, start)
            self._found += 1
            return claim_of(value)
        except json.JSONDecodeError:
            return None  # not whole yet
        except (UnusableAnswerError, RecursionError):
            self._is_over = True
            return None
