"""Bodies from the catalogs of a keeper of three vaults, and keepers that are away, slow or strange."""

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

import pytest
from cli_sandbox import Sandbox
from gateway_lab import BEN, Gateway, Team, User, gateway, notices, results
from several_vaults import House, kept
from waiting import wait_until

pytestmark = pytest.mark.long

TOKEN = "a-token-of-a-keeper-that-is-long-enough"
VARIABLE = "TOKEN_OF_A_KEEPER"
KEEPERS = 'bodies = "keepers"'

NOTES = {
    "home/Notes": {"Same.md": "# Same\n\nThe lantern is green.\n"},
    "work/Notes": {"Same.md": "# Same\n\nThe lantern is black.\n"},
    "attic": {"Trunk.md": "# Trunk\n\nA lantern lies in the trunk.\n"},
}
NAMES = {"home": "home/Notes", "work": "work/Notes", "storage": "attic"}
"""What the daemon calls the vaults; two of their folders have one name."""


@dataclass(frozen=True)
class Keeper:
    """A daemon of three vaults, and where they are published."""

    team: Team
    house: House

    def tables(self, port: int | None = None) -> str:
        url = f"http://127.0.0.1:{port}" if port else str(self.house.shared["url"])
        return f'[[keepers]]\nname = "one"\nurl = "{url}"\ntoken_env = "{VARIABLE}"\n'

    def configure(self, *names: str) -> None:
        lines = [f'{name} = "{self.house.vault(NAMES[name])}"' for name in names]
        text = (
            f'{self.team.keeper("one")}store_bodies = false\n[server]\ntoken_env = "{VARIABLE}"\n[vaults]\n'
        )
        self.house.config.parent.mkdir(parents=True, exist_ok=True)
        self.house.config.write_text(text + "\n".join(lines) + "\n", "utf-8")


@pytest.fixture(scope="module")
def keeper(new_team: Callable[[], Team]) -> Iterator[Keeper]:
    team = new_team()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, TOKEN)
        house = House(Sandbox(team.folder, {VARIABLE: TOKEN}))
        made = Keeper(team, house)
        for vault, notes in NOTES.items():
            for path, text in notes.items():
                house.write(vault, path, text)
        made.configure(*NAMES)
        with kept(house):
            for name in NAMES:
                house.wait_for(name, "ready")
            wait_until(lambda: len(team.vaults.all()) == 3, "all three have an id")
            yield made


def texts(one: Gateway, user: User) -> dict[str, set[str]]:
    """The last line of each hit's text, by the vault that it names."""
    found: dict[str, set[str]] = {}
    for hit in results(one.search(user, "lantern")):
        found.setdefault(str(hit["vault"]), set()).add(str(hit["content"]).rpartition("\n")[2])
    return found


def wait_for_hits(one: Gateway) -> None:
    wait_until(lambda: len(results(one.search(BEN, "lantern"))) == 3, "all three are published")


def test_each_body_comes_from_its_own_vault(keeper: Keeper) -> None:
    (attic,) = [state.vault for state in keeper.team.vaults.all().values() if state.name == "attic"]
    eve = User("eve", "token-of-eve", (attic,))
    with gateway(keeper.team, [BEN, eve], KEEPERS, keeper.tables()) as one:
        wait_for_hits(one)
        assert texts(one, BEN) == {
            "Notes": {"The lantern is green.", "The lantern is black."},
            "attic": {"A lantern lies in the trunk."},
        }
        assert texts(one, eve) == {"attic": {"A lantern lies in the trunk."}}
        answer = one.search(eve, "lantern")
        (hit,) = results(answer)
        assert (hit["keeper"], "lantern" in str(hit["snippet"])) == ("one", True)
        assert TOKEN not in answer.body.decode()


@pytest.mark.parametrize("has_keeper", [True, False])
def test_text_that_no_keeper_gives_costs_the_text_and_no_more(keeper: Keeper, *, has_keeper: bool) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        tables = keeper.tables(silent.getsockname()[1]) if has_keeper else ""
        top = f"{KEEPERS}\nkeeper_timeout_s = 0.5" if has_keeper else ""
        with gateway(keeper.team, [BEN], top, tables) as one:
            wait_for_hits(one)
            found = one.search(BEN, "lantern trunk")
            hit = results(found)[0]
            assert (hit["path"], hit["snippet"], hit["content"]) == ("Trunk.md", "", "")
            assert "without text" in notices(found)
            assert one.search(BEN, 'lantern "in the trunk"').status == 422
            assert one.get("/v1/note", BEN, path="Trunk.md").status == 422
            assert one.paths(BEN, "lantern path:Trunk") == ["Trunk.md"]


def test_a_vault_that_the_keeper_let_go_of_costs_its_text_and_no_more(keeper: Keeper) -> None:
    with gateway(keeper.team, [BEN], KEEPERS, keeper.tables()) as one:
        wait_for_hits(one)
        keeper.configure("home", "work")
        wait_until(lambda: keeper.house.vaults().keys() == {"home", "work"}, "the keeper has let go of it")
        wait_until(lambda: texts(one, BEN)["attic"] == {""}, "its text is gone")
        assert "without text" in notices(one.search(BEN, "lantern"))
        assert texts(one, BEN)["Notes"] == {"The lantern is green.", "The lantern is black."}
        keeper.configure(*NAMES)
        keeper.house.wait_for("storage", "ready")
        wait_until(lambda: texts(one, BEN)["attic"] == {"A lantern lies in the trunk."}, "it is back")
        keeper.configure("work")
        wait_until(lambda: keeper.house.vaults().keys() == {"work"}, "one vault is left")
        wait_until(lambda: texts(one, BEN)["Notes"] == {"", "The lantern is black."}, "one text is left")
