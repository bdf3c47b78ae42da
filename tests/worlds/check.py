"""Check an output: every number is a fact, every fact is true, none contradict, commands work."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.command import typed
from tests.worlds.counted import untrue_facts_of, untrue_growth, untrue_plan
from tests.worlds.paper import untrue_fusion, untrue_misses
from tests.worlds.world import World

NUMBER = re.compile(r"(?<![\w.@-])[+−-]?\d[\d,]*(?:\.\d+)?%?(?![\w@])")
COMMAND = re.compile(r"`(calipers [^`…]+)`")
NOT_RUN = ("calipers serve", "calipers labels")
"""Commands that wait for a person, or for a pool that somebody judged."""
PLACES = {"OLD": "a.jsonl", "NEW": "b.jsonl"}
"""Words in a command that stand for files of the user."""
CURES = "diagnose"
"""The command whose facts are about runs that were changed on paper: their truth is checked by
tests of its own, and here that every number is a fact."""
DEEP = 10
"""The first results in which targets count as found."""
EXCUSES = ("are the same run", "no item id in common")
"""Why sealed queries cannot confirm anything of these two runs."""
Fact = Mapping[str, Any]
Sentences = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Asked:
    """A command line, and which systems it is about: the old and the new, or one."""

    line: str
    new: str = "a"
    old: str | None = None
    first: tuple[str, ...] = ()
    """Commands that must have run before."""
    may_refuse: bool = False
    """Whether some worlds give too little to answer."""
    weighted: bool = False
    """Whether each question counts as often as it was asked."""


def problems(world: World, asked: Asked, answer: Mapping[str, Any]) -> Iterator[str]:
    """Everything that is wrong with what a command answered in a world."""
    world = replace(world, weighted=asked.weighted)
    sentences: Sentences = answer["sentences"]
    facts = [fact for one in sentences for fact in one["facts"]]
    for one in sentences:
        yield from numbers_of(one)
    if asked.line.startswith(CURES):
        return
    if asked.line.startswith("fuse"):
        yield from untrue_fusion(world, answer)
        return
    if asked.line.startswith("misses"):
        if not world.judged_rows:
            yield from untrue_misses(world, asked.new, DEEP, answer)
        return
    if (untrue := untrue_facts_of(world, asked.line, answer)) is not None:
        yield from untrue
        return
    if asked.line.startswith("plan"):
        yield from untrue_plan(world, asked.line, answer)
    if asked.line.startswith("grow"):
        yield from untrue_growth(answer)
    for fact in facts:
        yield from _untrue(world, asked, fact)
    yield from _contradictions(facts)
    for one in sentences:
        differences = [fact for fact in one["facts"] if fact["about"] == "difference"]
        if "may be chance" in one["text"] and differences and differences[0].get("sure"):
            yield f"it is significant: {one['text']}"


def numbers_of(one: Mapping[str, Any]) -> Iterator[str]:
    """Numbers of a text that are in none of its facts."""
    text = one["text"]
    for fact in one["facts"]:
        for name in ("text", "metric", "system", "against", "slice"):
            if words := str(fact.get(name) or ""):
                # A name of digits alone is no part of a longer number.
                named = rf"(?<!\d){words}(?!\d)" if words.isdigit() else re.escape(words)
                text = re.sub(named, " ", text)
    text = re.sub(r"`[^`]*`", " ", text)
    text = re.sub(r"(\d+)–(\d+)%", r"\1% \2%", text)  # both ends are in percent
    text = re.sub(r"\b\w+(?:\(\w+=\w+\))?@\d+", " ", text)
    known = [
        float(value)
        for fact in one["facts"]
        for value in fact.values()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    tokens = NUMBER.findall(text)
    shares = [float(token.removesuffix("%")) for token in tokens if token.endswith("%")]
    # Shares of a whole are rounded so that they sum to it, in every sentence of an answer.
    is_share = any("of" in fact and "value" in fact for fact in one["facts"])
    room = 1.0 if is_share or sum(shares) == 100 else 0.5
    for token in tokens:
        if not any(_is_shown(token, value, room) for value in known):
            yield f"{token!r} is no fact of {one['text']!r}"


def _is_shown(token: str, value: float, percent: float = 0.5) -> bool:
    """Whether a printed number is this value, as far as its digits go."""
    plain = token.replace(",", "").replace("−", "-").removesuffix("%")
    shown = float(plain)
    places = len(plain.partition(".")[2])
    scaled = value * 100 if token.endswith("%") else value
    room = percent if token.endswith("%") else 0.5
    room *= 1.0000002 * 10.0**-places
    near = abs(abs(scaled) - abs(shown)) <= room
    # "over 99%" and "under 1%" stand for what would round to all or nothing.
    return near or (token in ("99%", "1%") and (scaled > 99 or scaled < 1)) or _short(value, shown)


def _short(value: float, shown: float) -> bool:
    """Whether it is the value in a few significant digits."""
    return any(math.isclose(float(f"{value:.{digits}g}"), shown) for digits in (2, 4))


def _untrue(world: World, asked: Asked, fact: Fact) -> Iterator[str]:
    """Why a fact is not what the world says."""
    about = fact["about"]
    metric = fact.get("metric")
    if about == "mean" and metric and not str(fact.get("system")).endswith("×"):
        yield from _same(fact, "value", world.mean(asked.new, metric))
        yield from _same(fact, "queries", len(world.values(asked.new, metric)))
    if about == "choice" and metric:
        yield from _same(fact, "value", world.mean(asked.new, f"recall@{fact['k']}"))
    if about == "left out" and metric:
        yield from _same(fact, "count", world.unanswerable)
        yield from _same(fact, "of", len(world.questions))
    if about == "requirement" and metric:
        mean = world.mean(asked.new, metric, fact.get("slice"))
        yield from _same(fact, "value", mean)
        # A mean of fifths may lie a rounding below the fifth that is required.
        yield from _same(fact, "sure", mean >= fact["before"] - 1e-12)
    if about == "slice" and metric and "slice" in fact:
        yield from _same(fact, "value", world.mean(asked.new, metric, fact["slice"]))
    if about == "difference" and metric and "before" in fact:
        yield from _difference(world.within(fact.get("slice")), asked, fact)
    if fact.get("system") == "turned round":
        yield from _same(fact, "before", world.mean(asked.new, metric))
        yield from _same(fact, "value", world.turned(asked.new).mean(asked.new, metric))
    if about == "takes" and "low" in fact and fact["low"] > fact["high"]:
        yield f"a range that is none: {fact}"


def _difference(world: World, asked: Asked, fact: Fact) -> Iterator[str]:
    if fact.get("system") == "turned round":
        return
    new, old = fact.get("system"), fact.get("against")
    if new not in world.systems or old not in world.systems:
        new, old = asked.new, asked.old
    if old is None or fact.get("text"):
        return
    metric = fact["metric"]
    now, before = world.mean(new, metric), world.mean(old, metric)
    better, worse = world.moved(old, new, metric)
    gain = now - before
    way = "same" if abs(gain) < 1e-12 else "better" if gain > 0 else "worse"
    yield from _same(fact, "value", now)
    yield from _same(fact, "before", before)
    yield from _same(fact, "difference", gain)
    yield from _same(fact, "better", better)
    yield from _same(fact, "worse", worse)
    yield from _same(fact, "queries", len(world.values(new, metric)))
    if fact["direction"] != way and abs(gain) > 1e-9:
        yield f"{new} is {way} than {old}, not {fact['direction']}: {fact}"


def _same(fact: Fact, name: str, truth: float) -> Iterator[str]:
    if name in fact and not math.isclose(fact[name], truth, rel_tol=1e-9, abs_tol=1e-9):
        yield f"{name} is {truth}, not {fact[name]}: {fact}"


def _contradictions(facts: Sequence[Fact]) -> Iterator[str]:
    """Two facts of one output that cannot both be true."""
    seen: dict[tuple[Any, ...], Fact] = {}
    near = {(one["system"], one["against"]) for one in facts if one["about"] == "not separated"}
    for fact in facts:
        if fact["about"] not in ("difference", "mean", "slice") or fact.get("text") == "on new":
            continue
        names = ("about", "system", "against", "metric", "slice", "text")
        key = tuple(fact.get(name) for name in names)
        other = seen.setdefault(key, fact)
        for name in ("value", "before", "direction", "sure"):
            if other.get(name) != fact.get(name):
                yield f"two values of {name}: {other} and {fact}"
        pair = (fact.get("system"), fact.get("against"))
        if fact.get("sure") and fact["about"] == "difference" and {pair, pair[::-1]} & near:
            yield f"may be as good, and is {fact['direction']}: {fact}"


def commands_in(answer: Mapping[str, Any], printed: str) -> list[str]:
    """Every command that an output tells to run, whole."""
    texts = [one["text"] for one in answer["sentences"]]
    named = [command for text in texts for command in COMMAND.findall(text)]
    pasted = re.findall(r"(?:^|: )(calipers \S[^\n]*)$", printed, re.MULTILINE)
    every = dict.fromkeys([*named, *(one.strip().rstrip(".") for one in pasted)])
    return [one for one in every if not one.startswith(NOT_RUN) and "…" not in one]


def refused(command: str) -> str | None:
    """Why a printed command does not work where it was printed; None where it does."""
    words = [PLACES.get(word, word) for word in command.split(" ")]
    done = typed(" ".join(words).removeprefix("calipers "))
    if any(excuse in done.err for excuse in EXCUSES):
        return None
    return None if done.code in (0, 1) else f"{command}: {done.err.strip()[:300]}"
