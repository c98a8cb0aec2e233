"""Pure analysis of text: folding, tokens, sentences, language. No I/O, no model."""
