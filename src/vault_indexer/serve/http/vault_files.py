"""Sends files of the vault to the page: PDFs, sound and films for the viewers of the browser, others to be
saved.

A frame or a player cannot send the token, so an address may contain a pass instead: an HMAC with the token as
key, which the page computes, for one file of one vault and a limited time. No file is sent as a type that a
browser could run in the origin of the page.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import re
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

from vault_indexer.serve.http.guard import Message
from vault_indexer.serve.http.routes import query_pairs
from vault_indexer.serve.http.vault_choice import IN_PATH

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

FILE_PATH = "/v1/file"
PASS_SECONDS = 24 * 3600
_PIECE = 256 << 10
_OPEN_RANGE = 4 << 20
"""The most that is sent for `Range: bytes=N-`: a player that is paused does not keep its connection."""

_TYPES = {
    ".pdf": "application/pdf",
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    ".m4a": "audio/mp4",
    ".flac": "audio/flac",
    **dict.fromkeys((".ogg", ".oga", ".opus"), "audio/ogg"),
    **dict.fromkeys((".mp4", ".m4v", ".mov"), "video/mp4"),
    ".webm": "video/webm",
    ".ogv": "video/ogg",
    ".mkv": "video/x-matroska",
}
"""Types that a browser shows without running anything of them in the page's origin."""

_HEADERS = {
    "Accept-Ranges": "bytes",
    # A PDF viewer of a browser is itself an object with styles in its document.
    "Content-Security-Policy": (
        "default-src 'none'; object-src 'self'; media-src 'self'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def has_pass(token: str, scope: Message) -> bool:
    """Whether the address of a request has a valid pass for the file that it names."""
    if scope["path"] != FILE_PATH or scope["method"] not in ("GET", "HEAD"):
        return False
    pairs = query_pairs(scope["query_string"])
    values = dict(pairs)
    # Of a repeated parameter, the pass could be checked for one value and the file read by the other.
    if len(values) != len(pairs) or set(values) != {"path", "until", "pass"}:
        return False
    until = values["until"]
    if not re.fullmatch(r"[0-9]{1,12}", until) or not 0 <= int(until) - time.time() <= PASS_SECONDS:
        return False
    signed = f"{scope.get(IN_PATH, '')}\n{until}\n{values['path']}".encode("utf-8", "replace")
    expected = hmac.digest(token.encode(), signed, "sha256").hex()
    return hmac.compare_digest(values["pass"].encode("utf-8", "replace"), expected.encode())


def file_route(open_file: Callable[[str], BinaryIO]) -> Route:
    """The route of files; `open_file` opens one by its path. `/openapi.json` does not list it."""
    from starlette.routing import Route

    async def send(request: Request) -> Response:
        path = request.query_params.get("path", "")
        file = await asyncio.to_thread(open_file, path)
        return _response(file, path, request.method, request.headers.get("range", ""))

    return Route(FILE_PATH, send, methods=["GET", "HEAD"])


def _response(file: BinaryIO, path: str, method: str, wanted: str) -> Response:
    from starlette.responses import Response, StreamingResponse

    name = path.rpartition("/")[2]
    media_type = _TYPES.get(name[name.rfind(".") :].lower())
    headers = {**_HEADERS, "Content-Type": media_type or "application/octet-stream"}
    place = "inline" if media_type else "attachment"
    headers["Content-Disposition"] = f"{place}; filename*=UTF-8''{quote(name, safe='')}"
    size = os.fstat(file.fileno()).st_size
    part = _part(wanted, size) if method == "GET" else None
    span = range(size) if part is None else part
    headers["Content-Length"] = str(len(span))
    if part is not None:
        headers["Content-Range"] = f"bytes {f'{part.start}-{part.stop - 1}' if part else '*'}/{size}"
    if method == "HEAD" or (part is not None and not part):
        # Otherwise `_pieces` closes the file after it is sent.
        file.close()
        return Response(status_code=200 if part is None else 416, headers=headers)
    return StreamingResponse(_pieces(file, span), 200 if part is None else 206, headers)


def _part(wanted: str, size: int) -> range | None:
    """The bytes that a header Range selects: none, if the file has no such bytes; None if all are wanted."""
    match = _RANGE.fullmatch(wanted)
    if not match or not (match[1] or match[2]):
        return None
    if not match[1]:
        return range(max(0, size - int(match[2])), size)
    start = int(match[1])
    last = int(match[2]) if match[2] else start + _OPEN_RANGE - 1
    return range(start, min(size, last + 1))


def _pieces(file: BinaryIO, span: range) -> Iterator[bytes]:
    with file:
        file.seek(span.start)
        missing = len(span)
        while missing > 0 and (piece := file.read(min(_PIECE, missing))):
            missing -= len(piece)
            yield piece
