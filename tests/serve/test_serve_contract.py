"""The contract with other programs: the JSON of every endpoint, tool and command, as golden files."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import pytest
from asgi import ask_vaults
from contract_goldens import compare, stable
from serve_api import Api, end, serve
from waiting import PROCESS_S

from vault_indexer.errors import UnavailableError
from vault_indexer.model import JsonValue
from vault_indexer.vaults import ClosedVault, Vaults

DEMO = {
    str(path.relative_to(str(files("vault_indexer") / "demo"))): path.read_text(encoding="utf-8")
    for path in sorted(Path(str(files("vault_indexer") / "demo")).rglob("*"))
    if path.is_file()
}
HOSTILE = {
    "Café\u0301/\u202egnp.md": "---\ntitle: '<script>alert(1)</script>'\ntags: [ä, 'a b', 1, null]\n"
    "aliases: '[[x]]'\nnested: {a: [1.5, {b: .nan}], d: 2026-01-02}\n---\n# \u202e\u0007 \ud7ff\n\n"
    "Ferry [[ #x | y ]] ![[a.png]]\n",
    "empty.md": "",
    "only front.md": "---\na: 1\n---\n",
    "same/Twin.md": "# Twin\n\nThe ferry leaves. [[Twin]] [[Nowhere#^b|x]] [[Twin#No such]] <b>\n\n"
    "```js\nlet a\n```\n",
    "other/Twin.md": "# Twin\n\n[[same/Twin]] and *ferry* " + "long " * 300 + "^block\n",
    "long.md": "# L\n\n" + "x" * 3000 + "\n\nTwin and Twin.\n",
    "検索.md": "# 検索\n\n全文検索とベクトル検索。\r\n\rferry\u2028line\n",
    "board.canvas": '{"nodes": [{"id": "1", "type": "text", "text": "ferry <i>", "x": 0, "y": 0, "width": 1, '
    '"height": 1}], "edges": []}',
    "table.base": "views:\n  - type: table\n",
    "broken.canvas": "{",
}

# The provider is said: with "auto" the answers depend on what else is installed.
_CONFIG = '[embedding]\nprovider = "wordllama"\n\n[evals]\nrecord_clicks = true\n'
_POSTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("ask", {"q": "When does the ferry leave?", "limit": 2}),
    ("ask", {"q": "How warm is the surface of Neptune?"}),
    ("click", {"q": "ferry", "path": "{note}", "rank": 1}),
    ("judge", {"q": "ferry", "path": "{note}", "grade": 2}),
    ("judge", {"q": "ferry", "path": "{note}", "grade": 3}),
    ("verify", {}),
    ("pause", {"seconds": 60}),
    ("pause", {"seconds": 0}),
    ("resume", {}),
    ("rebuild", {"wait": "yes", "colour": 1}),
)


def questions(query: str, note: str) -> list[str]:
    return [
        *(f"search?q={query}&limit=2", f"search?q={query}&limit=3&by=note&expand=section_or_window"),
        *(f"search?q={query}&limit=2&fields=path,shares,why", "search?q=telescpoe+tag:none&limit=1"),
        *("search?q=", "search?q=x&limit=201&by=word&min_relevance=nan&colour=1"),
        *(f"search?q={query}&fields=colour", f"explain?path={note}&q={query}", "status"),
        *(f"related?path={note}&limit=2", "related?path=No+such", "base?path=No+such&view=x"),
        *(f"links?path={note}", f"links?path={note}&view=mentions&limit=2", "links?view=unresolved"),
        *("links?view=orphans&limit=1", f"note?path={note}", f"graph?path={note}&limit=3", "graph"),
        *("clusters", "clusters?by=community", f"view?path={note}", "picture?path=no.png"),
        *(f"chunks?path={note}", f"chunks?path={note}&strategy=word", "bodies?keys=1048576,x"),
        *("bodies?keys=1048576,9", "complete?q=tag:&limit=3", "health", f"judge?q={query}"),
        *("vaults", "rebuild"),
        *("proof?challenge=0123456789abcdef", "proof?challenge=0", "nothing"),
    ]


@contextmanager
def served(root: Path, notes: Mapping[str, str]) -> Iterator[Api]:
    process, api = serve(root, _CONFIG, notes=notes)
    yield api
    end(process)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with served(tmp_path_factory.mktemp("demo"), DEMO) as api:
        yield api


def answers(api: Api, query: str, note: str) -> JsonValue:
    found: dict[str, JsonValue] = {}
    for target in questions(query, note):
        answer = api.ask(f"/v1/{target}")
        found[f"GET {target}"] = {"status": answer.status, "body": json.loads(answer.body)}
    for route, body in _POSTS:
        given = json.dumps(body).replace("{note}", note.replace("+", " "))
        answer = api.post(f"/v1/{route}", given.encode())
        found[f"POST {route} {given}"] = {"status": answer.status, "body": json.loads(answer.body)}
    return stable(found, api.vault.parent)


@pytest.mark.long
def test_the_answers_for_the_demo_vault(demo: Api) -> None:
    compare("answers-demo", answers(demo, "how+to+bake+bread", "Levain"))


@pytest.mark.long
def test_the_answers_for_a_hostile_vault(tmp_path: Path) -> None:
    with served(tmp_path, HOSTILE) as api:
        compare("answers-hostile", answers(api, "ferry", "same/Twin"))


CLOSED = Vaults([ClosedVault("vault", Path("/vault"), UnavailableError("it is closed"))])


def test_the_document_of_the_api() -> None:
    compare("openapi", stable(ask_vaults(CLOSED, "/openapi.json").json, Path("/vault")))


@pytest.mark.long
def test_the_stream_of_an_answer(demo: Api) -> None:
    found = demo.post("/v1/ask", b'{"q": "When is the ferry?", "limit": 1, "stream": true}')
    lines: list[JsonValue] = [json.loads(line) for line in found.body.splitlines()]
    compare("stream", stable(lines, demo.vault.parent))


def test_the_list_of_tools() -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    compare("tools", ask_vaults(CLOSED, "/mcp", "POST", message).json)


COMMANDS = (
    *("search how to bake bread -n 2 --by note --expand section", "search zzz --min-relevance 0.9"),
    *("related Levain -n 2", "search bake bread --explain Levain", "links Levain"),
    *("links --mentions Levain -n 2", "links --unresolved", "links --orphans -n 1"),
    *("links Levain --depth 1 -n 3", "ask how warm is Neptune", "inspect Bread/Levain.md", "status", "check"),
    *("pause --for 1m", "resume", "rebuild", "vault list"),
)
EACH = """
import json, sys
from contextlib import redirect_stdout
from io import StringIO
from vault_indexer.cli.app import main
found = {}
for command in sys.argv[1].split("|"):
    out = StringIO()
    try:
        with redirect_stdout(out):
            main([*command.split(), "--json", *sys.argv[2:]])
    except SystemExit as end:
        lines = [json.loads(one) for one in out.getvalue().splitlines()]
        found[command] = {"status": end.code or 0, "lines": lines}
json.dump(found, sys.stdout)
"""


@pytest.mark.long
def test_the_json_of_every_command(demo: Api) -> None:
    root = demo.vault.parent
    kept = {name: value for name, value in os.environ.items() if not name.startswith("INDEXER_")}
    place = ["--vault", str(demo.vault), "--index-dir", str(demo.index_dir)]
    ran = subprocess.run(
        [sys.executable, "-c", EACH, "|".join(COMMANDS), *place],
        env={**kept, "HOME": str(root), "XDG_CONFIG_HOME": str(root), "XDG_STATE_HOME": str(root)},
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=False,
    )
    assert ran.stdout, ran.stderr
    compare("commands", stable(json.loads(ran.stdout), root))
