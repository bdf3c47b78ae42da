"""Ask commands about a world once each, and collect what is wrong with every face of the answer."""

import html
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import msgspec

from calipers.cli.command import CommandInput
from calipers.keywords import in_python
from calipers.present.markdown import as_markdown
from tests.command import Printed, typed
from tests.worlds.check import Asked, commands_in, problems, refused
from tests.worlds.draw import KINDS, drawn
from tests.worlds.further import (
    wrong_with_grid,
    wrong_with_init,
    wrong_with_pages,
    wrong_with_report,
    wrong_with_site,
    wrong_with_switch,
)
from tests.worlds.lines import asked_of
from tests.worlds.world import World


@contextmanager
def inside(world: World) -> Iterator[Path]:
    """A folder with the files of a world, as the current one."""
    before = Path.cwd()
    with TemporaryDirectory() as name:
        os.chdir(name)
        try:
            world.write(Path(name))
            yield Path(name)
        finally:
            os.chdir(before)


@dataclass
class Heard:
    """What a command printed, and the same answer on the other faces."""

    printed: Printed = field(default_factory=lambda: Printed(0, "", ""))
    answer: dict[str, Any] = field(default_factory=dict)
    """What ``--json`` prints of it; empty where nothing was answered."""
    faces: dict[str, str] = field(default_factory=dict)
    """The answer as text on the faces that are not the terminal."""


def heard(line: str) -> Heard:
    """Run a command once, and keep its answer on every face."""
    kept = Heard()
    show = CommandInput.show

    def keep(self: CommandInput, result: Any, to_dict: Any = None, **more: Any) -> None:
        document = more.get("document") or result.document()
        kept.answer = _as_json((to_dict or type(result).to_dict)(result))
        kept.faces["Markdown"] = as_markdown(document, explain=False)
        if hasattr(result, "_repr_html_"):
            kept.faces["Python"] = str(result)
            kept.faces["a notebook"] = _text(result._repr_html_())
        show(self, result, to_dict, **{**more, "document": document})

    with mock.patch.object(CommandInput, "show", keep):
        kept.printed = typed(line, columns=500)
    return kept


def _as_json(plain: dict[str, Any]) -> dict[str, Any]:
    """Plain values as JSON holds them; long lists are left out."""
    whole = {name: value for name, value in plain.items() if not isinstance(value, Iterator)}
    decoded: dict[str, Any] = json.loads(msgspec.json.encode(whole))
    return decoded


def wrong_in(seed: int, most: int | None = None, begun: str = "") -> list[str]:
    """What is wrong in the world of a seed, of which ``most`` commands that begin so are asked."""
    draw = Random(seed + 1)
    world = drawn(seed)
    lines = [asked for asked in asked_of(world) if asked.line.startswith(begun)]
    if most is not None:
        lines = draw.sample(lines, min(most, len(lines)))
    wrong: list[str] = []
    with inside(world):
        for asked in lines:
            refusal = _refusal(asked)
            if refusal is not None:
                wrong += [] if asked.may_refuse else [f"seed {seed}: {refusal}"]
                continue
            where = f"seed {seed}, {world.name}, {len(world.questions)} questions: {asked.line}"
            wrong += (f"{where}: {problem}" for problem in wrong_with(world, asked, draw))
        where = f"seed {seed}, {world.name}, {len(world.questions)} questions"
        if most is not None and not begun and seed % FURTHER == 0:
            wrong += (f"{where}: {problem}" for problem in _wrong_further(world, draw))
        if most is not None and not begun and (seed // len(KINDS)) % REPORTED == 0:
            wrong += (f"{where}, report: {problem}" for problem in wrong_with_report(world))
    return wrong


def _refusal(asked: Asked) -> str | None:
    """Why a command that must have run before was refused."""
    for before in asked.first:
        if (done := typed(before)).code:
            return f"{before}: {done.err.strip()[:300]}"
    return None


FURTHER = 40
"""One world in so many is also asked what is no single command."""
REPORTED = 40
"""Of every kind one world in so many has its report read."""


def _wrong_further(world: World, draw: Random) -> Iterator[str]:
    """What is wrong with a switch, with first questions, with pages or with a grid."""
    if world.judged_rows:
        return
    kind = draw.choice(["switch", "switch", "init", "pages", "site", "grid"])
    if kind == "switch":
        yield from wrong_with_switch(world, draw.choice([1, 3, 5]))
    elif kind == "init":
        yield from wrong_with_init(draw)
    elif kind == "site":
        yield from wrong_with_site(world)
    elif kind == "grid":
        yield from wrong_with_grid(world)
    else:
        yield from wrong_with_pages(world)


def wrong_with(world: World, asked: Asked, draw: Random) -> Iterator[str]:
    """What is wrong with the answer to one command, on every face."""
    answered = heard(asked.line)
    done = answered.printed
    if done.code == 2 and asked.may_refuse:
        return
    answer = answered.answer
    if done.code not in (0, 1) or not answer:
        yield f"refused: {done.err.strip()[:400]}"
        return
    yield from problems(world, asked, answer)
    yield from _faces(answered)
    commands = commands_in(answer, done.out)
    # Every command is as long as an answer of its own: one of them is run.
    for command in draw.sample(commands, min(1, len(commands))):
        if (why := refused(command)) is not None:
            yield f"a printed command fails: {why}"


def _faces(answered: Heard) -> Iterator[str]:
    """Which face does not say the first sentence."""
    first = _plain(answered.answer["sentences"][0]["text"])
    for face, text in {"the terminal": answered.printed.out, **answered.faces}.items():
        if first not in _plain(text) and in_python(first) not in _plain(text):
            yield f"{face} does not say: {first}"


def _text(page: str) -> str:
    """The text of a page, without its markup."""
    return _plain(html.unescape(re.sub(r"<[^>]+>", "", page)))


def _plain(text: str) -> str:
    return re.sub(r"[\\`*\s]+", " ", text).strip()
