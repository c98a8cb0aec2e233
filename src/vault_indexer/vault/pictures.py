"""Which files of the vault are pictures that a page may show, decided by name and content."""

from __future__ import annotations

MAX_PICTURE_BYTES = 8 << 20
"""A larger picture is not sent: it travels as text, and a page holds all that it shows."""

_AVIF_BRANDS = (b"avif", b"avis", b"mif1")

_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".svg": "image/svg+xml",
}


def is_picture_name(path: str) -> bool:
    """Whether the name says that it is a picture."""
    return _suffix(path) in _TYPES


def picture_type(path: str, data: bytes) -> str | None:
    """The media type of a picture; None if the content is not what the name says."""
    media_type = _TYPES.get(_suffix(path))
    return media_type if media_type and _is_of_type(media_type, data) else None


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return name[name.rfind(".") :].lower() if "." in name else ""


def _is_of_type(media_type: str, data: bytes) -> bool:
    """By the first bytes, as browsers look at them; an SVG has its element somewhere near the start."""
    match media_type:
        case "image/png":
            return data.startswith(b"\x89PNG\r\n\x1a\n")
        case "image/jpeg":
            return data.startswith(b"\xff\xd8\xff")
        case "image/gif":
            return data.startswith((b"GIF87a", b"GIF89a"))
        case "image/webp":
            return data.startswith(b"RIFF") and data[8:12] == b"WEBP"
        case "image/avif":
            return data[4:8] == b"ftyp" and data[8:12] in _AVIF_BRANDS
    return b"<svg" in data[:4096]
