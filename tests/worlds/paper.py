"""What is true of lanes that are fused on paper, and of targets that were missed, naively."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.worlds.world import Question, Ranking, World

FUSED = "fused"
SAME = 1e-12
Fact = Mapping[str, Any]
Answer = Mapping[str, Any]
Lanes = Sequence[str]
_WEIGHTED = re.compile(r"^(RRF (?P<constant>\d+)|rank sum)(, \w+ [\d.]+)*$")


def untrue_fusion(world: World, answer: Answer) -> Iterator[str]:
    """What a fusion of some systems says, and the world does not."""
    lanes = [lane["name"] for lane in answer["lanes"]]
    best = answer["best"]["name"]
    for sentence in answer["sentences"]:
        for fact in sentence["facts"]:
            yield from _untrue_of_lanes(world, answer, lanes, fact)
            is_expected = fact.get("text") == "on new queries"
            if is_expected and best not in (answer["advised"]["name"], *_names(sentence)):
                yield f"what is expected of {best} is said of another: {sentence['text']}"
            if is_expected and fact["low"] > 0 and _is_unclear(answer["claim"]["fact"]):
                yield f"a gain that is clear where none is: {sentence['text']}"
    for setting in (answer["default"], answer["advised"], answer["best"]):
        yield from _untrue_setting(world, answer, setting["name"], setting["means"])


def _is_unclear(claim: str) -> bool:
    return "no setting is clearly better" in claim or "adds nothing" in claim


def untrue_misses(world: World, system: str, k: int, answer: Answer) -> Iterator[str]:
    """What is said of missed targets, and is not so."""
    missed = 0
    targets = 0
    nearly = 0
    for question in world.questions:
        relevant = [item for item in question.targets if question.grade(item) > 0]
        returned = [*world.systems[system][question.id]]
        lost = [item for item in relevant if item not in returned[:k]]
        targets += len(relevant)
        missed += len(lost)
        nearly += sum(f"idx2:{item}" in returned for item in lost)
    truths = {"targets": (missed, targets), "more misses": (missed - 3, None)}
    if world.name == "half wrong ids":
        truths["near ids"] = (nearly, None)
    yield from _differ("targets that were missed", answer["missed"], missed)
    yield from _differ("targets", answer["targets"], targets)
    for sentence in answer["sentences"]:
        for fact in sentence["facts"]:
            if fact.get("text") == "k":
                yield from _differ(sentence["text"], fact["k"], k)
            if fact["about"] != "count" or fact.get("text") not in truths:
                continue
            count, of = truths[fact["text"]]
            yield from _differ(sentence["text"], fact["count"], count)
            if "of" in fact:
                yield from _differ(sentence["text"], fact["of"], of)


def _names(sentence: Mapping[str, Any]) -> list[str]:
    return [fact["text"] for fact in sentence["facts"] if fact["about"] == "name"]


def _untrue_of_lanes(world: World, answer: Answer, lanes: Lanes, fact: Fact) -> Iterator[str]:
    about = fact["about"]
    if about == "count" and fact.get("text") == "silent":
        silent = sum(not lists for lists in world.systems[fact["system"]].values())
        yield from _differ(f"silent: {fact}", fact["count"], silent)
        if "of" in fact:
            yield from _differ(f"queries: {fact}", fact["of"], len(world.questions))
    if about == "count" and fact.get("text") == "tried":
        yield from _differ(f"settings: {fact}", fact["count"], len(answer["settings"]))
    if about == "bound":
        yield from _differ(f"{fact}", fact["value"], _at_most(world, lanes, fact["metric"]))
    if about == "difference" and fact.get("text") == "on new queries":
        by = fact["metric"]
        here = answer["best"]["means"][by] - answer["default"]["means"][by]
        yield from _differ(f"{fact}", fact["value"], here)
        if not fact["low"] - SAME <= fact["difference"] <= fact["high"] + SAME:
            yield f"an expected gain outside of its range: {fact}"
    elif about == "difference":
        for name, key in (("system", "value"), ("against", "before")):
            yield from _untrue_setting(world, answer, fact[name], {fact["metric"]: fact[key]})
        if "direction" in fact:
            gain = fact["value"] - fact["before"]
            way = "same" if abs(gain) < SAME else "better" if gain > 0 else "worse"
            if way != fact["direction"]:
                yield f"it is {way}: {fact}"


def _untrue_setting(
    world: World, answer: Answer, name: str, means: Mapping[str, float]
) -> Iterator[str]:
    """Where a setting that can be computed here has other means."""
    lists = fused(world, answer, name)
    if lists is None:
        return
    there = replace(world, systems={FUSED: lists})
    for metric, value in means.items():
        yield from _differ(f"{metric} of {name}", value, there.mean(FUSED, metric))


def fused(world: World, answer: Answer, name: str) -> dict[str, Ranking] | None:
    """The lists of a setting by its name; None where it needs scores."""
    if name.endswith(" alone"):
        return dict(world.systems[name.removesuffix(" alone")])
    weighted = _WEIGHTED.match(name)
    if weighted is None and name not in ("interleaving", "CombMNZ (rank)"):
        return None
    names = [lane["name"] for lane in answer["lanes"]]
    # In a name weights are rounded.
    settings = {setting["name"]: setting["weights"] for setting in answer["settings"]}
    weights = {lane: settings[name].get(lane, 1.0 / len(names)) for lane in names}
    constant = None
    if weighted is not None and weighted["constant"]:
        constant = int(weighted["constant"])
    lists: dict[str, Ranking] = {}
    for question in world.questions:
        lanes = {lane: [*world.systems[lane][question.id]] for lane in names}
        lists[question.id] = _in_order(lanes, name, constant, weights)
    return lists


def _in_order(
    lanes: Mapping[str, Sequence[str]],
    name: str,
    constant: int | None,
    weights: Mapping[str, float],
) -> list[str]:
    """The candidates of one question, best first; those that tie by best rank, then by lane."""
    deepest = max(len(results) for results in lanes.values())
    listed = [lanes[lane][at : at + 1] for at in range(deepest) for lane in lanes]
    candidates = [*dict.fromkeys(item for some in listed for item in some)]
    scores: list[float] = []
    for item in candidates:
        ranks = {lane: lanes[lane].index(item) + 1 for lane in lanes if item in lanes[lane]}
        if name == "interleaving":
            scores.append(-min(ranks.values()))
            continue
        parts = [
            weights[lane]
            * (1 / (constant + rank) if constant else 1 - (rank - 1) / len(lanes[lane]))
            for lane, rank in ranks.items()
        ]
        scores.append(math.fsum(parts) * (len(ranks) if name.startswith("Comb") else 1))
    # Sums that only rounding keeps apart are equal.
    order = sorted(range(len(candidates)), key=lambda at: (-round(scores[at], 12), at))
    return [candidates[at] for at in order]


def _at_most(world: World, lanes: Lanes, metric: str) -> float:
    """A metric of all that the lanes hold together, in the best order."""
    lists = {question.id: _best(world, lanes, question) for question in world.questions}
    there = replace(world, systems={FUSED: lists})
    return there.mean(FUSED, "recall@1000" if metric == "recall" else metric)


def _best(world: World, lanes: Lanes, question: Question) -> list[str]:
    every = dict.fromkeys(item for lane in lanes for item in world.systems[lane][question.id])
    return sorted(every, key=lambda item: -question.grade(item))


def _differ(what: str, found: float, truth: float | None) -> Iterator[str]:
    if truth is None or not math.isclose(found, truth, rel_tol=1e-9, abs_tol=1e-9):
        yield f"{found}, and it is {truth}: {what}"
