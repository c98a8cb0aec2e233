"""The chunking strategies, one file each; `chunk.registry` lists them."""
