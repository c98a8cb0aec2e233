"""Goldens that a person can read and edit: one case a line, updated by UPDATE_GOLDEN=1."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vault_indexer.model import Element, Link, Note
from vault_indexer.parse import Anchors, VaultPaths, parse_any, resolve

FIXTURES = Path(__file__).parent / "fixtures"
ARROW = " -> "


@dataclass
class Scene:
    """A vault, a source note, and the content of the notes that matter."""

    title: str = ""
    vault: list[str] = field(default_factory=list)
    source: str = "s.md"
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    line_number: int
    scene: Scene
    source_text: str
    expected: str


def resolution_cases(text: str) -> Iterator[Case]:
    scene, note = Scene(), None
    for number, line in enumerate(text.splitlines(), 1):
        if note is not None and (line.startswith("    ") or not line.strip()):
            scene.notes[note] += line[4:] + "\n"
            continue
        note = None
        if line.startswith("## "):
            scene = Scene(line[3:])
        elif line.startswith("vault: "):
            scene.vault = [path.strip() for path in line[7:].split(",")]
        elif line.startswith("from: "):
            scene.source = line[6:].strip()
        elif line.startswith("note: "):
            note = line[6:].strip()
            scene.notes[note] = ""
        elif scene.title and ARROW in line:
            source_text, _, expected = line.rpartition(ARROW)
            yield Case(number, scene, source_text, expected.strip())


def outcome(source_text: str, scene: Scene) -> str:
    """What the parser and the resolver make of one link, as the golden writes it."""
    paths = [*scene.vault, scene.source, *scene.notes]
    links = parse_any(scene.source, f"{source_text}\n".encode()).links
    if not links:
        return "not a link"
    link = links[0]
    found = resolve(link.target, scene.source, VaultPaths(paths))
    if found.path is None:
        return "unresolved"
    shown = found.path
    if found.ambiguous:
        shown += f" (ambiguous: {', '.join(found.ambiguous)})"
    return shown + _subpath(link, found.path, scene)


def _subpath(link: Link, path: str, scene: Scene) -> str:
    if path not in scene.notes:
        return ""
    note: Note = parse_any(path, scene.notes[path].encode())
    slugs = link.kind == "markdown"
    place = Anchors(note.headings, note.blocks).find(link.subpath, slugs=slugs)
    if place.problem:
        return f" ({place.problem})"
    return f" @ line {place.line}" if place.line else ""


def updating() -> bool:
    return os.environ.get("UPDATE_GOLDEN") == "1"


def rewrite(path: Path, change: Callable[[int, str], str]) -> None:
    """Writes the file again, each line as `change(number, line)` gives it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("".join(f"{change(n, line)}\n" for n, line in enumerate(lines, 1)), encoding="utf-8")


def described(note: Note) -> str:
    """Everything that parsing found, a line each."""
    found = [] if note.title == "note" else [f"title {note.title}"]
    found += [
        f"property {key} = {json.dumps(value, ensure_ascii=False)}" for key, value in note.frontmatter.items()
    ]
    found += [f"alias {alias}" for alias in note.aliases]
    found += [f"tag {tag}" for tag in note.tags]
    found += [f"language {note.language}"] if note.language else []
    for heading in note.headings:
        nested = " nested" if heading.nested else ""
        found.append(f"heading {heading.level} @{heading.line}{nested}: {heading.text}".rstrip())
    for link in note.links:
        target = link.target + (f" # {link.subpath}" if link.subpath else "")
        display = "" if link.display is None else f" | {link.display}"
        found.append(f"{link.kind} @{link.line}: {target}{display}".rstrip())
    for block in note.blocks:
        found.append(f"block {block.id} @{block.line} = {note.text[block.start : block.end]!r}")
    found += [f"problem {problem.kind} @{problem.line}: {problem.detail}" for problem in note.diagnostics]
    if note.elements:
        found.append("elements " + " ".join(_element(element) for element in note.elements))
    return "\n".join(found)


def _element(element: Element) -> str:
    language = f"[{element.language}]" if element.language else ""
    parts = f"({' '.join(_element(part) for part in element.parts)})" if element.parts else ""
    return f"{element.kind}{language}{parts}"
