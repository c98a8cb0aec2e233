"""A vault, its daemon and its page in Chromium, with what the browser complained of and asked for."""

import base64
import importlib.util
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urlencode, urlsplit
from urllib.request import Request as Ask
from urllib.request import urlopen

import pytest
from cli_sandbox import Sandbox
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request, Route, expect

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A picture of one pixel."""

WAIT_MS = 90_000
"""Reaching it means that it never happens: the machine may be busy."""

expect.set_options(timeout=WAIT_MS)  # its own limit of 5 s is too short for a first search on a busy machine

NOTES: Mapping[str, str] = {
    "Home.md": (
        "# Home\n\nStart with [[Sourdough]], the [[Night sky]] and the [[Garden plan]]. Then [[Unwritten]].\n"
    ),
    "Kitchen/Sourdough.md": (
        "---\naliases: [Levain]\ntags: [kitchen/bread]\nrating: 5\nstatus: tested\n---\n"
        "# Sourdough\n\nFlour, water, salt and a *ripe* starter. See [[Rye bread|rye]] "
        "and [[Starter#Feeding]].\n\n"
        "## Kneading\n\nKnead the dough until it is **smooth**, then let it rest in a "
        "warm place. #kitchen\n\n"
        "## Baking\n\n- [x] Heat the oven\n- [ ] Score the loaf\n\n"
        "> [!tip] Steam\n> A tray of water keeps the crust soft.\n\n"
        "| part | grams |\n| --- | ---: |\n| flour | 500 |\n| water | 350 |\n\n"
        "```python\nratio = 350 / 500\n```\n\nMore at [a "
        "site](https://example.org/bread), [[Nowhere to go]].\n"
    ),
    "Kitchen/Rye bread.md": (
        "---\ntags: [kitchen/bread]\nstatus: draft\n---\n# Rye bread\n\nRye flour "
        "ferments fast. It needs a sour "
        "[[Starter]] and little kneading.\n"
    ),
    "Kitchen/Starter.md": (
        "# Starter\n\nFlour and water, fermented by wild yeast.\n\n## Feeding\n\nFeed "
        "the starter every day with "
        "flour and water. [[Sourdough]] needs it ripe.\n"
    ),
    "Kitchen/Pancakes.md": "# Pancakes\n\nSourdough discard makes good pancakes. Rest the batter.\n",
    "Sky/Night sky.md": (
        "---\ntags: [sky]\n---\n# Night sky\n\nThe telescope shows the rings of Saturn "
        "on a clear night 🪐 and "
        "the moons of Jupiter.\n\nBring a thermos. See [[Telescope]].\n"
    ),
    "Sky/Telescope.md": "# Telescope\n\nA small refractor. Its mount needs [[Night sky]] and patience.\n",
    "Garden/Garden plan.md": (
        "# Garden plan\n\nBeds for beans and kale. Compost in autumn. [[Kale]]\n\n## "
        "Spring\n\nSow in trays.\n"
    ),
    "Garden/Kale.md": "# Kale\n\nHardy in frost, sweet after it. Part of the [[Garden plan]].\n",
    "Garden/Compost.md": "# Compost\n\n"
    + "".join(
        f"## Week {week}\n\n" + f"Turn the compost heap in week {week} and water it. " * 30 + "\n\n"
        for week in range(1, 5)
    ),
    "Loose thought.md": "# Loose thought\n\nA note that nobody links to.\n",
}


OWN = ("data:", "chrome-extension:", "chrome:")
"""Also of what Chromium's viewer of PDFs, an extension of its own, loads."""

AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def axe_violations(page: Page) -> list[str]:
    """What axe-core, from the wheel that brings it, finds in the page as it is."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("needs axe-playwright-python: pip install -e .[browser]")
    if page.evaluate("typeof axe") == "undefined":
        # The page's policy lets no script in; the debugger's protocol is not bound by it.
        page.evaluate((Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    violations = page.evaluate(
        "rules => axe.run(document, {runOnly: rules}).then(found => found.violations)", AXE_RULES
    )
    return [
        f"{one['id']}: {node['html'][:150]} {node['failureSummary'][:300]}"
        for one in violations
        for node in one["nodes"]
    ]


@dataclass
class Held:
    """Requests whose answers are held back."""

    page: Page
    routes: list[Route] = field(default_factory=list)

    def __iter__(self) -> Iterator[Route]:
        """Those that have come."""
        return iter([*self.routes])

    def __getitem__(self, at: int) -> Route:
        """One of them. If it has not come yet, it is waited for."""
        for _ in range(WAIT_MS // 50):
            if len(self.routes) > at:
                break
            self.page.wait_for_timeout(50)
        return self.routes[at]


def hold(page: Page, target: str) -> Held:
    """Hold the answers of an endpoint back."""
    held = Held(page)
    page.route(re.compile(rf"/(?:v1|evals)/{target}"), lambda route: held.routes.append(route))
    return held


def release(page: Page, route: Route, was: str = "", becomes: str = "") -> None:
    """Let the page have an answer that was held back, with another text in it, until it has used it."""
    with page.expect_event("requestfinished", lambda one: one == route.request):
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace(was, becomes) if was else None)
    settle(page)


def settle(page: Page) -> None:
    """Wait until the page has done what it does at once, and its requests are under way."""
    page.evaluate("fetch('/page/icon.svg').then(one => one.text())")


def tell_changes(page: Page, *paths: str) -> None:
    """Tell the view what the daemon's stream tells: that notes have changed."""
    page.evaluate("paths => document.dispatchEvent(new CustomEvent('renewed', {detail: paths}))", paths)
    settle(page)


@dataclass
class Visit:
    """A page, and all that it said and asked for since it was opened."""

    page: Page
    host: str
    errors: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def foreign(self) -> list[str]:
        """Requests to anything but the daemon."""
        urls = [request.url for request in self.requests]
        return [url for url in urls if urlsplit(url).netloc != self.host and not url.startswith(OWN)]

    def show(self, view: str, **values: str) -> None:
        """Go to a view by its address."""
        query = f"?{urlencode(values)}" if values else ""
        self.page.evaluate("to => { location.hash = to; }", f"#/{view}{query}")

    def type(self, text: str) -> None:
        """Replace the query, key by key."""
        self.page.fill("#q", "")
        self.page.locator("#q").press_sequentially(text)

    def titles(self) -> list[str]:
        """The titles of the hits."""
        found: list[str] = self.page.locator(".hit-title").all_text_contents()
        return found


@dataclass(frozen=True)
class Site:
    """A vault with its daemon."""

    sandbox: Sandbox
    browser: Browser

    @property
    def url(self) -> str:
        return str(self.sandbox.daemon_file()["url"])

    @property
    def token(self) -> str:
        return str(self.sandbox.daemon_file()["token"])

    @property
    def address(self) -> str:
        return f"{self.url}/#token={self.token}"

    def context(self, **options: object) -> BrowserContext:
        """A browser profile of its own. `options` are those of playwright."""
        context = self.browser.new_context(**options)
        context.set_default_timeout(WAIT_MS)
        # An open page learns of its first route late: without this one, 1 request of 20 would pass `hold` by.
        context.route("**/nowhere", lambda route: route.abort())
        return context

    def visit(self, address: str = "", **options: object) -> Visit:
        """The page in a new browser profile, once it can be used."""
        visit = self.visit_in(self.context(**options), address)
        visit.page.locator("#q, .message, .note, .graph, .health").first.wait_for()
        return visit

    @contextmanager
    def checked_visit(self, **options: object) -> Iterator[Visit]:
        """The same, of a page that has to say and ask nothing wrong."""
        visit = self.visit("", **options)
        yield visit
        assert not visit.errors, visit.errors
        visit.page.context.close()  # a daemon serves a few streams of events at once
        assert visit.foreign() == []

    def visit_in(self, context: BrowserContext, address: str = "") -> Visit:
        """The page in a new tab."""
        page = context.new_page()
        visit = Visit(page, urlsplit(self.url).netloc)

        def note_console(message: ConsoleMessage) -> None:
            # Only the document of the diagrams may try; Chromium logs what its policy stops.
            place, text = message.location["url"], message.text
            is_stopped = "/page/diagrams.html" in place and "Content Security Policy" in text
            if message.type == "error" and not is_stopped:
                visit.errors.append(f"{text} {place}")

        page.on("console", note_console)
        page.on("pageerror", lambda error: visit.errors.append(str(error)))
        page.on("request", lambda request: visit.requests.append(request))

        def note_dialog(dialog: Dialog) -> None:
            visit.dialogs.append(dialog.message)
            dialog.dismiss()

        page.on("dialog", note_dialog)
        page.goto(address or self.address)
        return visit

    def api(self, target: str) -> dict[str, object]:
        """An answer of the API, asked as a program does."""
        ask = Ask(f"{self.url}/v1/{target}", headers={"Authorization": f"Bearer {self.token}"})
        with urlopen(ask, timeout=WAIT_MS / 1000) as answer:
            found = json.loads(answer.read())
        assert isinstance(found, dict)
        return found


class ServeVault(Protocol):
    """Serves a vault of these notes, or a copy of a folder, under a name."""

    def __call__(
        self, name: str, notes: Mapping[str, str | bytes] | Path, *, in_obsidian: bool = True
    ) -> AbstractContextManager[Site]:
        """`in_obsidian`: Obsidian has opened the folder as a vault."""
        ...
