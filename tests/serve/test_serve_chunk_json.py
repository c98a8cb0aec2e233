"""What the JSON of a chunk says beyond its strategy: its size, and what a model wrote."""

from dataclasses import replace

from chunk_laws import build, note_of


def test_a_chunk_says_its_size_and_what_a_model_wrote() -> None:
    (chunk,) = build("token").chunk(note_of("Four words of text."))
    plain = chunk.to_json()
    assert (plain["word_count"], plain["token_count"]) == (4, 6)
    assert (plain["preamble"], plain["written_by_model"]) == ("", [])
    told = replace(chunk, preamble="What it is about.").to_json()
    assert (told["preamble"], told["written_by_model"]) == ("What it is about.", ["preamble"])
    assert told["content"] == plain["content"]
    title = replace(chunk, preamble="Title", extra={"properties": True})
    assert title.to_json()["written_by_model"] == []
