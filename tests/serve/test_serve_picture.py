"""Pictures and parts of notes, for a page that shows what a note embeds."""

from base64 import b64decode
from urllib.parse import quote

import pytest
from serve_api import PICTURES, Api


def test_a_picture_travels_as_json(api: Api) -> None:
    found = api.ask("/v1/picture?path=dot.png")
    assert found.headers["content-type"] == "application/json"
    assert found.json["media_type"] == "image/png"
    assert found.json["bytes"] == len(PICTURES["dot.png"])
    assert b64decode(str(found.json["data"])) == PICTURES["dot.png"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("page.png", "does not match its suffix"),
        ("plan.pdf", "no such picture"),
        ("Sky.md", "no such picture"),
        ("nowhere.png", "no such picture"),
        ("../config.toml", "no such picture"),
        ("/etc/passwd", "outside the vault"),
        (".obsidian/secret.md", "no such picture"),
    ],
)
def test_nothing_else_does(api: Api, path: str, said: str) -> None:
    refused = api.ask(f"/v1/picture?path={quote(path)}")
    assert refused.status == 404
    assert said in str(refused.json["error"])


def test_a_part_of_a_note_is_shown_alone(api: Api) -> None:
    whole = api.ask("/v1/view?path=Sky").json["blocks"]
    assert api.ask("/v1/view?path=Sky&part=Sky").json["blocks"] == whole
    refused = api.ask("/v1/view?path=Sky&part=Moon")
    assert (refused.status, refused.kind) == (404, "unknown_note")
    assert "no heading Moon" in str(refused.json["error"])
