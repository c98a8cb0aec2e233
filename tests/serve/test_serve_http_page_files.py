"""The files of the web page: which are sent, as what, and when a browser gets one again."""

import asyncio
import re
import sys
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest
from asgi import exchange
from starlette.applications import Starlette

from vault_indexer.serve.http.page_files import CONTENT_SECURITY_POLICY, page_files, page_routes

FILES = page_files()
PAGE = Path(__file__).parents[2] / "src" / "vault_indexer" / "serve" / "page"
FONT = "/page/vendor/katex/fonts/KaTeX_Main-Regular.woff2"
DIAGRAMS = "/page/diagrams.html"


def ask(path: str, method: str = "GET", etag: str = "") -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers and body of the answer."""
    headers = [(b"if-none-match", etag.encode())] if etag else []
    found = asyncio.run(exchange(Starlette(routes=page_routes(FILES)), path, method, headers=headers))
    return found.status, found.headers, found.body


@pytest.mark.parametrize(
    ("path", "file", "kind"),
    [
        ("/", "index.html", "text/html; charset=utf-8"),
        ("/page/index.html", "index.html", "text/html; charset=utf-8"),
        ("/page/app.js", "app.js", "text/javascript; charset=utf-8"),
        ("/page/style.css", "style.css", "text/css; charset=utf-8"),
        ("/page/icon.svg", "icon.svg", "image/svg+xml"),
        (FONT, FONT.removeprefix("/page/"), "font/woff2"),
    ],
)
def test_a_file_is_sent_with_its_type_and_what_the_browser_may_do(path: str, file: str, kind: str) -> None:
    content = (PAGE / file).read_bytes()
    status, headers, body = ask(path)
    assert (status, body) == (200, content)
    assert headers == {
        "content-type": kind,
        "content-length": str(len(content)),
        "content-security-policy": CONTENT_SECURITY_POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-cache",
        "etag": f'"{sha256(content).hexdigest()[:20]}"',
    }
    assert ask(path, "HEAD")[:2] == (200, headers)
    assert ask(path, "POST")[0] == 405


def test_the_page_may_load_nothing_that_is_not_its_own() -> None:
    assert CONTENT_SECURITY_POLICY == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; frame-src 'self'; media-src 'self'; worker-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )


def test_a_file_is_sent_again_only_if_it_changed() -> None:
    _, headers, body = ask("/page/app.js")
    status, again, nothing = ask("/page/app.js", etag=headers["etag"])
    assert (status, nothing) == (304, b"")
    assert again["etag"] == headers["etag"]
    assert again["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert ask("/page/app.js", etag=ask("/")[1]["etag"])[::2] == (200, body)


@pytest.mark.parametrize(
    "path",
    [
        *("/page/tsconfig.json", "/page/shapes.d.ts", "/page/vendor/LICENSE.txt", "/page/vendor/entry.mjs"),
        *("/page/diagrams-frame.js", "/page/", "/index.html"),
    ],
)
def test_other_files_of_the_folder_are_none_of_the_page(path: str) -> None:
    assert path not in FILES
    assert ask(path)[0] == 404


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, mermaid: bytes | None) -> None:
    """A package `mermaidx` whose code cannot be imported."""
    monkeypatch.delitem(sys.modules, "mermaidx", raising=False)
    assets = folder / "mermaidx" / "assets"
    assets.mkdir(parents=True)
    (assets.parent / "__init__.py").write_text("raise ValueError('it is imported')")
    if mermaid is not None:
        (assets / "mermaid.js").write_bytes(mermaid)
    monkeypatch.syspath_prepend(folder)


@pytest.mark.parametrize(("mermaid", "first"), [(None, b""), (b"draw('</script>')", b"draw('<\\/script>')")])
def test_the_document_of_diagrams_runs_mermaid_and_its_own_script_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mermaid: bytes | None, first: bytes
) -> None:
    install(monkeypatch, tmp_path, mermaid)
    document = page_files()[DIAGRAMS]
    scripts = re.findall(rb"<script>(.*?)</script>", document.content, re.DOTALL)
    assert scripts == [first, (PAGE / "diagrams-frame.js").read_bytes()]
    hashes = " ".join(f"'sha256-{b64encode(sha256(one).digest()).decode()}'" for one in scripts)
    assert document.policy == (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
    )
    assert document.media_type == "text/html; charset=utf-8"
    assert ask(DIAGRAMS)[1]["content-security-policy"] == FILES[DIAGRAMS].policy


def test_without_mermaid_or_its_package_the_document_has_its_own_script_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, tmp_path, b"draw()")
    (tmp_path / "mermaidx" / "__init__.py").unlink()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])  # not the real package, where it is installed
    for _ in range(2):
        assert b"<body><script></script><script>" in page_files()[DIAGRAMS].content
        monkeypatch.setitem(sys.modules, "mermaidx", None)
