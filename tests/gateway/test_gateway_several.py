"""Bodies from a keeper that keeps several vaults."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli_sandbox import Sandbox
from gateway_lab import BEN, Gateway, Team, User, gateway, notices, results
from several_vaults import House, kept
from waiting import wait_until

TOKEN = "a-token-of-a-keeper-that-is-long-enough"
VARIABLE = "TOKEN_OF_SEVERAL"

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

    @property
    def tables(self) -> str:
        url = str(self.house.shared["url"])
        return f'[[keepers]]\nname = "one"\nurl = "{url}"\ntoken_env = "{VARIABLE}"\n'

    def configure(self, *names: str) -> None:
        lines = [f'{name} = "{self.house.vault(NAMES[name])}"' for name in names]
        text = (
            '[index]\nbackend = "milvus"\nworkers = 1\nnice = 0\n[embedding]\nprovider = "wordllama"\n'
            f'[milvus]\nuri = "{self.team.uri}"\ncollection_prefix = "{self.team.prefix}"\nkeeper = "one"\n'
            f'store_bodies = false\n[server]\ntoken_env = "{VARIABLE}"\n[vaults]\n'
        )
        self.house.config.parent.mkdir(parents=True, exist_ok=True)
        self.house.config.write_text(text + "\n".join(lines) + "\n", "utf-8")


@pytest.fixture(scope="module")
def keeper(team: Team, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keeper]:
    folder: Path = tmp_path_factory.mktemp("keeper")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, TOKEN)
        house = House(Sandbox(folder, {VARIABLE: TOKEN}))
        made = Keeper(Team(folder, team.uri, "several"), house)
        for vault, notes in NOTES.items():
            for path, text in notes.items():
                house.write(vault, path, text)
        made.configure(*NAMES)
        with kept(house):
            for name in NAMES:
                house.wait_for(name, "ready")
            yield made


def texts(one: Gateway, user: User, query: str = "lantern", **parameters: str) -> dict[str, set[str]]:
    """The last line of each hit's text, by the vault that it names."""
    found: dict[str, set[str]] = {}
    for hit in results(one.search(user, query, **parameters)):
        found.setdefault(str(hit["vault"]), set()).add(str(hit["content"]).rpartition("\n")[2])
    return found


@pytest.mark.long
def test_each_body_comes_from_its_own_vault(keeper: Keeper) -> None:
    wait_until(lambda: len(keeper.team.vaults.all()) == 3, "all three have an id")
    (attic,) = [state.vault for state in keeper.team.vaults.all().values() if state.name == "attic"]
    eve = User("eve", "token-of-eve", (attic,))
    with gateway(keeper.team, [BEN, eve], 'bodies = "keepers"', keeper.tables) as one:
        wait_until(lambda: len(results(one.search(BEN, "lantern"))) == 3, "all three are published")
        assert texts(one, BEN) == {
            "Notes": {"The lantern is green.", "The lantern is black."},
            "attic": {"A lantern lies in the trunk."},
        }
        assert texts(one, eve) == {"attic": {"A lantern lies in the trunk."}}
        assert TOKEN not in one.search(BEN, "lantern").body.decode()


@pytest.mark.long
def test_a_vault_that_the_keeper_let_go_of_costs_its_text_and_no_more(keeper: Keeper) -> None:
    with gateway(keeper.team, [BEN], 'bodies = "keepers"', keeper.tables) as one:
        wait_until(lambda: len(results(one.search(BEN, "lantern"))) == 3, "all three are published")
        keeper.configure("home", "work")
        wait_until(lambda: set(keeper.house.states()) == {"home", "work"}, "the keeper has let go of it")
        wait_until(lambda: texts(one, BEN)["attic"] == {""}, "its text is gone")
        answer = one.search(BEN, "lantern")
        assert "without text" in notices(answer)
        assert texts(one, BEN)["Notes"] == {"The lantern is green.", "The lantern is black."}
        keeper.configure(*NAMES)
        keeper.house.wait_for("storage", "ready")
        wait_until(lambda: texts(one, BEN)["attic"] == {"A lantern lies in the trunk."}, "it is back")
        keeper.configure("work")
        wait_until(lambda: set(keeper.house.states()) == {"work"}, "one vault is left")
        wait_until(lambda: texts(one, BEN)["Notes"] == {"", "The lantern is black."}, "one text is left")
        keeper.configure(*NAMES)
