"""A note from its bytes to what a commit writes: read, parsed, split, embedded."""
