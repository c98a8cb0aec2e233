"""The kinds of files, by their suffixes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from vault_indexer.system import record


class FileKind(StrEnum):
    """The role of a vault file in the index: text to read, cards to read, a document whose text is extracted,
    or a target of links."""

    NOTE = "note"
    CANVAS = "canvas"
    DOCUMENT = "document"
    ATTACHMENT = "attachment"


@record
class DocumentKind:
    """A kind of document. `part` is the unit that ends at a form feed in its extracted text ("": it has no
    parts). `library` is the module that the extractor imports ("": none), a part of the extra `ocr`. A kind
    `on_request` is read only if the configuration names it."""

    name: str
    suffixes: tuple[str, ...]
    part: str = ""
    on_request: bool = False
    library: str = ""


DOCUMENT_KINDS: tuple[DocumentKind, ...] = (
    DocumentKind("pdf", (".pdf",), "page"),
    DocumentKind("docx", (".docx", ".docm", ".dotx")),
    DocumentKind("pptx", (".pptx", ".pptm", ".ppsx"), "slide"),
    DocumentKind("xlsx", (".xlsx", ".xlsm"), "sheet"),
    DocumentKind("odt", (".odt", ".ott")),
    DocumentKind("ods", (".ods",), "sheet"),
    DocumentKind("odp", (".odp",), "slide"),
    DocumentKind("rtf", (".rtf",)),
    DocumentKind("epub", (".epub",), "chapter"),
    DocumentKind("html", (".html", ".htm", ".xhtml")),
    DocumentKind("ipynb", (".ipynb",)),
    DocumentKind("csv", (".csv", ".tsv")),
    DocumentKind("subtitles", (".srt", ".vtt")),
    DocumentKind("text", (".txt", ".org", ".rst", ".tex")),
    DocumentKind("base", (".base",)),
    DocumentKind("json", (".json",), on_request=True),
    DocumentKind("image", (".png", ".jpg", ".jpeg", ".webp"), library="rapidocr"),
)
"""One row a kind; `documents.extractors` has an extractor of the same name."""

_DOCUMENT_SUFFIXES: Mapping[str, DocumentKind] = MappingProxyType(
    {suffix: kind for kind in DOCUMENT_KINDS for suffix in kind.suffixes}
)

_SUFFIXES: Mapping[str, FileKind] = MappingProxyType(
    {
        ".md": FileKind.NOTE,
        ".markdown": FileKind.NOTE,
        ".canvas": FileKind.CANVAS,
        ".excalidraw": FileKind.CANVAS,
    }
)
"""Of the files whose text is read; all others are attachments."""

KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "note": (),
        "canvas": (".canvas",),
        "document": tuple(_DOCUMENT_SUFFIXES),
        **{kind.name: kind.suffixes for kind in DOCUMENT_KINDS},
    }
)
"""The kinds of files with text, each with its suffixes; all others are notes."""


def kind_of(path: str) -> FileKind:
    """The kind, by the extension alone, in any case."""
    suffix = _suffix(path)
    return _SUFFIXES.get(suffix) or (
        FileKind.DOCUMENT if suffix in _DOCUMENT_SUFFIXES else FileKind.ATTACHMENT
    )


def document_kind_of(path: str) -> DocumentKind | None:
    """The kind of document, by the extension alone, in any case; None for other files."""
    return _DOCUMENT_SUFFIXES.get(_suffix(path))


@record
class SizeLimits:
    """The largest sizes, in bytes, of the files whose text is read."""

    notes: int
    documents: int = 100 << 20

    def of(self, path: str) -> int:
        return self.documents if document_kind_of(path) else self.notes


def _suffix(path: str) -> str:
    lowered = path.lower()
    return lowered[lowered.rfind(".") :]


# Programming languages by the names that people give them, and by the suffixes of source files.


_LANGUAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "python": ("py pyi", "python3"),
        "javascript": ("js jsx mjs cjs", "node"),
        "typescript": ("ts mts cts", ""),
        "tsx": ("tsx", ""),
        "java": ("java", ""),
        "csharp": ("cs", "c#"),
        "cpp": ("cpp cc cxx hpp hh", "c++"),
        "c": ("c h", ""),
        "php": ("php", ""),
        "go": ("go", "golang"),
        "rust": ("rs", ""),
        "bash": ("sh bash zsh", "shell"),
    }
)
"""By its name here, the suffixes of a language and another name."""

SOURCE_SUFFIXES: Mapping[str, str] = MappingProxyType(
    {f".{suffix}": name for name, (suffixes, _) in _LANGUAGES.items() for suffix in suffixes.split()}
)
"""Suffixes of source files that can be indexed, each with the language."""

_NAMES = MappingProxyType(
    {alias: name for name, row in _LANGUAGES.items() for alias in " ".join(row).split()}
)


def language_of(name: str) -> str:
    """The one name of a language, from an info string or a suffix; any other text in lower case."""
    folded = name.lower().strip("{}.")
    return _NAMES.get(folded, folded)


def language_of_path(path: str) -> str:
    """The language of a source file by its suffix; "" for any other file."""
    name = path.rpartition("/")[2].lower()
    return SOURCE_SUFFIXES.get(name[name.rfind(".") :], "") if "." in name[1:] else ""
