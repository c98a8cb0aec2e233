"""A Japanese set in the form of XQuAD, which has none: questions of JSQuAD (Yahoo Japan, CC BY-SA 4.0).

    python benchmarks/jsquad.py JSQUAD FILE

JSQUAD is `valid-v1.3.json` of https://github.com/yahoojapan/JGLUE, FILE the `xquad.ja.json` to write: of each
article with two paragraphs at least the first six, until there are 240 paragraphs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

MOST_OF_ARTICLE, LEAST_OF_ARTICLE, PARAGRAPHS = 6, 2, 240
_TITLE_END = "[SEP]"


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("jsquad", type=Path)
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    articles: list[dict[str, Any]] = []
    for article in json.loads(given.jsquad.read_text("utf-8"))["data"]:
        paragraphs = [_without_title(one) for one in article["paragraphs"][:MOST_OF_ARTICLE]]
        if len(paragraphs) >= LEAST_OF_ARTICLE:
            articles.append({"title": article["title"], "paragraphs": paragraphs})
        if sum(len(one["paragraphs"]) for one in articles) >= PARAGRAPHS:
            break
    given.file.write_text(json.dumps({"data": articles}, ensure_ascii=False), "utf-8")


def _without_title(paragraph: dict[str, Any]) -> dict[str, Any]:
    """JSQuAD puts the title of the article in front of each paragraph."""
    return {**paragraph, "context": paragraph["context"].split(_TITLE_END, 1)[-1].strip()}


if __name__ == "__main__":
    main()
