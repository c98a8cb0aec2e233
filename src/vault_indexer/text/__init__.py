"""Analyzes text: folding, tokens, sentences, language. It uses no I/O and no model."""
