"""The last touch on the blocks of a note: `$$` math, and nothing left uncovered."""

from __future__ import annotations

import re
from dataclasses import replace

from vault_indexer.model import Element, ElementKind

FENCE = "$$"
NON_BLANK = re.compile(r"\S")


def finish_elements(text: str, start: int, end: int, elements: list[Element]) -> tuple[Element, ...]:
    """The elements with math blocks recognised, covering every non-blank character of `text[start:end]`."""
    return tuple(_covering(text, start, end, _with_math(text, elements)))


def _with_math(text: str, elements: list[Element]) -> list[Element]:
    """A paragraph between `$$` and `$$` is math, and so are several if blank lines part them."""
    found: list[Element] = []
    index = 0
    while index < len(elements):
        element = elements[index]
        last = index
        if element.kind is ElementKind.PARAGRAPH and text.startswith(FENCE, _content(text, element)):
            last = _math_end(text, elements, index)
            if last >= 0:
                element = Element(ElementKind.MATH, element.start, elements[last].end)
        found.append(element)
        index = max(index, last) + 1
    return found


def _math_end(text: str, elements: list[Element], opening: int) -> int:
    """Index of the element that closes the math opened by `opening`, -1 if none does.

    The next element with a `$$` decides; a heading or a quote in between means that it was no math.
    """
    first = elements[opening]
    start = _content(text, first) + len(FENCE)
    for index in range(opening, len(elements)):
        element = elements[index]
        if element.kind in (ElementKind.HEADING, ElementKind.QUOTE, ElementKind.TABLE):
            return -1
        at = text.find(FENCE, start if index == opening else element.start, element.end)
        if at >= 0:
            closes = element.kind is ElementKind.PARAGRAPH and not NON_BLANK.search(text, at + 2, element.end)
            return index if closes else -1
    return -1


def _content(text: str, element: Element) -> int:
    match = NON_BLANK.search(text, element.start, element.end)
    return match.start() if match else element.start


def _covering(text: str, start: int, end: int, elements: list[Element]) -> list[Element]:
    """Adds what the grammar left out as elements of kind `other`, and undoes overlaps."""
    found: list[Element] = []
    position = start
    for element in elements:
        if element.end <= position:
            continue
        if element.start < position:
            element = replace(element, start=position)
        _fill(text, position, element.start, found)
        found.append(element)
        position = element.end
    _fill(text, position, end, found)
    return found


def _fill(text: str, start: int, end: int, found: list[Element]) -> None:
    first = NON_BLANK.search(text, start, end)
    if first:
        while NON_BLANK.match(text, end - 1) is None:
            end -= 1
        found.append(Element(ElementKind.OTHER, first.start(), end))
