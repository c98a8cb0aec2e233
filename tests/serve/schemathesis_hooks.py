"""What schemathesis checks of the API beyond its own checks. `schemathesis.toml` names this module."""

import json
from typing import Any

import schemathesis


@schemathesis.deserializer("application/x-ndjson")  # type: ignore[untyped-decorator]
def last_line(_ctx: Any, response: Any) -> object:
    """The document describes each line; this is the last one."""
    return json.loads(response.content.splitlines()[-1])


@schemathesis.check  # type: ignore[untyped-decorator]
def valid_form_is_accepted(_ctx: Any, response: Any, case: Any) -> None:
    """A request of the form that the document describes is refused for its meaning only."""
    if response.status_code == 422 and case.meta is not None and case.meta.generation.mode.is_positive:
        assert json.loads(response.content)["error"]["kind"] == "usage", response.content
