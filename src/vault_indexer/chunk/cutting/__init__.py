"""Code shared by the strategies: blocks, sections, sizes, and the conversion of spans to chunks."""
