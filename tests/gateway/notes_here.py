"""Notes for a server, prepared in this process: to start another one would take a second for each test."""

from vault_gateway.publication import PublishingWorker, Result
from vault_indexer.index.workers.pool import Runnable
from vault_indexer.store import Generation
from vault_indexer.system import ProcessLimits


class NotesHere(PublishingWorker):
    """A worker without a process."""

    def __init__(self, generation: Generation) -> None:
        super().__init__(generation, ProcessLimits())

    def _prepare(self, job: Runnable[object, Result]) -> Result:
        return job.run(None)
