"""Builds that a gate lets through or stops, with the gate's own rows and standings."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from calipers.model.slicing import QuerySlice
from calipers.questions.compare.metric_difference import ROUNDING
from calipers.questions.gate.rows import GateRow, GateRule, gate_rows, standing
from calipers.statistics.paired_test import paired_tests
from simulations.differences import AT_ONCE, KNOWN, some_of, t_shows
from simulations.held_out import (
    COLLAPSES,
    SEED,
    UNCHANGED,
    UNCHANGED_MILDLY,
    UNCHANGED_STRONGLY,
    Build,
    collapse,
)
from simulations.rates import Rate
from simulations.shapes import Floats

METRICS = ("recall@10", "ndcg@10")
T_TEST = "t test"
RULES: dict[str, GateRule] = {
    "--only-shown": GateRule(only_shown=True),
    "default": GateRule(),
    "--strict": GateRule(strict=True),
}


def gates(
    pairs: Sequence[tuple[Floats, Floats]], tags: Sequence[str] | None = None
) -> list[list[GateRow]]:
    """The rows of the gate of each pair (before, now); tags are those of --by."""
    parts = [QuerySlice(None, np.ones(len(pairs[0][0]), dtype=np.bool_))]
    if tags is not None:
        parts += [QuerySlice(f"part={one}", np.array(tags) == one) for one in sorted(set(tags))]
    metrics = METRICS[: pairs[0][0].shape[1]]
    places = [(metric, part) for part in parts for metric in metrics]
    found = []
    step = max(1, AT_ONCE // len(places))
    for start in range(0, len(pairs), step):
        gains = [
            _gains(before, now, METRICS.index(metric), part)
            for before, now in pairs[start : start + step]
            for metric, part in places
        ]
        tests = paired_tests(gains)
        for at in range(0, len(gains), len(places)):
            mine = slice(at, at + len(places))
            found.append(gate_rows(places, gains[mine], tests[mine]))
    return found


def _gains(before: Floats, now: Floats, column: int, part: QuerySlice) -> Floats:
    gains = np.where(part.chosen, now[:, column] - before[:, column], np.nan)
    gains[np.abs(gains) < ROUNDING] = 0.0
    return gains


def stops(rows: Sequence[GateRow], rule: GateRule) -> bool:
    return any(standing(row, rule)[0] == "failed" for row in rows)


def _stopped(
    build: Build, n: int, draws: int, seed: int, rules: Mapping[str, GateRule]
) -> dict[str, float]:
    """The share of builds that each rule stops, and that a t test of either metric would stop."""
    rng = np.random.default_rng([SEED, seed, n])
    stopped = dict.fromkeys([*rules, T_TEST], 0)
    for start in range(0, draws, AT_ONCE):
        pairs = [build(rng, n) for _ in range(min(AT_ONCE, draws - start))]
        # One-sided at half of 0.05, as the first step of the correction over both has it.
        stopped[T_TEST] += sum(bool(t_shows((before - now).T).any()) for before, now in pairs)
        for rows in gates(pairs):
            for name, rule in rules.items():
                stopped[name] += stops(rows, rule)
    return {name: count / draws for name, count in stopped.items()}


def unchanged(draws: int, numbers: Sequence[int] = (20, 50, 200)) -> Iterator[Rate]:
    """How often a build that is no worse is stopped by a loss that is shown."""
    for builds, band in ((UNCHANGED, (0.06, 0.06)), (UNCHANGED_MILDLY, (0.08, 0.06))):
        for name, build in builds.items():
            for n in numbers:
                # What is held to the narrowest band is drawn most often.
                some = some_of(3 * draws if builds is UNCHANGED else draws, n)
                found = _stopped(build, n, some, 4, {"": RULES["--only-shown"]})
                yield Rate(name, n, found[""], some, highest=band[n >= 50], known=name in KNOWN)
                yield Rate(name, f"t, {n}", found[T_TEST], some)


def strongly_skewed(draws: int, numbers: Sequence[int] = (20, 50, 200)) -> Iterator[Rate]:
    """The same for rare large losses beside many small gains, and the other way round."""
    for name, build in UNCHANGED_STRONGLY.items():
        other = name.replace("gain", "lost").replace("lose", "gain").replace("lost", "lose")
        for title, one in ((name, build), (other, _turned(build))):
            for n in numbers:
                some = some_of(draws, n)
                found = _stopped(one, n, some, 4, {"": RULES["--only-shown"]})[""]
                yield Rate(title, n, found, some, highest=0.08 if n < 50 else 0.06, known=True)


def _turned(build: Build) -> Build:
    def turned(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        before, now = build(rng, n)
        return now, before

    return turned


def by_the_facts(draws: int, n: int = 50) -> Iterator[Rate]:
    """How often builds of a retriever with luck are stopped, by rule: a fact is no promise."""
    for name, build in UNCHANGED.items():
        shares = _stopped(build, n, draws, 5, RULES)
        for rule in RULES:
            yield Rate(name, _column(rule), shares[rule], draws)


def _column(rule: str) -> str:
    return f"`{rule}`" if rule.startswith("--") else rule


def collapsed(draws: int) -> Iterator[Rate]:
    """How often the collapse of one slice of 16 among 6 stops the build."""
    for kind in COLLAPSES:
        rng = np.random.default_rng([SEED, 6])
        stopped = dict.fromkeys(("default", "--only-shown"), 0)
        for _ in range(draws):
            before, now, tags = collapse(kind, rng)
            rows = gates([(before, now)], tags)[0]
            for rule in stopped:
                stopped[rule] += stops(rows, RULES[rule])
        for rule, count in stopped.items():
            yield Rate(
                kind, rule.replace("--only-shown", "`--only-shown`"), count / draws, draws, 0.99
            )


def lucky_baseline(draws: int, n: int = 50) -> Iterator[Rate]:
    """Unchanged builds that are stopped, on average and behind the luckiest tenth of baselines.

    A share of several builds varies less than one of them; that a baseline is lucky, as much.
    """
    rate = np.random.default_rng([SEED, 7]).beta(4.0, 2.0, n)
    for runs in (1, 3, 5, 20):
        rng = np.random.default_rng([SEED, 8, runs])
        luck, stopped = np.empty(draws), np.empty(draws)
        for draw in range(draws):
            base = (rng.random((runs, n)) < rate).mean(axis=0)
            builds = (rng.random((AT_ONCE, n)) < rate) * 1.0
            pairs = [(base[:, None], one[:, None]) for one in builds]
            luck[draw] = base.mean()
            stopped[draw] = np.mean([stops(one, RULES["--only-shown"]) for one in gates(pairs)])
        luckiest = luck >= np.quantile(luck, 0.9)
        name = f"{runs} run" + ("s" if runs > 1 else "")
        yield Rate(name, "all baselines", float(stopped.mean()), draws, highest=0.06)
        yield Rate(name, "the luckiest tenth", float(stopped[luckiest].mean()), draws)
