"""The words that join paragraphs, a file per language: a language is added by adding its file."""
