"""The server of the tools, in this process: names that it does not have, resources, prompts, the strategy."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from golden_cases import check_golden, of_parts
from mcp.client.client import Client
from mcp.server.mcpserver.context import Context
from mcp.shared.exceptions import MCPError
from mcp_clients import ERAS, structured
from mcp_in_process import StrategyInMemory, Tools, listed, opened, talk_with, texts
from mcp_types import (
    CallToolResult,
    ClientCapabilities,
    ElicitRequestParams,
    ElicitResult,
    InputRequiredResult,
    PromptReference,
    ResourceTemplateReference,
)
from waiting import DEADLINE_S

from vault_indexer.errors import IndexUnusableError
from vault_indexer.serve.api.endpoints import ENDPOINTS
from vault_indexer.serve.api.respond import AgentActions
from vault_indexer.serve.mcp.reading import TEXT_TOKENS, page_length
from vault_indexer.serve.mcp.server import ConfirmationCodes, ToolCalls
from vault_indexer.serve.mcp.views import tool_views
from vault_indexer.vaults import ClosedVault, Vaults

LONG = "".join(f"Row {number} of beans.\n" for number in range(1_400))
FLAG = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
JOINED = "👩\u200d💻 می\u200cخواهم क्\u200dष"
HIDDEN = {
    "a \u202eb\u202c \u2066c": "a \\u202eb\\u202c \\u2066c",
    "x\U000e0069\U000e0067": "x\\udb40\\udc69\\udb40\\udc67",
    FLAG: FLAG,
    JOINED: JOINED,
}
"""Text of a note, and how a tool shows it."""

GARDEN = {
    "Beans.md": LONG,
    "Plots/Broad beans.md": "Beans of the plot.\n",
    "Bean.md": "One.\n",
    ".obsidian/secret.md": "Not for anybody.\n",
    **{f"Log/{number:03}.md": "Rain.\n" for number in range(101)},
    **dict.fromkeys(("Marmot.md", "Old/Marmot.md"), "".join(f"Marmot: {one}\n" for one in HIDDEN)),
}
SKY = {"Moon.md": "# Moon\n\nThe telescope shows its craters.\n"}


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tools, Tools]]:
    """The tools of one vault, and those of this one and others, of which one is closed."""
    root = tmp_path_factory.mktemp("server")
    with ExitStack() as held:
        garden = Vaults.of(held.enter_context(opened(root / "garden", GARDEN)))
        sky = Vaults.of(held.enter_context(opened(root / "sky", SKY)))
        closed = ClosedVault("closed", root / "closed", IndexUnusableError("its index\nis gone"))
        yield Tools(garden), Tools(Vaults([*garden.holders(), *sky.holders(), closed]))


def refusal(tools: Tools, ask: Callable[[Client], Awaitable[object]], **options: Any) -> MCPError:
    """The error of the protocol that a client gets."""

    async def conversation(client: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await ask(client)
        return caught.value

    return tools.talk(conversation, **options)


def read(tools: Tools, uri: str, address: str = "") -> str:
    """The text of a resource, or why there is none."""

    async def conversation(client: Client) -> str:
        try:
            (content,) = (await client.read_resource(uri)).contents
        except MCPError as refused:
            return f"refused: {refused}"
        return str(content.text)  # type: ignore[union-attr]

    return tools.talk(conversation, address=address)


def test_a_resource_is_the_text_of_a_note_cut_where_a_page_ends(garden: Tools) -> None:
    assert read(garden, "vault://Bean.md") == GARDEN["Bean.md"]
    length = page_length(LONG, TEXT_TOKENS)
    assert LONG[:length].endswith(" of beans.\n")
    assert read(garden, "vault://Beans.md") == (
        f"{LONG[:length]}\n[…] The note goes on: read_note with offset = {length} gives the rest.\n"
    )


@pytest.mark.parametrize(
    "path",
    [
        *("../garden/Bean.md", "..%2Fgarden%2FBean.md", "%2e%2e/garden/Bean.md", "x/..%5c..%5cBean.md"),
        *("/etc/passwd", "%2Fetc%2Fpasswd", "C:%5CWindows%5Cwin.ini", "Bean.md%00", ".obsidian/secret.md"),
        "Nowhere.md",
    ],
)
def test_no_resource_lies_outside_of_the_index(garden: Tools, path: str) -> None:
    said = read(garden, f"vault://{path}")
    assert said.startswith("refused: ")
    assert "\n" not in said


NOTE = ResourceTemplateReference(uri="vault://{+path}")


def completed(
    tools: Tools, part: str, *, of: ResourceTemplateReference | PromptReference = NOTE, **options: str
) -> tuple[list[str], int, bool]:
    """The values of a completion, how many there are, and whether there are more."""
    argument = {"name": options.pop("name", "path"), "value": part}

    async def conversation(client: Client) -> tuple[list[str], int, bool]:
        found = (await client.complete(of, argument)).completion
        return found.values, found.total or 0, bool(found.has_more)

    return tools.talk(conversation, **options)


def test_the_server_refuses_and_completes_as_the_golden_says(garden: Tools, both: Tools) -> None:
    def refused(ask: Callable[[Client], Awaitable[object]]) -> str:
        error = refusal(garden, ask)
        return f"{error.code} {error.message}"

    def called(address: str, given: str) -> str:
        return texts(both.call("read_note", address, **json.loads(given)))[-1]

    def begun(part: str, tools: Tools = garden, **options: Any) -> str:
        values, count, more = completed(tools, part, **options)
        return f"{', '.join(values[:3])}: {len(values)} of {count}{', and more' * more}"

    check_golden(
        Path(__file__).parent / "fixtures" / "mcp_server.md",
        {
            "A tool that there is not": lambda name: refused(lambda client: client.call_tool(name, {})),
            "A prompt that there is not, or that lacks an argument": of_parts(
                lambda name, given: refused(lambda client: client.get_prompt(name, json.loads(given)))
            ),
            "Paths are completed, those that begin with the text first": begun,
            "Of several vaults paths are completed with their names": of_parts(
                lambda address, part: begun(part, both, address=address)
            ),
            "The argument note of a prompt is completed, and no other": of_parts(
                lambda prompt, name: begun("broad", of=PromptReference(name=prompt), name=name)
            ),
            "A resource names its vault where there are several": of_parts(
                lambda address, path: read(both, f"vault://{path}", address)
            ),
            "A call is about the vault of its address or the one that it names": of_parts(called),
        },
    )


def test_at_the_address_of_one_vault_no_tool_has_a_parameter_for_it(both: Tools) -> None:
    for_all, for_one = both.talk(listed), both.talk(listed, address="sky")
    assert for_all["related"]["properties"]["vault"]["enum"] == ["closed", "garden", "sky"]
    assert for_all["related"]["required"] == ["path", "vault"]
    assert for_one["related"]["required"] == ["path"]
    assert for_one.keys() == for_all.keys()
    for name, schema in for_one.items():
        assert set(for_all[name]["properties"]) - set(schema["properties"]) <= {"vault"}
        assert "vault" not in schema["properties"]


def test_where_no_vault_can_be_asked_the_reason_is_said_at_once(tmp_path: Path) -> None:
    closed = [ClosedVault(name, tmp_path, IndexUnusableError(f"{name} is gone")) for name in ("one", "two")]
    tools = Tools(Vaults(closed))
    assert "one is gone" in tools.error("search", query="moon")
    assert tools.error("status", vault="two") == "two is gone"


def user(action: str, confirm: bool, asked: list[str]) -> Callable[..., Awaitable[ElicitResult]]:
    """A user who answers each question so."""

    async def callback(_context: object, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action=action, content={"confirm": confirm})  # type: ignore[arg-type]

    return callback


def test_a_hit_names_the_notes_with_the_same_text(garden: Tools) -> None:
    (hit, *_) = garden.answer("search", query="marmot")["results"]
    assert (hit["id"], hit["copies"]) == ("Marmot.md", ["Old/Marmot.md"])


async def choose_paragraph(client: Client) -> Mapping[str, Any]:
    return structured(await client.call_tool("set_chunker", {"strategy": "paragraph", "confirm": True}))


@pytest.mark.parametrize(
    ("action", "confirm"), [("decline", True), ("accept", False), ("cancel", True), ("accept", True)]
)
def test_a_user_whom_the_host_can_ask_decides_about_the_strategy(
    garden: Tools, action: str, confirm: bool
) -> None:
    tools, setting = garden.with_strategy()
    asked: list[str] = []
    found = tools.talk(choose_paragraph, elicitation_callback=user(action, confirm, asked))
    agreed = action == "accept" and confirm
    assert (found["changed"], setting.strategy) == (agreed, "paragraph" if agreed else "word")
    said = "The strategy is written, and" if agreed else "The user declined; nothing is changed."
    assert found["message"].startswith(said)
    assert asked == [
        "Split notes by paragraph instead of word? This writes [chunking] strategy into the configuration of "
        "the vault, and the index of 106 notes is rebuilt; searches go on meanwhile."
    ]
    tools, setting = garden.with_strategy()
    earlier = tools.talk(choose_paragraph, era=ERAS[0], elicitation_callback=user(action, confirm, asked))
    assert (earlier["changed"], setting.strategy, len(asked)) == (False, "word", 1), "the model asks"


def test_a_strategy_that_cannot_be_chosen_is_refused_before_the_user_is_asked(garden: Tools) -> None:
    tools, setting = garden.with_strategy()
    for strategy in ("custom", "llm"):
        refused = tools.error("set_chunker", strategy=strategy, confirm=True)
        assert refused == f"strategy = \"{strategy}\": Input should be 'paragraph' or 'word'"
    assert tools.error("set_chunker", strategy="paragraph", confirm="yes").startswith("confirm")
    setting.is_fixed = True
    asked: list[str] = []
    given = {"strategy": "paragraph", "confirm": True}
    result = tools.talk(
        lambda client: client.call_tool("set_chunker", given),
        elicitation_callback=user("accept", True, asked),
    )
    assert "chunking.strategy is set by the command" in str(result.content)
    assert (asked, setting.strategy) == ([], "word")


@dataclass
class Request:
    """The part of the SDK's context that a tool looks at: what the host can do, and what its user said."""

    client_capabilities: ClientCapabilities | None
    protocol_version: str = ERAS[1]
    input_responses: Mapping[str, object] | None = None
    request_state: str | None = None


FORMS = ClientCapabilities.model_validate({"elicitation": {"form": {}}})


def set_chunker(garden: Tools, request: Request, strategy: str = "paragraph") -> tuple[object, str]:
    """The result of a call, and the strategy behind it."""
    tools, setting = garden.with_strategy()
    context = tools.context()
    views = tool_views(ENDPOINTS, strategies=setting.choices)
    (view,) = (one for one in views if one.name == "set_chunker")
    calls = ToolCalls(view, context, DEADLINE_S)
    given = {"strategy": strategy, "confirm": True}
    return anyio.run(lambda: calls.result(given, cast("Context[Any, Any]", request))), setting.strategy


def form_of(result: object) -> Mapping[str, Any]:
    """The form that asks about the strategy."""
    assert isinstance(result, InputRequiredResult)
    assert result.request_state == "paragraph"
    assert result.input_requests is not None
    (asked,) = (one.model_dump(by_alias=True)["params"] for one in result.input_requests.values())
    assert asked["requestedSchema"]["required"] == ["confirm"] == list(result.input_requests)
    form: Mapping[str, Any] = asked["requestedSchema"]["properties"]
    return form


def test_the_user_is_asked_about_the_strategy_as_the_golden_says(garden: Tools) -> None:
    def outcome(request: Request) -> str:
        result, strategy = set_chunker(garden, request)
        if isinstance(result, CallToolResult):
            changed = structured(result)["changed"]
            assert strategy == ("paragraph" if changed else "word")
            return "changed" if changed else "not changed"
        assert strategy == "word"
        return f"asked for a {form_of(result)['confirm']['type']}"

    def capable(shown: str, version: str) -> str:
        able = None if shown == "unknown" else ClientCapabilities.model_validate(json.loads(shown))
        return outcome(Request(able, version))

    def answered(answers: str, state: str) -> str:
        given = json.loads(answers)
        for name, one in (given or {}).items():
            given[name] = ElicitResult(**one) if isinstance(one, dict) else one
        return outcome(Request(FORMS, input_responses=given, request_state=state or None))

    check_golden(
        Path(__file__).parent / "fixtures" / "strategy.md",
        {
            "The host asks where it can show a form": of_parts(capable),
            "Only a clear yes to this question changes the strategy": of_parts(answered),
        },
    )


def test_the_strategy_that_there_is_needs_no_question(garden: Tools) -> None:
    result, _ = set_chunker(garden, Request(FORMS), "word")
    assert isinstance(result, CallToolResult)
    assert structured(result)["message"] == "The strategy is word already; nothing is changed."


def test_tools_that_change_something_are_offered_only_if_the_host_asks_for_them(garden: Tools) -> None:
    tools, _ = garden.with_strategy()

    admin = tools.talk(listed).keys()
    assert admin - tools.talk(listed, queries=frozenset()).keys() == {"set_chunker"}
    assert {"search", "read_note", "status", "tasks"} <= admin

    word = {"strategy": "word"}
    said = refusal(tools, lambda client: client.call_tool("set_chunker", word), queries=frozenset()).message
    assert said == "set_chunker is offered by `indexer mcp --tools admin` only"


def test_a_tool_of_the_release_before_is_answered_by_the_one_that_replaces_it(garden: Tools) -> None:
    found = garden.answer("recent_changes", limit=3)
    assert found == garden.answer("list_notes", order="recent", limit=3)
    assert len(found["notes"]) == 3
    assert len(garden.answer("recent_changes")["notes"]) == 20


def test_the_query_language_is_a_resource(garden: Tools) -> None:
    page = read(garden, "docs://query-language")
    assert all(operator in page for operator in ("task-todo:", "links-to:", "OR"))


def test_hidden_characters_are_escaped_and_joiners_and_flags_are_not(garden: Tools) -> None:
    _, text = texts(garden.call("read_note", path="Old/Marmot"))
    (hits,) = texts(garden.call("search", query="marmot"))
    assert text == "".join(f"Marmot: {shown}\n" for shown in HIDDEN.values())
    for written, shown in HIDDEN.items():
        assert (written in hits) is (shown == written)
        assert shown in hits


@pytest.mark.parametrize(("before", "after"), [("word", "paragraph"), ("paragraph", "word")])
def test_the_model_brings_the_word_of_the_user_with_the_code_of_the_call_before(
    garden: Tools, before: str, after: str
) -> None:
    tools, setting = garden.with_strategy()
    setting.strategy = before

    async def conversation(client: Client) -> None:
        async def choose(strategy: str, **given: object) -> str:
            result = await client.call_tool("set_chunker", {"strategy": strategy, **given})
            return str(structured(result)["message"])

        assert await choose(before) == f"The strategy is {before} already; nothing is changed."
        code = (await choose(after, confirm=True)).rpartition("code = ")[2].strip(".")
        for given in ({"confirm": False, "code": code}, {"confirm": True, "code": "0"}, {"confirm": True}):
            assert (await choose(after, **given)).startswith("Ask the user: ")
        assert setting.strategy == before
        assert (await choose(after, confirm=True, code=code)).startswith("The strategy is written")
        assert setting.strategy == after

    tools.talk(conversation)


def test_the_strategy_is_that_of_the_vault_that_is_named(both: Tools) -> None:
    own = {name: StrategyInMemory() for name in ("garden", "sky")}
    tools, setting = both.with_strategy()
    tools = replace(tools, actions_of=lambda vault: AgentActions(own.get(vault, setting)))

    server = tools.server()

    def choose(vault: str, **given: object) -> Mapping[str, Any]:
        arguments = {"strategy": "paragraph", "vault": vault, **given}
        return structured(talk_with(server, lambda client: client.call_tool("set_chunker", arguments)))

    asking = str(choose("sky")["message"])
    assert "the index of 1 notes is rebuilt" in asking
    code = asking.rpartition("code = ")[2].strip(".")
    assert choose("garden", confirm=True, code=code)["changed"] is False
    assert choose("sky", confirm=True, code=code)["changed"] is False  # a code is gone once it is given
    code = str(choose("sky")["message"]).rpartition("code = ")[2].strip(".")
    assert choose("sky", confirm=True, code=code)["changed"] is True
    assert (own["sky"].strategy, own["garden"].strategy, setting.strategy) == ("paragraph", "word", "word")


def test_a_code_is_valid_once_and_for_its_own_change_alone() -> None:
    codes = ConfirmationCodes()
    code = codes.issue("garden", "word")
    assert codes.redeem(code, "garden", "word")
    assert not codes.redeem(code, "garden", "word")
    assert not codes.redeem("unknown", "garden", "word")
    for vault, strategy in (("work", "word"), ("garden", "sentence")):
        assert not codes.redeem(codes.issue("garden", "word"), vault, strategy)


def test_the_latest_32_codes_are_valid() -> None:
    codes = ConfirmationCodes()
    issued = [codes.issue("garden", "word") for _ in range(33)]
    assert [codes.redeem(code, "garden", "word") for code in issued] == [False, *[True] * 32]
