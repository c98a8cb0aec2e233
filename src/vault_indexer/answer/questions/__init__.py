"""The kinds of question, and the words with which sentences answer them, a file per language: a new file adds
a language."""
