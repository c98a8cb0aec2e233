"""The port for optional packages: how `vault_evals` and `vault_gateway` add to the core.

The core imports neither. An optional package is a top-level package of this distribution, with an entry point
in pyproject.toml that names its `Extension`:

    [project.entry-points."vault_indexer.extensions"]
    evals = "vault_evals:EXTENSION"

Every command loads the module of that object, so it imports only this module. Its parts are named as
"module:name" and imported at first use. A package whose folder was deleted adds nothing and is not an error.
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
    """The parts that an optional package adds. Each string is "module:name"; "" means none.

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
    """The data in the core about a package that may be absent: the commands and tables that a user may
    try."""

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
    """Returns the extensions of the installed packages, in the order of the metadata."""
    return present(references(_entry_points()))


def present(named: Iterable[str]) -> tuple[Extension, ...]:
    """Returns the extensions, given as "module:name", whose packages exist."""
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
    """Imports and returns the object that "module:name" names."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def offered(part: str) -> list[Any]:
    """Imports and returns this part (for example `tools`) of all extensions that have it."""
    return [load(reference) for one in extensions() if (reference := getattr(one, part))]


def package_of(*, command: str = "", table: str = "") -> str:
    """Returns the optional package, installed or not, that has this command or table; "" if none has it."""
    packages = OPTIONAL.items()
    return next((name for name, its in packages if command in its.commands or table in its.tables), "")


def _entry_points() -> str:
    """Returns the entry points of this distribution. `importlib.metadata` returns the same, but every command
    would pay for its import, which takes 20 times as long."""
    for folder in sys.path:
        with suppress(OSError), os.scandir(folder or ".") as entries:
            for entry in entries:
                if entry.name.startswith("vault_indexer-") and entry.name.endswith(".dist-info"):
                    return Path(entry.path, "entry_points.txt").read_text("utf-8")
    return ""


def references(entry_points: str) -> list[str]:
    """Returns the values of the group from an INI file, as the packaging standard defines it."""
    section, found = "", []
    for line in map(str.strip, entry_points.splitlines()):
        if line.startswith("["):
            section = line.strip("[]")
        elif section == GROUP and "=" in line:
            found.append(line.partition("=")[2].strip())
    return found
