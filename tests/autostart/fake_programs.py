"""Programs of a system that record how they are called, in a folder that is put in front of PATH."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

_PROGRAM = """#!{python} -IS
import json, pathlib, sys
folder = pathlib.Path({folder!r})
call = [pathlib.Path(sys.argv[0]).name, *sys.argv[1:]]
for at, word in enumerate(sys.argv):
    if word == "/XML":
        (folder / "task.xml").write_bytes(pathlib.Path(sys.argv[at + 1]).read_bytes())
        call[at + 1] = "FILE"
with (folder / "calls").open("a") as calls:
    calls.write(json.dumps(call) + "\\n")
for key, (status, output, errors) in json.loads((folder / "answers").read_text()).items():
    if key in " ".join(call):
        sys.stdout.write(output)
        sys.stderr.write(errors)
        sys.exit(status)
"""


@dataclass(frozen=True)
class FakePrograms:
    """What a call holds, as text, decides the answer; every other call succeeds and says nothing."""

    folder: Path

    def answer(self, **answers: tuple[int, str, str]) -> None:
        """Exit status, standard output and standard error for calls that hold a key (`_` is a blank)."""
        named = {key.replace("_", " "): value for key, value in answers.items()}
        (self.folder / "answers").write_text(json.dumps(named))

    def take_calls(self) -> list[list[str]]:
        """The calls since the last look."""
        file = self.folder / "calls"
        found = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        file.unlink(missing_ok=True)
        return found

    @property
    def path(self) -> str:
        return f"{self.folder}{os.pathsep}{os.environ['PATH']}"


def fake_programs(folder: Path, *names: str) -> FakePrograms:
    folder.mkdir()
    for name in names:
        program = folder / name
        program.write_text(_PROGRAM.format(python=sys.executable, folder=str(folder)))
        program.chmod(0o755)
    made = FakePrograms(folder)
    made.answer()
    return made
