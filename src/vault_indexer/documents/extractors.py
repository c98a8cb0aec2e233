"""Chooses the extractor of a document by its kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from vault_indexer.documents.markdown import Document, to_markdown
from vault_indexer.documents.ocr import read_image
from vault_indexer.documents.office import read_docx, read_pptx
from vault_indexer.documents.opendocument import read_odp, read_ods, read_odt
from vault_indexer.documents.pdf import read_pdf
from vault_indexer.documents.rtf import read_rtf
from vault_indexer.documents.text import read_base, read_csv, read_ipynb, read_json, read_subtitles, read_text
from vault_indexer.documents.web import read_epub, read_html
from vault_indexer.documents.workbook import read_xlsx
from vault_indexer.errors import NoteError
from vault_indexer.model import document_kind_of

EXTRACTORS: Mapping[str, Callable[[bytes], Document]] = MappingProxyType(
    {
        "pdf": read_pdf,
        "docx": read_docx,
        "pptx": read_pptx,
        "xlsx": read_xlsx,
        "odt": read_odt,
        "ods": read_ods,
        "odp": read_odp,
        "rtf": read_rtf,
        "epub": read_epub,
        "html": read_html,
        "ipynb": read_ipynb,
        "csv": read_csv,
        "subtitles": read_subtitles,
        "text": read_text,
        "base": read_base,
        "json": read_json,
        "image": read_image,
    }
)
"""By the name of the kind. Each raises NoteError with the reason why it cannot read the bytes."""


def extract(path: str, data: bytes) -> str:
    """Returns the text of a document as Markdown. Raises NoteError if the file cannot be read."""
    kind = document_kind_of(path)
    reader = EXTRACTORS.get(kind.name) if kind else None
    if reader is None:
        raise NoteError("no text can be extracted from a file of this kind")
    return to_markdown(reader(data) if data else Document(()))
