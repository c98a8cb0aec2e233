"""Option over environment over file over default; and where each value came from."""

from pathlib import Path

import pytest
from config_sandbox import Sandbox

from vault_indexer.config import Settings, load
from vault_indexer.config.schema import SCHEMA
from vault_indexer.config.values import toml_text

LIMIT = "[search]\nlimit = {}\n"


def test_each_source_wins_over_the_weaker_ones(sandbox: Sandbox) -> None:
    sandbox.write(user=LIMIT.format(2))
    assert _limit(sandbox) == (2, f"file {sandbox.user_file}")
    sandbox.write(vault=LIMIT.format(3))
    assert _limit(sandbox) == (3, f"file {sandbox.vault_file}")
    variable = {"INDEXER_SEARCH_LIMIT": "4"}
    assert _limit(sandbox, variable) == (4, "environment INDEXER_SEARCH_LIMIT")
    assert _limit(sandbox, variable, {"search.limit": "5"}) == (5, "option --limit")


def _limit(
    sandbox: Sandbox, env: dict[str, str] | None = None, options: dict[str, str] | None = None
) -> tuple[int, str]:
    loaded = sandbox.load(env=env, options=options)
    return loaded.settings.search.limit, loaded.origins["search.limit"]


def test_the_files_of_user_and_vault_merge_key_by_key(sandbox: Sandbox) -> None:
    sandbox.write(
        user="[search]\nlimit = 2\nsnippet_chars = 90\n[search.weights]\ngraph = 0\n",
        vault="[search]\nlimit = 3\n[search.weights]\nvector = 2\n",
    )
    loaded = sandbox.load()
    search = loaded.settings.search
    assert (search.limit, search.snippet_chars, search.weights.graph, search.weights.vector) == (3, 90, 0, 2)
    assert loaded.files == (sandbox.user_file, sandbox.vault_file)


def test_a_vault_only_leaves_out_more_files(sandbox: Sandbox) -> None:
    sandbox.write(
        user='[files]\nexclude = ["a", "b"]\ninclude = ["n/"]\nuse_obsidian_filters = false',
        vault='[files]\nexclude = ["c"]\ninclude = ["n/m/"]\nuse_obsidian_filters = true',
    )
    files = sandbox.load().settings.files
    assert files.exclude_lists == (("a", "b"), ("c",))
    assert files.include_lists == (("n/",), ("n/m/",))
    assert files.use_obsidian_filters
    own = {"files.exclude": '["d"]', "files.include": "[]"}
    assert sandbox.load(options=own).settings.files.exclude_lists == (("d",), ("c",))
    assert sandbox.load(options=own).settings.files.include_lists == ((), ("n/m/",))

    sandbox.write(vault="[files]\nuse_obsidian_filters = false")
    (problem,) = sandbox.problems()
    assert problem.key == "files.use_obsidian_filters"
    assert "can only turn this on" in problem.allowed


def test_a_pattern_that_is_not_understood_is_a_mistake(sandbox: Sandbox) -> None:
    sandbox.write(
        user='[files]\nexclude = ["a", "[b"]\ninclude = ["# no"]', vault='[files]\nexclude = ["[[:x:]]"]'
    )
    found = [
        (problem.key, problem.value, problem.allowed.partition(",")[0]) for problem in sandbox.problems()
    ]
    assert found == [
        ("files.exclude[1]", '"[b"', "a class of characters ([…]) that is not closed"),
        ("files.include[0]", '"# no"', "a glob pattern"),
        ("files.exclude[0]", '"[[:x:]]"', "an unknown class [:x:]"),
    ]


@pytest.mark.parametrize("by_variable", [True, False])
def test_a_named_file_stands_alone(sandbox: Sandbox, tmp_path: Path, by_variable: bool) -> None:
    sandbox.write(user="[search]\nsnippet_chars = 90", vault="[search]\nsnippet_chars = 91")
    named = tmp_path / "named.toml"
    named.write_text(LIMIT.format(9))
    loaded = (
        sandbox.load(env={"INDEXER_CONFIG": str(named)}) if by_variable else sandbox.load(config_file=named)
    )
    assert loaded.files == (named,)
    assert (loaded.settings.search.limit, loaded.settings.search.snippet_chars) == (9, 240)


def test_every_key_has_a_variable_that_sets_it(sandbox: Sandbox) -> None:
    texts = {
        name: toml_text(key.default) if key.is_list else str(key.default or "")
        for name, key in SCHEMA.items()
    }
    loaded = sandbox.load(env={SCHEMA[name].variable: text for name, text in texts.items()})
    for name, text in texts.items():
        assert loaded.origins[name] == (f"environment {SCHEMA[name].variable}" if text else "default")


LISTS = ("[chunking.recursive]\nseparators = ['a', '']", "[chunking.recursive]\nseparators = ['']")
NAMES = {"INDEXER_CHUNKER": "none", "INDEXER_CHUNKING_STRATEGY": "header_based"}


@pytest.mark.parametrize(
    ("user", "vault", "env", "key", "value"),
    [
        (*LISTS, {}, "chunking.recursive.separators", ("",)),  # a list is replaced whole
        ("", "", NAMES, "chunking.strategy", "header_based"),  # the long name wins over the short one
        ("", "", {"INDEXER_SEARCH_RECENCY_ENABLED": "false"}, "search.recency.enabled", False),
        ("", "", {"INDEXER_SEARCH_WEIGHTS_VECTOR": "2.5"}, "search.weights.vector", 2.5),
        ("", "", {"INDEXER_FILES_EXCLUDE": '["a", "b"]'}, "files.exclude", ("a", "b")),
        ("", "", {"INDEXER_WATCH_DEBOUNCE_S": "1"}, "watch.debounce_s", 1.0),
        ('[index]\ndir = ""', "", {}, "index.dir", None),  # an empty folder means the default
        ("", b"\xef\xbb\xbf[search]\r\nlimit = 3\r\n", {}, "search.limit", 3),
        # a variable that holds an API key may have our prefix
        ("embedding.api_key_env = 'INDEXER_A'", "", {"INDEXER_A": "s"}, "embedding.api_key_env", "INDEXER_A"),
        ("llm.api_key_env = 'INDEXER_B'", "", {"INDEXER_B": "s"}, "llm.api_key_env", "INDEXER_B"),
    ],
)
def test_what_is_written_is_read_as_its_keys_type(
    sandbox: Sandbox, user: str, vault: str | bytes, env: dict[str, str], key: str, value: object
) -> None:
    sandbox.write(user=user, vault=vault)
    loaded = sandbox.load(env=env)
    assert (SCHEMA[key].value(loaded.settings), loaded.warnings) == (value, ())


def test_defaults_of_sizes_give_way_to_a_small_maximum(sandbox: Sandbox) -> None:
    sandbox.write(vault="[chunking]\nmax_chunk_chars = 100")
    loaded = sandbox.load()
    chunking = loaded.settings.chunking
    assert (chunking.min_chunk_chars, chunking.max_chunk_chars, chunking.overlap_chars) == (100, 100, 50)
    assert loaded.origins["chunking.min_chunk_chars"] == "default"


def test_options_of_the_chosen_strategy_may_stand_flat(sandbox: Sandbox) -> None:
    sandbox.write(vault='[chunking]\nstrategy = "token"\nmax_tokens = 100')
    loaded = sandbox.load()
    assert loaded.settings.chunking.token.max_tokens == 100
    assert loaded.origins["chunking.token.max_tokens"] == f"file {sandbox.vault_file}"


def test_old_options_are_overruled_in_rules_and_options_too(sandbox: Sandbox) -> None:
    sandbox.write(user='[[chunking.rules]]\npaths = ["*"]\nstrategy = "markdown"\nchunk_size = 100')
    loaded = sandbox.load(options={"chunking.strategy": "paragraph", "chunking.chunk_size": 100})
    assert loaded.settings.chunking.strategy == "paragraph"
    assert loaded.settings.chunking.rules[0].strategy == "markdown"
    assert [warning.partition("; ignored")[0] for warning in loaded.warnings] == [
        'chunking.rules.chunk_size is an option of "word", and the strategy is "markdown"',
        'chunking.chunk_size is an option of "word", and the strategy is "paragraph"',
    ]


def test_a_vault_that_is_named_counts_more_than_that_of_the_environment(sandbox: Sandbox) -> None:
    sandbox.write(vault="[search]\nlimit = 7\n")
    other = sandbox.root / "other"
    other.mkdir()
    environ = sandbox.environ | {"INDEXER_VAULT": str(sandbox.vault)}
    for vault, limit in ((None, 7), (sandbox.vault, 7), (other, Settings().search.limit)):
        loaded = load(vault, config_file=None, environ=environ, options={})
        assert loaded.settings.search.limit == limit
