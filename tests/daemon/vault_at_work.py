"""A small vault with an index, kept in this process, for tests of keeping."""

import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from processes import processes_below
from reliability_lab import in_one_process
from waiting import wait_until

from vault_indexer.bootstrap import resolve_target
from vault_indexer.daemon.assembly import Assembly, OpenGeneration, Target
from vault_indexer.daemon.local_session import LocalSession, ReadOnlySession
from vault_indexer.daemon.lock import IndexLock
from vault_indexer.daemon.session import DaemonSession
from vault_indexer.daemon.sync import VaultSync
from vault_indexer.errors import LockedError
from vault_indexer.model import Hit, Progress, SearchRequest
from vault_indexer.service import VaultService

NOTES = {
    "Bread.md": "# Bread\n\nKnead the dough until it is smooth, then let it rise.\n\nSee [[Oven]].\n",
    "Oven.md": "---\ntags: [kitchen]\n---\n# Oven\n\nError E-417 means that the fan is blocked.\n",
    "Garden/Tomatoes.md": "# Tomatoes\n\n## Sowing\n\nSow in March.\n\n## Harvest\n\nPick them red.\n",
}

wait_for = wait_until

WORDLLAMA = '[index]\nworkers = 1\n[embedding]\nprovider = "wordllama"\n'
"""The configuration with the model that loads fastest."""


@dataclass(frozen=True)
class Place:
    """Where a test's vault, index and configuration are."""

    vault: Path
    index_dir: Path
    config: Path

    def write(self, name: str, text: str) -> None:
        path = self.vault / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def configure(self, toml: str) -> None:
        self.config.write_bytes(toml.encode())

    @property
    def _tuning(self) -> Path:
        return self.config.with_name("tuning.toml")

    def tune(self, toml: str) -> None:
        """Give tuning constants other values, which no configuration can."""
        self._tuning.write_text(toml, "utf-8")

    def target(self, options: Mapping[str, str] | None = None, *, names_config: bool = True) -> Target:
        """With `names_config` as by --config; without it the vault's own file counts."""
        environ = dict.fromkeys(("XDG_CONFIG_HOME", "XDG_STATE_HOME"), str(self.index_dir.parent))
        if self._tuning.exists():
            environ["INDEXER_TUNING"] = self._tuning.read_text("utf-8")
        config = self.config if names_config else None
        return resolve_target(
            self.vault, self.index_dir, config, environ=environ, options=dict(options or {})
        )


def place(folder: Path, notes: Mapping[str, str] = NOTES) -> Place:
    made = Place(folder / "vault", folder / "index", folder / "config.toml")
    made.vault.mkdir()
    made.configure("[index]\nworkers = 1\n")
    for name, text in notes.items():
        made.write(name, text)
    return made


def built_by_wordllama(folder: Path) -> Place:
    """The vault with its index, by the model that loads fastest."""
    made = place(folder)
    made.configure(WORDLLAMA)
    made.tune('[embedding]\ntoken_weights = "none"\n')
    with opened(made):
        pass
    return made


def copy_of(built: Place, folder: Path) -> Place:
    """A vault with its index in an empty folder: a build takes seconds."""
    shutil.copytree(built.vault.parent, folder, dirs_exist_ok=True)
    return Place(folder / "vault", folder / "index", folder / "config.toml")


def silent(_progress: Progress) -> None:
    """Progress that nobody wants to see."""


@contextmanager
def opened(
    where: Place, options: Mapping[str, str] | None = None, *, processes: bool = False
) -> Iterator[VaultService]:
    """The index as one command has it. Without `processes` the work of workers is done in this process:
    starting one costs a second each time, and most tests are about something else."""
    assembly = (Assembly.of if processes else in_one_process)(where.target(options))
    session = LocalSession(assembly)
    try:
        session.open(silent, build=True)
    except LockedError as busy:
        yield VaultService(ReadOnlySession(assembly, busy))
    else:
        yield VaultService(session)
    finally:
        session.close()


def fresh_export(where: Place) -> list[str]:
    """What a fresh build of the vault exports."""
    with opened(replace(where, index_dir=where.index_dir.with_name("fresh"))) as service:
        return list(service.export())


@contextmanager
def daemon(where: Place, *, ready: bool = True, processes: bool = False) -> Iterator[VaultService]:
    """The index as the daemon keeps it. Without `processes` only its builds run in a process of their own."""
    service = VaultService(DaemonSession((Assembly.of if processes else in_one_process)(where.target())))
    try:
        if ready:
            wait_for(lambda: service.status().state == "ready")
        yield service
    finally:
        stop(service)


def current_of(vault_sync: VaultSync) -> OpenGeneration:
    assert vault_sync.current is not None
    return vault_sync.current


def notes_of(vault_sync: VaultSync) -> set[str]:
    with current_of(vault_sync).writer.holder.lease() as snapshot:
        return {row.path for row in snapshot.catalog.files() if row.state == "note"}


def stop(service: VaultService) -> None:
    """Stop a daemon, however long a busy machine takes for it: `close` alone waits two seconds at most, and
    leaves the lock to the process where the loop has not ended by then."""
    loop = f"indexer-loop {service.status().index_dir}"
    service.close()
    wait_for(lambda: all(thread.name != loop for thread in threading.enumerate()))
    service.close()


def is_free(index_dir: Path) -> bool:
    """Whether no process has locked the index."""
    try:
        with IndexLock(index_dir, "a test"):
            return True
    except LockedError:
        return False


class StartedProcesses:
    """The processes of the indexer that this one has started since, parents first. Linux only.

    Those that were there before belong to others: a fixture of the session keeps an index open.
    """

    def __init__(self) -> None:
        self._others = set(_indexer_processes())

    def __call__(self) -> list[int]:
        return [pid for pid in _indexer_processes() if pid not in self._others]


def _indexer_processes() -> Iterator[int]:
    for pid in processes_below(os.getpid()):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"process_entry.py" in command:
            yield pid


def provider_of(service: VaultService) -> object:
    """Of the embedding model."""
    model = service.status().manifest["embedding_model"]
    assert isinstance(model, dict)
    return model["provider"]


def hits(service: VaultService, query: str) -> tuple[Hit, ...]:
    return service.search(SearchRequest(query)).results


def holding(service: VaultService, word: str) -> set[str]:
    """The notes among the hits that hold the word (in a small vault every note is a hit of any query)."""
    return {hit.path for hit in hits(service, word) if word in hit.content}
