"""Functions of the user: `module:function`, or an entry point of an installed package."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib.metadata import entry_points

from vault_indexer.errors import ProviderError, UsageError


def import_function(key: str, name: str, group: str) -> Callable[..., object]:
    """The function that the setting `key` names; `group` is the group of entry points it may be in.

    Its module is imported: callers must not pass a name that a note or a vault chose. Raises UsageError for a
    name that means nothing, ProviderError for what cannot be imported or is no function.
    """
    found = _import(key, name, group)
    if not callable(found):
        raise ProviderError(f"{key}: {name} is not a function")
    function: Callable[..., object] = found
    return function


def _import(key: str, name: str, group: str) -> object:
    module, colon, function = name.partition(":")
    try:
        if colon:
            if not (module and function):
                raise UsageError(f"{key} = {name!r}: must be module:function or an entry point")
            return pkgutil.resolve_name(name)
        for entry in entry_points(group=group, name=name):
            return entry.load()
    except (ImportError, AttributeError, ValueError, SyntaxError) as error:
        raise ProviderError(f"{key}: {name} cannot be imported: {error}") from error
    known = ", ".join(sorted(entry_points(group=group).names)) or "none is installed"
    raise UsageError(f"{key} = {name!r}: no entry point of the group {group}: {known}")
