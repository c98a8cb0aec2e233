"""Two charts as SVG, recall and IoU over the mean chunk size, a line for each splitter."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from math import log2

Point = tuple[float, float, float]

_PANEL = (400, 300)
_LEFT, _TOP, _GAP = 50, 40, 70
_OURS = ("#0b6e4f", "#1b9e77", "#7fc8a9")
_THEIRS = ("#b2182b", "#ef8a62", "#8c510a", "#762a83", "#c51b7d")


def picture(lines: Mapping[str, Sequence[Point]], ours: Collection[str]) -> str:
    """`lines` holds, for each splitter, points of (mean tokens, recall, IoU); `ours` are drawn thick."""
    width = 2 * (_PANEL[0] + _LEFT) + _GAP + 20
    height = _TOP + _PANEL[1] + 50 + 18 * len(lines)
    body = [line for panel in (0, 1) for line in _panel(panel, lines, ours)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="12">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *body,
            *_legend(lines, ours),
            "</svg>\n",
        ]
    )


def _style(name: str, lines: Mapping[str, Sequence[Point]], ours: Collection[str]) -> tuple[str, int]:
    own = name in ours
    same = [other for other in lines if (other in ours) == own]
    colours = _OURS if own else _THEIRS
    return colours[same.index(name) % len(colours)], 3 if own else 2


def _panel(panel: int, lines: Mapping[str, Sequence[Point]], ours: Collection[str]) -> Iterator[str]:
    left = _LEFT + panel * (_PANEL[0] + _GAP)
    points = [point for line in lines.values() for point in line]
    sizes = [point[0] for point in points]
    low, high = log2(min(sizes)) - 0.1, log2(max(sizes)) + 0.1
    top = max(point[1 + panel] for point in points) * 1.05
    bottom = min(point[1 + panel] for point in points) * 0.9

    def place(point: Point) -> tuple[float, float]:
        x = left + (log2(point[0]) - low) / (high - low) * _PANEL[0]
        y = _TOP + (1 - (point[1 + panel] - bottom) / (top - bottom)) * _PANEL[1]
        return x, y

    title = ("Recall at 5 chunks", "IoU at 5 chunks")[panel]
    yield f'<text x="{left}" y="{_TOP - 14}" font-size="15">{title} over mean tokens a chunk</text>'
    yield f'<rect x="{left}" y="{_TOP}" width="{_PANEL[0]}" height="{_PANEL[1]}" fill="none" stroke="#999"/>'
    for step in range(5):
        value = bottom + (top - bottom) * step / 4
        y = _TOP + (1 - step / 4) * _PANEL[1]
        yield f'<text x="{left - 6}" y="{y + 4:.0f}" text-anchor="end">{100 * value:.0f}%</text>'
        yield f'<path d="M{left} {y:.0f}h{_PANEL[0]}" stroke="#ddd"/>'
    for size in (25, 50, 100, 200, 400, 800):
        if low <= log2(size) <= high:
            x, _ = place((size, bottom, bottom))
            yield f'<text x="{x:.0f}" y="{_TOP + _PANEL[1] + 18}" text-anchor="middle">{size}</text>'
    for name, line in lines.items():
        colour, thick = _style(name, lines, ours)
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, line))
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{thick}"/>'
        yield from (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in map(place, line)
        )


def _legend(lines: Mapping[str, Sequence[Point]], ours: Collection[str]) -> Iterator[str]:
    for row, name in enumerate(lines):
        colour, thick = _style(name, lines, ours)
        y = _TOP + _PANEL[1] + 46 + 18 * row
        yield f'<path d="M{_LEFT} {y - 4}h30" stroke="{colour}" stroke-width="{thick}"/>'
        yield f'<text x="{_LEFT + 40}" y="{y}">{escape(name)}</text>'
