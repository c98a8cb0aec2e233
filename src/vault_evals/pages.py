"""External pages that cases cite: from snapshots, or as they are now.

Only `fetch_page` uses the network, and only `indexer eval snapshot` and `--live` pass it on. A snapshot is a
folder with one JSON file for each URL, named by the SHA-256 of the URL: a name that is the same in every
process, and valid for any URL.
"""

from __future__ import annotations

import ipaddress
import json
import re
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from html.parser import HTMLParser
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from vault_evals.cases import CitationsExpected, ExpectedCitation, GoldenCase, replace_citation, sha256_of
from vault_evals.wording import closest_passage, diff_of
from vault_indexer.errors import UnavailableError, UsageError
from vault_indexer.system import record, write_atomically

_UNICAST = ipaddress.IPv6Network("2000::/3")
_IPV4_IN_IPV6 = (ipaddress.IPv6Network("2001::/32"), ipaddress.IPv6Network("2002::/16"))
"""Teredo and 6to4: each address contains an IPv4 address that it leads to."""


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet: not loopback, private, link-local, shared,
    multicast, reserved, nor an IPv4 address within an IPv6 address."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv4Address):
        return found.is_global and not (found.is_multicast or found.is_reserved)
    return found.is_global and found in _UNICAST and not any(found in network for network in _IPV4_IN_IPV6)


@record
class Network:
    """Access to pages: the resolver of names, and the addresses that are allowed.

    No proxy is used, regardless of the environment, because it would resolve the names itself.
    """

    resolve: Callable[..., list[Any]] = socket.getaddrinfo
    accepts: Callable[[str], bool] = is_public

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """A connection to an address of the host. The name is resolved once, and the connection uses the
        address that was checked. Raises OSError if an address is not allowed, or none answers."""
        addresses = [found[4][0] for found in self.resolve(host, port, type=socket.SOCK_STREAM)]
        # All addresses before the first connection: a name with a private address is refused as a whole.
        for address in addresses:
            if not self.accepts(address):
                raise OSError(f"{host} has the address {address}; only public addresses are fetched from")
        for address in addresses[:-1]:
            try:
                return socket.create_connection((address, port), timeout)
            except OSError:
                continue
        # The last attempt is outside the loop, so that its error is raised.
        return socket.create_connection((addresses[-1], port), timeout)

    def open(self, request: urllib.request.Request, timeout: float) -> HTTPResponse:
        """The response over HTTP or HTTPS; each redirect is checked like the first address. Raises OSError,
        the base class of urllib's errors."""
        opener = urllib.request.OpenerDirector()
        for handler in (
            _HttpHandler(self),
            _HttpsHandler(self),
            urllib.request.HTTPRedirectHandler(),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),
            urllib.request.UnknownHandler(),
        ):
            opener.add_handler(handler)
        response = opener.open(request, timeout=timeout)
        assert isinstance(response, HTTPResponse)
        return response


class _Connection(HTTPConnection):
    def __init__(self, host: str, *, network: Network, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._network, self._seconds = network, timeout

    def connect(self) -> None:
        self.sock = self._network.connect(self.host, self.port, self._seconds)


class _SecureConnection(HTTPSConnection):
    def __init__(self, host: str, *, network: Network, timeout: float) -> None:
        super().__init__(host, timeout=timeout)
        self._network, self._seconds, self._tls = network, timeout, ssl.create_default_context()

    def connect(self) -> None:
        """Connects through the network object; the certificate must be that of the host."""
        plain = self._network.connect(self.host, self.port, self._seconds)
        self.sock = self._tls.wrap_socket(plain, server_hostname=self.host)


class _HttpHandler(urllib.request.HTTPHandler):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self._network = network

    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(_Connection, req, network=self._network)  # type: ignore[arg-type] # `network` is ours


class _HttpsHandler(urllib.request.HTTPSHandler):
    def __init__(self, network: Network) -> None:
        super().__init__()
        self._network = network

    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(_SecureConnection, req, network=self._network)  # type: ignore[arg-type] # `network` is ours


CitationState = Literal["same", "moved", "note moved", "changed", "gone"]
"""Found where the case claims; elsewhere in the note, or at the URL that the page redirects to; in another
note; with different wording; not found."""

PUBLIC_NETWORK = Network()
GONE_STATUS = frozenset({404, 410})
TIMEOUT_S = 20.0
MAX_PAGE_BYTES = 5 << 20
MAX_KEPT_CHARS = 200_000
"""The maximum number of characters of a page's text; the rest is not compared."""

_SPACE = re.compile(r"\s+")
_SILENT = frozenset({"script", "style", "template", "noscript", "head"})


@record
class Page:
    """A page as fetched. `status` is that of HTTP, `final_url` the target of redirects, `text` the visible
    text with single spaces."""

    url: str
    status: int
    final_url: str
    text: str
    fetched_at: str

    @property
    def is_gone(self) -> bool:
        """Whether the server reports that there is no such page."""
        return self.status in GONE_STATUS


Fetcher = Callable[[str], Page]
"""Fetches a page. Raises UnavailableError if no answer shows whether the page exists."""


class MissingSnapshotError(UsageError):
    """A cited page was never fetched."""


class PageSource(Protocol):
    def page(self, url: str) -> Page:
        """The page of a URL. Raises UnavailableError or UsageError if it is not available."""
        ...


class PageSnapshots:
    """The pages of a folder of snapshots. It never fetches one."""

    def __init__(self, folder: Path, may_read: Callable[[Path], bool] = lambda _file: True) -> None:
        """Files that fail `may_read` are treated as missing."""
        self._folder = folder
        self._may_read = may_read

    def page(self, url: str) -> Page:
        """The page as fetched. Raises MissingSnapshotError if it has no snapshot, UsageError for a damaged
        one."""
        file = self._folder / snapshot_name(url)
        try:
            if not self._may_read(file):
                raise FileNotFoundError(file)
            data = json.loads(file.read_text(encoding="utf-8"))
            page = Page(data["url"], data["status"], data["final_url"], data["text"], data["fetched_at"])
        except FileNotFoundError as error:
            raise MissingSnapshotError(
                f"{url}: no snapshot of this page ({file}); make one with `indexer eval snapshot`"
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{file}: not a snapshot of a page: {error}") from error
        if page.url != url:
            raise UsageError(f"{file}: is the snapshot of {page.url}, expected {url}")
        return page

    def has(self, url: str) -> bool:
        try:
            self.page(url)
        except UsageError:
            return False
        return True

    def write(self, page: Page) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / snapshot_name(page.url)
        data = json.dumps(asdict(page), ensure_ascii=False, indent=1)
        write_atomically(file, f"{data}\n".encode(), mode=0o644)
        return file


class LivePages:
    """The current pages, each fetched once. It never reads a snapshot."""

    def __init__(self, fetch: Fetcher | None) -> None:
        self._fetch = fetch
        self._pages: dict[str, Page] = {}

    def page(self, url: str) -> Page:
        """The page. Raises UnavailableError, and UsageError if fetching is not allowed."""
        if self._fetch is None:
            raise UsageError(f"{url}: pages are not fetched here; run `indexer eval run --live`")
        if url not in self._pages:
            self._pages[url] = self._fetch(url)
        return self._pages[url]


@record
class Located:
    """The current position of a citation. `now` is the citation with current values (None: a page that is the
    same, or nothing to cite), `line` its line from 1 (0: unknown), `diff` the change of its words."""

    state: CitationState
    now: ExpectedCitation | None = None
    detail: str = ""
    diff: str = ""
    line: int = 0


def check_page(citation: ExpectedCitation, pages: PageSource) -> Located:
    """The state of the page that a case cites. Raises the errors of `PageSource.page`."""
    page = pages.page(citation.url)
    if page.is_gone:
        return Located("gone", None, f"the server returned {page.status}")
    quote = _SPACE.sub(" ", citation.quote).strip()
    if quote and quote not in page.text:
        span = closest_passage(quote, page.text)
        nearest = page.text[span[0] : span[1]] if span else ""
        hashed = sha256_of(nearest) if citation.sha256 else None
        now = replace_citation(citation, quote=nearest, sha256=hashed) if nearest else None
        return Located("changed", now, "the page does not contain the quote", diff_of(quote, nearest))
    if not quote and citation.sha256 and citation.sha256 != sha256_of(page.text):
        now = replace_citation(citation, sha256=sha256_of(page.text))
        return Located("changed", now, f"the sha256 of its text is {now.sha256}")
    if page.final_url != citation.url:
        return Located("moved", replace_citation(citation, url=page.final_url), f"now {page.final_url}")
    return Located("same")


def cited_urls(cases: Iterable[GoldenCase]) -> tuple[str, ...]:
    """The distinct URLs that cases cite, in order."""
    expected = [case.expected for case in cases if isinstance(case.expected, CitationsExpected)]
    urls = (cited.url for one in expected for cited in one.expected_citations)
    return tuple(dict.fromkeys(filter(None, urls)))


def hosts_of(urls: Iterable[str]) -> tuple[str, ...]:
    """The distinct hosts of URLs, with explicit ports, sorted."""
    return tuple(sorted({urlsplit(url).netloc.rpartition("@")[2] or url for url in urls}))


def snapshot_name(url: str) -> str:
    return f"{sha256_of(url)}.json"


def fetch_page(url: str, network: Network = PUBLIC_NETWORK) -> Page:
    """Fetches a page over HTTP or HTTPS from a public address. Raises UnavailableError unless the answer is a
    page or reports its absence."""
    request = urllib.request.Request(
        url, headers={"User-Agent": "vault-indexer", "Accept": "text/html, text/*"}
    )
    fetched_at = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        with network.open(request, TIMEOUT_S) as response:
            data = response.read(MAX_PAGE_BYTES)
            charset = response.headers.get_content_charset() or "utf-8"
            is_html = response.headers.get_content_type() == "text/html"
            text = page_text(data.decode(charset, "replace"), is_html=is_html)
            return Page(url, response.status, response.url, text, fetched_at)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in GONE_STATUS:
            return Page(url, error.code, url, "", fetched_at)
        raise UnavailableError(f"{url}: the server returned {error.code} {error.reason}") from error
    except (OSError, HTTPException, ValueError, LookupError) as error:
        reason = getattr(error, "reason", None) or error
        raise UnavailableError(f"{url}: cannot be fetched: {reason}") from error


def page_text(source: str, *, is_html: bool) -> str:
    """The visible text of a page, with single spaces."""
    if is_html:
        reader = _VisibleText()
        reader.feed(source)
        reader.close()
        source = " ".join(reader.parts)
    return _SPACE.sub(" ", source).strip()[:MAX_KEPT_CHARS]


class _VisibleText(HTMLParser):
    """Collects the text of a page outside of scripts and similar elements."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Counts the open elements that are not shown."""
        self._silent += tag in _SILENT

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT and self._silent:
            self._silent -= 1

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)
