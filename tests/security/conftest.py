from collections.abc import Iterator

import pytest
from serve_api import Api, end, serve


@pytest.fixture(scope="session")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    process, found = serve(tmp_path_factory.mktemp("served"), "[evals]\nrecord_clicks = true\n")
    yield found
    end(process)
