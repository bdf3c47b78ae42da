"""docs/statistics.md, from the rates: the promises first, then the shapes that break them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from simulations import (
    detecting,
    diagnoses,
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
from simulations.rates import Rate, broken, worst

HEAD = """# Do the answers hold?

An interval, "better", "take k = 8" and an alarm are promises about how often they are wrong. Data
was drawn for which the truth is known, and the product's own functions were asked. Shapes (some
real) and seeds were fixed before the first run. The figure is the worst of all shapes that keep
the promise, but for three standard errors; outside its band it is **bold**.
"""

METHOD = """## The methods in brief

- **A mean**: a score interval with the variance that was seen. By hand: 60 of 100 queries hit,
  which tell as much as 99. With t = 1.984 and u = t² / 99 = 0.0398 the middle is
  (0.6 + u/2) / (1+u) = 0.596. The interval reaches √(u·0.24 + u²/4) / (1+u) = 0.096 to either
  side: 0.500 to 0.692. Where all of 20 hit, the lower end is 0.025^(1/20) = 0.832.
- **A difference**: the signs of the paired differences are flipped; p is the share of flips with a
  sum as far from zero, two-sided. It is exact up to 30 queries that changed, and for hits at any
  number (the sign test); else within 1 %, and normal beyond 2,000. The interval holds every mean
  that this test does not reject, where 8 or more queries changed. Equal texts count once.
- **Several differences**: all rows of a command are flipped together. The adjusted p is the share
  of flips in which any row is as extreme (Westfall and Young's step-down minP).
- **A slice**: the permutation test, and neither side's interval holds the other's mean. A
  comparison names one that moved 0.05 or more, twice as far as the whole, with an adjusted p ≤ .05.
- **What 0.05 takes**: for hits the exact power of the sign test at both ends of the 95% interval of
  the share that changed (Clopper and Pearson). Else it is 7.85 s² / 0.05² + 2 at both ends of
  Bonett's 95% interval of s². Both are rounded outward; below 5 changes nothing is said. A plan
  says it for any difference.
- **A corpus that grows**: how many documents stand above each target is Poisson, with rates that EM
  fits on a grid of 40 points. The interval is of 80 bootstrap samples of queries, each fitted anew;
  where few miss, at least that of hits.
  Indexes were built anew on parts of Python's language reference and of made texts, with BM25 and
  with vectors.

`make statistics` makes this page (seeded, about forty minutes), with `ARGS="gates alarms"` some
rows: every figure is in `simulations/measured.json`.
"""

BREAKS = """## What breaks them

A sample without any of the rare queries knows nothing of them; a t test errs there, too. Where one
query outweighs all others together, or few clusters decide, the commands say so. Two real
differences were moved to a mean of 0, which turned ties into small changes. Weights make few
queries count most: skewed differences then break the level sooner, and so do fewer than 50 queries.
A pilot in which one system is much better, or whose changes are hardly larger than 0.05, gives a
range for another difference than the one that is asked for.
"""

POWER = """## What the exact test costs

How often a true gain is found, by our test and by a t test on the same samples, and how much less
often by ours. For hits it is the sign test, which finds less where few hits change. It is taken all
the same: its level holds at any number, and a query that did not change never moves it. Its p is
what the counts of better and worse queries say.
"""

NIGHTS = """## How long a false alarm rings

The budget is one a year, with one evaluation a night: about one false alarm episode a year. It may
ring for weeks: it rings every night until the loss is gone, and where all queries of a night share
something, nights of one kind follow each other.
"""


@dataclass(frozen=True)
class Part:
    """A row of the page: what is promised, the band, and what answers it."""

    title: str
    band: str
    """Held to, as it is printed; empty where nothing is promised: then it is measured only."""
    text: str
    draws: int
    simulated: Callable[[int], Iterator[Rate]]
    digits: int = 3

    def rates(self, share: float) -> Iterator[Rate]:
        """Simulate with a share of the usual draws."""
        return self.simulated(max(10, int(self.draws * share)))


RATES: dict[str, tuple[int, Callable[[int], Iterator[Rate]]]] = {
    "intervals": (20_000, means.coverage),
    "clusters": (400, means.clustered),
    "tests": (4_000, differences.level),
    "tests-intervals": (1_500, differences.coverage),
    "tests-few": (1_200, differences.few_changes),
    "tests-raised": (200, differences.raised),
    "tests-weights": (1_500, differences.weighed),
    "power": (600, differences.power),
    "gates": (1_500, gates.unchanged),
    "gates-skewed": (600, gates.strongly_skewed),
    "gates-facts": (200, gates.by_the_facts),
    "gates-slices": (300, gates.noisy_slices),
    "gates-collapse": (100, gates.collapsed),
    "gates-luck": (12, gates.lucky_baseline),
    "families": (1_500, gates.marked),
    "slices": (100, slices.marks),
    "slices-unequal": (200, slices.unequal),
    "slices-fallen": (100, slices.fallen),
    "slices-compared": (1500, slices.unasked),
    "slices-compared-fallen": (75, slices.fallen_unasked),
    "confirmations": (1_600, sealed.confirmations),
    "k": (500, sweeps.which_k),
    "alarms": (16, nights.false_alarms),
    "alarms-nights": (2, nights.nights_of_an_alarm),
    "alarms-heard": (30, nights.heard),
    "alarms-after-a-rise": (30, nights.after_a_rise),
    "plans": (30, plans.planned),
    "detect": (400, detecting.ranges),
    "correction": (300, labels.corrected),
    "sample": (100, labels.stopped),
    "sample-labels": (30, labels.labels_needed),
    "switch": (400, switches.coverage),
    "winner": (600, winners.gains),
    "winner-equal": (150, winners.of_equal_lanes),
    "floors": (60, sweeps.broken_promises),
    "agreement": (1_500, labels.agreement),
    "growth": (20, growth.covered),
    "growth-error": (20, growth.errors),
    "growth-bias": (20, growth.biases),
    "growth-far": (20, growth.far_off),
    "diagnoses": (8, diagnoses.planted),
    "diagnoses-healthy": (40, diagnoses.left_alone),
}
"""How many draws each section takes, and what simulates it."""

PROMISES = """
intervals | Intervals of means | ≥ 0.93, from 50 queries on ≤ 0.98 | the 95% interval holds the mean
clusters | Related queries | ≥ 0.92; false findings ≤ 0.06 | the same for clusters as units
tests | Differences: false findings | ≤ 0.06 | p ≤ .05 where there is none
tests-intervals | Differences: intervals | ≥ 0.93 | the 95% interval holds the difference
tests-few | Differences: few hits change | ≤ 0.06 | p ≤ .05, by how many of 30 hits changed
tests-raised | Differences: one query gains more | ≤ 0.08 | an end of the interval falls all the same
tests-weights | Differences: weighted | ≤ 0.06 | p ≤ .05 where there is none, and queries have weights
power | Differences: true findings | ≤ 0.05; where few hits change ≤ 0.4, few others 0.12 | by how much a true gain is found less often than by a t test
gates | Gates: unchanged builds | ≤ 0.06; skewed, below 50 queries ≤ 0.08 | `gate --only-shown` stops a build that is no worse
gates-skewed | Gates: strongly skewed builds | ≤ 0.06; below 50 queries ≤ 0.08 | few queries gain much and many lose a little, or the reverse
gates-facts | Gates: facts about luck
gates-slices | Gates: noisy slices | `--only-shown` ≤ 0.06 | six slices, one query in ten found every second time
gates-collapse | Gates: a slice that collapses | ≥ 0.99 | one of six slices of 16 falls, and `gate --by` stops
gates-luck | Gates: lucky baselines | ≤ 0.06 on average | a noisy retriever is stopped, 50 queries
families | Whatever one command marks | ≤ 0.06 | equal systems, and `compare`, `slices` or `gate` marks anything
slices | Marks on slices | ≤ 0.06 | slices of one distribution, and any is marked
slices-unequal | Slices with unequal spreads | ≤ 0.06 | one mean, and one spreads more
slices-fallen | Slices that fell | ≥ 0.9 | from 0.9 to 0.3, 20 of 100 queries, and marked
slices-compared | Slices that a comparison names | ≤ 0.06, beside its marks | nothing changed, and `compare` names a slice that fell or rose
slices-compared-fallen | Fallen slices in a comparison | ≥ 0.8 | 12 to 100 queries fall, others change by chance, and `compare` names the slice
confirmations | Sealed queries | ≤ 0.05 over five looks; a true gain ≥ 0.65 | a tuner of 200 tries without merit gets one confirmed
k | Which k | ≤ 0.05 for a safe k | more than 0.05 of recall is lost
alarms | Alarms: false ones a year | ≤ 2, with a budget of 1 | episodes while nothing changes
alarms-nights | Alarms: how long a false one rings
alarms-heard | Alarms: losses that are heard | 1.00 (5 lost of 200 without noise), 0.99 (0.28), 0.9 (0.10), 0.6 (0.05) | a loss rings in time
alarms-after-a-rise | Alarms: a fall after a rise | ≥ 0.9 | a gain, then back
plans | Numbers of queries that are planned | ≥ 0.72 on average, and at the range's end | that many find the difference
detect | What 0.05 takes | ≥ 0.89 | "To detect 0.05 takes N to M queries" holds the number that 80% of samples need, pilots of 30 to 100
correction | People's labels: means | ≥ 0.93 | coverage, 20 to 100 of 200 queries judged by people
sample | Label until it is narrow enough | ≥ 0.93 | coverage of `labels sample`, whenever one stops
sample-labels | How many labels that takes
switch | May I switch? | ≥ 0.93 at all looks together; wrong verdicts ≤ 0.05 | coverage of new minus old, when only what differs is labelled
winner | The best of many settings | off by ≤ 0.005; ≥ 0.93 | bias and coverage of the gain on new queries (`fuse`, `grid`)
winner-equal | The best way to fuse two equal lanes | off by ≤ 0.005; ≥ 0.93 | the same, 40 queries
floors | Floors: broken promises | ≤ 0.05 | the advised floor keeps less than was asked for
agreement | Agreement of judges | ≥ 0.93 | coverage of Krippendorff's alpha, from 10 things
growth | A corpus that grows: intervals | ≥ 0.89 | the interval that `grow` prints holds what an index of the whole finds
growth-error | A corpus that grows: error | ≤ 0.04 up to 4×, ≤ 0.05 at 10× | root mean square, recall at k = 5, 10, 20
growth-bias | A corpus that grows: bias | ≤ 0.02 | the mean error of what is printed
growth-far | A corpus that grows: far off | ≤ 0.02 | printed values that are off by more than 0.08
diagnoses | Diagnoses: planted faults | ≥ 0.95 from 30 queries on; a hub, a slice from 120 | a planted fault is named first, 25 worlds, 11 of them also in random order
diagnoses-healthy | Diagnoses: healthy retrievers | ≤ 0.02 | a certain cure is advised where nothing is wrong
"""  # noqa: E501 - a table
"""Section, title, band and text; without a band nothing is promised, and it is measured only."""


def _parts() -> Iterator[tuple[str, Part]]:
    for line in PROMISES.strip().splitlines():
        name, title, band, text, *_ = (*(cell.strip() for cell in line.split("|")), "", "")
        draws, rates = RATES[name]
        digits = 2 if name in ("k", "plans") or name.startswith("alarms") else 3
        yield name, Part(title, band, text, draws, rates, digits)


PARTS: dict[str, Part] = dict(_parts())


def page(measured: Mapping[str, Sequence[Rate]]) -> str:
    """The whole page."""
    sections = [HEAD, _promises(measured), BREAKS, _broken(measured)]
    sections += [POWER, _shortfall(measured), NIGHTS, _ringing(measured), METHOD]
    return "\n\n".join(section.strip() for section in sections) + "\n"


def _promises(measured: Mapping[str, Sequence[Rate]]) -> str:
    """Each promise, and how far the shapes that keep it come."""
    lines = ["|promise|held to|at worst|draws|", "|---|---|---:|---:|"]
    for name, part in PARTS.items():
        if not part.band:
            continue
        rates = measured.get(name, ())
        gone = {rate.shape for rate in broken(rates)}
        kept = worst(rate for rate in rates if rate.shape not in gone)
        shown = _figure(kept, part) if kept else "broken" if rates else "not simulated"
        drawn = f"{(kept or rates[0]).draws:,}" if rates else ""
        lines.append(f"|**{part.title}**: {part.text}|{part.band}|{shown}|{drawn}|")
    return "\n".join(lines)


def _shortfall(measured: Mapping[str, Sequence[Rate]]) -> str:
    """Each true gain and number of queries: found, found by a t test, and the shortfall."""
    rates = {(rate.shape, rate.n): rate for rate in measured.get("power", ())}
    lines = ["|true gain|queries|found|t test|shortfall|", "|---|---:|---:|---:|---:|"]
    for (shape, n), rate in rates.items():
        found, rival = rates.get((shape, f"found, {n}")), rates.get((shape, f"t, {n}"))
        if found is not None and rival is not None:
            lines.append(f"|{shape}|{n}|{found.value:.3f}|{rival.value:.3f}|{rate.value:.3f}|")
    return "\n".join(lines)


def _ringing(measured: Mapping[str, Sequence[Rate]]) -> str:
    """How often a false alarm begins, and for how many nights it rings."""
    columns = ("episodes a year", "nights of an episode", "nights in a row, at most")
    rates = {(rate.shape, rate.n): rate for rate in measured.get("alarms-nights", ())}
    lines = [f"|nights, 200 queries|{'|'.join(columns)}|", "|---|---:|---:|---:|"]
    for shape in dict.fromkeys(shape for shape, _ in rates):
        cells = (f"{rates[shape, column].value:.1f}" for column in columns)
        lines.append(f"|{shape}|{'|'.join(cells)}|")
    return "\n".join(lines)


def _broken(measured: Mapping[str, Sequence[Rate]]) -> str:
    """The shapes that break each promise, where they are farthest outside."""
    lines = ["|promise|shape, at worst|draws|", "|---|---|---:|"]
    for name, part in PARTS.items():
        outside = broken(measured.get(name, ()))
        shapes = []
        for shape in dict.fromkeys(rate.shape for rate in outside):
            farthest = worst(rate for rate in outside if rate.shape == shape)
            if farthest is not None:
                at = f" (n={farthest.n})" if isinstance(farthest.n, int) else ""
                shapes.append(f"{shape}: {_figure(farthest, part)}{at}|{farthest.draws:,}")
        for i, shape in enumerate(shapes):
            lines.append(f"|{'' if i else part.title}|{shape}|")
    return "\n".join(lines)


def _figure(rate: Rate, part: Part) -> str:
    shown = f"{rate.value:.{part.digits}f}"
    return shown if rate.inside else f"**{shown}**"
