"""Rights that change while a gateway runs."""

import threading

import pytest
from gateway_lab import ANA, BEN, OPS, Gateway, Team, User, gateway
from waiting import wait_until

CURRENT = "vault_indexer_gateway_rights_current"
pytestmark = pytest.mark.long


def is_current(one: Gateway) -> bool:
    """What the figure says."""
    lines = one.get("/metrics", OPS).body.decode().splitlines()
    (value,) = [line.partition(" ")[2] for line in lines if line.startswith(f"{CURRENT} ")]
    return float(value) == 1


def test_a_token_that_was_taken_away_is_refused(team: Team) -> None:
    with gateway(team, [ANA, BEN, OPS]) as one:
        text = one.config.read_text()
        assert one.search(ANA, "dough").status == 200
        one.config.write_text(text.replace(ANA.toml, ""))
        wait_until(lambda: one.search(ANA, "dough").status == 401, "the token is refused")
        assert one.get("/v1/vaults", ANA).kind == "token"
        assert one.search(BEN, "dough").status == 200

        more = User(ANA.name, ANA.token, ("observatory",))
        one.config.write_text(text.replace(ANA.toml, more.toml))
        wait_until(lambda: one.search(ANA, "Saturn").status == 200, "the token counts again")
        assert one.paths(ANA, "Saturn")[0] == "Sky/Saturn.md"
        assert one.search(ANA, "dough", vault="kitchen").status == 404
        new = User("new", "token-of-new", ("kitchen",))
        one.config.write_text(text + new.toml)
        wait_until(lambda: one.search(new, "dough").status == 200, "a new user may ask")
        assert one.search(ANA, "Saturn", vault="observatory").status == 404
        assert is_current(one)
    assert "rights reloaded: 4 users" in one.said
    assert new.token not in one.said


def test_a_broken_file_keeps_the_former_rights_and_is_said(team: Team) -> None:
    with gateway(team, [ANA, BEN, OPS]) as one:
        text = one.config.read_text()
        for broken in (
            text.replace(ANA.toml, "") + "[[users]\n",
            text.replace(ANA.toml, "").replace("port = 0", "port = -1"),
            text[: text.index("[[users]]")],
            None,
        ):
            if broken is None:
                one.config.unlink()
            else:
                one.config.write_text(broken)
            wait_until(lambda: not is_current(one), "the figure says so")
            assert one.search(ANA, "dough").status == 200
            assert one.search(ANA, "dough", vault="observatory").status == 404
            one.config.write_text(text)
            wait_until(lambda: is_current(one), "the file is used again")
        one.config.write_text(text.replace("states_s = 0.2", "states_s = 0.3").replace(ANA.toml, ""))
        wait_until(lambda: one.search(ANA, "dough").status == 401, "the rights count at once")
    assert "the changed configuration has errors, the previous rights stay valid" in one.said
    for part in ("is not valid TOML", "server.port", "at least one [[users]] or [[groups]]", "No such file"):
        assert part in one.said, part
    assert (
        "keys other than users, groups and withdrawn have changed: they take effect after a restart"
        in one.said
    )


def test_no_request_is_answered_wrongly_while_rights_change(team: Team) -> None:
    """A request is asked with the rights of before or of after: never an internal error."""
    with gateway(team, [ANA, OPS]) as one:
        text = one.config.read_text()
        statuses: list[int] = []
        changed = threading.Event()

        def ask() -> None:
            while not changed.is_set():
                statuses.append(one.get("/v1/vaults", ANA).status)

        asking = [threading.Thread(target=ask) for _ in range(2)]
        for thread in asking:
            thread.start()
        for _ in range(2):
            one.config.write_text(text.replace(ANA.toml, ""))
            wait_until(lambda: one.get("/v1/vaults", ANA).status == 401, "the token is refused")
            one.config.write_text(text)
            wait_until(lambda: one.get("/v1/vaults", ANA).status == 200, "the token counts again")
        changed.set()
        for thread in asking:
            thread.join()
    assert set(statuses) == {200, 401}
