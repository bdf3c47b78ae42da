"""Worlds for what is no single command: a switch, a folder of documents, pages of a server."""

import csv
import html
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from calipers.keywords import as_settings
from tests.command import Printed, typed
from tests.web.served import Visitor, served, shelf_of
from tests.worlds.check import commands_in, numbers_of, refused
from tests.worlds.lines import NIGHT
from tests.worlds.world import World

WORDS = ("panel", "lever", "gauge", "valve", "wheel", "spring", "filter", "pedal")


def unbacked(done: Printed) -> Iterator[str]:
    """What is wrong with an answer in JSON: refused, or with numbers that are no facts."""
    if done.code not in (0, 1):
        yield f"refused: {done.err.strip()[:300]}"
        return
    for sentence in json.loads(done.out)["sentences"]:
        yield from numbers_of(sentence)


def wrong_with_switch(world: World, k: int = 3) -> Iterator[str]:
    """What is wrong with the answer to "may I switch from a to b", before and after labels."""
    line = f"labels draft a.jsonl b.jsonl --changed -k {k} --questions truth.jsonl"
    drafted = typed(f"{line} -o label.csv --json")
    if "share no result" in drafted.err:
        return  # as if by two chunkings
    yield from unbacked(drafted)
    if not Path("label.csv").exists():
        return  # nothing differs in the first k
    targets = {question.id: question.targets for question in world.questions}
    with Path("label.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["grade"] = str(int(row["item"] in targets[row["query_id"]]))
        row["judge"] = "anna"
    with Path("filled.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        table.writerows(rows)
    done = typed(f"{line} --filled filled.csv --json")
    yield from unbacked(done)
    if done.code == 0:
        yield from _untrue_switch(world, k, json.loads(done.out))


def _untrue_switch(world: World, k: int, answer: dict[str, Any]) -> Iterator[str]:
    """Where the verdict is not what the labels of all that changed say."""
    gains = []
    for question in world.questions:
        old, new = (
            len(set(world.systems[name][question.id][:k]) & set(question.targets)) for name in "ab"
        )
        gains.append(new - old)
    true = sum(gains) / len(gains)
    first = answer["sentences"][0]
    facts = [fact for fact in first["facts"] if fact["about"] == "difference"]
    for fact in facts:
        if not fact["low"] - 1e-9 <= true <= fact["high"] + 1e-9:
            yield f"the difference is {true}: {first['text']}"
        way = "better" if true > 0 else "worse" if true < 0 else "same"
        if fact["low"] == fact["high"] and fact["direction"] != way:
            yield f"it is {way}, by {true}: {first['text']}"


def write_documents(folder: Path, draw: Random) -> None:
    """A few documents with headings, as `init` reads them."""
    folder.mkdir()
    for at in range(draw.randint(2, 12)):
        name = f"{draw.choice(WORDS)}-{at}"
        parts = [f"# How to mend the {name}\n"]
        for verb in draw.sample(("clean", "replace", "test", "order"), 2):
            parts.append(f"## When to {verb} the {name}\n")
            parts.append(f"You {verb} the {name} every {draw.randint(2, 9)} weeks, by hand.\n")
        (folder / f"{name}.md").write_text("\n".join(parts), "utf-8")


def wrong_with_init(draw: Random) -> Iterator[str]:
    """What is wrong with the first questions of a folder, and with the commands it names."""
    write_documents(Path("docs"), draw)
    done = typed("init docs --json")
    yield from unbacked(done)
    if done.code:
        return
    printed = typed("init docs", columns=500)
    yield from _commands(json.loads(done.out), printed.out)
    measured = typed("eval --json")
    yield from unbacked(measured)
    if measured.code == 0 and "smoke test" not in typed("eval", columns=500).out:
        yield "an evaluation of made questions does not say that it is a smoke test"


def _commands(answer: dict[str, list[dict[str, str]]], printed: str) -> Iterator[str]:
    for command in commands_in(answer, printed):
        if (why := refused(command)) is not None:
            yield f"a printed command fails: {why}"


def wrong_with_pages(world: World) -> Iterator[str]:
    """What pages say otherwise than the alarm, and the commands on them that fail."""
    for name in "aab":
        typed(NIGHT.format(file=world.file(name), metric="recall@10"))
    alarm = json.loads(typed("history alarm nightly --store history.db --json").out)
    first = on_a_page(alarm["sentences"][0]["text"])
    saved = json.loads(typed("history --store history.db --json").out)["evaluations"]
    with served(shelf_of("history.db")) as running:
        visitor = running.visitor()
        home = visitor.get("/").text
        if first not in plain(home):
            yield f"the home page does not say: {first}"
        for path in ("", "?open=0", "/report", "/truth"):
            yield from _page(visitor, f"/evaluations/{saved[0]['id']}{path}")
        yield from _page(visitor, f"/compare?of={saved[-1]['id']}&of={saved[0]['id']}")


CHARTED = re.compile(r"\b((?:recall|precision|ndcg|hit_rate|mrr)@\d+): (\d\.\d{3})")
"""A point of a chart, as its label has it."""


def wrong_with_report(world: World) -> Iterator[str]:
    """What the page of an evaluation says otherwise than the world, or than the commands."""
    file = world.file("a")
    done = typed(f"eval {file} --html report.html --json")
    yield from unbacked(done)
    if done.code:
        return
    page = Path("report.html").read_text("utf-8")
    shown = plain(re.sub(r"(?s)<(style|script)\b.*?</\1>", " ", page))
    for metric, value in dict.fromkeys(CHARTED.findall(shown)):
        if abs(world.mean("a", metric) - float(value)) > 0.000_501:
            yield f"the report says {metric} {value}, and it is {world.mean('a', metric)}"
    answers = [json.loads(done.out)]
    # A page looks as deep as its evaluation, the command as deep as the lists.
    for line in (f"sweep {file}", f"diagnose {file} -k 10"):
        other = typed(f"{line} --json")
        answers += [json.loads(other.out)] if not other.code else []
    for answer in answers:
        first = on_a_page(answer["sentences"][0]["text"])
        if first not in shown:
            yield f"the report does not say: {first}"
    yield from _commands_on(page, "the report")


def _page(visitor: Visitor, address: str) -> Iterator[str]:
    """What is wrong with one page: its status, and commands on it that fail."""
    answer = visitor.get(address)
    if answer.status != 200:
        yield f"{address}: {answer.status}"
        return
    yield from _commands_on(answer.text, address, " --store history.db")


def _commands_on(page: str, where: str, more: str = "") -> Iterator[str]:
    """Which commands on a page fail."""
    for command in dict.fromkeys(re.findall(r"<code>(calipers [^<]+)</code>", page)):
        line = html.unescape(command)
        if "…" in line:
            continue  # the reader's own words go there
        if (why := refused(line if "--store" in line else f"{line}{more}")) is not None:
            yield f"{where}: a printed command fails: {why}"


def wrong_with_site(world: World) -> Iterator[str]:
    """What a static site says otherwise than the alarm, and the commands on it."""
    for name in "aab":
        typed(NIGHT.format(file=world.file(name), metric="recall@10"))
    alarm = json.loads(typed("history alarm nightly --store history.db --json").out)
    first = on_a_page(alarm["sentences"][0]["text"])
    done = typed("history nightly --store history.db --html site")
    if done.code:
        yield f"refused: {done.err.strip()[:300]}"
        return
    pages = sorted(Path("site").rglob("*.html"))
    if first not in plain(Path("site/index.html").read_text("utf-8")):
        yield f"the index does not say: {first}"
    for page in pages:
        if command := re.search(r"<code>(calipers [^<]+)</code>", page.read_text("utf-8")):
            yield f"{page}: a command that its reader cannot run: {command[1]}"


GRID = """
ground-truth = "truth.jsonl"
metrics = "recall@10,ndcg@10"

[grid]
k = 10

[grid.params]
name = ["a", "b"]

[grid.retrievers.kept]
make = "kept:make"
"""
KEPT = """
import json
from pathlib import Path


def make(name):
    rows = map(json.loads, Path(f"{name}.jsonl").read_text("utf-8").splitlines())
    lists = {row["query"]: row["retrieved"] for row in rows}

    def search(query, k):
        return lists[query][:k]

    return search
"""


def wrong_with_grid(world: World) -> Iterator[str]:
    """What a grid of the first two systems says, and the world does not."""
    Path("calipers.toml").write_text(GRID, "utf-8")
    Path("kept.py").write_text(KEPT, "utf-8")
    sys.modules.pop("kept", None)
    done = typed("grid calipers.toml --json")
    if any(not lists for name in "ab" for lists in world.systems[name].values()):
        return  # an empty answer is a failure of a live retriever
    yield from unbacked(done)
    if done.code not in (0, 1):
        return
    for sentence in json.loads(done.out)["sentences"]:
        for fact in sentence["facts"]:
            if fact["about"] == "difference" and fact.get("system") == "kept name=b":
                for key, name in (("value", "b"), ("before", "a")):
                    true = world.mean(name, fact["metric"])
                    if key in fact and "text" not in fact and abs(fact[key] - true) > 1e-9:
                        yield f"{key} is {true}: {fact}"


def on_a_page(sentence: str) -> str:
    """A sentence of the terminal as a page says it, which has settings and no options."""
    return plain(as_settings(sentence))


def plain(page: str) -> str:
    """The text of a page, without its markup."""
    text = html.unescape(re.sub(r"<[^>]+>", "", page))
    return re.sub(r"[\\`*\s]+", " ", text).strip()
