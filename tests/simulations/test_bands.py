"""A short form of `make statistics`: no rate leaves its band, unless a rule harms or is deaf."""

from typing import Any

import numpy as np
import pytest

from calipers.questions.gate.result import GateRule
from calipers.statistics import nights as rule_of_nights
from calipers.statistics import queries_to_detect
from simulations import (
    detecting,
    differences,
    gates,
    growth,
    labels,
    means,
    nights,
    plans,
    sealed,
    slices,
    sweeps,
    switches,
    winners,
)
from simulations.__main__ import PAGE, measured
from simulations.page import PARTS, page
from simulations.rates import Rate, broken, share_of

BANDS = {
    "intervals": lambda: means.coverage(2000, (10, 50)),
    "clusters": lambda: means.clustered(12),
    "tests": lambda: differences.level(100, (10,)),
    "tests-few": lambda: differences.few_changes(40),
    "power": lambda: differences.power(60, (14,)),
    "tests-raised": lambda: differences.raised(60),
    "tests-weights": lambda: differences.weighed(40, (20,)),
    "gates": lambda: gates.unchanged(40, (10,)),
    "gates-collapse": lambda: gates.collapsed(3),
    "confirmations": lambda: sealed.false_confirmations(60, (40,), tuple(sealed.TUNERS)[2:3]),
    "confirmations of gains": lambda: sealed.true_confirmations(100),
    "k": lambda: sweeps.which_k(24, (80,)),
    "alarms": lambda: nights.false_alarms(1, (50,), ("independent, hits", "rebuilt weekly")),
    "alarms of few queries": lambda: nights.false_alarms(1, (14,), ("independent, hits",)),
    "alarms-heard": lambda: nights.heard(3, longest=7),
    "families": lambda: gates.marked(2),
    "slices": lambda: slices.marks(3, sizes=("5 × 20",)),
    "slices-unequal": lambda: slices.unequal(10),
    "slices-fallen": lambda: slices.fallen(12),
    "slices-compared": lambda: slices.unasked(8, tuple(slices.CUTS)[4::2]),
    "slices-compared-fallen": lambda: slices.fallen_unasked(4, tuple(slices.FALLS)[3:]),
    "plans": lambda: plans.planned(6, (60,), tuple(plans.PILOTS)[:1]),
    "detect": lambda: detecting.ranges(
        150, (42,), ("10% of hits change", "nDCG: normal"), samples=100
    ),
    "correction": lambda: labels.corrected(8, samples=(40,)),
    "switch": lambda: switches.coverage(40, (60,)),
    "winner": lambda: winners.gains(12, (100,)),
    "winner-equal": lambda: winners.of_equal_lanes(10),
    "floors": lambda: sweeps.broken_promises(24, (100,)),
    "agreement": lambda: labels.agreement(30, (10, 30)),
    "growth": lambda: growth_of_made_texts(),
}


def growth_of_made_texts():
    """One draw of made texts at four times the corpus: the interval, and how far off."""
    [trial] = growth.trials(growth.made(), "BM25", 4, 100, 1)
    off = [abs(trial.off(at)) for at, row in enumerate(trial.said.growth) if row.printed]
    yield Rate("made texts", 100, float(max(off)), len(off), highest=growth.FAR)


def outside(name):
    return [rate for rate in BANDS[name]() if not rate.held and not rate.known]


@pytest.mark.parametrize("name", BANDS)
def test_no_rate_leaves_its_band(name):
    assert not outside(name)


GATES = {
    "stop anything": {gates.ONLY_SHOWN: GateRule(confidence=0.8, only_shown=True)},
    "stop by luck": {gates.ONLY_SHOWN: GateRule()},
    "stop nothing": {
        "default": GateRule(confidence=0.99999, allow=1.0),
        gates.ONLY_SHOWN: GateRule(confidence=0.99999, only_shown=True),
    },
}
HARMFUL_AND_DEAF: dict[str, tuple[Any, ...]] = {
    "intervals that are too narrow": ("intervals", (means, "CONFIDENCE", 0.85)),
    "intervals that are too wide": ("intervals", (means, "CONFIDENCE", 0.9999)),
    "tests that find what is not there": ("tests", (differences, "ALPHA", 0.2)),
    "tests that find nothing": ("power", (differences, "ALPHA", 0.001)),
    "gates that stop anything": ("gates", (gates, "RULES", GATES["stop anything"])),
    "gates that stop by luck": ("gates", (gates, "RULES", GATES["stop by luck"])),
    "gates that stop nothing": ("gates-collapse", (gates, "RULES", GATES["stop nothing"])),
    "confirmations of luck": ("confirmations", (sealed, "PER_LOOK", 0.1)),
    "confirmations of nothing": ("confirmations of gains", (sealed, "PER_LOOK", 1e-4)),
    "ranges that are too narrow": ("detect", (queries_to_detect, "LEVEL", 0.3)),
    "ranges for another difference": ("detect", (detecting, "DIFFERENCE", 0.12)),
    "a k that is not safe": ("k", (sweeps, "CONFIDENCE", 0.5)),
    "alarms that ring": (
        "alarms of few queries",
        (rule_of_nights, "SUDDEN", 0.5),
        (nights, "LEVEL", 0.6),
        (nights, "ALLOW", 0.0),
    ),
    "alarms that do not": ("alarms-heard", (nights, "ALLOW", 0.3)),
}


@pytest.mark.parametrize("what", HARMFUL_AND_DEAF)
def test_a_rule_that_harms_or_is_deaf_leaves_its_band(what, monkeypatch):
    name, *changes = HARMFUL_AND_DEAF[what]
    for module, setting, value in changes:
        monkeypatch.setattr(module, setting, value)
    assert outside(name)


def test_a_rate_outside_its_band_shows_and_what_is_far_from_it_takes_few_draws():
    assert Rate("x", 10, 0.93, 10_000, lowest=0.93).held
    assert not Rate("x", 10, 0.90, 10_000, lowest=0.93).held
    assert not Rate("x", 10, 0.08, 10_000, highest=0.06).held
    assert Rate("x", 10, 2.2, 100, highest=2.0).held
    assert not Rate("x", 10, 4.0, 100, highest=2.0).held
    shares = (0.0, 0.05, 0.3)
    drawn = [share_of({300: share, 1_500: share}.__getitem__, 1_500, 0.06) for share in shares]
    assert drawn == [(0.0, 300), (0.05, 1_500), (0.3, 300)]


def test_the_page_names_the_shapes_that_break_a_promise():
    kept = Rate("an even shape", 10, 0.05, 10_000, highest=0.06)
    nearly = Rate("nearly", 10, 0.061, 10_000, highest=0.06)
    rare = Rate("rare losses", 10, 0.3, 10_000, highest=0.06, known=True)
    worse = Rate("rare losses", 20, 0.4, 10_000, highest=0.06, known=True)
    beside = Rate("rare losses", "t", 0.4, 10_000)
    assert broken([kept, nearly, rare]) == [rare]
    text = page({"tests": [kept, nearly, rare, worse, beside]})
    assert "p ≤ .05 where there is none|≤ 0.06|**0.061**|10,000|" in text
    assert "|Differences: false findings|rare losses: **0.400** (n=20)|10,000|" in text
    assert "not simulated" in text
    power = [Rate("hits", n, value, 1_500) for n, value in (("found, 30", 0.31), ("t, 30", 0.69))]
    text = page({"power": [Rate("hits", 30, 0.38, 1_500, highest=0.4), *power]})
    assert "|true gain|queries|found|t test|shortfall|" in text
    assert "|hits|30|0.310|0.690|0.380|" in text
    ringing = (
        ("episodes a year", 1.5),
        ("nights of an episode", 9.0),
        ("nights in a row, at most", 31),
    )
    text = page({"alarms-nights": [Rate("rebuilt", name, value, 4) for name, value in ringing]})
    assert "|rebuilt|1.5|9.0|31.0|" in text
    whole = page(measured())
    assert np.all([part.title in whole for part in PARTS.values() if part.band])
    assert len(whole.split()) <= 1_900


def test_the_page_says_what_was_measured():
    assert PAGE.read_text(encoding="utf-8") == page(measured())
