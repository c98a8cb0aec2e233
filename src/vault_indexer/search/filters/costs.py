"""What the work of filters costs, in nanoseconds of processor time.

Estimates, so that the same query gives the same answer on every machine and however busy it is. A value that
names no other source is from a least-squares fit to the measured time of some 280 random queries over 16,593
notes, rounded and corrected by hand (decision 65): a rule of
thumb for one machine. Their sum was 2.4 times the measured time in the median of 73 expressions, and 1.5
times at the 10th percentile (decision 68).
"""

from __future__ import annotations

NOTE = 4_000
"""To ask the catalog for a text."""

BYTE = 4
"""To decompress a byte of it. Measured: 60 million characters in .28 s (decision 65)."""

SCAN = 2_000
"""To begin to look for a pattern or a regular expression in UTF-8."""

SCANNED_BYTE = 2
"""To look through a byte of it. Measured: RE2 reads 1 to 2 ns a byte (decision 65)."""

DECODED_BYTE = 1
"""To decode a byte."""

QUICK_CHAR = 5
"""To bring a character to lower case, and to look through it by a pattern of signs or of plain letters."""

SLOW_CHAR = 11
"""The same by a pattern of letters with accents."""

FOUND = 1_500
"""To keep a place."""

TEST = 3_000
"""To look for a word in a piece."""

TERM = 1_000
"""To prepare a word for a note."""

STRUCTURE = 10_000
"""To ask the catalog for the structure of a note."""

HEADING = 3_000
"""To read a heading."""

PIECE = 300
"""To find the borders of a piece."""

RENDERED_CHAR = 200
"""To leave the markup out of a character of the source."""

PARSED_CHAR = 700
"""To parse a character."""

NAMED = 2_500
"""To read title, aliases and tags of a note."""

PROPERTY_CHAR = 40
"""To decode a character of the frontmatter."""

COMPILE = 10_000_000
"""To prepare a pattern with accents."""

COMPILE_SCANNER = 2_000_000
"""To prepare the expression by which RE2 looks for a pattern."""

NODE = 90_000
"""To look at a part of the query for a batch of notes."""

NODE_NOTE = 400
"""The same, for each of the notes."""

POSTING = 35
"""To read the number of a chunk from the keyword index."""

CHUNK = 5
"""To combine what is known of a chunk."""

LEXICON = 4_000_000
"""To look through all words of the index. Measured: 3.8 ms on average for 259,816 words (decision 68)."""

PATH = 3_000
"""To read a path and to fold it."""

NAME_TEST = 90
"""To look for a text in a path."""

NAME_MATCH = 1_000
"""To look at one path by itself: by a regular expression, by case, or by several conditions."""
