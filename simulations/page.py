"""docs/statistics.md, from the rates."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from simulations import decisions, differences, floors, labels, means, nights, plans
from simulations.rates import Rate, table

HEAD = """# Do the answers hold?

Calipers draws conclusions from numbers: an interval, "better", "worse", "take k = 8", an alarm.
Each of them is a promise about how often it is wrong. The tables below were made by drawing data
for which the truth is known, many thousand times, and asking the operations themselves (`sweep`,
`gate`, `slices`, `plan`) or, where an operation would take hours, the function that it calls; the
tests show on random data that the two give the same answer. `make statistics` makes this page again
(seeded, so with the same figures); the tests run a short form of it and fail when a rate leaves its
band by more than three standard errors of the simulation. A figure outside its band is **bold**, by
however little.

Nothing in these methods is random: the same scores in any order give the same answer to the last
bit.

An interval by hand: 60 of 100 queries found their target, so the mean is 0.6 and the variance
0.2424. They tell as much as 100 · 0.24 / 0.2424 = 99 queries; with t = 1.984 and u = t² / 99 =
0.0398 the middle of the interval is (0.6 + u / 2) / (1 + u) = 0.596, and it reaches
√(u · 0.24 + u² / 4) / (1 + u) = 0.096 to either side: 0.500 to 0.692. Where all of 20 queries
found it, the lower end is 0.025^(1/20) = 0.832.
"""


@dataclass(frozen=True)
class Part:
    """A section of the page: a question, the band, and what answers it."""

    title: str
    text: str
    rates: Callable[[float], Iterator[Rate]]
    first: str = "shape"
    digits: int = 3


def _count(draws: int) -> Callable[[float], int]:
    return lambda share: max(20, int(draws * share))


PARTS = [
    Part(
        "Intervals of means",
        "How often the 95% interval of a mean holds the true mean. Held to: at least 0.93 at "
        "every n, at most 0.98 from n = 50 on (shares of queries are discrete, and may be "
        "above). The interval is Wilson's score interval with the effective number of queries; "
        "`calipers/statistics/score_interval.py` says how.",
        lambda share: means.coverage(_count(20_000)(share)),
    ),
    Part(
        "Intervals with related queries",
        "Paraphrases of one intent succeed and fail together. Named as clusters they are one "
        "unit; taken as single queries they promise too much. Held to (as clusters): at least "
        "0.93.",
        lambda share: means.clustered(_count(1000)(share)),
        "paraphrases",
    ),
    Part(
        "Paired differences: false findings",
        "How often a difference is shown (p ≤ 0.05, which is the interval leaving out 0) where "
        "the true mean difference is 0. Held to: at most 0.06 from n = 10 on for symmetric and "
        "moderately skewed differences. **Rare large losses are the exception**: the last five "
        "rows have no difference on average, because a few queries lose much and all others gain "
        "a little. A small sample often holds none of those few, and then all that is seen is a "
        "gain. No test can see what is not in the sample; with 42 queries or fewer such a gain "
        "is false in up to five samples of six. From n = 100 on they are held to at most 0.10. "
        "`compare` and `gate` say so beside a small difference that few queries show.",
        lambda share: differences.level(_count(20_000)(share)),
    ),
    Part(
        "Paired differences: true findings",
        "How often a true loss is shown, for normal differences of that spread.",
        lambda share: differences.power(_count(4000)(share)),
        "loss",
    ),
    Part(
        "Paired differences with related queries",
        "2 to 8 paraphrases of each intent, no difference. Held to (as clusters): at most 0.06.",
        lambda share: differences.clustered_level(_count(1000)(share)),
        "paraphrases",
    ),
    Part(
        "Gates",
        "How often `gate` shows a loss (one-sided, alpha = 0.05, one row). Held to: unchanged "
        "builds at most 0.06. Metrics that nobody asked for take none of its power: the verdict "
        "is the same with or without them.",
        lambda share: differences.gated(_count(20_000)(share)),
        "build",
    ),
    Part(
        "Gates and lucky baselines",
        "How often an unchanged build of a noisy retriever fails the gate (one-sided, alpha = "
        "0.05, n = 50). On average that is alpha or less; but a lucky baseline fails more of all "
        "that come after it. Several runs in the baseline lower that, but slowly: luck shrinks "
        "with "
        "the root of their number.",
        lambda share: differences.lucky_baseline(_count(1000)(share)),
        "baseline of",
    ),
    Part(
        "The k that is advised",
        "Losses of recall whose true mean is 0.051, with a margin of 0.05: how often the k is "
        "advised all the same. Held to: at most 0.05.",
        lambda share: decisions.too_small_k(
            _count(300)(share), (2, 10, 30, 59, 60, 100, 200, 500, 1000, 6000)
        ),
        "losses",
    ),
    Part(
        "The k that is advised, by number of queries",
        "A retriever that finds the target at a random rank (recall 0.97 at k = 20). More "
        "queries let `sweep` come down to the smallest k that is within the margin, and not "
        "below. Held to: at most 0.05 of the advice below it.",
        lambda share: decisions.advised(_count(300)(share)),
        "",
        2,
    ),
    Part(
        "Floors under scores: broken promises",
        "How often the floor that is advised keeps less than was asked for, among all queries of "
        "the kind: 0.95 of what is found without it, or a recall of 0.8, with a confidence of "
        "0.95. Held to: at most 0.05. `low tail` has 6% of its targets at scores that no floor "
        "may touch.",
        lambda share: floors.broken_promises(_count(400)(share), (30, 60, 100, 300, 1000)),
        "scores",
    ),
    Part(
        "Floors under scores: what they do",
        "The mean shares under the advised floor among all queries of the kind (a quarter of them "
        "without an answer), and by how much the shares that are shown, measured on queries that "
        "had no part in choosing it, are off on average. Held to: off by at most 0.01; queries "
        "that lose all they found, at most 0.05 on average.",
        lambda share: floors.shares(_count(200)(share), (60, 100, 300, 1000)),
        "scores",
    ),
    Part(
        "Marks on slices",
        "Ten slices of one distribution and unequal sizes: the share of tables in which any slice "
        "is marked, of 200 tables each (so give or take 0.015). Held to: at most 0.06.",
        lambda share: decisions.false_marks(_count(200)(share)),
        "sizes",
    ),
    Part(
        "Numbers of queries that are planned",
        "`plan` is asked for the number of queries that shows a difference four times in five: "
        "one of a third (⅓) or two thirds (⅔) of a standard deviation of the differences. How "
        "often that many show it, on average over pilots of 30, 100 and 300 queries between equal "
        "systems, and between systems that differ by as much as is asked. Held to: at least "
        "0.72. A system can be better in two ways: all queries that move gain (differences that "
        "can take any value), or more queries gain and fewer lose, by as much as before. Where "
        "differences are skewed, more is reached the easier way: a plan is made for the harder.",
        lambda share: plans.planned(_count(40)(share)),
        "differences",
        2,
    ),
    Part(
        "False alarms a year",
        "Nights that ring in a year in which nothing changes: the same queries every night, a "
        "reference of 7 nights, a budget of one a year. Nights may be independent, queries may "
        "stay as they were the night before (sticky), an index may stay as it was built. Mean of "
        "40 simulated years, 10 from n = 200 on. Held to: at most twice the budget.",
        lambda share: nights.false_alarms(_count(40)(share)),
        "noise",
        2,
    ),
    Part(
        "Losses that are heard",
        "How often a loss in the mean of 200 queries rings within some nights: the same queries "
        "lost for good, or others every night (by chance). Held to: 7 lost without noise, and "
        "0.28 of noisy nights, the same night (0.99); 0.10 within 7 nights, 0.9; 0.05 within 60 "
        "nights, 0.6.",
        lambda share: nights.heard(_count(100)(share)),
        "loss",
        2,
    ),
    Part(
        "Machine labels corrected by people: means",
        "Coverage of the 95% interval, where a machine judged all queries and people a sample. "
        "Held to: at least 0.93.",
        lambda share: labels.corrected(_count(1000)(share)),
        "machine",
    ),
    Part(
        "Machine labels corrected by people: shares",
        "Coverage of the 95% interval of the share of relevant items, corrected by sensitivity "
        "and specificity. Held to: at least 0.93.",
        lambda share: labels.corrected_shares(_count(2000)(share)),
        "truth",
    ),
    Part(
        "Agreement of judges",
        "Coverage of the 95% interval of Cohen's kappa, by the number of things that both judged. "
        "Held to: at least 0.93. A sample in which only one grade occurs has no kappa and is left "
        "out.",
        lambda share: labels.agreement(_count(600)(share)),
        "judges",
    ),
]


def page(parts: Sequence[tuple[Part, list[Rate]]]) -> str:
    """The whole page."""
    sections = [HEAD]
    for part, rates in parts:
        sections.append(
            f"## {part.title}\n\n{part.text}\n\n{table(rates, part.first, part.digits)}"
        )
    return "\n\n".join(section.strip() for section in sections) + "\n"
