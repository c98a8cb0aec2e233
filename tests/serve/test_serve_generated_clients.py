"""Clients generated from `/openapi.json`, in Python and TypeScript, compile strictly and do five tasks.

The generators are installed from PyPI, into an environment of their own, and from npm. A test is skipped if
its generator cannot be installed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import venv
from pathlib import Path

import pytest
from npm_packages import NODE, install, install_from_npm
from serve_api import Api
from waiting import PROCESS_S

pytestmark = pytest.mark.long

GENERATOR = ("openapi-python-client==0.29.1", "mypy==2.4.1")
PACKAGES = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3")

PYTHON = """
import json
import sys

from client import AuthenticatedClient
from client.api.default import (
    ask_v1_ask_post,
    links_v1_links_get,
    note_v1_note_get,
    search_v1_search_get,
    status_v1_status_get,
)
from client.models import AskAnswer, AskOrder, Failure, LinksAnswer, NoteText, SearchAnswer, StatusReport

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])

found = search_v1_search_get.sync(client=client, q="telescope", limit=1)
assert isinstance(found, SearchAnswer)
path = found.results[0].path
assert isinstance(path, str)
note = note_v1_note_get.sync(client=client, path=path)
assert isinstance(note, NoteText)
answer = ask_v1_ask_post.sync(client=client, body=AskOrder(q="What does the telescope show?"))
assert isinstance(answer, AskAnswer)
links = links_v1_links_get.sync(client=client, path="Bread")
assert isinstance(links, LinksAnswer)
status = status_v1_status_get.sync(client=client)
assert isinstance(status, StatusReport)
failure = note_v1_note_get.sync(client=client, path="nowhere")
assert isinstance(failure, Failure)
print(json.dumps([note.path, len(answer.sentences) > 0, links.path, status.notes > 0, failure.status]))
"""

DONE = ["Sky.md", True, "Bread.md", True, 404]


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PROCESS_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def document(api: Api, tmp_path: Path) -> Path:
    file = tmp_path / "openapi.json"
    file.write_bytes(api.ask("/openapi.json").body)
    return file


def test_a_client_in_python(api: Api, document: Path) -> None:
    folder = document.parent
    venv.create(folder / "venv", with_pip=True)
    python = str(folder / "venv" / "bin" / "python")
    install([python, "-m", "pip", "install", "--quiet"], *GENERATOR)
    # Without hooks: else it has the `ruff` of PATH, if there is one, change the types of what it generated.
    (folder / "generator.yaml").write_text("post_hooks: []\n", encoding="utf-8")
    generate = ("-m", "openapi_python_client", "generate", "--meta", "none", "--output-path", "client")
    run(python, *generate, "--config", "generator.yaml", "--path", document, folder=folder)
    (folder / "tasks.py").write_text(PYTHON, encoding="utf-8")
    run(python, "-m", "mypy", "--strict", "--no-incremental", "tasks.py", "client", folder=folder)
    printed = run(python, "tasks.py", f"http://127.0.0.1:{api.port}", api.token, folder=folder)
    assert json.loads(printed) == DONE


def test_a_client_in_typescript(api: Api, document: Path) -> None:
    folder = document.parent
    modules = install_from_npm(folder, *PACKAGES)
    generate = modules / "openapi-typescript" / "bin" / "cli.js"
    run(*NODE, generate, document, "-o", "schema.d.ts", folder=folder)
    shutil.copy(Path(__file__).parent / "fixtures" / "tasks.mts", folder)
    strict = ("--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes")
    target = ("--module", "nodenext", "--target", "es2022")
    run(*NODE, modules / "typescript" / "bin" / "tsc", *strict, *target, "tasks.mts", folder=folder)
    printed = run(*NODE, "tasks.mjs", f"http://127.0.0.1:{api.port}", api.token, folder=folder)
    assert json.loads(printed) == DONE
