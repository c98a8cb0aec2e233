"""Files of the vault as viewers get them: by the token or a pass, in parts, and never as a page."""

import asyncio
import hashlib
import hmac
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest
from asgi import Exchange, exchange
from golden_cases import check_golden
from serve_api import PICTURES, Api
from starlette.applications import Starlette

from vault_indexer.serve.http.vault_files import file_route

PDF = PICTURES["plan.pdf"]


def passed(api: Api, path: str, signed: str = "", *, seconds: int = 60, vault: str = "", **more: str) -> str:
    """The address of a file with a pass, computed as the page does."""
    until = str(int(time.time()) + seconds)
    text = f"{vault}\n{until}\n{signed or path}"
    made = hmac.new(api.token.encode(), text.encode(), hashlib.sha256).hexdigest()
    return f"/v1/file?{urlencode({'path': path, 'until': until, 'pass': made, **more})}"


def test_a_pass_opens_its_file_without_the_token(api: Api) -> None:
    found = api.ask(passed(api, "plan.pdf"), headers={"Authorization": ""})
    assert (found.status, found.body) == (200, PDF)
    assert "frame-ancestors 'self'" in found.headers["content-security-policy"]
    expected = {
        "content-type": "application/pdf",
        "content-disposition": "inline; filename*=UTF-8''plan.pdf",
        "cross-origin-resource-policy": "same-origin",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
    }
    assert expected.items() <= found.headers.items()
    head = api.ask(passed(api, "plan.pdf"), "HEAD", headers={"Authorization": ""})
    assert (head.status, head.headers["content-length"], head.body) == (200, str(len(PDF)), b"")
    assert api.ask("/v1/file?path=plan.pdf").body == PDF  # with the token
    view = api.ask("/v1/view?path=plan.pdf").json
    assert (view["title"], view["blocks"]) == ("plan.pdf", []), "it has no text"


def test_no_other_pass_does(api: Api) -> None:
    wrong = [
        "/v1/file?path=plan.pdf",
        passed(api, "plan.pdf", "dot.png"),
        passed(api, "plan.pdf", seconds=-1),
        passed(api, "plan.pdf", seconds=30 * 24 * 3600),
        passed(api, "plan.pdf", vault="other"),
        f"{passed(api, 'plan.pdf')}&path=dot.png",
        passed(api, "plan.pdf").replace("pass=", "pass=0"),
        passed(api, "plan.pdf", more="x"),
        passed(api, "plan.pdf", vault="x").replace("/v1/file?", "/v1/file?vault=x&"),
        passed(api, "plan.pdf").replace("/v1/file", "/v1/picture"),
    ]
    for address in wrong:
        assert api.ask(address, headers={"Authorization": ""}).status == 401, address
    posted = {"Authorization": "", "Content-Type": "application/json"}
    assert api.ask(passed(api, "plan.pdf"), "POST", b"{}", posted).status == 401
    foreign = {"Authorization": "", "Origin": "https://evil.example"}
    assert api.ask(passed(api, "plan.pdf"), headers=foreign).status == 403


@pytest.mark.parametrize("path", ["Bread.md", "page.png", "dot.png"])
def test_what_a_browser_could_run_is_only_saved(api: Api, path: str) -> None:
    found = api.ask(passed(api, path), headers={"Authorization": ""})
    assert found.status == 200
    assert found.headers["content-type"] == "application/octet-stream"
    assert found.headers["content-disposition"].startswith("attachment;")


@pytest.mark.parametrize(
    "path", ["nowhere.pdf", "../config.toml", "/etc/passwd", ".obsidian/secret.md", "Bread.md/..", ""]
)
def test_nothing_outside_the_index_is_sent(api: Api, path: str) -> None:
    assert api.ask(passed(api, path), headers={"Authorization": ""}).status in (404, 422)


def test_a_part_of_a_file(api: Api) -> None:
    def part(wanted: str) -> str:
        found = api.ask("/v1/file?path=plan.pdf", headers={"Range": wanted})
        return f"{found.status} {found.body.decode()!r} {found.headers.get('content-range')}"

    check_golden(Path(__file__).parent / "fixtures" / "ranges.md", {"": part})


def test_an_open_range_is_answered_by_a_piece(tmp_path: Path) -> None:
    """A player that is paused does not keep its connection."""
    large = tmp_path / "large.mp4"
    large.write_bytes(bytes(5 << 20))
    app = Starlette(routes=[file_route(lambda _: large.open("rb"))])

    def ask(wanted: str) -> Exchange:
        headers = [(b"range", wanted.encode())]
        return asyncio.run(exchange(app, "/v1/file?path=large.mp4", headers=headers))

    part, named, whole = (ask(one) for one in ("bytes=1-", "bytes=0-5000000", ""))
    assert [len(one.body) for one in (part, named, whole)] == [4 << 20, 5000001, 5 << 20]
    assert (part.status, whole.status, whole.headers["content-type"]) == (206, 200, "video/mp4")
