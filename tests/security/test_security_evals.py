"""Cases that an agent has run may be a stranger's: they read nothing that the daemon may not, ask no function
of the user and fetch no page."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from vault_evals.pages import Page, PageSnapshots, snapshot_name
from vault_indexer.bootstrap import open_index, resolve_target
from vault_indexer.cli.commands.serve import agent_actions
from vault_indexer.contract.parameters import Value
from vault_indexer.errors import VaultIndexerError
from vault_indexer.model import JsonValue
from vault_indexer.serve.api.respond import ToolCall

pytestmark = pytest.mark.long

URL = "https://example.org/secret"
CASE = "id: one\nagent: search\nlayer: 1\ninput: {query: tin}\nexpected: {min_findings: 1}\n"
CITED = f"id: two\nagent: search\nlayer: 2\nexpected: {{expected_citations: ['{URL}']}}\n"
SECRET = "hunter2: [swordfish\n"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    for name in ("evals", "pages", "Private", "outside"):
        (vault / name if name != "outside" else tmp_path / name).mkdir(parents=True)
    (vault / "Metals.md").write_text("# Metals\n\ntin and lead\n")
    (vault / ".indexerignore").write_text("Private/\n")
    (vault / "evals" / "one.yaml").write_text(CASE)
    return vault


@pytest.fixture
def run(vault: Path, tmp_path: Path) -> Iterator[ToolCall]:
    config = tmp_path / "config.toml"
    config.write_text('[evals.agents]\nown = "own_module_of_the_user:f"\n')
    target = resolve_target(vault, tmp_path / "index", config, environ={}, options={})
    with closing(open_index(target, lambda _: None)) as service:
        yield agent_actions(target, service).tools["run_eval"]


def request(*, live: bool = False, snapshots: str = "", cases: str = "evals") -> dict[str, Value]:
    """The arguments of an agent's call."""
    return {"cases_root": cases, "snapshots_root": snapshots, "layers": "1,2,3", "live": live, "agent": ""}


def verdict(report: Mapping[str, JsonValue], case: str) -> tuple[str, str]:
    found = json.loads(json.dumps(dict(report)))["results"]
    (one,) = [result for result in found if result["case_id"] == case]
    return one["verdict"], "\n".join(one["reasons"])


def test_cases_of_the_vault_run(vault: Path, run: ToolCall) -> None:
    assert verdict(run(request()), "one") == ("pass", "")


@pytest.mark.parametrize("place", ["outside", "vault/Private", "vault/.obsidian", "vault/pages"])
def test_no_case_is_read_where_the_daemon_may_not(
    vault: Path, tmp_path: Path, run: ToolCall, place: str
) -> None:
    folder = tmp_path / place
    folder.mkdir(exist_ok=True)
    (folder / "secret.yaml").write_text(SECRET if place != "vault/pages" else CASE.replace("one", "linked"))
    (vault / "evals" / "link.yaml").symlink_to(folder / "secret.yaml")
    if place == "vault/pages":  # a link within what may be read
        assert verdict(run(request()), "linked") == ("pass", "")
        return
    with pytest.raises(VaultIndexerError) as error:
        run(request())
    assert "is outside the vault, excluded, or too large" in str(error.value)
    assert "hunter2" not in str(error.value)


def test_a_folder_that_is_excluded_holds_no_cases(vault: Path, run: ToolCall) -> None:
    (vault / "Private" / "one.yaml").write_text(CASE)
    with pytest.raises(VaultIndexerError, match="excluded"):
        run(request(cases="Private"))


def test_a_case_is_not_larger_than_a_note_may_be(vault: Path, run: ToolCall) -> None:
    with (vault / "evals" / "large.yaml").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(VaultIndexerError, match="too large"):
        run(request())


@pytest.mark.parametrize("place", ["outside", "vault/Private", "vault/pages"])
def test_no_snapshot_is_read_where_the_daemon_may_not(
    vault: Path, tmp_path: Path, run: ToolCall, place: str
) -> None:
    (vault / "evals" / "two.yaml").write_text(CITED)
    PageSnapshots(tmp_path / place).write(Page(URL, 200, URL, "a page", "now"))
    if place != "vault/pages":
        (vault / "pages" / snapshot_name(URL)).symlink_to(tmp_path / place / snapshot_name(URL))
    found, why = verdict(run(request(snapshots="pages")), "two")
    assert found == ("pass" if place == "vault/pages" else "error")
    assert ("no snapshot of this page" in why) is (found == "error")


def test_no_page_is_fetched_for_an_agent(vault: Path, run: ToolCall) -> None:
    (vault / "evals" / "two.yaml").write_text(CITED)
    found, why = verdict(run(request(live=True)), "two")
    assert found == "error"
    assert "pages are not fetched here" in why


def test_no_function_of_the_user_is_asked_for_an_agent(
    vault: Path, tmp_path: Path, run: ToolCall, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_module_of_the_user.py").write_text("def f(given):\n    return []\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (vault / "evals" / "three.yaml").write_text(CASE.replace("one", "three").replace("search", "own"))
    assert verdict(run(request()), "three") == ("error", "agent own: not available here")
    assert "own_module_of_the_user" not in sys.modules
