"""The port for optional packages: how `vault_evals` and `vault_gateway` add to the core.

The core imports neither. An optional package is a top-level package of this distribution, with an entry point
in pyproject.toml that names its `Extension`:

    [project.entry-points."vault_indexer.extensions"]
    evals = "vault_evals:EXTENSION"

Every command loads the module of that object, so it imports nothing but this module. What it offers is named
as "module:name" and imported at first use. A package whose folder is deleted offers nothing and is no error.
After a change of the entry points, install the checkout again (`make venv`).
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

GROUP = "vault_indexer.extensions"


class ExtensionCommand(NamedTuple):
    """A command of the group "Advanced", whose typer program is `app` in `module`."""

    name: str
    module: str
    help: str


class Extension(NamedTuple):
    """What an optional package offers. Each text is "module:name"; "" is nothing.

    commands: shown and loaded by `cli.app`.
    tables: tables of the configuration, each an `ExtensionTable` of `config.fields` by its name;
        `Settings.table` returns its values. `config.settings` imports the module of a table while it is being
        imported itself, so other modules import that one for type checking only.
    follower: `(VaultSync, clock) -> RemoteFollower` of `daemon.tasks.background_task`. The loop of a daemon
        calls it once.
    take_over: `(Target, environ) -> str`: what `serve --take-over` does before the daemon starts. It returns
        the sentence for the user ("": nothing was done), or raises VaultIndexerError.
    routes: a tuple of `ExtensionRoute` of `serve.api.respond`: endpoints of the daemon.
    tools: a tuple of `ExtensionTool` of `serve.mcp.views`: tools for agents, of one vault each.
    """

    commands: tuple[ExtensionCommand, ...] = ()
    tables: Mapping[str, str] = MappingProxyType({})
    follower: str = ""
    take_over: str = ""
    routes: str = ""
    tools: str = ""


class OptionalPackage(NamedTuple):
    """What the core knows of a package that may be absent: commands and tables that a user may ask for."""

    commands: tuple[str, ...]
    tables: tuple[str, ...]


OPTIONAL: Mapping[str, OptionalPackage] = MappingProxyType(
    {
        "vault_evals": OptionalPackage(("eval",), ("evals",)),
        "vault_gateway": OptionalPackage(("gateway",), ("milvus",)),
    }
)


@functools.cache
def extensions() -> tuple[Extension, ...]:
    """Those of the packages that are present, in the order of the metadata."""
    return present(references(_entry_points()))


def present(named: Iterable[str]) -> tuple[Extension, ...]:
    """The extensions whose packages exist, of those that "module:name" names."""
    found = []
    for reference in named:
        package = reference.partition(":")[0]
        try:
            found.append(load(reference))
        except ModuleNotFoundError as error:
            if error.name != package:
                raise
    return tuple(found)


def load(reference: str) -> Any:
    """The object that "module:name" names."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def offered(part: str) -> list[Any]:
    """What the extensions offer as this part (`tools`, say), each imported."""
    return [load(reference) for one in extensions() if (reference := getattr(one, part))]


def package_of(*, command: str = "", table: str = "") -> str:
    """The optional package that has this command or table, present or not; "" if none has it."""
    packages = OPTIONAL.items()
    return next((name for name, its in packages if command in its.commands or table in its.tables), "")


def _entry_points() -> str:
    """The entry points of this distribution. `importlib.metadata` gives the same, but every command would pay
    for its import, which takes 20 times as long as this."""
    for folder in sys.path:
        with suppress(OSError), os.scandir(folder or ".") as entries:
            for entry in entries:
                if entry.name.startswith("vault_indexer-") and entry.name.endswith(".dist-info"):
                    return Path(entry.path, "entry_points.txt").read_text("utf-8")
    return ""


def references(entry_points: str) -> list[str]:
    """The values of the group: an INI file, as the packaging standard has it."""
    section, found = "", []
    for line in map(str.strip, entry_points.splitlines()):
        if line.startswith("["):
            section = line.strip("[]")
        elif section == GROUP and "=" in line:
            found.append(line.partition("=")[2].strip())
    return found
