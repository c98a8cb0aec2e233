"""The table `[milvus]` of a daemon's configuration."""

from pathlib import Path

import pytest
from config_sandbox import Sandbox
from golden_cases import check_golden

from vault_indexer.errors import ConfigError


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    made = Sandbox(tmp_path)
    made.write()
    return made


def test_what_does_not_fit_together_is_one_mistake(sandbox: Sandbox) -> None:
    def said(text: str) -> str:
        sandbox.write(user=text)
        try:
            assert sandbox.load().warnings == ()
        except ConfigError as error:
            (problem,) = error.problems
            assert problem.source in (f"file {sandbox.user_file}", "default")
            return f"{problem.key} = {problem.value}: {problem.allowed}"
        return "fits"

    check_golden(Path(__file__).parent / "fixtures" / "tables.md", {"": said})


def test_vaults_on_a_server_share_one_model_whose_tokens_are_not_weighted(sandbox: Sandbox) -> None:
    assert sandbox.load().settings.embedding.weighting == "idf"
    sandbox.write(
        user='[index]\nbackend = "milvus"\n[milvus]\nuri = "http://localhost"\n[embedding]\nbatch_size = 7\n'
    )
    embedding = sandbox.load().settings.embedding
    assert (embedding.weighting, embedding.batch_size) == ("", 7)
    weighted = sandbox.load(options={"embedding.token_weights": "idf"}).settings.embedding
    assert weighted.weighting == "idf"  # as measurements and tests ask for it
