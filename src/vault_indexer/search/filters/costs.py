"""What the work of filters costs, in nanoseconds of processor time.

Estimates, so that the same query gives the same answer on every machine and however busy it is.
"""

from __future__ import annotations

NOTE = 4_000
"""To ask the catalog for a text."""

BYTE = 5
"""To decompress a byte of it."""

SCAN = 1_500
"""To begin to look for a pattern or a regular expression in UTF-8."""

SCANNED_BYTE = 2
"""To look through a byte of it."""

DECODED_BYTE = 2
"""To decode a byte, and to bring it to lower case."""

QUICK_CHAR = 3
"""To look through a character by a pattern of signs or of plain letters."""

SLOW_CHAR = 10
"""The same by a pattern of letters with accents."""

FOUND = 1_000
"""To keep a place."""

TEST = 2_500
"""To look for a word in a piece."""

TERM = 4_000
"""To prepare a word for a note."""

STRUCTURE = 10_000
"""To ask the catalog for the structure of a note."""

HEADING = 1_000
"""To read a heading."""

PIECE = 300
"""To find the borders of a piece."""

PARSED_CHAR = 700
"""To parse a character."""

NAMED = 4_000
"""To read title, aliases and tags of a note."""

PROPERTY_CHAR = 30
"""To decode a character of the frontmatter."""

COMPILE = 5_000_000
"""To prepare a pattern with accents."""

NODE = 50_000
"""To look at a part of the query for a batch of notes."""

NODE_NOTE = 500
"""The same, for each of the notes."""

POSTING = 60
"""To read the number of a chunk from the keyword index."""

CHUNK = 5
"""To combine what is known of a chunk."""

LEXICON = 10_000_000
"""To look through all words of the index."""

PATH = 1_000
"""To read a path and to fold it."""

NAME_TEST = 100
"""To look for a text in a path."""
