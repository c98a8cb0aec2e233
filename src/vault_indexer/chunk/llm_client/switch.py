"""A language model that is asked only where there is time for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vault_indexer.errors import ProviderError
from vault_indexer.ports import Llm


class LlmSwitch:
    """Implements ports.Llm: passes prompts on, except within `off`. Kept answers are found all the same."""

    def __init__(self, llm: Llm) -> None:
        self._llm = llm
        self._is_off = False

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._llm.name

    def complete(self, prompt: str, *, timeout_s: float, max_tokens: int | None = None) -> str:
        """Passes the prompt on. Raises ProviderError as the model does, and at once while it is off."""
        if self._is_off:
            raise ProviderError("the model has not been asked yet")
        return self._llm.complete(prompt, timeout_s=timeout_s, max_tokens=max_tokens)

    @contextmanager
    def off(self) -> Iterator[None]:
        """The model is not asked in this block."""
        self._is_off = True
        try:
            yield
        finally:
            self._is_off = False
