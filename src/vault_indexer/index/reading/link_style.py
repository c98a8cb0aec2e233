"""The style of the links of a vault: the configured one, else the one that its files show."""

from __future__ import annotations

from vault_indexer.config import Settings
from vault_indexer.model import LinkStyle
from vault_indexer.parse import detect_style
from vault_indexer.store.catalog import CatalogReader
from vault_indexer.vault.walk import Scan


def style_of_files(settings: Settings, found: Scan) -> LinkStyle:
    """Return the style for the files of a scan of the whole vault."""
    tops = {"/".join(file.path.split("/")[:depth]) for file in found.files for depth in (1, 2)}
    return detect_style(tops.__contains__) if settings.links.style == "auto" else settings.links.style


def style_of_catalog(settings: Settings, catalog: CatalogReader) -> LinkStyle:
    """Return the style for the files of a catalog."""
    return detect_style(catalog.exists) if settings.links.style == "auto" else settings.links.style
