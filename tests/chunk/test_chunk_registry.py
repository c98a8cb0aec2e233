"""What each strategy other than the default does that the others do not."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from chunk_laws import Letters, build, check_bodies, check_headers, check_names, cut, note_of
from golden_cases import check_golden, of_parts
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from vault_indexer.chunk import chunker_for
from vault_indexer.chunk.cutting.grammars import CodeReader, no_parser_reason
from vault_indexer.chunk.cutting.tokenizer_choice import tokenizer_for, tokenizer_from
from vault_indexer.config.tables.chunking import ChunkingSettings
from vault_indexer.errors import ProviderError, UsageError
from vault_indexer.model import Chunk

if TYPE_CHECKING:
    from vault_indexer.arrays import Vectors

FIXTURES = Path(__file__).parent / "fixtures"
PYTHON = (FIXTURES / "hello.py.txt").read_text("utf-8")
SOURCES = {
    "python": ("hello.py.txt", ["# Says hello", "class Greeter"]),
    "typescript": ("enum.ts.txt", ["interface A", "export function", "enum E"]),
    "rust": ("struct.rs.txt", ["/// Doc", "struct S", "impl S"]),
    "cpp": ("class.cpp.txt", ["template", "class C"]),
}
"""Small sources, and how their functions and classes begin."""

PROSE = "One sentence of the text stands here. "


def bodies(chunks: list[Chunk]) -> list[str]:
    return [chunk.body.strip() for chunk in chunks]


DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "recursive": {"chunk_size": 50, "chunk_overlap": 0, "size_unit": "characters"},
    "boundary": {"max_chunk_size": 500},
}
"""The options of cases that name no others."""


def shown(source: str, *keys: str) -> str:
    head, _, written = source.partition(" ¦ ")
    strategy, _, options = head.partition(" ")
    text = re.sub(r"(\w)\{(\d+)\}", lambda found: found[1] * int(found[2]), written)
    text = re.sub(r"\(([^)]*)\)\*(\d+)", lambda found: found[1] * int(found[2]), text)
    found = cut(strategy, text, **{**DEFAULTS.get(strategy, {}), **json.loads(options)})
    for check in (check_bodies, check_names, check_headers):
        check(note_of(text, "N.md"), found)
    parts = []
    for one in found:
        said = {key: one.extra[key] for key in keys if key in one.extra}
        before = f"{one.context}> " * bool(one.context) + f"{one.overlap}|" * bool(one.overlap)
        parts.append(f"{before}{one.body}{json.dumps(said) if said else ''}")
    squeezed = " / ".join(parts).replace("\n", "\\n")
    squeezed = re.sub(r"([a-z])\1{9,}", lambda found: f"{found[1]}{{{len(found[0])}}}", squeezed)
    return re.sub(r"(One sentence of the text stands here\.)( \1)+", "…", squeezed)


def test_strategies_make_of_a_text_what_the_golden_says() -> None:
    keys = {
        "Header based": (),
        "Markdown": ("header_context",),
        "Blocks and headers": ("has_table", "has_code_block", "headers"),
        "Words and tokens": ("tokenizer", "dropped_start", "dropped_end", "dropped_tokens"),
        "Recursive": (),
        "Boundary": (),
        "Discourse": ("fallback", "reason", "language_detected"),
        "Parents and children": ("section_title", "section_id", "paragraph_ids", "sentence_ids"),
        "Code": ("language", "block_type", "block_name", "fallback", "reason"),
    }
    check_golden(
        FIXTURES / "strategies.md", {section: partial(_shown_of, own) for section, own in keys.items()}
    )


def _shown_of(keys: tuple[str, ...], source: str) -> str:
    return shown(source, *keys)


# --- markdown


@pytest.mark.parametrize(
    ("option", "block"),
    [
        ("respect_code_blocks", "```\n" + "a line of code\n" * 6 + "```"),
        ("respect_lists", "- an item of it\n" * 6),
        ("respect_tables", "| one | two |\n| --- | --- |\n" + "| three | four |\n" * 6),
        ("respect_blockquotes", "> a quoted line of text\n" * 6),
    ],
)
def test_markdown_keeps_blocks_whole_or_not(option: str, block: str) -> None:
    text = f"{PROSE * 3}\n\n{block}\n\n{PROSE * 3}"
    whole = cut("markdown", text, max_chunk_size=40, min_chunk_size=0, **{option: True})
    loose = cut("markdown", text, max_chunk_size=40, min_chunk_size=0, **{option: False})
    assert any(block.strip() in chunk.body for chunk in whole)
    assert not any(block.strip() in chunk.body for chunk in loose)


# --- word, token, recursive


def test_token_ends_at_sentences_where_it_can() -> None:
    chunks = cut("token", PROSE * 40, max_tokens=47, overlap_tokens=0)
    assert all(chunk.body.startswith("One") and chunk.body.endswith(".") for chunk in chunks)
    anywhere = cut("token", PROSE * 40, max_tokens=47, overlap_tokens=0, preserve_sentences=False)
    assert not all(chunk.body.endswith(".") for chunk in anywhere)
    assert len(anywhere) < len(chunks)


# --- semantic

NUMBERS = "1234 5678 9012 3456 7890 1234 5678 9012 3456 7890 1234 5678 9012 3456 7890. "
LETTERS = "Abab abba baab baba abab abab abba baab baba abab abab abba baab baba abab. "


@pytest.mark.parametrize(
    ("numbers", "letters", "options", "found"),
    [
        (5, 4, {"threshold": 95.0}, [5, 4]),
        (5, 4, {"threshold": 0.0}, [5, 4]),
        (5, 4, {"threshold": 100.0}, [9]),
        (5, 4, {"min_chunk_size": 4 * len(LETTERS)}, [5, 4]),
        (5, 4, {"min_chunk_size": 4 * len(LETTERS) + 1}, [9]),
        (4, 5, {"min_chunk_size": 4 * len(NUMBERS)}, [4, 5]),
        (4, 5, {"min_chunk_size": 4 * len(NUMBERS) + 1}, [9]),
    ],
)
def test_semantic_breakpoint_cuts_where_neighbours_differ_most(
    numbers: int, letters: int, options: dict[str, object], found: list[int]
) -> None:
    chunks = cut(
        "semantic",
        NUMBERS * numbers + LETTERS * letters,
        **{"mode": "breakpoint", "threshold": 95.0, "max_chunk_size": 1000, "buffer_sentences": 0, **options},
    )
    assert [chunk.body.count(".") for chunk in chunks] == found


class Heard(Letters):
    """An embedder that knows what it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return super().embed(texts)


def test_semantic_clusters_embed_sentences_of_a_paragraph_together() -> None:
    def embedded(text: str) -> str:
        embedder = Heard()
        options = {"mode": "cluster", "segment_chars": 30, "max_chunk_size": 200, "min_chunk_size": 0}
        settings = ChunkingSettings.model_validate({"strategy": "semantic", **options})
        chunker_for(settings, embedder=embedder).chunk(note_of(text))
        return " / ".join(embedder.texts)

    check_golden(FIXTURES / "segments.md", {"": embedded})


def test_semantic_clusters_join_paragraphs_that_speak_of_one_thing() -> None:
    text = "\n\n".join([NUMBERS, NUMBERS, LETTERS, LETTERS, NUMBERS])
    chunks = cut("semantic", text, max_chunk_size=350)
    assert [body[0] for body in bodies(chunks)] == ["1", "A", "1"]


# --- hierarchical, parent_child


def test_children_know_their_parent_and_cover_it() -> None:
    text = "# A\n\n" + PROSE * 40 + "\n\n# B\n\n" + PROSE * 40
    chunks = cut("hierarchical", text, parent_size=100, child_size=30)
    parents = {chunk.chunk_id: chunk for chunk in chunks if chunk.extra["level"] == 0}
    assert len(parents) > 2 and not any(parent.embed for parent in parents.values())
    for parent_id, parent in parents.items():
        children = [chunk for chunk in chunks if chunk.extra.get("parent_id") == parent_id]
        assert [child.extra["child_index"] for child in children] == list(range(len(children)))
        assert {child.extra["child_count"] for child in children} == {parent.extra["child_count"]}
        assert (children[0].start_pos, children[-1].end_pos) == (parent.start_pos, parent.end_pos)
        assert all(child.embed for child in children)
    both = cut("hierarchical", text, parent_size=100, child_size=30, embed_both=True)
    assert all(chunk.embed for chunk in both)


@pytest.mark.parametrize(
    ("words", "joined"), [(9, ["AB", "CD", "EF"]), (17, ["AB", "CD", "EF"]), (18, [*"ABCDEF"])]
)
def test_sections_are_joined_until_a_parent_is_half_full(words: int, joined: list[str]) -> None:
    sections = [f"# {name}\n\n{'word ' * words}\n\n" for name in "ABCDEF"]
    chunks = cut("hierarchical", "".join(sections), parent_size=40, child_size=11, size_unit="words")
    parents = [chunk.body for chunk in chunks if chunk.extra["level"] == 0]
    assert ["".join(re.findall(r"# (\w)", body)) for body in parents] == joined


# --- code

FINE = {"max_chunk_size": 50, "min_chunk_size": 0, "preserve_code_blocks": False}


@pytest.mark.parametrize("language", SOURCES)
def test_code_begins_chunks_at_functions_and_classes(language: str) -> None:
    name, openings = SOURCES[language]
    source = (FIXTURES / name).read_text("utf-8")
    chunks = cut("code", f"Before.\n\n```{language}\n{source}```\n\nAfter.\n", **FINE)
    for opening in openings:
        assert any(chunk.body.startswith(opening) for chunk in chunks), opening
    assert all(chunk.extra.get("fallback") is None for chunk in chunks)
    assert {chunk.extra.get("language") for chunk in chunks} == {None, language}


def test_chunks_of_code_say_what_they_begin_with() -> None:
    chunks = cut("code", f"```python\n{PYTHON}```\n\nProse.\n", max_chunk_size=100, min_chunk_size=0)
    said = [(chunk.extra.get("block_type"), chunk.extra.get("block_name")) for chunk in chunks]
    assert said == [
        ("module", None),
        ("function", "hello"),
        ("class", "Greeter"),
        ("function", "Greeter.__init__"),
        ("function", "Greeter.greet"),
        (None, None),
    ]
    lines = PYTHON.split("\n")
    greet = chunks[4]
    assert lines[greet.start_line - 2].strip() == "def greet(self):"


def test_languages_and_definitions_are_those_of_the_golden() -> None:
    def names(language: str, source: str) -> str:
        code = CodeReader().read(language, source, with_comments=False)
        assert code is not None
        extra = cut("code", f"```\n{source}```\n")[0].extra
        assert (extra["language"], extra["language_guessed"]) == (language, True)
        return " ".join(one.name for one in code.definitions)

    def unknown(text: str) -> str:
        (chunk,) = cut("code", f"```\n{text}\n```\n")
        assert chunk.extra["language"] == ""
        return str(chunk.extra["reason"])

    check_golden(
        FIXTURES / "code.md",
        {
            "The names of definitions, in a language that is guessed, too": of_parts(names),
            "Text that is no code for sure": unknown,
        },
    )


@pytest.mark.parametrize("text", ["```", "```\n```\n", "before\n\n```\n\n```\n\nafter"])
def test_a_block_without_code_has_no_language(text: str) -> None:
    assert all(not chunk.extra.get("language") for chunk in build("code").chunk(note_of(text)))


def test_a_grammar_that_is_not_installed_is_named_with_the_command() -> None:
    assert no_parser_reason("csharp") == (
        'the grammar for csharp is not installed: pip install "vault-indexer[code]"'
    )
    assert no_parser_reason("cobol") == "no grammar for cobol"


def test_code_of_a_source_file_is_known_by_its_ending() -> None:
    chunks = build("code", max_chunk_size=200, min_chunk_size=0).chunk(note_of(PYTHON, "tools/hello.py"))
    assert [chunk.body.split("\n")[0] for chunk in chunks][1:] == ["# Says hello.", "class Greeter:"]


def test_of_several_classes_a_method_knows_its_own_alone() -> None:
    methods = "    def first(self):\n        return 'AAAAAAAAAAAAA'\n\n    def second(self):\n        pass\n"
    classes = [f"class {name}:\n{methods}" for name in "AB"]
    functions = "def last(items):\n    def inner():\n        return [item + item for item in items]\n"
    source = "\n\n".join([*classes, functions])
    chunks = cut("code", f"```python\n{source}```\n", **FINE | {"max_chunk_size": 70})
    contexts = {chunk.body.strip().partition("\n")[0]: chunk.context for chunk in chunks}
    assert [contexts[name] for name in ("class A:", "class B:", "def last(items):")] == [""] * 3
    found = [chunk.context for chunk in chunks if chunk.body.strip().startswith("def second")]
    assert found == ["class A:", "class B:"]
    options = FINE | {"max_chunk_size": 70, "include_class_context": False}
    assert not any(chunk.context for chunk in cut("code", f"```python\n{source}```\n", **options))


def test_code_options() -> None:
    text = f"```python\n{PYTHON}```\n"
    assert len(cut("code", text)) == 1
    assert len(cut("code", text, preserve_code_blocks=False, min_chunk_size=0)) >= 3
    no_functions = cut("code", text, split_on_functions=False, **FINE | {"max_chunk_size": 250})
    assert not any(chunk.body.startswith("# Says") for chunk in no_functions)
    no_classes = cut("code", text, split_on_classes=False, **FINE | {"max_chunk_size": 300})
    assert any(chunk.body.startswith("# Says") for chunk in no_classes)
    apart = cut("code", text, include_docstrings=False, **FINE | {"max_chunk_size": 250})
    assert any(chunk.body.startswith("@decorated") for chunk in apart)
    imports = cut("code", text, include_imports=True, **FINE | {"max_chunk_size": 250})
    assert "import os\nfrom sys import path" in imports[-1].context


def test_imports_above_a_chunk_of_code_take_a_thousand_characters_at_most() -> None:
    imports = "".join(f"import module_{n:02}\n" for n in range(80))
    source = f"{imports}\n\ndef f():\n    return {'1 + ' * 20}1\n"
    options = {"include_imports": True, **FINE, "max_chunk_size": 100}
    chunk = cut("code", f"```python\n{source}```\n", **options)[-1]
    assert chunk.context == imports[:1000]


def test_definitions_far_down_in_text_that_is_not_ascii_stand_where_they_begin() -> None:
    functions = [f"def f{number}():\n    return 'ü漢👍'" for number in range(200)]
    source = "# äöü 漢字 👍\n" * 9 + "\n\n".join(functions) + "\n"
    code = CodeReader().read("python", source, with_comments=False)
    assert code is not None
    assert [source[one.start : one.end] for one in code.definitions] == functions


# --- the tokenizer


def every_letter(text: str) -> list[tuple[int, int]]:
    return [(n, n + 1) for n in range(len(text))]


def test_a_function_of_the_user_may_be_the_tokenizer() -> None:
    sys.modules.setdefault("chunk_strategies_under_test", sys.modules[__name__])
    chunks = cut(
        "token",
        "a" * 100,
        tokenizer="chunk_strategies_under_test:every_letter",
        max_tokens=20,
        overlap_tokens=0,
    )
    assert [len(chunk.body) for chunk in chunks] == [20] * 5


KEY = "chunking.token.tokenizer"


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("nonsense", UsageError, "tokenizer.json, tiktoken:NAME or module:function"),
        ("/no/such/tokenizer.json", ProviderError, r"such\Wtokenizer\.json cannot"),
        ("no_such_module:function", ProviderError, "no_such_module"),
        ("sys:no_such_function", ProviderError, "no_such_function"),
        ("sys:path", ProviderError, "not a function"),
    ],
)
def test_a_tokenizer_that_cannot_be_had(name: str, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        tokenizer_for(KEY, name)


class WholeText:
    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]


def encoding_of_bytes() -> Any:
    ranks = {bytes([number]): number for number in range(256)}
    tiktoken = pytest.importorskip("tiktoken")
    return tiktoken.Encoding("bytes", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={})


def words_tokenizer() -> Tokenizer:
    made = Tokenizer(WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    return made


@pytest.mark.parametrize(
    ("make", "offsets"),
    [
        (lambda: len, [(place, place + 1) for place in range(9)]),
        (lambda: lambda text: len(text.split()), [(0, 2), (2, 9)]),
        (lambda: str.split, [(0, 2), (2, 9)]),
        (lambda: lambda _: 0, []),
        (words_tokenizer, [(0, 2), (3, 9)]),
        (WholeText, [(0, 9)]),
    ],
    ids=["letters", "words", "a list", "nothing", "tokenizers", "ours"],
)
def test_a_tokenizer_that_a_program_passes(
    make: Callable[[], object], offsets: list[tuple[int, int]]
) -> None:
    assert tokenizer_from(make()).offsets("an onions") == offsets


def test_an_encoding_that_a_program_passes() -> None:
    encoding, text = encoding_of_bytes(), "Crème 焦."
    for given in (encoding, encoding.encode_ordinary):
        assert len(tokenizer_from(given).offsets(text)) == len(text.encode())
    assert tokenizer_from(encoding).offsets(text)[-2:] == [(6, 7), (7, 8)]


def test_what_is_no_tokenizer_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^tokenizer = int: must have offsets\(text\), be an encoding"):
        tokenizer_from(5)


def test_the_children_of_parent_child_are_measured_by_the_named_tokenizer() -> None:
    chunks = cut(
        "parent_child",
        "One two. Six ten. " * 6,
        tokenizer="chunk_strategies_under_test:every_letter",
        max_child_tokens=20,
    )
    assert all(len(chunk.body) <= 20 for chunk in chunks)
    assert [chunk.extra["token_count"] for chunk in chunks] == [len(chunk.body) for chunk in chunks]


def test_a_file_that_is_no_tokenizer(tmp_path: Path) -> None:
    contents = ['{"a": 1}', "not json", "[]", '{"model": []}', '{"model": {"vocab": {}}}']
    for number, content in enumerate(contents):
        file = tmp_path / f"{number}.json"
        file.write_text(content, encoding="utf-8")
        with pytest.raises(ProviderError, match=file.name):
            tokenizer_for(KEY, str(file))


def test_the_tokenizer_of_a_file_neither_cuts_nor_fills_up(tmp_path: Path) -> None:
    made = Tokenizer(WordLevel({"[UNK]": 0, "salt": 1}, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.enable_truncation(2)
    made.enable_padding(length=9)
    made.save(str(tmp_path / "own.json"))
    found = tokenizer_for(KEY, str(tmp_path / "own.json"))
    assert found.offsets("salt und salt") == [(0, 4), (5, 8), (9, 13)]


def test_a_cache_that_lacks_an_encoding_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    found = tokenizer_for(KEY, "tiktoken:cl100k_base")
    assert found.offsets("salt, salt") == [(0, 4), (4, 5), (5, 10)]
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_strategy_without_what_it_needs_says_so() -> None:
    def refusal(settings: str) -> str:
        with pytest.raises(UsageError) as refused:
            chunker_for(ChunkingSettings.model_validate_json(settings)).chunk(note_of("Some text."))
        return str(refused.value)

    check_golden(FIXTURES / "needs.md", {"": refusal})


def test_a_tokenizer_of_a_package_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(ProviderError, match=r"tokenizer: the package tiktoken is not installed$"):
        tokenizer_for(KEY, "tiktoken:cl100k_base")


def test_tiktoken_is_never_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    for name, file in (
        ("p50k_base", "p50k_base.tiktoken"),
        ("r50k_base", "r50k_base"),
        ("gpt2", "vocab.bpe"),
    ):
        with pytest.raises(ProviderError, match=f"vault-indexer downloads nothing: .*{file}"):
            tokenizer_for(KEY, f"tiktoken:{name}")
    with pytest.raises(UsageError, match="cl100k_base"):
        tokenizer_for(KEY, "tiktoken:nonsense")


@pytest.mark.parametrize(
    ("language", "piece"), [("ts", "a<b,"), ("cpp", "a<"), ("cpp", "a("), ("rust", "a!{")]
)
def test_code_with_too_many_readings_is_cut_at_blocks(language: str, piece: str) -> None:
    source = piece * (250_000 // len(piece))
    after = "\n\n```python\ndef f():\n    pass\n```\n"
    chunks = cut("code", f"```{language}\n{source}\n```{after}")
    assert {chunk.extra.get("reason") for chunk in chunks} == {"too ambiguous to parse", None}
    assert "reason" not in chunks[-1].extra  # the next block is parsed from its beginning


def test_code_with_deep_brackets_is_parsed() -> None:
    chunks = cut("code", f"```python\n{'(' * 50_000}\n```\n")
    assert all("reason" not in chunk.extra for chunk in chunks)
