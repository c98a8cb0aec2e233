"""A small vault whose links are of every kind that an answer tells apart."""

from pathlib import Path

from note_files import read_notes

NOTES = read_notes(Path(__file__).parent / "fixtures" / "linked_vault.md")
PICTURE = "Loaf.png"
