"""Extracts the text of documents (PDF, office files, books, web pages) as Markdown."""

from vault_indexer.documents.extract import EXTRACT_VERSION, EXTRACTORS, extract
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
    "EXTRACTORS",
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
