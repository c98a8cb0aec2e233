"""Both protocol eras, over HTTP and through `indexer mcp`, with the client of the official SDK."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp.client.client import Client
from mcp_clients import ERAS, TRANSPORTS, call, talk
from mcp_types import ResourceTemplateReference
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from serve_api import Api

from vault_indexer.serve.api.endpoints import ENDPOINTS
from vault_indexer.serve.mcp import protocol

pytestmark = pytest.mark.parametrize(("transport", "era"), [(t, e) for t in TRANSPORTS for e in ERAS])

MAX_READ_BYTES = 4_608
"""Of what a model reads of the list: names, descriptions, arguments."""

MAX_LIST_BYTES = 13 << 10
QUESTIONS: dict[str, dict[str, object]] = {
    "search": {"query": "telescope"},
    "read_note": {"path": "Bread.md"},
    "get_notes": {"paths": ["Bread", "Sky.md", "Nowhere"]},
    "fetch": {"id": "Bread.md"},
    "list_notes": {},
    "recent_changes": {},
    "related": {"path": "Bread"},
    "links": {"path": "Bread"},
    "status": {},
    "ask": {"query": "What shows the rings of Saturn?"},
}
WITH_ROWS = {endpoint.name for endpoint in ENDPOINTS} | {
    "read_note",
    "get_notes",
    "fetch",
    "list_notes",
    "recent_changes",
}
READ_ONLY = {name for name in QUESTIONS if name in WITH_ROWS}


def as_json(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(model.model_dump_json(by_alias=True, exclude_none=True))
    return found


def too_long(listed: dict[str, Any]) -> str:
    """What is to be shortened where the list of tools is over one of its sizes ("": nothing)."""
    read = ("name", "description", "inputSchema")
    found = []
    for keys, bound in ((read, MAX_READ_BYTES), ((*read, "annotations", "outputSchema"), MAX_LIST_BYTES)):
        tools = [{key: tool[key] for key in keys if key in tool} for tool in listed["tools"]]
        sizes = {tool["name"]: len(as_bytes(tool)) for tool in tools}
        over = len(as_bytes(tools)) - bound
        largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:3]
        if over > 0:
            found.append(
                f"{', '.join(keys)}: {over} bytes over {bound}; shorten descriptions in serve/mcp/views.py, "
                f"of the largest tools first: {[(name, sizes[name]) for name in largest]}"
            )
    return "; ".join(found)


def as_bytes(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def incomplete(schema: dict[str, Any], place: str = "") -> list[str]:
    """The places of a schema that do not say the type, or not which keys are always there."""
    if not place and schema.get("required") is None:
        return [f"{place}: required"]
    if schema.get("type") == "array":
        return incomplete(schema["items"], f"{place}[]") if schema.get("items") else [f"{place}: items"]
    if schema.get("type") == "object" and "properties" in schema:
        missing = [] if "required" in schema else [f"{place}: required"]
        return [
            *missing,
            *(
                one
                for name, part in schema["properties"].items()
                for one in incomplete(part, f"{place}.{name}")
            ),
        ]
    return (
        []
        if schema.get("type") in ("object", "string", "integer", "number", "boolean")
        else [f"{place}: type"]
    )


def test_the_tools_are_listed_with_schemas_and_fit(api: Api, transport: str, era: str) -> None:
    listed = talk(api, transport, era, lambda client: client.list_tools())
    assert not too_long(as_json(listed)), too_long(as_json(listed))
    tools = {tool.name: tool for tool in listed.tools}
    assert set(tools) - {"run_eval"} == {*READ_ONLY, "set_chunker"}
    for tool in tools.values():
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        assert tool.output_schema["properties"]
        assert incomplete(tool.output_schema) == [], tool.name
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (tool.name != "set_chunker")
    assert tools["set_chunker"].annotations is not None
    assert tools["set_chunker"].annotations.destructive_hint is True


def test_every_reading_tool_answers(api: Api, transport: str, era: str) -> None:
    async def ask(client: Client) -> dict[str, Any]:
        return {
            name: await client.call_tool(name, given)
            for name, given in QUESTIONS.items()
            if name in READ_ONLY
        }

    results = talk(api, transport, era, ask)
    assert [name for name, result in results.items() if result.is_error] == []
    for result in results.values():  # for hosts that show the model only one of the two
        assert json.loads(result.content[0].text) == result.structured_content
    assert results["search"].structured_content["results"][0]["path"] == "Sky.md"
    assert "ripe starter" in results["read_note"].structured_content["text"]
    assert "ripe starter" in results["fetch"].structured_content["text"]
    bread, sky, nowhere = results["get_notes"].structured_content["notes"]
    assert ("ripe starter" in bread["text"], "rings of Saturn" in sky["text"]) == (True, True)
    assert nowhere["error"] == "no such note in the index: 'Nowhere'"
    listed = results["list_notes"].structured_content
    assert ([one["path"] for one in listed["notes"]], listed["count"]) == (["Bread.md", "Sky.md"], 2)
    assert {one["path"] for one in results["recent_changes"].structured_content["notes"]} == {
        "Bread.md",
        "Sky.md",
    }
    assert results["links"].structured_content["outgoing"][0]["resolved"] == "Sky.md"
    assert results["status"].structured_content["notes"] == 2


def test_an_error_is_the_line_of_the_http_api(api: Api, transport: str, era: str) -> None:
    result = call(api, "read_note", {"path": "Nowhere"}, transport, era)
    assert result.is_error
    assert result.content[0].type == "text"
    over_http = api.ask("/v1/note?path=Nowhere").json["error"]
    assert isinstance(over_http, dict)
    assert result.content[0].text == over_http["message"]


def test_notes_are_resources_with_completion(api: Api, transport: str, era: str) -> None:
    async def ask(client: Client) -> tuple[Any, Any, Any]:
        templates = await client.list_resource_templates()
        (template,) = templates.resource_templates
        ref = ResourceTemplateReference(uri=template.uri_template)
        found = await client.complete(ref, {"name": "path", "value": "sk"})
        return template, found, await client.read_resource("vault://Sky.md")

    template, found, read = talk(api, transport, era, ask)
    assert template.uri_template == "vault://{+path}"
    assert found.completion.values == ["Sky.md"]
    assert "rings of Saturn" in read.contents[0].text


def test_a_prompt_names_what_it_is_about(api: Api, transport: str, era: str) -> None:
    async def ask(client: Client) -> tuple[Any, Any]:
        return await client.list_prompts(), await client.get_prompt(
            "answer_from_vault", {"question": "Why {x}?"}
        )

    listed, got = talk(api, transport, era, ask)
    assert {one.name for one in listed.prompts} == {"answer_from_vault", "find_related", "weekly_review"}
    assert "Why {x}?" in got.messages[0].content.text


def test_the_bridge_says_of_the_server_what_the_server_says(api: Api, transport: str, era: str) -> None:
    async def handshake(client: Client) -> Any:
        session = client.session
        if era == "legacy":
            return session.initialize_result
        return await session.send_discover(era)

    said = talk(api, transport, era, handshake)
    found = as_json(said) if era == "legacy" else said
    version = found.get("serverInfo", {}).get("version") or found["_meta"][protocol.SERVER_KEY]["version"]
    expected = (
        protocol.initialize_result(version, HANDSHAKE_PROTOCOL_VERSIONS[-1])
        if era == "legacy"
        else protocol.discover_result(version)
    )
    assert found == expected
    assert (protocol.HANDSHAKE_VERSIONS, protocol.MODERN_VERSIONS) == (
        HANDSHAKE_PROTOCOL_VERSIONS,
        MODERN_PROTOCOL_VERSIONS,
    )
