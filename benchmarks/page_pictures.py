"""Draws docs/images/views: twelve views of the page over the bundled notebook, in two themes and three sizes.

    python benchmarks/page_pictures.py [--to FOLDER] [VIEW…]

Needs Chromium (`apt-get install chromium`) and `pip install -e '.[browser]'`. It starts a daemon on a
copy of the notebook in a temporary folder, and stops it. Each picture has few colours, so that all are small.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = "/usr/bin/chromium"
SIZES = ((400, 800), (1280, 800), (1440, 900))
HIDE_FOLDER = """folder => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(folder, "/home/me");
}"""
"""Shows a folder of a user in place of the temporary one."""

EXACT, BLENDED = 16, 16
"""Colours of a picture: the most frequent ones, and those that stand for all others."""


def _search(page: Page, text: str) -> None:
    page.fill("#q", text)
    page.locator(".hit").first.wait_for()


def _why(page: Page) -> None:
    _search(page, "antifreeze")
    page.locator(".hit-title").first.focus()
    page.keyboard.press("w")
    page.locator(".why dt").first.wait_for()


def _complete(page: Page) -> None:
    page.fill("#q", "bread tag:#")
    page.locator(".completions li").first.wait_for()


def _found(page: Page) -> None:
    _search(page, "how warm should dough be")
    page.locator(".hit-title").first.click()
    page.locator(".found").wait_for()


def _ask(page: Page) -> None:
    page.fill("#question", "When were the rings of Saturn edge-on?")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Copy with links").wait_for()


def _quick_open(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("te")
    page.locator(".named li").first.wait_for()


def _judge(page: Page) -> None:
    page.locator("main input").first.fill("when is the moon full")
    page.keyboard.press("Enter")
    page.locator(".judge article").wait_for()


VIEWS: dict[str, tuple[str, Callable[[Page], None] | None]] = {
    "start": ("#/search", None),
    "hits": ("#/search", lambda page: _search(page, "slugs in the lettuce")),
    "why": ("#/search", _why),
    "completion": ("#/search", _complete),
    "note": ("#/note?path=Bread/Country loaf.md", None),
    "found": ("#/search", _found),
    "canvas": ("#/note?path=Garden/Garden.canvas", None),
    "ask": ("#/ask", _ask),
    "graph": ("#/graph?path=Bread/Levain.md", None),
    "health": ("#/health", None),
    "judge": ("#/judge", _judge),
    "quick-open": ("#/note?path=Sky/Saturn.md", _quick_open),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("views", nargs="*")
    parser.add_argument("--to", type=Path, default=ROOT / "docs/images/views")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src/vault_indexer/demo", f"{folder}/Notebook")
        Path(folder, "Notebook/.obsidian").mkdir()
        environ = {**os.environ, "XDG_CONFIG_HOME": folder, "XDG_STATE_HOME": f"{folder}/state"}

        def indexer(command: str, *arguments: str) -> None:
            place = ("--vault", f"{folder}/Notebook", "--index-dir", f"{folder}/index")
            program = [sys.executable, "-m", "vault_indexer.cli", command, *arguments, *place]
            subprocess.run(program, env=environ, check=True, stdout=subprocess.DEVNULL)

        indexer("rebuild")
        indexer("start", "--wait", "120")
        try:
            info = json.loads(Path(folder, "index/daemon.json").read_text(encoding="utf-8"))
            options.to.mkdir(parents=True, exist_ok=True)
            take_pictures(
                f"{info['url']}/#token={info['token']}", options.views or [*VIEWS], options.to, folder
            )
        finally:
            indexer("stop")


def take_pictures(address: str, views: list[str], to: Path, folder: str) -> None:
    """Write a picture for each view, colour scheme and width. None names the temporary folder."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width, height in SIZES:
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": width, "height": height},
                    color_scheme=scheme,
                    reduced_motion="reduce",
                    has_touch=width == SIZES[0][0],
                )
                page = context.new_page()
                page.goto(address)
                page.wait_for_selector("#q")
                for name in views:
                    view, act = VIEWS[name]
                    page.evaluate("to => { sessionStorage.removeItem('search'); location.hash = to; }", view)
                    page.evaluate("dispatchEvent(new HashChangeEvent('hashchange'))")
                    page.wait_for_timeout(500)
                    page.locator("#q, .note, .graph, .health, #question, main input").first.wait_for()
                    if act:
                        act(page)
                    page.mouse.move(0, 0)  # no control looks as if the mouse were over it
                    page.wait_for_timeout(1000)
                    page.evaluate(HIDE_FOLDER, folder)
                    taken = page.screenshot(animations="disabled", caret="hide")
                    save(taken, to / f"{name}-{width}-{scheme}.png")
                context.close()
        browser.close()


def save(taken: bytes, file: Path) -> None:
    """Write a picture with few colours."""
    image = Image.open(BytesIO(taken)).convert("RGB")
    colours, counts = np.unique(np.asarray(image).reshape(-1, 3), axis=0, return_counts=True)
    exact = colours[np.argsort(-counts)[:EXACT]].ravel().tolist()
    blended = image.quantize(BLENDED).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([*exact, *blended[: 3 * BLENDED]])
    image.quantize(palette=palette, dither=Image.Dither.NONE).save(file, optimize=True)


if __name__ == "__main__":
    main()
