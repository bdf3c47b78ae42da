"""docs/statistics.md, from the rates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from simulations import (
    decisions,
    differences,
    families,
    floors,
    gates,
    labels,
    means,
    nights,
    plans,
)
from simulations.rates import Rate, table, verdict

HEAD = """# Do the answers hold?

Calipers draws conclusions from numbers: an interval, "better", "worse", "take k = 8", an alarm.
Each of them is a promise about how often it is wrong. The tables below were made by drawing data
for which the truth is known, and asking the rules themselves; tests show that commands give the
same answers. The shapes were fixed before any rule was run on them, real per-query scores (of the
demo's retrievers on its questions, and on 300 claims of SciFact) among them, and no rule was made
to fit them. A figure outside its band is **bold**, by however little; a sentence below each table
says which shapes break the promise by more than three standard errors of the simulation.

`make statistics` makes this page again (seeded, so with the same figures; about ten minutes of one
core), `make statistics ARGS="gates alarms"` some of its sections, and `ARGS=--quick` prints a rough
form; the tests run a shorter one.

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
    """From the share of the usual draws."""
    first: str = "shape"
    digits: int = 3
    drawn: str | None = None
    """How much was drawn for each figure, where that is not as many samples as it counts."""


def _of(draws: int, rates: Callable[[int], Iterator[Rate]]) -> Callable[[float], Iterator[Rate]]:
    return lambda share: rates(max(10, int(draws * share)))


PARTS: dict[str, Part] = {
    "intervals": Part(
        "Intervals of means",
        "How often the 95% interval of a mean holds the true mean. Held to: at least 0.93, and "
        "from n = 50 on at most 0.98 (shares of queries are discrete, and may be above). Rare "
        "zeros are the exception: a sample that holds none of them knows nothing of them.",
        _of(20_000, means.coverage),
    ),
    "clusters": Part(
        "Related queries",
        "Paraphrases of one intent succeed and fail together: hits whose rate differs by cluster. "
        "How often the 95% interval with clusters as units holds the true mean, the same without "
        "clusters, and how often two equal systems differ. Held to: at least 0.92, and at most "
        "0.06 false findings. Where a few large clusters decide, every command says so in a "
        "note: the last two.",
        _of(400, means.clustered),
        "clusters",
    ),
    "tests": Part(
        "Paired differences: false findings",
        "How often a difference is shown (two-sided, p ≤ 0.05, which is the interval leaving out "
        "0) where the true mean difference is 0. Held to: at most 0.06 where differences are "
        "symmetric or mildly skewed. The last five are strongly skewed: few queries lose much "
        "and many gain a little; so are two real ones that were moved to a mean of 0, which "
        "turned their ties into small changes. A small sample often holds none of those few, and "
        "no test can see what is not in the sample; `compare` says so beside a small "
        "difference that few queries show.",
        _of(400, differences.level),
    ),
    "power": Part(
        "Paired differences: true findings",
        "How often a true gain is shown, and how often a t test shows it on the same samples. "
        "Held to: at most 0.05 less than the t test. Where fewer than ten queries change, less is "
        "shown on purpose: four hits gained and none lost of 30 are p = 0.04 by the t test, and "
        "by their signs they happen by chance one time in eight.",
        _of(300, differences.power),
        "gain",
    ),
    "gates": Part(
        "Gates: unchanged builds",
        "How often `gate --only-shown` stops a build that is no worse (recall@10 and ndcg@10, "
        "one-sided, corrected over both). Held to: at most 0.06; at most 0.08 below 50 queries "
        "where differences are skewed.",
        _of(500, gates.unchanged),
        "build",
    ),
    "gates-skewed": Part(
        "Gates: unchanged builds, strongly skewed",
        "The same where few queries lose much and many gain a little, or the other way: then a "
        "small sample often holds only the many small losses.",
        _of(80, gates.strongly_skewed),
        "build",
    ),
    "gates-facts": Part(
        "Gates: facts about luck",
        "The same retriever twice, n = 50: how often each rule stops it. By default a gate also "
        "fails where these queries lost more than `--allow` (0.05), which is a fact and no "
        "promise; a retriever that does not always answer alike needs `--only-shown`. `--strict` "
        "stops whatever cannot be told.",
        _of(300, gates.by_the_facts),
        "build",
    ),
    "gates-collapse": Part(
        "Gates: a slice that collapses",
        "Six slices of 16 queries, of which one falls: how often `gate --by` stops the build. "
        "Held to: at least 0.99.",
        _of(200, gates.collapsed),
        "the slice falls",
    ),
    "gates-luck": Part(
        "Gates: lucky baselines",
        "How often `gate --only-shown` stops an unchanged build of a noisy retriever (n = 50), by "
        "the runs in its baseline. Held to: at most 0.06 on average. A lucky baseline fails more "
        "of all that come after it; several runs lower that, but slowly.",
        _of(20, gates.lucky_baseline),
        "baseline of",
        3,
        "20 baselines and 48 builds after each",
    ),
    "families": Part(
        "Families: whatever one command marks",
        "Equal systems, and tags that have nothing to do with the scores: how often a command "
        "marks anything at all. Held to: at most 0.06.",
        _of(50, families.marked),
        "command",
    ),
    "slices": Part(
        "Marks on slices",
        "Slices of one distribution: how often `slices` marks any of them, by score (over all "
        "sizes) and by size (over all scores). Held to: at most 0.06.",
        _of(25, decisions.marks),
        "scores, or sizes",
    ),
    "slices-fallen": Part(
        "Slices that fell",
        "How often `slices` marks it. Held to: at least 0.9.",
        _of(100, decisions.fallen),
        "slice",
    ),
    "k": Part(
        "Which k",
        "How often a k loses more than the margin (0.05 of recall) that `sweep` calls safe, and "
        "how often its best guess does. Held to: at most 0.05 for the safe one; a guess is no "
        "promise.",
        _of(500, decisions.which_k),
        "targets",
        2,
    ),
    "alarms": Part(
        "Alarms: false ones a year",
        "Nights that ring in a year in which nothing changes, with a budget of one: the same "
        "queries every night, a reference of 7 nights. Nights that truly were worse by more than "
        "is allowed (0.02) are no false alarms. Held to: at most twice the budget.",
        _of(16, nights.false_alarms),
        "nights",
        2,
        "16 years of 50 queries, or 8 of 200",
    ),
    "alarms-heard": Part(
        "Alarms: losses that are heard",
        "How often a loss in the mean of 200 queries rings in time: the same queries lost for "
        "good, or others every night (by chance). Held to: 7 lost without noise, and 0.28 of "
        "independent noisy nights, the same night (1.00, 0.99); 0.10 within 7 nights, 0.9; 0.05 "
        "within 60 nights, 0.6.",
        _of(30, nights.heard),
        "loss",
        2,
    ),
    "plans": Part(
        "Numbers of queries that are planned",
        "`plan` is asked for the number of queries that shows a difference four times in five. "
        "How often that many show it, by the size of the pilot: on average over pilots, in the "
        "worst tenth of them, and in the worst tenth at the end of the range that is printed "
        "beside the number. Held to: at least 0.72 on average, and at the end of the range.",
        _of(25, plans.planned),
        "differences",
        2,
        "25 pilots",
    ),
    "correction": Part(
        "Machine labels corrected by people: means",
        "Coverage of the 95% interval, where a machine judged five results of 200 queries and "
        "people a random sample of the queries. Held to: at least 0.93.",
        _of(200, labels.corrected),
        "machine",
    ),
    "correction-shares": Part(
        "Machine labels corrected by people: shares",
        "Coverage of the 95% interval of the share of relevant items, corrected by sensitivity "
        "and specificity. Held to: at least 0.93.",
        _of(1000, labels.corrected_shares),
        "truth",
    ),
    "floors": Part(
        "Floors under scores: broken promises",
        "How often the floor that is advised keeps less than was asked for, among all queries of "
        "the kind: 0.95 of what is found without it, or a recall of 0.8, with a confidence of "
        "0.95. Held to: at most 0.05. `low tail` has 6% of its targets at scores that no floor "
        "may touch.",
        _of(60, floors.broken_promises),
        "scores",
    ),
    "floors-shares": Part(
        "Floors under scores: what they do",
        "The mean shares under the advised floor among all queries of the kind (a quarter of them "
        "without an answer), and by how much the shares that are shown, measured on queries that "
        "had no part in choosing it, are off on average. Held to: off by at most 0.01; queries "
        "that lose all they found, at most 0.05 on average.",
        _of(30, floors.shares),
        "scores",
    ),
    "agreement": Part(
        "Agreement of judges",
        "Coverage of the 95% interval of Cohen's kappa, by the number of things that both judged. "
        "Held to: at least 0.93. A sample in which only one grade occurs has no kappa and is left "
        "out.",
        _of(100, labels.agreement),
        "judges",
    ),
}


def page(measured: Mapping[str, Sequence[Rate]]) -> str:
    """The whole page."""
    sections = [HEAD]
    for name, part in PARTS.items():
        rates = measured.get(name, ())
        shown = table(rates, part.first, part.digits) if rates else "Not simulated yet."
        said = " ".join(filter(None, (verdict(rates, part.digits), _drawn(part, rates))))
        sections.append("\n\n".join(filter(None, (f"## {part.title}", part.text, shown, said))))
    return "\n\n".join(section.strip() for section in sections) + "\n"


def _drawn(part: Part, rates: Sequence[Rate]) -> str:
    """How many samples each figure is from."""
    if not rates:
        return ""
    least, most = min(one.draws for one in rates), max(one.draws for one in rates)
    samples = f"{least:,} samples" if least == most else f"{least:,} to {most:,} samples"
    return f"Each figure is from {part.drawn or samples}."
