"""The words that change what a sentence states, a file per language: a new file adds a language."""
