"""A small vault that is asked questions, and language models that are scripted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from reliability_lab import in_one_process, opened

from vault_indexer.answer import Answerer
from vault_indexer.answer.written import StreamOptions
from vault_indexer.bootstrap import resolve_target
from vault_indexer.config import Settings
from vault_indexer.errors import ProviderError
from vault_indexer.model import AnswerSentence, AskAnswer, AskRequest
from vault_indexer.search import IndexReader, ReadyVault, ReadyVaults

WHOLE = StreamOptions(lambda: False, as_written=False)
AS_WRITTEN = StreamOptions(lambda: False, as_written=True)

NOTES = {
    "Places/Sumner Point.md": (
        "---\ntags: [coast]\nsecret: the frontmatter says that the keeper was a ghost\n---\n"
        "# Sumner Point\n\n## The lighthouse\n\n"
        "The lighthouse was built in 1887 by **Helen Marsh**. It does not carry a foghorn.\n"
        "It stands 24 metres high. %% the lighthouse comment is hidden %%\n\n"
        "The keeper's cottage was sold to Paolo Bellini in 1991. ^sale\n\n"
        "- The lantern turns every 12 seconds. ^lantern\n- The stairs have 96 steps.\n"
    ),
    "Kitchen/Sourdough.md": (
        "# Sourdough\n\nFeed the starter twice a day with rye flour. Keep it in an open jar.\n\n"
        "| flour | grams |\n| --- | ---: |\n| rye flour | 250 |\n| spelt flour | 100 |\n\n"
        "```sh\nbake --temperature 240 --minutes 45\n```\n"
    ),
    "Cocina/Pan.md": (
        "# Pan de muerto\n\nEl pan de muerto se hornea durante 35 minutos con agua de azahar. "
        "No se guarda en un frasco cerrado.\n"
    ),
    "天文/土星.md": "# 土星\n\n土星的光环由冰块和岩石组成。望远镜在晴朗的夜晚能看到土星光环。\n",
    "Небо/Луна.md": "# Луна\n\nЛуна удаляется от Земли на 38 миллиметров в год. У Луны нет атмосферы.\n",
    **{
        f"Garden/Bed {number}.md": f"# Bed {number}\n\nIn bed {number} grow {plant}, watered at dusk.\n"
        for number, plant in enumerate(
            ("beans", "leeks", "carrots", "onions", "chard", "fennel", "kale", "beets", "dill", "mint")
        )
    },
}


@dataclass
class ScriptedLlm:
    """A language model that says what a test wants: the next text or error of the script, then the last one
    again; or what a function makes of the prompt."""

    script: list[str | ProviderError] = field(default_factory=list)
    reply: Callable[[str], str] | None = None
    prompts: list[str] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        return "scripted/one"

    def complete(  # the port's signature
        self,
        prompt: str,
        *,
        timeout_s: float,
        max_tokens: int | None = None,  # noqa: ARG002
    ) -> str:
        self.prompts.append(prompt)
        self.timeouts.append(timeout_s)
        if self.reply is not None:
            return self.reply(prompt)
        found = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(found, ProviderError):
            raise found
        return found

    def pieces(
        self,
        prompt: str,
        *,
        timeout_s: float,
        is_cancelled: Callable[[], bool],  # noqa: ARG002 - the port's signature
        as_written: bool,
    ) -> Iterator[str]:
        """The answer, one character at a time where it is wanted as it is written."""
        text = self.complete(prompt, timeout_s=timeout_s)
        yield from text if as_written else [text]


def says(*claims: tuple[str, list[str], str]) -> str:
    """An answer of a model: text, ids and quote of each sentence."""
    return json.dumps({"sentences": [{"text": t, "ids": ids, "quote": q} for t, ids, q in claims]})


def offered(prompt: str) -> dict[str, str]:
    """The sentences that a prompt offers, by id."""
    lines = prompt.partition("<notes>\n")[2].partition("\n</notes>")[0].splitlines()
    found = [json.loads(line) for line in lines]
    return {one["id"]: one["text"] for one in found if "id" in one}


def id_of(prompt: str, part: str) -> str:
    """The id of the one sentence that holds `part`."""
    (found,) = [name for name, text in offered(prompt).items() if part in text]
    return found


def citing(part: str, text: str, quote: str = "") -> Callable[[str], str]:
    """A model that answers with one sentence and cites the one that holds `part`."""

    def reply(prompt: str) -> str:
        name = id_of(prompt, part)
        return says((text, [name], quote or offered(prompt)[name]))

    return reply


@dataclass(frozen=True)
class AskedVault:
    """An index that is asked, with or without a model."""

    vault: Path
    cache: Path
    reader: IndexReader

    def ask(
        self, question: str, model: ScriptedLlm | None = None, **options: Mapping[str, object]
    ) -> AskAnswer:
        """The whole answer. `options` are tables of the settings."""
        last = list(self.events(question, model, **options))[-1]
        assert isinstance(last, AskAnswer)
        return last

    def events(
        self,
        question: str,
        model: ScriptedLlm | None = None,
        stream: StreamOptions = WHOLE,
        /,
        **options: Mapping[str, object],
    ) -> Iterator[AskAnswer | AnswerSentence]:
        """The answer as it arises."""
        named = {"provider": "openai" if model else "none"}
        tables = {**options, "llm": {**named, **options.get("llm", {})}}
        answerer = Answerer(Settings.model_validate(tables), self.cache, lambda _: model or ScriptedLlm())
        request = AskRequest(question, as_written=stream.as_written)
        yield from answerer.answer_from(self.ready(stream.is_cancelled), request, stream.is_cancelled)

    def ready(self, is_cancelled: Callable[[], bool] = lambda: False) -> ReadyVaults:
        """The vault to be searched alone."""
        only = ReadyVault("", self.vault, self.reader, lambda: 0, lambda: 0)
        return ReadyVaults([only], self.reader.searcher.settings, is_cancelled)

    def file(self, path: str) -> str:
        return (self.vault / path).read_text("utf-8")


@contextmanager
def asked_vault(root: Path, notes: Mapping[str, str]) -> Iterator[AskedVault]:
    """An index of these notes, open to be read."""
    vault = root / "vault"
    for path, text in notes.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_bytes(text.encode())
    options: dict[str, int | str] = {"index.workers": 1, "embedding.provider": "wordllama"}
    assembly = in_one_process(resolve_target(vault, root / "index", None, environ={}, options=options))
    with opened(assembly):
        generation = assembly.index_dir.current()
        assert generation is not None
        reader = assembly.open_to_read(generation)
        yield AskedVault(vault, root / "cache", reader)
        reader.holder.publish(None)


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
