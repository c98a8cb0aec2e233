import importlib.util
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from cli_sandbox import Sandbox
from waiting import PROCESS_S, wait_until

if importlib.util.find_spec("playwright") is None:
    # The others check the page's sources, without a browser.
    here = Path(__file__).parent
    collect_ignore = [
        str(file) for file in here.glob("test_*.py") if "\nfrom page_site import" in file.read_text("utf-8")
    ]

    def pytest_report_header() -> str:
        """Why no test of the page runs."""
        return "tests/page: needs playwright (pip install -e .[browser]) and Chromium; not collected"
else:
    import chromium
    from page_site import NOTES, ServeVault, Site, Visit
    from playwright.sync_api import Browser, Playwright, sync_playwright

    @pytest.fixture(scope="session")
    def playwright() -> Iterator[Playwright]:
        with sync_playwright() as running:
            yield running

    @pytest.fixture(scope="session")
    def browser(playwright: Playwright) -> Iterator[Browser]:
        found = chromium.launch(playwright, chromium.SHELL, chromium.WHOLE)
        yield found
        found.close()

    @pytest.fixture(scope="module")
    def with_viewer(playwright: Playwright) -> Iterator[Browser]:
        """A browser that shows PDFs."""
        found = chromium.launch(playwright, chromium.WHOLE)
        yield found
        found.close()

    @pytest.fixture(autouse=True)
    def _close_pages(request: pytest.FixtureRequest) -> Iterator[None]:
        """Pages that a test leaves open would ask their daemon until the last test has run."""
        yield
        # Other tests start no browser: while Playwright runs, `asyncio.run` is refused.
        if "browser" in request.fixturenames:
            for context in request.getfixturevalue("browser").contexts:
                context.close()

    @contextmanager
    def site_of(browser: Browser, sandbox: Sandbox) -> Iterator[Site]:
        """The vault of the sandbox with a daemon."""
        started = sandbox.indexer("start", "--wait", str(PROCESS_S))
        assert started.code == 0, started.err
        site = Site(sandbox, browser)
        try:
            wait_until(lambda: site.api("status")["state"] == "ready", "the index is built")
            yield site
        finally:
            assert sandbox.indexer("stop").code == 0

    @pytest.fixture(scope="session")
    def serve_vault(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> ServeVault:
        """A context manager: a daemon on a vault of these notes, or on a copy of a folder."""

        @contextmanager
        def serve(
            name: str, notes: Mapping[str, str | bytes] | Path, *, in_obsidian: bool = True
        ) -> Iterator[Site]:
            sandbox = Sandbox(tmp_path_factory.mktemp(name))
            if isinstance(notes, Path):
                shutil.copytree(notes, sandbox.vault)
            else:
                for path, content in notes.items():
                    sandbox.write(path, content if isinstance(content, str) else "")
                    if isinstance(content, bytes):
                        (sandbox.vault / path).write_bytes(content)
            if in_obsidian:
                (sandbox.vault / ".obsidian").mkdir(exist_ok=True)
            with site_of(browser, sandbox) as site:
                yield site

        return serve

    @pytest.fixture(scope="session")
    def site(serve_vault: ServeVault) -> Iterator[Site]:
        """A small vault with its daemon, for tests that change nothing in it."""
        with serve_vault("Notebook", NOTES) as found:
            yield found

    @pytest.fixture
    def visit(site: Site) -> Iterator[Visit]:
        """The page of the small vault, which has to say and ask nothing wrong."""
        with site.checked_visit() as found:
            yield found
