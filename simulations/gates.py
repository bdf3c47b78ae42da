"""Builds that a gate stops, and whatever a command marks where nothing differs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

import calipers
from calipers.questions.gate.baseline_checks import standing
from calipers.questions.gate.result import GateRule
from calipers.statistics.paired_rows import PairedRow, paired_rows
from simulations.differences import (
    AT_ONCE,
    KNOWN,
    MILDLY_SKEWED,
    STRONGLY_SKEWED,
)
from simulations.rates import Rate, share_of
from simulations.results import result
from simulations.shapes import SEED, TARGETS, Floats, Generator, Shape, ranked

METRICS = ("recall@10", "ndcg@10")
ONLY_SHOWN = "`--only-shown`"
RULES: dict[str, GateRule] = {ONLY_SHOWN: GateRule(only_shown=True), "default": GateRule()}

# (before, now), each a row per query of recall@10 and ndcg@10
Build = Callable[[Generator, int], tuple[Floats, Floats]]


def _noisy(rng: Generator, n: int) -> tuple[Floats, Floats]:
    """Each query is found with a rate of its own, at a rank that varies."""
    rate = rng.beta(4.0, 1.5, n)
    before, now = (ranked(rng.random(n) < rate, rng.geometric(0.5, n)) for _ in range(2))
    return before, now


def _one_in_eight(rng: Generator, n: int) -> tuple[Floats, Floats]:
    """One query in eight is drawn anew."""
    before = ranked(rng.random(n) < 0.8, rng.geometric(0.4, n))
    again = ranked(rng.random(n) < 0.8, rng.geometric(0.4, n))
    return before, np.where((rng.random(n) < 0.125)[:, None], again, before)


def _reordered(rng: Generator, n: int) -> tuple[Floats, Floats]:
    """The same is found, in another order in two queries of five."""
    found, rank = rng.random(n) < 0.85, rng.geometric(0.5, n)
    other = np.where(rng.random(n) < 0.4, rng.geometric(0.5, n), rank)
    return ranked(found, rank), ranked(found, other)


def _several(rng: Generator, n: int) -> tuple[Floats, Floats]:
    """Recall of one to four targets, each drawn anew in one query of five."""
    wanted, rate = rng.choice(TARGETS, n), rng.beta(3.5, 1.5, n)
    runs = [rng.binomial(wanted, rate) / wanted for _ in range(2)]
    runs[1] = np.where(rng.random(n) < 0.2, runs[1], runs[0])
    before, now = (np.column_stack([one, one * rng.beta(8, 2, n)]) for one in runs)
    return before, now


def _shifted_by(shape: Shape) -> Build:
    """Differences of a shape in both metrics, around the middle of the range."""

    def build(rng: Generator, n: int) -> tuple[Floats, Floats]:
        away = np.column_stack([shape.draw(rng, (n,)) for _ in range(2)])
        before = np.clip(
            rng.uniform(0.3, 0.7, (n, 2)), np.maximum(-away, 0), np.minimum(1 - away, 1)
        )
        return before, before + away

    return build


def _turned(build: Build) -> Build:
    def turned(rng: Generator, n: int) -> tuple[Floats, Floats]:
        before, now = build(rng, n)
        return now, before

    return turned


UNCHANGED: dict[str, Build] = {
    "a retriever with luck": _noisy,
    "one query in eight drawn anew": _one_in_eight,
    "reordered": _reordered,
    "several targets, a fifth drawn anew": _several,
}
UNCHANGED_MILDLY: dict[str, Build] = {shape.name: _shifted_by(shape) for shape in MILDLY_SKEWED}
UNCHANGED_STRONGLY: dict[str, Build] = {}
for _shape in STRONGLY_SKEWED[:3]:
    _build = _shifted_by(_shape)
    _other = _shape.name.replace("gain", "lost").replace("lose", "gain").replace("lost", "lose")
    UNCHANGED_STRONGLY |= {_shape.name: _build, _other: _turned(_build)}


def collapse(kind: str, rng: Generator) -> tuple[Floats, Floats, list[str]]:
    """Six slices of 16; the third falls, the others stay, or move a little by luck."""
    n, part = 96, np.repeat(np.arange(6), 16)
    tags = [f"s{one}" for one in part]
    fallen = part == 2
    if kind == "ranked sixth to tenth instead of first":
        later = np.where(fallen, rng.integers(6, 11, n), 1)
        return ranked(np.ones(n), np.ones(n)), ranked(np.ones(n), later), tags
    if kind == "from 1 to 0.188, nothing else moves":
        lost = np.isin(np.arange(n), rng.choice(np.flatnonzero(fallen), 13, replace=False))
        return ranked(np.ones(n), np.ones(n)), ranked(1.0 - lost, np.ones(n)), tags
    found, rank = (rng.random(n) < 0.95) * 1.0, rng.geometric(0.5, n)
    flipped = np.where(rng.random(n) < 0.03, 1.0 - found, found)
    after = np.where(fallen, found * (rng.random(n) < 0.1), flipped)
    return ranked(found, rank), ranked(after, rank), tags


COLLAPSES = (
    "from 1 to 0.188, nothing else moves",
    "from 0.95 to 0.1, others flip 3%",
    "ranked sixth to tenth instead of first",
)


def gates(
    pairs: Sequence[tuple[Floats, Floats]], tags: Sequence[str] | None = None
) -> list[list[PairedRow]]:
    """The rows of the gate of each pair (before, now), those of the whole first."""
    found = []
    for before, now in pairs:
        gains = list((now - before).T)
        if tags is not None:
            gains += [
                np.where(np.array(tags) == one, column, np.nan)
                for one in sorted(set(tags))
                for column in (now - before).T
            ]
        found.append(paired_rows(gains, alpha=RULES[ONLY_SHOWN].alpha))
    return found


def stops(rows: Sequence[PairedRow], rule: GateRule, whole: int = len(METRICS)) -> bool:
    """Whether any row fails; the first ones are those of the whole."""
    return any(standing(row, rule, whole=at < whole)[0] == "failed" for at, row in enumerate(rows))


def _stopped(
    build: Build, n: int, draws: int, seed: int, rules: Mapping[str, GateRule]
) -> dict[str, float]:
    """The share of builds that each rule stops."""
    rng = np.random.default_rng([SEED, seed, n])
    stopped = dict.fromkeys(rules, 0)
    for start in range(0, draws, AT_ONCE):
        pairs = [build(rng, n) for _ in range(min(AT_ONCE, draws - start))]
        for rows in gates(pairs):
            for name, rule in rules.items():
                stopped[name] += stops(rows, rule)
    return {name: count / draws for name, count in stopped.items()}


def _stopped_by_a_loss(build: Build, n: int, draws: int) -> float:
    return _stopped(build, n, draws, 4, {"": RULES[ONLY_SHOWN]})[""]


def unchanged(draws: int, numbers: Sequence[int] = (20, 50, 200)) -> Iterator[Rate]:
    """How often a build that is no worse is stopped by a loss that is shown."""
    yield from _no_worse(UNCHANGED, 0.06, draws, numbers)
    yield from _no_worse(UNCHANGED_MILDLY, 0.08, draws, numbers)


def _no_worse(
    builds: Mapping[str, Build], few: float, draws: int, numbers: Sequence[int]
) -> Iterator[Rate]:
    """The share that is stopped; below 50 queries it is held to a band of its own."""
    for name, build in builds.items():
        for n in numbers:
            band = few if n < 50 else 0.06
            known = name in KNOWN or builds is UNCHANGED_STRONGLY
            found, some = share_of(partial(_stopped_by_a_loss, build, n), draws, band)
            yield Rate(name, n, found, some, highest=band, known=known)


def strongly_skewed(draws: int, numbers: Sequence[int] = (20, 50, 200)) -> Iterator[Rate]:
    """The same for rare large losses beside many small gains, and the other way round."""
    yield from _no_worse(UNCHANGED_STRONGLY, 0.08, draws, numbers)


def by_the_facts(draws: int, n: int = 50) -> Iterator[Rate]:
    """How often builds of a retriever with luck are stopped, by rule: a fact is no promise."""
    for name, build in UNCHANGED.items():
        shares = _stopped(build, n, draws, 5, RULES)
        for rule in RULES:
            yield Rate(name, rule, shares[rule], draws)


def collapsed(draws: int) -> Iterator[Rate]:
    """How often the collapse of one slice of 16 among 6 stops the build."""
    for kind in COLLAPSES:
        rng = np.random.default_rng([SEED, 6])
        stopped = dict.fromkeys(("default", ONLY_SHOWN), 0)
        for _ in range(draws):
            before, now, tags = collapse(kind, rng)
            rows = gates([(before, now)], tags)[0]
            for rule in stopped:
                stopped[rule] += stops(rows, RULES[rule])
        for rule, count in stopped.items():
            yield Rate(kind, rule, count / draws, draws, 0.99)


def noisy_slices(draws: int, sizes: Sequence[int] = (10, 20)) -> Iterator[Rate]:
    """How often `--by` stops an unchanged build of six slices, by rule; a fact is no promise."""
    for size in sizes:
        rng = np.random.default_rng([SEED, 42, size])
        tags = [f"s{one}" for one in np.repeat(np.arange(6), size)]
        stopped = dict.fromkeys(RULES, 0)
        for _ in range(draws):
            found = rng.random(6 * size) < 0.8
            undecided = rng.random(6 * size) < 0.1
            runs = (np.where(undecided, rng.random(6 * size) < 0.5, found) for _ in range(2))
            before, now = (ranked(one * 1.0, np.ones(6 * size)) for one in runs)
            rows = gates([(before, now)], tags)[0]
            for name, rule in RULES.items():
                stopped[name] += stops(rows, rule)
        for name, count in stopped.items():
            highest = 0.06 if name == ONLY_SHOWN else None
            yield Rate(f"six slices of {size}", name, count / draws, draws, highest=highest)


def lucky_baseline(draws: int, n: int = 50) -> Iterator[Rate]:
    """Unchanged builds that are stopped, on average and behind the luckiest tenth of baselines.

    A share of several builds varies less than one of them; that a baseline is lucky, as much.
    """
    rate = np.random.default_rng([SEED, 7]).beta(4.0, 2.0, n)
    rng = np.random.default_rng([SEED, 8, 1])
    luck, stopped = np.empty(draws), np.empty(draws)
    for draw in range(draws):
        base = (rng.random(n) < rate) * 1.0
        builds = (rng.random((AT_ONCE, n)) < rate) * 1.0
        pairs = [(base[:, None], one[:, None]) for one in builds]
        luck[draw] = base.mean()
        stopped[draw] = np.mean([stops(one, RULES[ONLY_SHOWN]) for one in gates(pairs)])
    luckiest = luck >= np.quantile(luck, 0.9)
    yield Rate("1 run", "all baselines", float(stopped.mean()), draws, highest=0.06)
    yield Rate("1 run", "the luckiest tenth", float(stopped[luckiest].mean()), draws)


# Families: everything that one command marks, where nothing differs


def equal_systems(rng: Generator, systems: int, n: int) -> Floats:
    """Systems by queries by (recall@10, ndcg@10): all find each query equally often."""
    rate = rng.beta(3.0, 1.2, n)
    return np.stack([ranked(rng.random(n) < rate, rng.geometric(0.5, n)) for _ in range(systems)])


FAMILIES: dict[str, tuple[int, int]] = {
    "2 systems, 40 queries": (2, 40),
    "4 systems, 60 queries": (4, 60),
    "6 systems, 25 queries": (6, 25),
}
FAMILY_TAGS: dict[str, int] = {"type": 3, "language": 4}
"""Tags that have nothing to do with the scores, and how many values each has."""


def _compared(rng: Generator, systems: int, n: int) -> bool:
    runs = equal_systems(rng, systems, n)
    found = calipers.compare(
        {f"s{at}": result(one, metrics=METRICS) for at, one in enumerate(runs)}
    )
    return any(one.verdict in ("better", "worse") for one in found.differences)


def _sliced(rng: Generator, _: int, n: int) -> bool:
    (values,) = equal_systems(rng, 1, n)
    found = calipers.slices(result(values, _tags(rng, n), METRICS), list(FAMILY_TAGS))
    return any(row.standing not in (None, "no clear difference") for row in found.rows)


def _gated(rng: Generator, _: int, n: int) -> bool:
    tags = _tags(rng, n)
    before, now = (result(one, tags, METRICS) for one in equal_systems(rng, 2, n))
    return calipers.gate(now, baseline=before, by=list(FAMILY_TAGS), only_shown=True).stops


def _tags(rng: Generator, n: int) -> dict[str, list[int]]:
    return {name: rng.integers(0, values, n).tolist() for name, values in FAMILY_TAGS.items()}


Command = Callable[[Generator, int, int], bool]
COMMANDS: dict[str, Command] = {
    "`compare`": _compared,
    "`slices` by two tags": _sliced,
    "`gate --only-shown` by two tags": _gated,
}


def _share_marked(command: Command, systems: int, n: int, draws: int) -> float:
    rng = np.random.default_rng([SEED, 15, n])
    return sum(command(rng, systems, n) for _ in range(draws)) / draws


def marked(draws: int) -> Iterator[Rate]:
    """How often a command marks anything, recall@10 and ndcg@10 together."""
    for name, command in COMMANDS.items():
        for size, (systems, n) in FAMILIES.items():
            if name != "`compare`" and systems > 4:
                continue
            found, some = share_of(partial(_share_marked, command, systems, n), draws, 0.06)
            column = size if name == "`compare`" else f"{n} queries"
            yield Rate(f"{name}: {column}", "marks anything", found, some, highest=0.06)
