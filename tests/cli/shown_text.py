"""What a command showed, without styles and without what differs from run to run."""

from __future__ import annotations

import re

STYLES = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\")
CLEARED = re.compile(r".*\x1b\[2K|[^\n]*━[^\n]*\n|\x1b\[\?25[lh]|\x1b\[1A")
"""What a bar has drawn and wiped away, and the moves of the cursor."""

PROGRESS = re.compile(r"^[A-Z][a-z]+ [a-z ]+: [\d,]+ of [\d,]+(?: \(.*\))?\n", re.MULTILINE)
"""A line of a build that takes longer than two seconds."""

SIZE = re.compile(r"\d+ kB")
TIME = re.compile(r"in [\d.]+ s\b")
ADDRESS = re.compile(r"127\.0\.0\.1:\d+")
SECRET = re.compile(r"(?<=token=)[\w-]+")
PROCESS = re.compile(r"process \d+")


def hidden(text: str) -> str:
    """Without styles, and with letters for what differs from run to run."""
    plain = PROGRESS.sub("", CLEARED.sub("", STYLES.sub("", text)))
    plain = TIME.sub("in N s", SIZE.sub("N kB", plain))
    plain = SECRET.sub("SECRET", ADDRESS.sub("127.0.0.1:PORT", PROCESS.sub("process N", plain)))
    return re.sub(r"/\S*/views\d+", "~", plain)
