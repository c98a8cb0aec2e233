"""A task of Windows is deleted where there is one; the program records how it is called."""

from pathlib import Path

import pytest
from fake_programs import fake_programs

from vault_indexer.autostart.supervisor import Environment
from vault_indexer.autostart.task_scheduler import TaskScheduler


def test_a_task_is_deleted_only_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = fake_programs(tmp_path / "bin", "schtasks")
    monkeypatch.setenv("PATH", programs.path)
    tasks, name = TaskScheduler(Environment(tmp_path, "u")), "vault-indexer-notes"
    assert tasks.uninstall(name)
    assert [call[1] for call in programs.take_calls()] == ["/Query", "/End", "/Delete"]
    programs.answer(Query=(1, "", "ERROR: The system cannot find the file specified.\n"))
    assert not tasks.uninstall(name)
    assert [call[1] for call in programs.take_calls()] == ["/Query"]
