"""What a note contains and where its links lead, as the goldens write it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from vault_indexer.model import Element, Link, Note
from vault_indexer.parse import Anchors, VaultPaths, parse_any, resolve

FIXTURES = Path(__file__).parent / "fixtures"


@dataclass(frozen=True)
class Scene:
    """A vault, a source note, and the content of the notes that matter."""

    vault: list[str]
    source: str
    notes: dict[str, str]


def scenes(text: str) -> dict[str, Scene]:
    """The scene of each section of `resolution.md`."""
    _, *parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    return {title: _scene(part) for title, part in zip(parts[::2], parts[1::2], strict=True)}


def _scene(part: str) -> Scene:
    told = dict(re.findall(r"^(vault|from): (.*)$", part, re.MULTILINE))
    notes = re.findall(r"^note: (.*)\n((?:    .*\n|\n)*)", part, re.MULTILINE)
    paths = [path.strip() for path in told.get("vault", "").split(",")]
    texts = {path.strip(): re.sub("^    ", "", note, flags=re.MULTILINE) for path, note in notes}
    return Scene(paths, told.get("from", "s.md").strip(), texts)


def outcome(scene: Scene, source_text: str) -> str:
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
