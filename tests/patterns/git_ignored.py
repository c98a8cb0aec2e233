"""What real git says: the judge of what a pattern of .gitignore means."""

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

SEPARATOR = "\0"


class GitFolder:
    """A repository of empty files. `paths` are the files and folders in it."""

    def __init__(self, folder: Path, files: Iterable[str]) -> None:
        self._folder = folder
        subprocess.run(["git", "init", "-q", str(folder)], check=True, env=self._environment)
        for file in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).touch()
        found = (path for path in folder.rglob("*") if ".git" not in path.parts)
        self.paths = {path.relative_to(folder).as_posix(): path.is_dir() for path in found}
        """Whether each is a folder."""

    def ignored(self, lines: Sequence[str]) -> set[str]:
        """The paths that these patterns ignore."""
        (self._folder / ".gitignore").write_bytes("".join(f"{line}\n" for line in lines).encode())
        done = subprocess.run(
            ["git", "check-ignore", "--no-index", "-z", "--stdin"],
            cwd=self._folder,
            input=SEPARATOR.join(f"./{path}" for path in self.paths).encode(),
            capture_output=True,
            env=self._environment,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        return {path.removeprefix("./") for path in done.stdout.decode().split(SEPARATOR) if path}

    @property
    def _environment(self) -> dict[str, str]:
        """No configuration of this machine."""
        return {"PATH": os.environ["PATH"], "HOME": str(self._folder), "GIT_CONFIG_NOSYSTEM": "1"}
