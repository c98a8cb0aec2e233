"""Extracts the text of documents (PDF, office files, books, web pages) as Markdown.

The extractors are loaded when first used: a search does not need them.
"""

import importlib

from vault_indexer.documents.markdown import (
    BOXES,
    NOT_READ,
    PAGES_WITHOUT_TEXT,
    line_boxes,
    part_at,
    part_name,
    part_spans,
    span_of_parts,
    with_part_names,
    without_boxes,
)
from vault_indexer.documents.ocr import recognise

__all__ = [
    "BOXES",
    "EXTRACT_VERSION",
    "NOT_READ",
    "PAGES_WITHOUT_TEXT",
    "extract",
    "line_boxes",
    "part_at",
    "part_name",
    "part_spans",
    "recognise",
    "span_of_parts",
    "with_part_names",
    "without_boxes",
]

EXTRACT_VERSION = "6"
"""Increased whenever the same bytes give another text: stored texts of another version are made again."""


def extract(path: str, data: bytes) -> str:
    """Returns the text of a document as Markdown. Raises NoteError if the file cannot be read."""
    text: str = importlib.import_module("vault_indexer.documents.extractors").extract(path, data)
    return text
