"""A vault of any multiple of another, and what an index of it costs."""
