"""docs/statistics.md, from the rates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from simulations import differences, gates, labels, means, nights, plans, sealed, slices, sweeps
from simulations.rates import Rate, broken, near, table, worst

HEAD = """# Do the answers hold?

An interval, "better", "take k = 8" and an alarm are promises about how often they are wrong. Here
data was drawn for which the truth is known, and the product's own rules were asked. Shapes and
seeds were fixed before a rule was run on them; real per-query scores (the demo's, and 300 claims of
SciFact) are among them. Tests hold commands to the answers that were simulated. A figure outside
its band is **bold**; a shape breaks a promise where one is outside by more than three standard
errors of the simulation, and then has a row of its own below.
"""

METHOD = """## The methods in brief

- **A mean**: a score interval with the variance that was seen. By hand: 60 of 100 queries hit, so
  the mean is 0.6 and the variance 0.2424; they tell as much as 100 · 0.24 / 0.2424 = 99 queries.
  With t = 1.984 and u = t² / 99 = 0.0398 the middle is (0.6 + u / 2) / (1 + u) = 0.596, and the
  interval reaches √(u · 0.24 + u² / 4) / (1 + u) = 0.096 to either side: 0.500 to 0.692. Where all
  of 20 queries hit, the lower end is 0.025^(1/20) = 0.832.
- **A difference**: the signs of the paired differences are flipped; p is the share of flips with a
  sum as far from zero, two-sided. It is exact up to 30 queries that changed, and 20,480 drawn flips
  beyond; for hits it is the exact sign test at any number. The interval holds every mean that this
  test does not reject, and is given where 8 or more queries changed. Queries of one text count
  once.
- **Several differences**: all rows of a command are flipped together; the adjusted p is the share
  of flips in which any row is as extreme (Westfall and Young's step-down minP).
- **A slice**: the two-sample permutation test; for hits Fisher's.
- **Nights**: tonight, and the mean of the last seven, against the reference, queries as units.
- **A plan**: the test itself, on draws from the pilot. **People's labels**: the machine's mean, and
  the mean of its errors on the sample, by the machine's label.

Nothing is random: the same scores in any order give the same answer to the last bit.

`make statistics` makes this page (seeded, about ten minutes of one core), with
`ARGS="gates alarms"` some sections of it; every figure is in `simulations/measured.json`.
"""


@dataclass(frozen=True)
class Part:
    """A section of the page: a question, the band, and what answers it."""

    title: str
    band: str
    """Held to, as it is printed; empty where nothing is promised."""
    text: str
    rates: Callable[[float], Iterator[Rate]]
    """From the share of the usual draws."""
    first: str = "shape"
    digits: int = 3
    drawn: str | None = None
    """How much was drawn for each figure, where that is not as many samples as it counts."""
    breaks: str = ""
    """What the shapes that break the promise have in common."""
    own: bool = False
    """Whether it has a section also where every shape keeps the promise."""
    row: Callable[[str], str] | None = None
    """The row that a shape belongs to, where that is not its own or that of all who keep it."""


def _of(draws: int, rates: Callable[[int], Iterator[Rate]]) -> Callable[[float], Iterator[Rate]]:
    return lambda share: rates(max(10, int(draws * share)))


PARTS: dict[str, Part] = {
    "intervals": Part(
        "Intervals of means",
        "≥ 0.93, from 50 queries on ≤ 0.98",
        "How often the 95% interval holds the true mean. (Shares of queries may be above.) A "
        "sample without any of the rare queries knows nothing of them.",
        _of(20_000, means.coverage),
        breaks="2–3% of queries at one end, the others near one value",
    ),
    "clusters": Part(
        "Related queries",
        "≥ 0.92; false findings ≤ 0.06",
        "Paraphrases of one intent hit and miss together. Where one cluster decides, every "
        "command says so in a note.",
        _of(400, means.clustered),
        "clusters",
        breaks="one cluster that holds half of the queries",
    ),
    "tests": Part(
        "Differences: false findings",
        "≤ 0.06",
        "How often p ≤ 0.05 where there is no difference, beside a t test. A small sample often "
        "holds none of the few that lose much, and no test can see what is not there: t errs "
        "there, too. Two real shapes break it because they were moved to a mean of 0, which turned "
        "their ties into small changes.",
        _of(400, differences.level),
        breaks="few queries lose much and many gain a little",
    ),
    "tests-intervals": Part(
        "Differences: intervals",
        "≥ 0.92",
        "How often the 95% interval of a difference holds it, where 8 or more queries changed. "
        "Where one query outweighs all others together, `compare` and `gate` say so.",
        _of(300, differences.coverage),
        breaks="few queries lose much and many gain a little",
    ),
    "tests-few": Part(
        "Differences: few hits change",
        "≤ 0.06",
        "The same for equal systems of which few hits change, on average and by how many of 30 "
        "did. A t test keeps its error on average, and not where four or eight changed; the sign "
        "test keeps it for every number, and so finds nothing below six.",
        _of(1200, differences.few_changes),
        "hits",
        own=True,
        row=str,
    ),
    "power": Part(
        "Differences: true findings",
        "at most 0.05 less than a t test",
        "How often a true gain is shown. Of few hits that change less is shown on purpose: what t "
        "shows more are mostly gains of four and five, of which nothing is certain (above).",
        _of(400, differences.power),
        "gain",
        breaks="few queries change",
        own=True,
        row=str,
    ),
    "gates": Part(
        "Gates: unchanged builds",
        "≤ 0.06; skewed, below 50 queries ≤ 0.08",
        "How often `gate --only-shown` stops a build that is no worse (recall@10 and ndcg@10), and "
        "how often a t test would.",
        _of(120, gates.unchanged),
        "build",
        breaks="a real difference, moved to a mean of 0",
    ),
    "gates-skewed": Part(
        "Gates: strongly skewed builds",
        "≤ 0.06; below 50 queries ≤ 0.08",
        "The same where few queries gain much and many lose a little: a small sample often holds "
        "the many only.",
        _of(150, gates.strongly_skewed),
        "build",
        breaks="few queries gain much and many lose a little",
    ),
    "gates-facts": Part(
        "Gates: facts about luck",
        "",
        "The same retriever twice, 50 queries: how often each rule stops it. That these queries "
        "lost more than `--allow` is a fact and no promise: a retriever that does not always "
        "answer alike needs `--only-shown`.",
        _of(200, gates.by_the_facts),
        "build",
        own=True,
    ),
    "gates-slices": Part(
        "Gates: noisy slices",
        "`--only-shown` ≤ 0.06",
        "Six slices, one query in ten found every second time: how often `gate --by` stops the "
        "same retriever. A slice fails by its mean only with three or more queries lost net.",
        _of(300, gates.noisy_slices),
        "build",
        own=True,
        row=str,
    ),
    "gates-collapse": Part(
        "Gates: a slice that collapses",
        "≥ 0.99",
        "one of six slices of 16 queries falls, and `gate --by` stops the build",
        _of(100, gates.collapsed),
        "the slice falls",
    ),
    "gates-luck": Part(
        "Gates: lucky baselines",
        "≤ 0.06 on average",
        "How often an unchanged build of a noisy retriever is stopped (50 queries), by the runs in "
        "its baseline. A lucky one fails more of all that come after it.",
        _of(12, gates.lucky_baseline),
        "baseline of",
        3,
        "12 baselines and 48 builds after each",
        own=True,
        row=str,
    ),
    "families": Part(
        "Whatever one command marks",
        "≤ 0.06",
        "equal systems, tags that say nothing, and `compare`, `slices` or `gate` marks anything",
        _of(200, gates.marked),
        "command",
    ),
    "slices": Part(
        "Marks on slices",
        "≤ 0.06",
        "slices of one distribution, and any is marked",
        _of(25, slices.marks),
        "scores, or sizes",
    ),
    "slices-unequal": Part(
        "Slices with unequal spreads",
        "≤ 0.06",
        "the same where both have one mean and one spreads more",
        _of(200, slices.unequal),
        "slices",
    ),
    "slices-fallen": Part(
        "Slices that fell",
        "≥ 0.9",
        "from 0.9 to 0.3, 20 of 100 queries, and marked",
        _of(100, slices.fallen),
        "slice",
    ),
    "confirmations": Part(
        "Sealed queries: false confirmations",
        "≤ 0.05 over five looks; a true gain ≥ 0.65",
        "A tuner tries 200 changes that gain nothing, keeps what 150 open queries like, and asks "
        "the sealed ones after every fortieth; what is not confirmed it gives up. How often "
        "anything is confirmed over the whole budget; beside it five tests at p ≤ .05, "
        "and what the queries that were tuned on show. A true gain: 0.2 of hits, or 0.08 of nDCG, "
        "at one look.",
        _of(800, sealed.confirmations),
        "four kinds of tries, by sealed queries",
        own=True,
        row=lambda shape: shape.partition(": ")[0],
    ),
    "k": Part(
        "Which k",
        "≤ 0.05 for a safe k",
        "How often more than the margin (0.05 of recall) is lost, for five ways in which targets "
        "are ranked. A guess is no promise.",
        _of(500, sweeps.which_k),
        "k",
        2,
        own=True,
        row=lambda shape: shape.partition(": ")[2],
    ),
    "alarms": Part(
        "Alarms: false ones a year",
        "≤ 2, with a budget of 1",
        "Episodes (no ring in the seven nights before) in a year in which nothing changes. An "
        "effect that all queries of a night share is not promised: it rings.",
        _of(16, nights.false_alarms),
        "nights",
        2,
        "16 years each",
        own=True,
        breaks="a night effect that all queries share",
    ),
    "alarms-heard": Part(
        "Alarms: losses that are heard",
        "1.00 (5 lost of 200 without noise), 0.99 (0.28), 0.9 (0.10), 0.6 (0.05)",
        "How often a loss of the same queries for good rings in time. Nothing is promised of "
        "nights that depend on each other.",
        _of(30, nights.heard),
        "loss",
        2,
        own=True,
    ),
    "alarms-after-a-rise": Part(
        "Alarms: a fall after a rise",
        "none",
        "A gain of 0.1 for a month, then back: what nights moved before hides it among few.",
        _of(30, nights.after_a_rise),
        "loss",
        2,
        own=True,
        breaks="a fall after a rise among few noisy queries",
    ),
    "plans": Part(
        "Numbers of queries that are planned",
        "≥ 0.72 on average, and at the range's end",
        "`plan` is asked for what shows a difference four times in five. How often that many show "
        "it, by the size of the pilot: on average, in the worst tenth of pilots, and there at the "
        "end of the range that is printed beside the number.",
        _of(60, plans.planned),
        "pilot",
        2,
        "60 pilots",
        own=True,
    ),
    "correction": Part(
        "People's labels: means",
        "≥ 0.93",
        "coverage where a machine judged 200 queries, and people 20, 40 or 100 of them",
        _of(300, labels.corrected),
        "machine",
    ),
    "sample": Part(
        "Label until it is narrow enough",
        "≥ 0.93",
        "coverage of `labels sample` for who stops at a width, and for who stops at the look that "
        "misses the truth most",
        _of(100, labels.stopped),
        "metric, judge",
    ),
    "sample-labels": Part(
        "Label until it is narrow enough: how many",
        "",
        "The mean number of queries that people judge until the interval is as narrow as asked, "
        "over three metrics and four judges; the width that 100 fixed beforehand give, and how "
        "many queries the same width takes where one may look and stop: the price of looking.",
        _of(30, labels.labels_needed),
        "queries in all",
        2,
        own=True,
        row=lambda shape: shape.rpartition(", ")[2],
    ),
    "floors": Part(
        "Floors: broken promises",
        "≤ 0.05",
        "the advised floor keeps less than was asked for",
        _of(60, sweeps.broken_promises),
        "scores",
    ),
    "floors-shares": Part(
        "Floors: what they do",
        "lost ≤ 0.05, off by ≤ 0.01",
        "shares that are shown, and queries that lose all they found",
        _of(30, sweeps.shares),
        "share",
    ),
    "agreement": Part(
        "Agreement of judges",
        "≥ 0.93",
        "coverage of Cohen's kappa, from 10 things that both judged",
        _of(100, labels.agreement),
        "judges",
    ),
}


def page(measured: Mapping[str, Sequence[Rate]]) -> str:
    """The whole page."""
    sections = [HEAD, _promises(measured), METHOD]
    for name, part in PARTS.items():
        rates = measured.get(name, ())
        if rates and _has_section(part, rates):
            shown = table(rates, part.first, part.digits, part.row)
            said = " ".join(filter(None, (near(rates), _drawn(part, rates))))
            sections.append("\n\n".join((f"## {part.title}", part.text, shown, said)))
    return "\n\n".join(section.strip() for section in sections) + "\n"


def _has_section(part: Part, rates: Sequence[Rate]) -> bool:
    """Where a promise holds everywhere, the table of promises says all there is to say."""
    return part.own or bool(broken(rates))


def _promises(measured: Mapping[str, Sequence[Rate]]) -> str:
    """Each promise, how far the shapes that keep it come, and what breaks it."""
    lines = ["| promise | held to | kept, at worst | broken by |", "|---|---|---:|---|"]
    for name, part in PARTS.items():
        rates = measured.get(name, ())
        if not part.band:
            continue
        gone = {rate.shape for rate in broken(rates)}
        kept = worst(rate for rate in rates if rate.shape not in gone)
        shown = _figure(kept, part) if kept else "" if rates else "not simulated"
        lines.append(f"| {_named(part, rates)} | {part.band} | {shown} | {_breaks(part, rates)} |")
    return "\n".join(lines)


def _named(part: Part, rates: Sequence[Rate]) -> str:
    if not _has_section(part, rates):
        return f"{part.title}: {part.text} {_drawn(part, rates)}".rstrip()
    words = "".join(one for one in part.title.lower() if one.isalnum() or one in " -")
    return f"[{part.title}](#{words.replace(' ', '-')})"


def _breaks(part: Part, rates: Sequence[Rate]) -> str:
    farthest = worst(broken(rates))
    return "" if farthest is None else f"{part.breaks}: {_figure(farthest, part)}"


def _figure(rate: Rate, part: Part) -> str:
    shown = f"{rate.value:.{part.digits}f}"
    return shown if rate.inside else f"**{shown}**"


def _drawn(part: Part, rates: Sequence[Rate]) -> str:
    """How many samples each figure is from."""
    if not rates:
        return ""
    least, most = min(one.draws for one in rates), max(one.draws for one in rates)
    samples = f"{least:,} samples" if least == most else f"{least:,} to {most:,} samples"
    return f"({part.drawn or samples})"
