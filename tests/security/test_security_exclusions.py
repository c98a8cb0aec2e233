"""A vault of a stranger can neither freeze the daemon by its patterns nor bring excluded notes into the
index."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli_sandbox import make as make_sandbox
from vault_at_work import Place, daemon, holding, opened, silent, wait_for
from waiting import PROCESS_S, wait_until

from vault_indexer.daemon.assembly import Target
from vault_indexer.errors import ConfigError, ExclusionError, UnknownNoteError
from vault_indexer.service import VaultService

pytestmark = pytest.mark.long

SLOW_FILTER = "/" + "a?" * 34 + "a" * 34 + "/"
"""A backtracking engine needs hours for a name of 33 times `a`."""

SLOW_NAME = "a" * 33 + ".md"
APP = ".obsidian/app.json"
BROKEN = {
    "a filter with lookahead": (APP, b'{"userIgnoreFilters": ["/(?=Private)/"]}', "lookahead ((?="),
    "a filter that is no expression": (APP, b'{"userIgnoreFilters": ["/(Private/"]}', "missing )"),
    "too many filters": (
        APP,
        json.dumps({"userIgnoreFilters": ["x"] * 1001}).encode(),
        "at most 1,000 filters",
    ),
    "no JSON": (APP, b'{"userIgnoreFilters": ["Private/"', "line 1: is not valid JSON"),
    "a class that is not closed": (".indexerignore", b"Private/\n[abc\n", "line 2 = '[abc'"),
    "an unknown class": (".indexerignore", b"[[:big:]]*\n", "line 1 = '[[:big:]]*'"),
    "bytes that are no text": (".indexerignore", b"Private\xe9/\n", "line 1: is not UTF-8"),
}


class SharedVault(Place):
    """A vault whose own `.indexer.toml` counts, beside the user's configuration."""

    def target(self, options: Mapping[str, str] | None = None, *, names_config: bool = False) -> Target:
        return super().target(options, names_config=names_config)


@pytest.fixture
def where(tmp_path: Path) -> Place:
    (tmp_path / "vault-indexer").mkdir()
    made = SharedVault(tmp_path / "vault", tmp_path / "index", tmp_path / "vault-indexer/config.toml")
    made.configure("[index]\nworkers = 1\n")
    made.write("Open.md", "# Open\n\ntungsten\n")
    made.write("Private/Diary.md", "# Diary\n\ntungsten\n")
    made.write(APP, '{"userIgnoreFilters": ["Private/"]}')
    made.write(".indexerignore", "")
    return made


def test_a_synced_filter_does_not_freeze_the_daemon(tmp_path: Path) -> None:
    served = make_sandbox(tmp_path)
    served.write(SLOW_NAME, "# Slow\n")
    served.write(APP, "{}")

    def has_notes(count: int) -> bool:
        status = served.indexer("status", "--json", timeout=30).data
        return (status["notes"], status["pending"], status["state"]) == (count, 0, "ready")

    started = served.indexer("start", "--wait", str(PROCESS_S))
    assert started.code == 0, started.err
    try:
        wait_until(lambda: has_notes(4))
        served.write(APP, json.dumps({"userIgnoreFilters": [SLOW_FILTER, "/(x+x+)+y/", "Sky/"]}))
        served.write("New.md", "# New\n\nzirconium\n")
        served.write("Newer.md", "# Newer\n")
        wait_until(lambda: has_notes(5))  # Sky/ has gone
        assert "New.md" in served.indexer("search", "zirconium", "--paths", timeout=30).out
    finally:
        assert served.indexer("stop", timeout=30).code == 0


def test_patterns_of_a_vault_for_chunks_take_linear_time(where: Place) -> None:
    where.write(".indexer.toml", '[chunking]\nstrategy = "boundary"\nboundary.patterns = ["x*x*y"]\n')
    where.write("Long.md", f"# Long\n\n{'x' * 20_000}\n")
    began = time.process_time()
    with opened(where) as service:
        assert holding(service, "tungsten") == {"Open.md"}
        assert service.status().counts.notes == 2
    assert time.process_time() - began < 60  # cubic time takes hours
    where.write(".indexer.toml", '[chunking.word]\nword_pattern = "(?=(x+)+y)x"\n')
    with pytest.raises(ConfigError, match=r"expressions that take linear time: lookahead"):
        where.target()


def test_a_vault_cannot_switch_off_the_exclusions_of_its_reader(where: Place) -> None:
    where.configure(
        '[index]\nworkers = 1\n[files]\nexclude = ["Private/"]\ninclude = ["Private/", "Open.md"]\n'
    )
    where.write(".indexer.toml", '[files]\nexclude = []\ninclude = ["*.md"]\n')
    where.write(".indexerignore", "!Private/\n")
    where.write(APP, "{}")
    where.write("Other.md", "# Other\n\ntungsten\n")
    with opened(where) as service:
        assert holding(service, "tungsten") == {"Open.md"}
        with pytest.raises(UnknownNoteError):
            service.view("Private/Diary.md")
    where.write(".indexer.toml", '[files]\nexclude = ["Open.md", "!Private/"]\n')
    with opened(where) as service:
        assert holding(service, "tungsten") == set()
    where.write(".indexer.toml", "[files]\nuse_obsidian_filters = false\n")
    with pytest.raises(ConfigError, match=r"can only turn this on"):
        where.target()


@pytest.mark.parametrize("kind", BROKEN)
def test_no_index_is_built_while_an_exclusion_is_not_understood(where: Place, kind: str) -> None:
    file, content, said = BROKEN[kind]
    (where.vault / file).write_bytes(content)
    with pytest.raises(ExclusionError) as caught, opened(where):
        raise AssertionError("it was opened")
    assert file in str(caught.value)
    assert said in str(caught.value)
    assert not list(where.index_dir.glob("generations/*/catalog.db"))
    assert caught.value.exit_code == 3


def said_by(service: VaultService) -> str:
    return service.status().detail


def follow(service: VaultService, where: Place, word: str) -> None:
    """Save a note, and wait until it is found."""
    where.write("Open.md", f"# Open\n\ntungsten {word}\n")
    wait_for(lambda: holding(service, word) == {"Open.md"})


@pytest.mark.parametrize("kind", ["no JSON", "bytes that are no text"])
def test_a_running_daemon_keeps_out_what_it_kept_out_and_follows_edits(where: Place, kind: str) -> None:
    file, content, said = BROKEN[kind]
    if file == ".indexerignore":
        where.write(file, "Private/\n")
        where.write(APP, "{}")
    before = (where.vault / file).read_bytes()
    with daemon(where) as service:
        assert holding(service, "tungsten") == {"Open.md"}
        (where.vault / file).write_bytes(content)
        wait_for(lambda: said in said_by(service) and file in said_by(service))
        where.write("Private/Second.md", "# Second\n\ntungsten\n")
        follow(service, where, "zirconium")
        assert holding(service, "tungsten") == {"Open.md"}
        report = service.rebuild(silent)
        assert [said in skipped.reason for skipped in report.skipped if skipped.path == file] == [True]
        assert holding(service, "tungsten") == {"Open.md"}
        assert any(said in notice for notice in service.notices())

        (where.vault / file).write_bytes(before)
        wait_for(lambda: said_by(service) == "")
        follow(service, where, "hafnium")
        (where.vault / file).write_bytes(b"{}" if file == APP else b"")
        wait_for(lambda: "Private/Second.md" in holding(service, "tungsten"))


def test_a_process_that_does_not_know_the_former_exclusions_lets_nothing_in(where: Place) -> None:
    with opened(where):
        pass
    where.write(APP, '{"userIgnoreFilters": ["/(?=Private)/"]}')
    where.write("Private/Second.md", "# Second\n\ntungsten\n")
    where.write("Open.md", "# Open\n\ntungsten zirconium\n")
    with opened(where) as service:
        assert holding(service, "zirconium") == {"Open.md"}
        assert holding(service, "tungsten") == {"Open.md"}
        assert "lookahead" in said_by(service)
        assert "no new files are indexed" in service.notices()[-1]
        assert [skipped.path for skipped in service.rebuild(silent).skipped] == [APP]
        assert holding(service, "tungsten") == {"Open.md"}
    where.write(APP, "{}")
    with opened(where) as service:
        assert holding(service, "tungsten") == {"Open.md", "Private/Diary.md", "Private/Second.md"}
        assert said_by(service) == ""


def test_a_link_to_an_excluded_picture_is_not_served(where: Place) -> None:
    picture = "<svg xmlns='http://www.w3.org/2000/svg'/>"
    where.write("Private/secret.svg", picture)
    where.write("shown.svg", picture)
    where.write(".indexerignore", "Private/\n")
    (where.vault / "inpic.svg").symlink_to("Private/secret.svg")
    (where.vault / "alias.svg").symlink_to("shown.svg")
    with opened(where) as service:
        assert service.picture("alias.svg").data == picture.encode()
        with pytest.raises(UnknownNoteError):
            service.picture("inpic.svg")
        (where.vault / "alias.svg").unlink()
        (where.vault / "alias.svg").symlink_to("Private/secret.svg")  # nobody has scanned the vault since
        with pytest.raises(UnknownNoteError):
            service.picture("alias.svg")


def test_config_check_names_file_line_and_pattern(tmp_path: Path) -> None:
    sandbox = make_sandbox(tmp_path)
    sandbox.write(".indexerignore", "a/\n[[:big:]]*\n")
    sandbox.write(".indexer.toml", '[files]\nexclude = ["Drafts/"]\n')
    checked = sandbox.indexer("check")
    assert checked.code == 1
    assert (".indexerignore: line 2 = '[[:big:]]*': an unknown class [:big:]") in checked.out
    shown = sandbox.run("config", "show", "--vault", str(sandbox.vault), "--json").data["keys"]
    assert isinstance(shown, dict)
    assert shown["files.exclude"]["origin"] == f"file {sandbox.vault / '.indexer.toml'}"
    assert shown["files.exclude"]["value"] == ["Drafts/"]
    built = sandbox.indexer("search", "bread")
    assert built.code == 3
    assert built.complains(".indexerignore: line 2")
