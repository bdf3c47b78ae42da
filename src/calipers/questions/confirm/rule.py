"""One look at the sealed queries: is the new run better, within the error of one look?

The looks share the error equally, so that timing never matters. Each is the two-sided
paired test of `compare` at 0.7 of error / looks. A false "better" has half of that; the
rest is reserved for skewed differences, for which tests on few queries are too optimistic
(in simulated tuning, one-sided tests at error / looks confirmed 7% instead of 5%, and
two-sided ones 6%).

By the union bound this is valid however the runs were chosen, even if a tuner reads every
answer: before a first false confirmation all answers are "not confirmed", without any
number. A number would show the tuner which way the sealed queries lean.
"""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

import numpy as np

from calipers.errors import InvalidInput
from calipers.frozen import dataclass
from calipers.io.load import SEAL, load
from calipers.measures import Metric, parse
from calipers.model.arrays import Floats, Ints
from calipers.model.claim import Claim
from calipers.model.document import Document, of_claim
from calipers.model.fact import Fact, Sentence, joined, named, sentence
from calipers.model.fingerprint import fingerprint_settings
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import MISSING, Matched, with_status
from calipers.model.result import Plain, ShowsItself, moment
from calipers.model.scores import MetricFacts, Scores
from calipers.model.slicing import units_of
from calipers.questions.compare.paired_claim import claim_of
from calipers.questions.reading import MatchingSettings
from calipers.questions.seal.ledger import (
    LookLedger,
    TakenLook,
    held,
    ledger_beside,
    per_look,
    read_ledger,
)
from calipers.questions.seal.rule import content
from calipers.questions.systems import matched_systems, measured_before, name_systems
from calipers.shell import join_words
from calipers.statistics.clusters import exact_mean
from calipers.statistics.paired_rows import PairedRow, paired_rows
from calipers.words import plural


def look_at(
    columns: Sequence[Floats], units: Ints | None, error: float
) -> list[PairedRow]:
    """Test each column of gains at the error of one look; "better" is a confirmation."""
    return paired_rows(columns, units, alpha=error, marked=[False] * len(columns))


@dataclass(frozen=True, repr=False)
class Confirmation(Plain, ShowsItself):
    """The answer to one claim on the sealed queries, without details of any single query."""

    shown_by: ClassVar[str] = "calipers.questions.confirm.rule"

    claim: Claim
    confirmed: bool
    metric: str
    new: str
    old: str
    gain: float | None
    """None where it is not confirmed: a number would help to fit the sealed queries."""
    low: float | None
    high: float | None
    """The interval of the gain, at 1 - ``error``."""
    p: float | None
    """Two-sided, as `compare` gives it."""
    queries: int
    """The number of sealed queries."""
    error: float
    """The error of this look."""
    look: int
    looks: int
    left: int
    repeated: bool
    """Whether the same was asked before; then no look was spent."""
    time: str
    ledger: str


def take_a_look(
    old: object,
    new: object,
    sealed: str | os.PathLike[str] | None,
    metric: str,
    ledger: str | os.PathLike[str] | None,
    matching: MatchingSettings,
) -> Confirmation:
    """Return the recorded answer, or take a new look and record it before answering."""
    if sealed is None:
        raise InvalidInput(
            "No sealed queries are named; give --sealed FILE (sealed= in Python), or set "
            "sealed in calipers.toml. `calipers seal` makes them."
        )
    metrics = parse(metric)
    if len(metrics) != 1:
        raise InvalidInput(
            f"{len(metrics)} metrics are asked about ({metric}), and a look is one "
            "question; name one, such as recall@10."
        )
    truth, known = _checked(Path(sealed), ledger)
    names = _names(old, new)
    before, now, facts = _measured(names, truth, metrics[0], matching, sealed)
    key = _key(facts, before, now)
    units = units_of(truth.queries, truth.tags, known.seal.cluster)
    [row] = look_at([facts.turn * (now - before)], units, per_look(known.seal.looks))
    with held(known.path) as record:
        known = read_ledger(known.path)
        answer = known.answered(key)
        repeated = answer is not None
        left = known.left
        if answer is None:
            answer = _look(known, row, facts.name, names, key)
            record(answer)
            left -= 1
    following = _looks_left(answer, known.seal.looks, left, repeated=repeated)
    if not left:
        following = joined(following, _renewal(truth.n_queries))
    claim = _claim(row, facts, before, now, tuple(names), answer)
    # Numbers of an unconfirmed claim would show a tuner which way the queries lean.
    told = row if answer.confirmed else None
    ends = told.interval if told else None
    return Confirmation(
        claim=replace(claim, next=following),
        confirmed=answer.confirmed,
        metric=facts.name,
        new=answer.new,
        old=answer.old,
        gain=told.difference if told else None,
        low=ends.low if ends else None,
        high=ends.high if ends else None,
        p=told.p if told else None,
        queries=truth.n_queries,
        error=per_look(known.seal.looks),
        look=answer.look,
        looks=known.seal.looks,
        left=left,
        repeated=repeated,
        time=answer.time,
        ledger=str(known.path),
    )


def _looks_left(look: TakenLook, looks: int, left: int, *, repeated: bool) -> Sentence:
    """Which look this was, and how many are left."""
    rest = Fact(about="count", count=left, text="looks left")
    if repeated:
        template = "As answered on {when.text}; nothing was spent, {it.count} left."
        return sentence(template, when=named(look.time[:10]), it=rest)
    taken = Fact(about="count", count=look.look, of=looks, text="look")
    template = "Look {taken.count} of {taken.of}; {it.count:look|looks} left."
    return sentence(template, taken=taken, it=rest)


def document(confirmation: Confirmation) -> Document:
    """The answer, and the looks left."""
    return of_claim(confirmation.claim)


def _claim(
    row: PairedRow,
    facts: MetricFacts,
    before: Floats,
    now: Floats,
    names: tuple[str, ...],
    look: TakenLook,
) -> Claim:
    """The claim of `compare` where it is confirmed, else no number."""
    sealed = Fact(about="count", count=len(now), text="sealed queries")
    on = sentence("on the {it.count:sealed query|sealed queries}", it=sealed)
    old, new = names
    if not look.confirmed:
        about = Fact(about="name", system=new, against=old, metric=facts.name)
        template = (
            "Not confirmed {on}: {it.system} may be no better than {it.against} in "
            "{it.metric}."
        )
        fact = sentence(template, on=on, it=about)
        return Claim(
            "no clear difference",
            fact,
            "Details stay hidden so that nobody can tune on them.",
        )
    known = ~np.isnan(before) & ~np.isnan(now)
    means = (exact_mean(before[known]), exact_mean(now[known]))
    claim = claim_of(row, facts, *means, names=(old, new), standing="better")
    return replace(claim, fact=sentence("Confirmed {on}: {fact}", on=on, fact=claim.fact))


def _checked(
    path: Path, ledger: str | os.PathLike[str] | None
) -> tuple[GroundTruth, LookLedger]:
    """Read the sealed queries and their ledger, and check that the queries are unchanged."""
    kept = Path(ledger) if ledger is not None else ledger_beside(path)
    truth = load(path, "ground_truth", sealed=True).ground_truth
    if truth is None or SEAL not in truth.tags:
        raise InvalidInput(
            f"{path} is not sealed, so it can confirm nothing; give the part "
            "NAME.sealed.jsonl that `calipers seal GROUND_TRUTH` wrote."
        )
    seals = set(truth.tags[SEAL].drop_nulls())
    known = read_ledger(kept)
    if known.seal.seal not in seals:
        raise InvalidInput(
            f"The ledger {kept} is of another set: {path} carries the seal "
            f"{', '.join(sorted(seals))}, the ledger {known.seal.seal}; give the ledger "
            "that was written with it (--ledger)."
        )
    if content(truth) != known.seal.sealed.fingerprint or truth.tags[SEAL].null_count():
        raise InvalidInput(
            f"{path} was edited since it was sealed: it holds {truth.n_queries:,} "
            f"queries, and {known.seal.sealed.queries:,} were sealed, or other targets, "
            "texts or tags; bring it back from version control. Nothing was spent."
        )
    tags = {name: values for name, values in truth.tags.items() if name != SEAL}
    return replace(truth, tags=tags), known


def _names(old: object, new: object) -> dict[str, object]:
    """Both runs by name."""
    if all(isinstance(system, str | os.PathLike) for system in (new, old)):
        systems = name_systems([old, new])
    else:
        systems = {"old": old, "new": new}
    for name, value in systems.items():
        if isinstance(value, Matched | Scores) or measured_before(value) is not None:
            raise InvalidInput(
                f"{name} was measured before, and the sealed queries are measured here "
                "alone; give the run itself, as the retriever returned it."
            )
    return systems


def _measured(
    names: Mapping[str, object],
    truth: GroundTruth,
    metric: Metric,
    matching: MatchingSettings,
    sealed: object,
) -> tuple[Floats, Floats, MetricFacts]:
    """The values of both runs per query, and the facts of the metric."""
    from calipers.engines.scoring import score

    pairs = matched_systems(
        names, truth, replace(matching, fingerprints=True), measured=False
    )
    for name, pair in pairs.items():
        lacking = with_status(pair.matches.status, MISSING)
        if lacking.any():
            some = truth.queries["query"].filter(lacking).head(3).to_list()
            file = join_words([str(sealed)])
            raise InvalidInput(
                f"{name} lacks "
                f"{plural(int(lacking.sum()), 'sealed query', 'sealed queries')} of "
                f"{truth.n_queries:,}, such as {', '.join(map(repr, some))}; ask the "
                f"retriever all of them: `calipers retrieve RETRIEVER {file}`. Nothing was "
                "spent."
            )
    old, new = (score(pair, (metric.with_rel(pair.rel),)) for pair in pairs.values())
    facts = new.metrics[0]
    if facts.better == "neither":
        raise InvalidInput(
            f"Neither more nor less of {facts.name} is better, so no gain can be "
            "confirmed; name another metric, such as recall@10."
        )
    if new.fingerprints["run"] == old.fingerprints["run"]:
        raise InvalidInput(
            f"{' and '.join(names)} are the same run; give two that differ. Nothing was "
            "spent."
        )
    return old.values[:, 0], new.values[:, 0], facts


def _key(facts: MetricFacts, old: Floats, new: Floats) -> str:
    digests = [
        hashlib.sha256((np.ascontiguousarray(values) + 0.0).tobytes())
        for values in (old, new)
    ]
    return fingerprint_settings([facts.name, *(digest.hexdigest() for digest in digests)])


def _look(
    ledger: LookLedger, row: PairedRow, metric: str, names: Mapping[str, object], key: str
) -> TakenLook:
    """A new look at the sealed queries; an error where the budget is spent."""
    if not ledger.left:
        taken = plural(len(ledger.looks), "look")
        last = ledger.looks[-1].time[:10]
        raise InvalidInput(
            f"The budget of {ledger.path} is spent: {taken} of {ledger.seal.looks} "
            f"{'was' if len(ledger.looks) == 1 else 'were'} taken, the last on {last}. "
            f"{_renewal(ledger.seal.sealed.queries)}"
        )
    old, new = names
    return TakenLook(
        look=len(ledger.looks) + 1,
        time=moment(datetime.now(UTC)),
        metric=metric,
        new=new,
        old=old,
        asked=key,
        confirmed=row.standing == "better",
    )


def _renewal(sealed: int) -> Sentence:
    """How many new queries renew the budget."""
    return sentence(
        "About {it.count} new queries renew it: `calipers seal` them; the old ones may "
        "then be tuned on.",
        it=Fact(about="count", count=sealed, text="queries"),
    )
