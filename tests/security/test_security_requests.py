"""Cases of a vault name URLs of this machine and of its network: nothing there is asked."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from http_servers import serving

from vault_evals.pages import Network, fetch_page, hosts_of, is_public
from vault_indexer.errors import UnavailableError

OUTSIDE, INSIDE = "127.0.0.2", "127.0.0.1"
"""Two addresses of loopback: the network below takes the first for a public one."""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="127.0.0.2 answers on Linux")


@dataclass
class Site:
    """A server at an address; `location` is where it redirects, if anywhere."""

    port: int = 0
    location: str = ""
    asked: list[str] = field(default_factory=list)


@contextmanager
def site_at(address: str, port: int = 0, location: str = "") -> Iterator[Site]:
    site = Site(location=location)

    def respond(request: BaseHTTPRequestHandler) -> None:
        site.asked.append(request.path)
        request.send_response(302 if site.location else 200)
        if site.location:
            request.send_header("Location", site.location)
        request.end_headers()
        request.wfile.write(f"the page of {address}".encode())

    with serving(respond, address, port) as server:
        site.port = server.server_port
        yield site


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1", "127.1"]
)
def test_no_service_of_this_machine_is_asked(host: str) -> None:
    with site_at("127.0.0.1") as site:
        with pytest.raises(UnavailableError, match="only public addresses are fetched from"):
            fetch_page(f"http://{host}:{site.port}/secret")
        assert site.asked == []


@pytest.mark.parametrize("scheme", ["file", "ftp", "data"])
def test_no_file_is_read_as_a_page(scheme: str) -> None:
    with pytest.raises(UnavailableError, match="unknown url type"):
        fetch_page(f"{scheme}:///etc/passwd")


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with site_at("127.0.0.1") as site:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{site.port}")
        with pytest.raises(UnavailableError, match="only public addresses"):
            fetch_page("http://127.0.0.1/")
        assert site.asked == []


def test_a_redirect_leads_to_no_inner_address() -> None:
    network = Network(accepts=lambda address: address == OUTSIDE)
    with site_at(INSIDE) as victim, site_at(OUTSIDE, location=f"http://{INSIDE}:{victim.port}/") as site:
        with pytest.raises(UnavailableError, match=f"{INSIDE}.*only public"):
            fetch_page(f"http://{OUTSIDE}:{site.port}/", network)
        assert (site.asked, victim.asked) == (["/"], [])
    with site_at(OUTSIDE) as target, site_at(OUTSIDE, location=f"http://{OUTSIDE}:{target.port}/x") as site:
        page = fetch_page(f"http://{OUTSIDE}:{site.port}/", network)
        assert (page.text, page.final_url) == ("the page of 127.0.0.2", site.location)


def test_the_address_that_was_checked_is_the_one_that_is_asked() -> None:
    """A name that changes its address between the check and the connection."""
    answers = iter([OUTSIDE, INSIDE])

    def resolve(_host: str, port: int, **_: object) -> list[Any]:
        return [(0, 0, 0, "", (next(answers), port))]

    network = Network(resolve, lambda address: address == OUTSIDE)
    with site_at(OUTSIDE) as site, site_at(INSIDE, site.port) as victim:
        assert fetch_page(f"http://rebound.example:{site.port}/", network).text == "the page of 127.0.0.2"
        with pytest.raises(UnavailableError, match=f"{INSIDE}.*only public"):
            fetch_page(f"http://rebound.example:{site.port}/", network)
        assert victim.asked == []


INNER = """
10.0.0.1 172.16.0.1 192.168.0.1 169.254.169.254 100.64.0.1 127.8.8.8 0.0.0.0 224.0.0.1 240.0.0.1
255.255.255.255
::1 :: fe80::1%eth0 fec0::1 fc00::1 ff02::1 ::ffff:8.8.8.8 64:ff9b::7f00:1 2002:7f00:1::1 2001:0:7f00:1::1
"""


def test_an_inner_address_is_not_public() -> None:
    assert [address for address in INNER.split() if is_public(address)] == []


def test_addresses_of_the_internet_are_public() -> None:
    assert all(map(is_public, ("1.1.1.1", "93.184.216.34", "2606:4700:4700::1111")))


def test_hosts_are_named_without_what_looks_like_another() -> None:
    urls = ["https://example.org@127.0.0.1:80/x", "https://b.example/1", "https://b.example/2"]
    assert hosts_of(urls) == ("127.0.0.1:80", "b.example")
