from __future__ import annotations

import importlib.util
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli_sandbox import Sandbox
from pdfs import pdf_of
from vault_daemon import daemon_of
from waiting import PROCESS_S

if TYPE_CHECKING or importlib.util.find_spec("playwright") is not None:
    import chromium
    from playwright.sync_api import Browser, BrowserContext, sync_playwright
    from plugin_page import HELP_VAULT, PLUGIN, Bundle, PluginPage, open_page
else:
    collect_ignore_glob = ["test_*.py"]

    def pytest_report_header() -> str:
        """Why no test of the plugin runs."""
        return "tests/plugin: needs playwright (pip install -e .[browser]) and Chromium; not collected"


NOTES = {
    "Kitchen/Sourdough 🍞.md": (
        "---\ntags: [kitchen/bread]\nstatus: draft\n---\n"
        "# Sourdough 🍞🍞🍞\n\nBakers 👩‍🍳 say 🥖🥖🥖: feed the zymurgist before dawn.\n\n"
        "## Proofing\n\nA zymurgist waits. 🍞 And Moonlit Harbour is near.\n"
    ),
    "Kitchen/Ledger.md": (
        "# Ledger\n\nA plain page that says Moonlit Harbour once, and Moonlit Harbour again.\n"
    ),
    "Places/Moonlit Harbour.md": (
        "# Moonlit Harbour\n\nBoats rest in the harbour by night.\n\nSee [[Ferry]].\n"
    ),
    "Places/Ferry.md": "# Ferry\n\nA boat that leaves the harbour at noon.\n",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The plugin and its host, built. The packages of `package-lock.json` are installed once."""
    node = shutil.which("node", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if node is None:
        pytest.skip("needs Node: pip install -e .[browser]")
    tools = {**os.environ, "PATH": f"{Path(node).parent}:{os.environ['PATH']}"}

    def run(*command: str) -> None:
        done = subprocess.run(
            command, cwd=PLUGIN, env=tools, capture_output=True, text=True, timeout=PROCESS_S, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    if not (PLUGIN / "node_modules" / ".package-lock.json").exists():
        run("npm", "ci", "--no-audit", "--no-fund")
    built = tmp_path_factory.mktemp("built")
    run("node", "esbuild.config.mjs", f"--outfile={built / 'main.js'}")
    run("node", "esbuild.config.mjs", "--host", f"--outfile={built / 'host.js'}")
    return Bundle(
        plugin=(built / "main.js").read_text("utf-8"),
        host=(built / "host.js").read_text("utf-8"),
        style=(PLUGIN / "styles.css").read_text("utf-8"),
        theme=(PLUGIN / "test" / "host" / "theme.css").read_text("utf-8"),
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as running:
        started = chromium.launch(running, chromium.SHELL, chromium.WHOLE)
        yield started
        started.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without a past."""
    made = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    made.grant_permissions(["clipboard-read", "clipboard-write"])
    yield made
    made.close()


def help_vault(root: Path) -> Sandbox:
    """A copy of Obsidian's help, with a few notes of our own."""
    if not HELP_VAULT.is_dir():
        pytest.skip(f"needs {HELP_VAULT}")
    # Better vectors, which a busy machine makes for minutes, would be said in every view.
    made = Sandbox(root, {"INDEXER_EMBEDDING_PROVIDER": "wordllama"})
    shutil.copytree(HELP_VAULT, made.vault, copy_function=shutil.copyfile)
    for folder in [made.vault, *(one for one in made.vault.rglob("*") if one.is_dir())]:
        folder.chmod(stat.S_IRWXU)
    for path, text in NOTES.items():
        made.write(path, text)
    for name in ("Papers/Gulls.pdf", "Papers/Gulls #2.pdf"):
        (made.vault / name).parent.mkdir(exist_ok=True)
        pages = [["Herring gulls."], ["They nest."], [f"The vexillum of {name[7:-4]}."]]
        (made.vault / name).write_bytes(pdf_of(pages))
    return made


@pytest.fixture(scope="session")
def helped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Obsidian's help with a daemon. A test leaves both as they are, but for notes of its own."""
    made = help_vault(tmp_path_factory.mktemp("help"))
    with daemon_of(made):
        yield made


@pytest.fixture
def plugin(context: BrowserContext, bundle: Bundle, helped: Sandbox) -> Iterator[PluginPage]:
    """The plugin on Obsidian's help. It asks nothing but through `requestUrl`, and that only the daemon."""
    made = open_page(context, bundle, helped)
    yield made
    assert made.strays == []
    assert all(one["url"].startswith("http://127.0.0.1:") for one in made.requests)


@pytest.fixture
def small(tmp_path: Path) -> Sandbox:
    """A small vault of its own, without a daemon."""
    made = Sandbox(tmp_path)
    for path, text in NOTES.items():
        made.write(path, text)
    return made
