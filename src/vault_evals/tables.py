"""The table `[evals]` of the configuration."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from vault_evals import BUILT_IN_AGENTS
from vault_indexer.config.fields import PUBLIC, Allowed, ExtensionTable, OptionalFolder, Trust

_AGENT_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def _new_names(agents: dict[str, str]) -> dict[str, str]:
    for name, function in agents.items():
        if not _AGENT_NAME.fullmatch(name) or name in BUILT_IN_AGENTS:
            raise ValueError(
                f"the name {name[:60]!r}: must have letters, digits, -, _ and dots, and must not be one of "
                f"{', '.join(BUILT_IN_AGENTS)}"
            )
        if not function:
            raise ValueError(f"{name}: is not the name of a function")
    return agents


class EvalsSettings(ExtensionTable):
    """What the web page and the plugin keep for `indexer eval`: grades that you give, and, if you want, the
    notes that you open from hits. All of it stays on this computer. And which functions of yours golden cases
    may ask.
    """

    folder: OptionalFolder = None
    """Folder for the grades and clicks of the web page; empty means evals in the index."""
    record_clicks: Annotated[bool, PUBLIC] = False
    """Record which note is opened from which query, with rank and time, for `indexer eval`."""
    agents: Annotated[
        dict[str, str],
        AfterValidator(_new_names),
        Allowed('a table of name = "module:function" or name = "entry point"'),
        Trust.USER,
    ] = Field(default_factory=dict)
    """Your functions, or entry points of the group vault_indexer.agents, that golden cases can ask by these
    names."""
