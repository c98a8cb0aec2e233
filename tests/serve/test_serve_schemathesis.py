"""What nobody here thought of, asked of a real daemon by schemathesis from the daemon's own description."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from serve_api import end, serve
from waiting import PROCESS_S

pytest.importorskip("schemathesis", reason="the extra test-api")

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
MAX_EXAMPLES = 10


def test_the_api_is_what_its_description_says(tmp_path: Path) -> None:
    process, api = serve(tmp_path)
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml")),
        *("run", f"http://127.0.0.1:{api.port}/openapi.json", "--continue-on-failure", "--no-color"),
        *("--header", f"Authorization: Bearer {api.token}", "--request-timeout", "120"),
        *("--phases=examples,coverage,fuzzing", "--generation-deterministic"),
        *("--max-examples", str(MAX_EXAMPLES)),
    ]
    environ = {**os.environ, "PYTHONPATH": str(HERE)}
    run = subprocess.run(
        command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=PROCESS_S, check=False
    )
    print(run.stdout, run.stderr)
    assert "Traceback" not in end(process)
    assert run.returncode == 0
