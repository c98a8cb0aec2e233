"""Names for the arrays that several packages pass on. Only type checkers load this module: it loads numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Halves = NDArray[np.float16]

Keys = NDArray[np.int64]
"""Of chunks (`model.chunk_key`) or of notes."""

Mask = NDArray[np.bool_]
Matrix = NDArray[np.float32]
"""A vector a row."""

Positions = NDArray[np.int64]
"""Indices of another array."""
