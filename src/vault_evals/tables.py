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
                f"the name {name[:60]!r}: it has letters, digits, -, _ and dots, and is none of "
                f"{', '.join(BUILT_IN_AGENTS)}"
            )
        if not function:
            raise ValueError(f"{name}: names no function")
    return agents


class EvalsSettings(ExtensionTable):
    """What the web page and the plugin keep for `indexer eval`: grades that you give, and, if you want, the
    notes that you open from hits. All of it stays on this computer. And which functions of yours golden cases
    may ask.
    """

    folder: OptionalFolder = Field(
        default=None,
        description="folder of cases where the grades of the web page and the clicks are kept; empty means "
        "the folder evals of the index. A relative path starts at the folder of this file",
    )
    record_clicks: Annotated[bool, PUBLIC] = Field(
        default=False,
        description="keep which note is opened from the hits of which query, with its rank and the time; "
        "`indexer eval` takes the queries as questions",
    )
    agents: Annotated[
        dict[str, str],
        AfterValidator(_new_names),
        Allowed('a table of name = "module:function" or name = "entry point"'),
        Trust.USER,
    ] = Field(
        default_factory=dict,
        description="functions of yours that golden cases can ask by these names, from the input of a case "
        "to findings. An entry point is one of the group vault_indexer.agents. Its code runs in the program",
    )
