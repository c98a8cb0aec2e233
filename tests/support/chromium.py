"""The Chromium of the tests.

Debian's headless shell draws and runs a page as Chromium does, but starts in a quarter of its time. It lacks
Chromium's own pages, its viewer of PDFs for one.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright

WHOLE = Path("/usr/bin/chromium")
SHELL = Path("/usr/bin/chromium-headless-shell")


def launch(playwright: Playwright, *choices: Path) -> Browser:
    """Start the first of them that is installed. Tests that need it are skipped where none is."""
    for one in choices:
        if one.exists():
            # Root runs continuous integration, and Chromium's sandbox refuses root.
            return playwright.chromium.launch(executable_path=str(one), args=["--no-sandbox"])
    pytest.skip(f"needs {choices[0]}: apt-get install {choices[0].name}")
