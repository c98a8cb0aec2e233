"""The files of the web page: read once when the server starts, sent without the token, never cached
unchecked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI
    from fastapi.requests import Request
    from fastapi.responses import Response

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Nothing runs that is not a file of this page, and nothing is fetched from another host, whatever a note
holds."""

_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_INDEX = "index.html"


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page: what is sent, its media type, and the tag by which a browser asks for a newer
    one."""

    content: bytes
    media_type: str
    etag: str


def page_files() -> Mapping[str, PageFile]:
    """The files of the page by the path of their address; `/` is the page itself. Other kinds of file, such
    as a licence, are not served."""
    root = resources.files("vault_indexer.serve") / "page"
    found = dict(_below(root, "/page/"))
    return {**found, "/": found[f"/page/{_INDEX}"]}


def add_page(api: FastAPI, files: Mapping[str, PageFile]) -> None:
    """Add a route for each file. `/openapi.json` does not list them."""
    for path, file in files.items():
        _add_file(api, path, file)


def _below(folder: Traversable, address: str) -> list[tuple[str, PageFile]]:
    found: list[tuple[str, PageFile]] = []
    for entry in folder.iterdir():
        suffix = entry.name[entry.name.rfind(".") :]
        if entry.is_dir():
            found += _below(entry, f"{address}{entry.name}/")
        elif suffix in _TYPES:
            content = entry.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
            found.append((address + entry.name, PageFile(content, _TYPES[suffix], etag)))
    return found


def _add_file(api: FastAPI, path: str, file: PageFile) -> None:
    from fastapi.responses import Response

    headers = {**_HEADERS, "ETag": file.etag}

    async def send(request: Request) -> Response:
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        return Response(file.content, media_type=file.media_type, headers=headers)

    api.add_route(path, send, methods=["GET", "HEAD"], include_in_schema=False)
