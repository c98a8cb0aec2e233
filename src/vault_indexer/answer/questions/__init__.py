"""What questions ask for, and the words with which sentences say it, a file per language: a new file adds
a language."""
