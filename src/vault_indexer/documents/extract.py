"""Chooses the extractor of a document by its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from vault_indexer.documents.markdown import Document, to_markdown
from vault_indexer.errors import NoteError
from vault_indexer.model import document_kind_of

EXTRACT_VERSION = "5"
"""Increased whenever the same bytes give another text: stored texts of another version are made again."""


@cache
def extractors() -> Mapping[str, Callable[[bytes], Document]]:
    """Returns the extractors by the name of the kind. Each raises NoteError with the reason why it cannot
    read the bytes. They are loaded here: a search reads no document."""
    from vault_indexer.documents import ocr, office, opendocument, pdf, rtf, text, web, workbook

    return {
        "pdf": pdf.read_pdf,
        "docx": office.read_docx,
        "pptx": office.read_pptx,
        "xlsx": workbook.read_xlsx,
        "odt": opendocument.read_odt,
        "ods": opendocument.read_ods,
        "odp": opendocument.read_odp,
        "rtf": rtf.read_rtf,
        "epub": web.read_epub,
        "html": web.read_html,
        "ipynb": text.read_ipynb,
        "csv": text.read_csv,
        "subtitles": text.read_subtitles,
        "text": text.read_text,
        "base": text.read_base,
        "json": text.read_json,
        "image": ocr.read_image,
    }


def extract(path: str, data: bytes) -> str:
    """Returns the text of a document as Markdown. Raises NoteError if the file cannot be read."""
    kind = document_kind_of(path)
    reader = extractors().get(kind.name) if kind else None
    if reader is None:
        raise NoteError("no text can be extracted from a file of this kind")
    return to_markdown(reader(data))
