"""Texts embedded per second by one process: our path, wordllama's own, and other providers if asked.

    python benchmarks/embed_speed.py VAULT [--texts 20000] [--also minilm,multilingual,e5]

All read the same pieces of about 700 characters from the vault's notes, in this run; the model is loaded
before the clock starts. Ours is timed from an empty cache of words, then again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from vault_indexer.config.settings import EmbeddingSettings
from vault_indexer.providers import TokenWeights, WordLlamaEmbedder, embedder_for

PIECE_CHARS = 700
BATCH = 256
OTHER_TEXTS = 200


def pieces(vault: Path) -> Iterator[str]:
    for path in sorted(vault.rglob("*.md")):
        if path.is_file():
            text = path.read_text("utf-8", errors="replace")
            yield from (text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS))


def report(name: str, work: Callable[[list[str]], object], texts: list[str]) -> None:
    begin = time.perf_counter()
    for start in range(0, len(texts), BATCH):
        work(texts[start : start + BATCH])
    seconds = time.perf_counter() - begin
    print(f"| {name:<44} | {len(texts) / seconds:>8,.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("vault", type=Path)
    parser.add_argument("--texts", type=int, default=20_000)
    parser.add_argument("--also", default="", help="other providers to time, on fewer texts")
    options = parser.parse_args()
    texts = list(islice((piece for piece in pieces(options.vault) if piece.strip()), options.texts))
    print(f"{len(texts)} texts, {np.mean([len(text) for text in texts]):.0f} characters on average\n")
    print(f"| {'embedder':<44} | {'texts/s':>8} |\n| {'-' * 44} | {'-' * 7}: |")

    plain = WordLlamaEmbedder()
    report("vault-indexer, first pass", plain.embed, texts)
    report("vault-indexer, words known", plain.embed, texts)
    report("vault-indexer, counting for token weights", plain.count, texts)
    weighted = WordLlamaEmbedder(TokenWeights.fit(plain.count(texts)))
    report("vault-indexer, token weights, first pass", weighted.embed, texts)
    original = wordllama_embed()
    report("WordLlama.embed", original, texts)
    cosines = np.sum(plain.embed(texts[:BATCH]) * original(texts[:BATCH]), axis=1)
    for provider in filter(None, options.also.split(",")):
        settings = EmbeddingSettings.model_validate({"provider": provider})
        report(provider, embedder_for(settings).embed, texts[:OTHER_TEXTS])
    print(f"\ncosine of our vectors to WordLlama's: {cosines.min():.6f} at least")


def wordllama_embed() -> Callable[[list[str]], np.ndarray]:
    import wordllama

    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    return lambda texts: np.asarray(model.embed(texts, norm=True))


if __name__ == "__main__":
    main()
