"""The JSON of a pause, as types; light, as `shapes` is."""

from __future__ import annotations

from typing import TypedDict


class PauseJson(TypedDict):
    """`pause --json`, `resume --json`, and what their routes answer; `paused_until` may be empty."""

    paused: bool
    paused_until: str
    pending: int
