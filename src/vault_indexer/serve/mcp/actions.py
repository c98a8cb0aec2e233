"""The tools of optional packages."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

from vault_indexer.contract.parameters import Value
from vault_indexer.daemon.assembly import Target
from vault_indexer.extensions import offered
from vault_indexer.model import JsonValue
from vault_indexer.serve.mcp.views import ToolView
from vault_indexer.service import VaultService


class ExtensionTool(NamedTuple):
    """A tool of an optional package. `call` is a `ToolCall` of `api.respond` that also takes the vault."""

    view: ToolView
    call: Callable[[Target, VaultService, Mapping[str, Value]], dict[str, JsonValue]]


@functools.cache
def extension_tools() -> tuple[ExtensionTool, ...]:
    return tuple(tool for tools in offered("tools") for tool in tools)
