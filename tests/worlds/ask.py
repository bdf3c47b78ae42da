"""Ask every command about a world, and collect what is wrong with the answers."""

import html
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import calipers
from tests.command import typed
from tests.worlds.check import Asked, commands_in, problems, refused
from tests.worlds.draw import drawn
from tests.worlds.world import World

WITH_MARKDOWN = ("eval", "compare", "sweep")


def asked_of(world: World) -> list[Asked]:
    """The command lines that make sense in a world."""
    files = " ".join(f"{name}.jsonl" for name in world.systems)
    lines = [
        Asked("eval a.jsonl"),
        Asked("eval a.jsonl -m ndcg@10,recall@5"),
        Asked("sweep a.jsonl"),
        Asked(f"compare {files}"),
        Asked("compare a.jsonl b.jsonl -m ndcg@10,recall@5", "b", "a"),
        Asked("gate b.jsonl --baseline main.json", "b", "a"),
        Asked("gate a.jsonl --require 'recall@10 >= 0.5'"),
        Asked("audit truth.jsonl"),
        Asked("misses a.jsonl"),
        Asked("diagnose a.jsonl"),
        Asked("plan a.jsonl b.jsonl --difference 0.1", "b", "a"),
        Asked("history alarm nightly --store history.db", "b", "a"),
    ]
    if any(one.tags for one in world.questions):
        lines.append(Asked("eval a.jsonl --by type -m recall@10"))
    return lines


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


def wrong_in(seed: int, most: int | None = None) -> list[str]:
    """What is wrong in the world of a seed, of which ``most`` commands are asked."""
    world = drawn(seed)
    lines = asked_of(world)
    if most is not None:
        first = seed // 7 % len(lines)
        lines = (lines[first:] + lines[:first])[:most]
    found: list[str] = []
    with inside(world):
        if any("main.json" in one.line for one in lines):
            typed("gate save a.jsonl -m recall@10,ndcg@10 -o main.json")
        if any("history.db" in one.line for one in lines):
            for night in "aab":
                typed(f"eval {night}.jsonl -m recall@10 --save nightly --store history.db")
        for asked in lines:
            where = f"seed {seed}, {world.name}, {len(world.questions)} questions: {asked.line}"
            found += (f"{where}: {one}" for one in _wrong(world, asked))
    return found


def _wrong(world: World, asked: Asked) -> Iterator[str]:
    done = typed(f"{asked.line} --json")
    if asked.line.startswith("plan") and done.code == 2:
        return  # a pilot in which too little changed
    if done.code not in (0, 1):
        yield f"refused: {done.err.strip()[:300]}"
        return
    answer = json.loads(done.out)
    yield from problems(world, asked, answer)
    shown = typed(asked.line, columns=500)
    yield from _faces(asked, answer, shown.out)
    for command in commands_in(answer, shown.out):
        if (why := refused(command)) is not None:
            yield f"a printed command fails: {why}"


def _faces(asked: Asked, answer: dict[str, list[dict[str, str]]], printed: str) -> Iterator[str]:
    """The first sentence stands on every face."""
    first = _plain(answer["sentences"][0]["text"])
    if first not in _plain(printed):
        yield f"the terminal does not say: {first}"
    if not asked.line.startswith(WITH_MARKDOWN):
        return
    markdown = typed(f"{asked.line} --as markdown").out
    if first not in _plain(markdown):
        yield f"Markdown does not say: {first}"
    if asked.line == "eval a.jsonl":
        if first not in _text(calipers.evaluate("a.jsonl")._repr_html_()):
            yield f"the notebook does not say: {first}"
        typed(f"{asked.line} --html page.html")
        if first not in _text(Path("page.html").read_text("utf-8")):
            yield f"the page does not say: {first}"


def _text(page: str) -> str:
    """The text of a page, without its markup."""
    return _plain(html.unescape(re.sub(r"<[^>]+>", "", page)))


def _plain(text: str) -> str:
    return re.sub(r"[\\`*\s]+", " ", text).strip()
