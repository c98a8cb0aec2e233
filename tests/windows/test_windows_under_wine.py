"""The program on Windows' Python under Wine, from the first index to the last stop."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from serve_api import Api
from waiting import PROCESS_S, wait_until
from windows_lab import Windows, windows_path

pytestmark = [pytest.mark.windows, pytest.mark.slow]


def paths_of(api: Api, query: str, *, fresh: bool = True) -> set[str]:
    """The notes with the words of the query."""
    answer = api.ask(f"/v1/search?q={quote(query)}&fresh={str(fresh).lower()}&limit=50")
    assert answer.status == 200, answer.body
    results = answer.json["results"]
    assert isinstance(results, list)
    return {one["path"] for one in results if one["why"]["keyword"]}


FACTS = r"""
import json, os
from pathlib import Path
from vault_indexer.system import canonical_folder, default_index_dir, state_folder, user_config_file
from vault_indexer.vault.walk import doubt_about
from vault_indexer.errors import NoteError
from vault_indexer.vault.read import resolve_in_vault

vault = os.environ["VAULT"]

def is_refused(path):
    try:
        resolve_in_vault(Path(vault), path)
    except NoteError:
        return True
    return False

spellings = [vault, vault.replace("\\", "/"), "z" + vault[1:], vault.upper(), vault + "\\", vault + r"\a\.."]
print(json.dumps({
    "one index": len({str(default_index_dir(Path(one), {})) for one in spellings}),
    "spelled": canonical_folder(Path(vault.upper())).name,
    "local": str(state_folder()).replace(os.environ["LOCALAPPDATA"], "%LOCALAPPDATA%"),
    "configuration": str(user_config_file({})).replace(os.environ["LOCALAPPDATA"], "%LOCALAPPDATA%"),
    "drive": doubt_about(Path("C:/")),
    "refused": [one for one in json.loads(os.environ["NAMES"]) if is_refused(one)],
}))
"""

REFUSED = [
    *("NUL.md", "com1", "a.md:stream", "C:a.md", "C:/a.md", "//server/share/a.md", r"..\a.md", r"a\b.md"),
    *("end.", "end "),
]


def test_what_windows_makes_of_names_and_folders(windows: Windows) -> None:
    names = [*REFUSED, "Kitchen/Bread.md", "Café/Crème brûlée.md", ".hidden.md"]
    told = windows.evaluate(FACTS, {"VAULT": windows_path(windows.vault), "NAMES": json.dumps(names)})
    assert told == {
        "one index": 1,
        "spelled": "Notes",
        "local": r"%LOCALAPPDATA%\vault-indexer\vault-indexer",
        "configuration": r"%LOCALAPPDATA%\vault-indexer\vault-indexer\config.toml",
        "drive": "is the root of the file system",
        "refused": REFUSED,
    }


@pytest.mark.parametrize(
    ("variables", "encoding"),
    [({"PYTHONIOENCODING": "cp1252"}, "cp1252"), ({"PYTHONUTF8": "1"}, "utf-8")],
    ids=["cp1252", "UTF-8 mode"],
)
def test_any_text_can_be_shown_in_any_encoding(
    windows: Windows, daemon: Api, variables: dict[str, str], encoding: str
) -> None:
    ran = windows.indexer("search", "crème brûlée sugar", "--limit", "1", variables=variables)
    assert ran.code == 0, ran.err
    shown = ran.out.decode(encoding)
    assert "Crème brûlée" in shown
    assert ("日本" in shown) == (encoding == "utf-8")


@pytest.mark.parametrize(
    ("query", "path"), [("quokka", "Old.md"), ("nowhere", "Welcome.md")], ids=["cp1252 in a note", "CRLF"]
)
def test_an_old_encoding_and_line_ends_of_windows_are_found(daemon: Api, query: str, path: str) -> None:
    assert path in paths_of(daemon, query)


Change = Callable[[Windows], object]


def rename(old: str, new: str) -> Change:
    return lambda windows: (windows.vault / old).rename(windows.vault / new)


def write(path: str, text: str) -> Change:
    return lambda windows: windows.write(path, text)


def delete(path: str) -> Change:
    return lambda windows: (windows.vault / path).unlink()


CHANGES: list[tuple[str, Change, str, set[str]]] = [
    ("a new note", write("New.md", "# New\n\nA walrus.\n"), "walrus", {"New.md"}),
    ("an edit", write("New.md", "# New\n\nA pelican.\n"), "pelican", {"New.md"}),
    ("what it said before", lambda _: None, "walrus", set()),
    ("a rename", rename("New.md", "Newer.md"), "pelican", {"Newer.md"}),
    ("a rename of the case", rename("Newer.md", "NEWER.md"), "pelican", {"NEWER.md"}),
    ("a move", rename("NEWER.md", "Sky/Newer.md"), "pelican", {"Sky/Newer.md"}),
    ("a renamed folder", rename("Sky", "Heaven"), "pelican", {"Heaven/Newer.md"}),
    ("a folder's case", rename("Heaven", "heaven"), "pelican", {"heaven/Newer.md"}),
    ("a folder that leaves the vault", rename("heaven", "../heaven"), "pelican", set()),
    ("a folder that comes", rename("../heaven", "heaven"), "pelican", {"heaven/Newer.md"}),
    ("line ends of Windows", write("Ends.md", "# Ends\r\n\r\nAn ibis.\r\n"), "ibis", {"Ends.md"}),
    ("a name of a device", write("aux.md", "# Aux\n\nAn axolotl.\n"), "axolotl", set()),
    ("a stream", write("a.md:b.md", "# Stream\n\nAn axolotl.\n"), "axolotl", set()),
    ("a note beside them", write("Beside.md", "# Beside\n\nAn axolotl.\n"), "axolotl", {"Beside.md"}),
    ("a deleted note", delete("heaven/Newer.md"), "pelican", set()),
]


@pytest.mark.parametrize(
    ("change", "query", "paths"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES]
)
def test_a_change_is_found(
    windows: Windows, daemon: Api, change: Change, query: str, paths: set[str]
) -> None:
    change(windows)
    wait_until(lambda: paths_of(daemon, query) == paths, f"{query} is in {paths}")


def test_a_note_that_a_program_holds_is_read_once_it_is_let_go(windows: Windows, daemon: Api) -> None:
    """Until then it is found by its former text."""
    windows.write("Held.md", "# Held\n\nA toucan.\n")
    wait_until(lambda: paths_of(daemon, "toucan"), "the note is found")
    with windows.held_file("Held.md"):
        windows.write("Held.md", "# Held\n\nA puffin.\n")
        windows.write("Free.md", "# Free\n\nAn osprey.\n")
        wait_until(lambda: paths_of(daemon, "osprey"), "another note is found")
        assert paths_of(daemon, "toucan") == {"Held.md"}
    found = partial(paths_of, daemon, "puffin", fresh=False)
    wait_until(lambda: found() == {"Held.md"}, "the new text is found")


def test_a_question_is_answered_with_a_quote(daemon: Api) -> None:
    answer = daemon.post("/v1/ask", json.dumps({"q": "What does the telescope show?"}).encode())
    assert answer.status == 200, answer.body
    assert b"rings of Saturn" in answer.body


def test_searches_go_on_during_a_rebuild(windows: Windows, daemon: Api) -> None:
    """They hold segments and catalogs of the old index open, which Windows then removes later."""
    windows.write("Rebuilt.md", "# Rebuilt\n\nA heron.\n")
    wait_until(lambda: paths_of(daemon, "heron"), "the note is found")
    is_built, found = threading.Event(), []

    def search() -> None:
        while not is_built.is_set():
            found.append(paths_of(daemon, "heron"))

    searching = threading.Thread(target=search)
    searching.start()
    try:
        for _ in range(2):
            answer = daemon.post("/v1/rebuild", b'{"wait": true}')
            assert answer.status == 200, answer.body
    finally:
        is_built.set()
        searching.join()
    assert {frozenset(one) for one in found} == {frozenset({"Rebuilt.md"})}


def test_many_commits_under_searches_leave_no_superfluous_segments(windows: Windows, daemon: Api) -> None:
    for number in range(8):
        windows.write(f"Many/{number}.md", f"# Many {number}\n\nThe dodo number {number}.\n")
        wait_until(lambda: len(paths_of(daemon, "dodo")) == number + 1, "each note is found")  # noqa: B023
    status = daemon.ask("/v1/status").json
    assert not status.get("problems"), status
    record = max(windows.index.glob("generations/*/keywords/COMMIT"))
    stray = {file.name for file in record.parent.glob("*.seg")} - set(
        json.loads(record.read_bytes().split(b"\n")[1])["files"]
    )
    assert len(stray) <= 4, "what a search still holds goes with the next commits"


def test_killed_workers_are_replaced(windows: Windows, daemon: Api) -> None:
    assert windows.kill_workers() > 0
    windows.write("Worker.md", "# Worker\n\nA lapwing.\n")
    wait_until(lambda: paths_of(daemon, "lapwing") == {"Worker.md"}, "a note is read by another")


def test_a_killed_daemon_leaves_a_good_index_and_another_takes_over(windows: Windows, daemon: Api) -> None:
    told = json.loads((windows.index / "daemon.json").read_text())
    windows.python("-c", f"import os; os.kill({told['pid']}, 9)")
    windows.write("After.md", "# After\n\nA kiwi.\n")
    ran = windows.indexer("search", "telescope", "--json")
    assert ran.code == 0, ran.err
    assert paths_of(windows.start(), "kiwi") == {"After.md"}


def test_what_was_kept_up_to_date_equals_a_fresh_build_on_linux(
    windows: Windows, daemon: Api, tmp_path: Path
) -> None:
    for path in ("aux.md", "a.md:b.md"):  # Linux has such names
        (windows.vault / path).unlink()
    wait_until(lambda: paths_of(windows.api(), "ibis"), "the daemon still answers")
    ran = windows.indexer("stop")
    assert ran.code == 0, ran.err
    assert not (windows.index / "daemon.json").exists()
    environ = {**windows.environ, "XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    place = ("--vault", str(windows.vault), "--index-dir", str(tmp_path / "index"))
    for command in ("rebuild", "export"):
        linux = subprocess.run(
            [sys.executable, "-m", "vault_indexer", command, *place],
            env=environ,
            capture_output=True,
            timeout=PROCESS_S,
            check=True,
        )
    assert windows.indexer("export").text.splitlines() == linux.stdout.decode().splitlines()
