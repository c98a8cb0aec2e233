"""Code shared by embedders: texts that C code can read, and the unit vectors that the index stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from vault_indexer.ports import Vectors


def unit_rows(vectors: Vectors) -> Vectors:
    """Each row divided by its length; an all-zero row stays as it is."""
    lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
    lengths[lengths == 0] = 1
    unit: Vectors = vectors / lengths
    return unit


def encodable(text: str) -> str:
    """The text without characters that C code cannot read: a null character ends a string there, and a lone
    surrogate has no UTF-8."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
