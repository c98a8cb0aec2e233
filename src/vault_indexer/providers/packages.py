"""Where an installed package keeps its data files, found without importing it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from vault_indexer.errors import ProviderError


def is_installed(package: str) -> bool:
    """Whether the package can be found. It is not imported."""
    return find_spec(package) is not None


def package_folder(package: str, install: str) -> Path:
    """The folder of an installed package. Raises ProviderError that says `install` where it is missing."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ProviderError(f"the Python package {package} is not installed: {install}")
    return Path(next(iter(spec.submodule_search_locations)))
