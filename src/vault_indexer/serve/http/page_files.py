"""The files of the web page: read once when the server starts, served without the token, and revalidated by
caches on each use.

One of them is generated here: the document that draws diagrams. The drawing program, Mermaid, is not trusted
with the notes: its document has an origin of its own, may run only the two scripts in it, and may fetch
nothing.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import field
from importlib import resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from vault_indexer.system import record

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; frame-src 'self'; media-src 'self'; worker-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""Only files of this page run, and nothing is fetched from another host, whatever a note contains."""

_HEADERS = {
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
    ".woff2": "font/woff2",
}
_INDEX = "index.html"
_DIAGRAMS = "/page/diagrams.html"
_DIAGRAMS_SCRIPT = "/page/diagrams-frame.js"
_MERMAID = ("assets", "mermaid.js")
"""The location of Mermaid in the package `mermaidx` of the extra `diagrams`, whose own code is not
imported."""


@record
class PageFile:
    """A file of the page: its content, its media type, and its permissions in the browser. `etag` is the tag
    by which a browser revalidates it."""

    content: bytes
    media_type: str
    policy: str = CONTENT_SECURITY_POLICY
    etag: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "etag", f'"{hashlib.sha256(self.content).hexdigest()[:20]}"')


def page_files() -> Mapping[str, PageFile]:
    """The files of the page by the path of their address; `/` is the page itself. Other kinds of file, such
    as a licence, are not served."""
    root = resources.files("vault_indexer.serve") / "page"
    found = dict(_below(root, "/page/"))
    script = found.pop(_DIAGRAMS_SCRIPT).content
    return {**found, "/": found[f"/page/{_INDEX}"], _DIAGRAMS: _diagrams_document(_mermaid(), script)}


def page_routes(files: Mapping[str, PageFile]) -> list[Route]:
    """A route for each file. `/openapi.json` does not list them."""
    return [_route(path, file) for path, file in files.items()]


def _below(folder: Traversable, address: str) -> list[tuple[str, PageFile]]:
    found: list[tuple[str, PageFile]] = []
    for entry in folder.iterdir():
        suffix = entry.name[entry.name.rfind(".") :]
        if entry.is_dir():
            found += _below(entry, f"{address}{entry.name}/")
        elif suffix in _TYPES:
            found.append((address + entry.name, PageFile(entry.read_bytes(), _TYPES[suffix])))
    return found


def _mermaid() -> bytes:
    """Mermaid's code; empty if the extra `diagrams` is not installed."""
    package = find_spec("mermaidx")
    if package is None or package.origin is None:
        return b""
    file = Path(package.origin).parent.joinpath(*_MERMAID)
    return file.read_bytes() if file.is_file() else b""


def _diagrams_document(*scripts: bytes) -> PageFile:
    """A document that runs only these scripts. It makes no requests, so no file of the page has to be
    readable for another origin."""
    # An HTML parser ends the script at this text, even within a string.
    texts = [script.replace(b"</script", b"<\\/script") for script in scripts]
    hashes = " ".join(f"'sha256-{b64encode(hashlib.sha256(text).digest()).decode()}'" for text in texts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
    )
    body = b"".join(b"<script>" + text + b"</script>" for text in texts)
    head = b'<!doctype html><html lang="en"><meta charset="utf-8"><title>Diagrams</title><body>'
    return PageFile(head + body, _TYPES[".html"], policy)


def _route(path: str, file: PageFile) -> Route:
    from starlette.responses import Response
    from starlette.routing import Route

    headers = {**_HEADERS, "Content-Security-Policy": file.policy, "ETag": file.etag}

    async def send(request: Request) -> Response:
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        return Response(file.content, media_type=file.media_type, headers=headers)

    return Route(path, send, methods=["GET", "HEAD"])
