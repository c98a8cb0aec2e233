"""Converts bytes to a `Note`, and a link to the file that it refers to.

Pure: no file is opened here, and the same bytes always produce the same note. Block structure comes from
tree-sitter-markdown (`blocks.py`). A scanner that is linear in the length of inline text finds the syntax
that the grammar does not support (`inline.py`). `resolve.py` resolves a link to a path, and its subpath to a
heading or block.
"""

from vault_indexer.parse.canvas import parse_canvas
from vault_indexer.parse.dispatch import PARSERS, parse_any
from vault_indexer.parse.fields import fold_name, join_properties, join_values, task_fields
from vault_indexer.parse.frontmatter import property_lines, property_text
from vault_indexer.parse.notes import decode, parse_note, sections, stem
from vault_indexer.parse.plain import unescape_prose
from vault_indexer.parse.readable import (
    POINT,
    SOURCE_FENCE,
    TASK,
    ReadableText,
    Task,
    blank_hidden,
    code_blocks,
    find_tasks,
    link_labels,
    open_fence,
    readable,
    render_markdown,
)
from vault_indexer.parse.resolve import Anchors, Resolution, Subpath, VaultPaths, link_key, resolve
from vault_indexer.parse.site_links import StyledPaths, detect_style

__all__ = [
    "PARSERS",
    "POINT",
    "SOURCE_FENCE",
    "TASK",
    "Anchors",
    "ReadableText",
    "Resolution",
    "StyledPaths",
    "Subpath",
    "Task",
    "VaultPaths",
    "blank_hidden",
    "code_blocks",
    "decode",
    "detect_style",
    "find_tasks",
    "fold_name",
    "join_properties",
    "join_values",
    "link_key",
    "link_labels",
    "open_fence",
    "parse_any",
    "parse_canvas",
    "parse_note",
    "property_lines",
    "property_text",
    "readable",
    "render_markdown",
    "resolve",
    "sections",
    "stem",
    "task_fields",
    "unescape_prose",
]
