"""The words that join paragraphs, in one file per language. To add a language, add its file."""
