"""What is true of growth, audits, sealed queries and lists that changed, counted naively."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import variance
from typing import Any

from tests.worlds.world import World

Answer = Mapping[str, Any]
Fact = Mapping[str, Any]
SAME = 1e-9
POWER_80 = 7.85
"""The squared sum of the quantiles of 5%, two-sided, and of a power of 80%."""
_NEEDS = re.compile(r"needs (?:about )?([\d,]+) queries")


def counts_of(answer: Answer, text: str) -> Iterator[Fact]:
    """The facts that count this."""
    for sentence in answer["sentences"]:
        for fact in sentence["facts"]:
            if fact["about"] == "count" and fact.get("text") == text:
                yield fact


def untrue_growth(answer: Answer) -> Iterator[str]:
    """A larger corpus never holds more in the same k, and never takes fewer queries."""
    for today in answer["today"]:
        rows = [row for row in answer["growth"] if row["metric"] == today["metric"]]
        before = today["mean"]
        most = 0
        for row in (row for row in rows if row["times"] > 1):
            if row["mean"] > before + SAME:
                yield f"more is found in a larger corpus: {row}"
            before = row["mean"]
            if not 0 <= row["low"] <= row["mean"] <= row["high"] <= 1:
                yield f"a range that does not hold its mean: {row}"
            if row["printed"] and row["high"] - row["low"] < SAME:
                yield f"a range without width: {row}"
            if needs := _NEEDS.search(row["reason"] or ""):
                number = int(needs[1].replace(",", ""))
                if number < max(most, answer["n"] + 1):
                    yield f"{most} queries are needed for a smaller corpus: {row}"
                most = number


def untrue_plan(world: World, line: str, answer: Answer) -> Iterator[str]:
    """A range that holds neither its number nor what the spread of the pilot asks for."""
    old, new = answer["systems"]
    values = (world.values(name, answer["metric"]) for name in (old, new))
    changes = [now - before for before, now in zip(*values, strict=True)]
    if answer["pilot"] != len(changes) and answer["cluster"] is None:
        yield f"{len(changes)} queries have a value, not {answer['pilot']}"
    low, high = answer["low"], answer["high"]
    for fact in (fact for one in answer["sentences"] for fact in one["facts"]):
        if (
            fact["about"] == "takes"
            and "low" in fact
            and (fact["low"], fact["high"]) != (low, high)
        ):
            yield f"{low} to {high} are planned: {fact}"
    if not low <= answer["queries"] <= high:
        yield f"{answer['queries']} is not in {low} to {high}"
    sizes = {round(abs(change), 9) for change in changes if change}
    if len(sizes) > 1 and answer["cluster"] is None:
        needed = POWER_80 * variance(changes) / answer["difference"] ** 2 + 2
        if not low <= needed <= high:
            yield f"the spread asks for {needed:.0f} queries, not {low} to {high}: {line}"


def untrue_audit(world: World, answer: Answer) -> Iterator[str]:
    """Which queries an audit says that tests can use."""
    answerable = len(world.questions) - world.unanswerable
    for fact in counts_of(answer, "different"):
        if (fact["queries"], fact["count"]) != (answerable, answerable):
            yield f"{answerable} queries have a target, each with its own text: {fact}"


def untrue_changes(world: World, k: int, answer: Answer) -> Iterator[str]:
    """How many lists are said to have changed, and how many results are new or lost."""
    firsts = [
        [list(world.systems[name][question.id])[:k] for name in "ab"]
        for question in world.questions
    ]
    changed = sum(old != new for old, new in firsts)
    new = sum(len(set(now) - set(old)) for old, now in firsts)
    lost = sum(len(set(old) - set(now)) for old, now in firsts)
    for fact in (fact for one in answer["sentences"] for fact in one["facts"]):
        if fact.get("k") == k and "of" in fact and fact["count"] != changed:
            yield f"{changed} queries changed: {fact}"
    for text, count in (("new", new), ("lost", lost)):
        for fact in counts_of(answer, text):
            if fact["count"] != count:
                yield f"{count} results are {text}: {fact}"


def sealed_part(world: World) -> World:
    """The world of the queries in the sealed file."""
    lines = Path("truth.sealed.jsonl").read_text("utf-8").splitlines()
    ids = {json.loads(line)["id"] for line in lines}
    return replace(
        world, questions=tuple(question for question in world.questions if question.id in ids)
    )


def untrue_seal(world: World, answer: Answer) -> Iterator[str]:
    """How many queries were sealed, and how many of them have a target."""
    part = sealed_part(world)
    sealed = len(part.questions)
    truths = {"sealed": sealed, "with a target": sealed - part.unanswerable}
    for text, count in truths.items():
        facts = list(counts_of(answer, text))
        if [fact["count"] for fact in facts] != [count]:
            yield f"{count} are {text}: {facts}"


def untrue_confirmation(world: World, metric: str, answer: Answer) -> Iterator[str]:
    """What sealed queries are said to confirm."""
    part = sealed_part(world)
    gain = part.mean("b", metric) - part.mean("a", metric)
    for fact in counts_of(answer, "sealed queries"):
        if fact["count"] > len(part.questions):
            yield f"{len(part.questions)} queries are sealed: {fact}"
    first = answer["sentences"][0]["text"]
    if first.startswith("Confirmed") and gain <= 0:
        yield f"b gains {gain} on these: {first}"


def untrue_facts_of(world: World, line: str, answer: Answer) -> Iterator[str] | None:
    """What is untrue of an answer that has truths of its own; None for other commands."""
    command, *words = line.split(" ")
    checks: Mapping[str, Sequence[Any]] = {
        "audit": (untrue_audit, world),
        "seal": (untrue_seal, world),
        "confirm": (untrue_confirmation, world, "recall@10"),
    }
    if command == "compare" and "--changes" in words:
        return untrue_changes(world, int(words[-1]), answer)
    if command not in checks:
        return None
    check, *given = checks[command]
    untrue: Iterator[str] = check(*given, answer)
    return untrue
