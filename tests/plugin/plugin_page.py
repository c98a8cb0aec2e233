"""The Obsidian plugin as it was built, in a page of Chromium, with a real daemon behind it.

The page is the host of `src/obsidian-plugin/test/host`. Its HTTP requests, files and processes are those of
this process: as in Electron, a request carries no Origin.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cli_sandbox import Sandbox
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect
from waiting import DEADLINE_S, PROCESS_S, wait_until

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "src" / "obsidian-plugin"
HELP_VAULT = ROOT.parent / "shared" / "data" / "vaults" / "obsidian-help"
ADDRESS = "http://localhost/obsidian.html"  # crypto.subtle needs a secure context, as Obsidian is one

WAIT_MS = float(os.environ.get("PLUGIN_DEADLINE_S", DEADLINE_S)) * 1000
"""A wait that is never reached; shorter while a test is being written."""

expect.set_options(timeout=WAIT_MS)


@dataclass(frozen=True)
class Bundle:
    """What a page loads."""

    plugin: str
    host: str
    style: str
    theme: str


@dataclass
class PluginPage:
    """A page with the plugin enabled on the vault of a sandbox."""

    page: Page
    sandbox: Sandbox
    strays: list[str] = field(default_factory=list)
    """Requests that the page made itself, not through `requestUrl`."""

    started: list[list[str]] = field(default_factory=list)
    """Commands that the plugin ran."""

    def evaluate(self, expression: str, argument: object = None) -> Any:
        return self.page.evaluate(expression, argument)

    def run(self, command: str) -> None:
        self.evaluate("id => window.host.run(id)", command)

    def open_note(self, path: str) -> None:
        self.evaluate("path => window.host.open(path)", path)

    def open_search(self) -> Locator:
        """The modal's input."""
        self.run("search")
        return self.page.locator(".vault-indexer-prompt input.prompt-input")

    def search(self, query: str) -> Locator:
        """The rows of the hits of a query that was typed into the modal."""
        found = self.open_search()
        found.press_sequentially(query)
        rows = self.page.locator(".vault-indexer-prompt .vault-indexer-row.mod-complex")
        expect(rows.first).to_be_visible()
        if ":" not in query:
            self.answered(query)
        return rows

    def answered(self, query: str) -> None:
        """Wait until the page has shown the answer to a query without operators."""
        expect(self.page.locator(".vault-indexer-create span").last).to_have_text(f"Create note “{query}”")

    def tabs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.evaluate("() => window.host.tabs()")
        return found

    def wait(self, condition: str, argument: object = None) -> None:
        """Wait until a JavaScript condition holds."""
        self.page.wait_for_function(condition, arg=argument, timeout=WAIT_MS)

    @property
    def requests(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = self.evaluate("() => window.host.requests")
        return found


def open_page(
    context: BrowserContext, bundle: Bundle, sandbox: Sandbox, *, enable: bool = True
) -> PluginPage:
    """A page that shows the vault, with the plugin enabled unless told otherwise."""
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    made = PluginPage(page, sandbox)
    page.expose_function("hostRequest", _request)
    page.expose_function("hostRead", _read)
    page.expose_function("hostKind", _kind)
    page.expose_function("hostRealpath", os.path.realpath)
    page.expose_function("hostWrite", lambda path, text: sandbox.write(path, text))

    def execute(program: str, arguments: list[str]) -> dict[str, object]:
        made.started.append([program, *arguments])
        done = subprocess.run(
            [program, *arguments],
            env={**sandbox.environ, "PATH": "/usr/bin:/bin"},
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PROCESS_S,
            check=False,
        )
        return {"code": done.returncode, "error": done.stderr}

    page.expose_function("hostExec", execute)
    streams = Streams()
    page.expose_function("hostOpen", streams.open)
    page.expose_function("hostNext", streams.next)
    page.expose_function("hostClose", streams.close)
    machine = {
        "platform": sys.platform,
        "home": sandbox.environ["HOME"],
        "env": {"XDG_STATE_HOME": sandbox.environ["XDG_STATE_HOME"]},
    }
    page.add_init_script(f"window.hostMachine = {json.dumps(machine)};")
    html = f"<!doctype html><meta charset=utf-8><style>{bundle.theme}{bundle.style}</style><body></body>"

    def serve(route: Route) -> None:
        if route.request.url == ADDRESS:
            route.fulfill(body=html, content_type="text/html")
        else:
            made.strays.append(route.request.url)
            route.abort()

    page.route("**/*", serve)
    page.goto(ADDRESS)
    page.evaluate(bundle.host)
    files = {
        path.relative_to(sandbox.vault).as_posix(): path.read_text("utf-8") if path.suffix == ".md" else "x"
        for path in sorted(sandbox.vault.rglob("*"))
        if path.is_file() and "/." not in path.as_posix().removeprefix(str(sandbox.vault))
    }
    page.evaluate("vault => window.host.start(vault)", {"vaultFolder": str(sandbox.vault), "files": files})
    if enable:
        load(made, bundle)
    return made


def write_and_index(plugin: PluginPage, path: str, text: str) -> str:
    """A new note that Obsidian and the index know; its path."""
    plugin.evaluate("([path, text]) => window.host.app.vault.create(path, text)", [path, text])
    place = ("--vault", str(plugin.sandbox.vault))
    wait_until(lambda: plugin.sandbox.run("inspect", path, *place).code == 0, f"{path} is indexed")
    return path


def load(made: PluginPage, bundle: Bundle) -> float:
    """Enable the plugin; the milliseconds that took."""
    manifest = json.loads((ROOT / "manifest.json").read_text("utf-8"))
    took: float = made.evaluate(
        "([source, manifest]) => window.host.load(source, manifest)", [bundle.plugin, manifest]
    )
    return took


class Streams:
    """Requests whose answers are read part by part, as by Node's `http`."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[HTTPConnection, HTTPResponse]] = {}

    def open(self, url: str, method: str, headers: dict[str, str], body: str) -> dict[str, object]:
        address = urlsplit(url)
        connection = HTTPConnection(address.hostname or "", address.port, timeout=PROCESS_S)
        try:
            connection.request(method, f"{address.path}", body.encode(), headers)
            response = connection.getresponse()
        except (OSError, HTTPException) as error:
            return {"error": f"ECONNREFUSED ({error})"}
        number = len(self._open) + 1
        self._open[number] = connection, response
        return {"id": number, "status": response.status}

    def next(self, number: int) -> str:
        """The next line; empty at the end."""
        return self._open[number][1].readline().decode()

    def close(self, number: int) -> None:
        self._open[number][0].close()


def _request(url: str, method: str, headers: dict[str, str], body: str | None) -> dict[str, object]:
    address = urlsplit(url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=PROCESS_S)
    try:
        target = f"{address.path}?{address.query}" if address.query else address.path
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        return {"status": response.status, "text": response.read().decode()}
    except (OSError, HTTPException) as error:
        return {"error": f"net::ERR_CONNECTION_REFUSED ({error})"}
    finally:
        connection.close()


def _kind(path: str) -> str:
    return "file" if Path(path).is_file() else "folder" if Path(path).is_dir() else ""


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text("utf-8")
    except OSError:
        return None
