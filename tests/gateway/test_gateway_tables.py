"""The table `[milvus]` of a daemon's configuration."""

from pathlib import Path

import pytest
from config_sandbox import Sandbox


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    made = Sandbox(tmp_path)
    made.write()
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'milvus = { ca_file = "/ca", uri = "http://m" }',
            (
                "milvus.uri",
                '"http://m"',
                "a URL that begins with https://, because a certificate is configured",
            ),
        ),
        (
            'milvus = { ca_file = "/ca", cert_file = "/c", uri = "https://m" }',
            ("milvus.key_file", '""', "cert_file and key_file must be set together"),
        ),
        (
            'milvus = { key_file = "/k", uri = "https://m" }',
            ("milvus.key_file", '"/k"', "cert_file and key_file must be set together"),
        ),
        (
            'milvus = { cert_file = "/c", key_file = "/k", uri = "https://m" }',
            ("milvus.ca_file", '""', "the certificates that verify the server, because cert_file is set"),
        ),
        (
            'index.backend = "milvus"',
            ("index.backend", '"milvus"', 'the URL of the server is required (milvus.uri is "")'),
        ),
    ],
)
def test_what_does_not_fit_together_is_one_mistake(
    sandbox: Sandbox, text: str, expected: tuple[str, str, str]
) -> None:
    sandbox.write(user=text)
    (problem,) = sandbox.problems()
    assert (problem.key, problem.value, problem.allowed) == expected
    assert problem.source in (f"file {sandbox.user_file}", "default")


@pytest.mark.parametrize(
    "text",
    [
        'index.backend = "milvus"\nmilvus.uri = "http://m"',
        'milvus = { ca_file = "/ca", cert_file = "/c", key_file = "/k", uri = "https://m" }',
    ],
)
def test_what_just_fits_is_no_mistake(sandbox: Sandbox, text: str) -> None:
    sandbox.write(user=text)
    assert sandbox.load().warnings == ()


def test_vaults_on_a_server_share_one_model_whose_tokens_are_not_weighted(sandbox: Sandbox) -> None:
    assert sandbox.load().settings.embedding.weighting == "idf"
    sandbox.write(
        user='[index]\nbackend = "milvus"\n[milvus]\nuri = "http://localhost"\n[embedding]\nbatch_size = 7\n'
    )
    embedding = sandbox.load().settings.embedding
    assert (embedding.weighting, embedding.batch_size) == ("", 7)
    weighted = sandbox.load(options={"embedding.token_weights": "idf"}).settings.embedding
    assert weighted.weighting == "idf"  # as measurements and tests ask for it
