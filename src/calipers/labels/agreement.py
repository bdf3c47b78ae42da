"""Which grade counts, how far judges agree beyond chance, and the ground truth that labels make."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from calipers.engines.scoring import choose_metrics, score
from calipers.errors import InvalidInput, NoCommonIds
from calipers.match.pair import match_pair
from calipers.model.arrays import Bools, Floats
from calipers.model.document import Block, Column, Document, Lines, Note, Table
from calipers.model.ground_truth import TARGET_SCHEMA, GroundTruth
from calipers.model.labels import (
    IMPORT,
    JUDGED_BY,
    QUEUE,
    WHOLE_QUEUE,
    Label,
    TargetsAs,
    is_machine,
    is_peoples,
    source_of,
)
from calipers.model.matching import Matching
from calipers.model.policy import Policy
from calipers.model.result import Plain, ShowsItself, plain
from calipers.model.run import Run
from calipers.model.scores import Interval, Scores, Summary
from calipers.present.escape import printable
from calipers.statistics.agreement_interval import agreement_interval, krippendorff_alpha
from calipers.statistics.score_interval import wilson
from calipers.store.pool import LabelState, LogEntry, PoolItem, PoolSettings
from calipers.words import plural

Counted = Literal["one", "agreed", "majority", "tie", "final"]
"""How the labels of an item became one grade; a tie leaves it out."""
Standing = Literal["open", "counted", "settled"]
"""An open conflict is a tie, or was settled before a judge changed their label."""
LEAST_SHARED = 10
"""The smallest number of results that two judges must share for a coefficient."""
CONFIDENCE = 0.95
STRENGTHS = ((0.8, "well"), (0.6, "fairly well"), (0.4, "in part"))
"""Thresholds of alpha with the words for them; below the last, judges hardly agree."""
WEAKEST = "hardly"
LONGEST = 64
EXAMPLES = 3
"""The characters of a text and the disagreements that are printed."""


@dataclass(frozen=True)
class Alpha(Plain):
    """Krippendorff's alpha for an ordinal scale: 1 is full agreement, 0 what chance gives."""

    value: float | None
    """None if only one grade was used."""
    n: int
    """How many results it is computed from."""
    interval: Interval | None
    """By the jackknife over the results."""


def alpha_of(table: Floats) -> Alpha | None:
    """Alpha over all judges; None with fewer than ten shared results.

    The table has one row per judged item and one column per judge; NaN is a missing label.
    """
    # Alpha ignores who gave which grade, so far fewer distinct rows remain.
    every = np.sort(table, axis=1)
    value, n = krippendorff_alpha(every)
    if n < LEAST_SHARED:
        return None
    ends = agreement_interval(every, CONFIDENCE)
    return Alpha(value, n, ends and Interval(*ends, CONFIDENCE, "jackknife"))


@dataclass(frozen=True)
class MachineCheck:
    """A machine's labels against human ones, relevant or not, on what both judged."""

    judge: str
    both: int
    """Relevant by human and machine labels."""
    missed: int
    """Relevant by human labels only."""
    invented: int
    """Relevant by machine labels only."""
    neither: int
    sensitivity: float | None
    """Of what humans found relevant, the share that the machine did too."""
    sensitivity_interval: Interval | None
    specificity: float | None
    """Of what humans found irrelevant, the share that the machine did too."""
    specificity_interval: Interval | None
    undecided: int
    """Results on which human labels are tied; they are not counted."""


def compare_with_people(
    judge: str, machine: Bools, people: Bools, undecided: int
) -> MachineCheck:
    """Compare a machine's relevant labels with those of human annotators."""
    pairs = (machine & people, ~machine & people, machine & ~people, ~machine & ~people)
    both, missed, invented, neither = (int(np.count_nonzero(pair)) for pair in pairs)

    def share(count: int, n: int) -> tuple[float | None, Interval | None]:
        ends = wilson(count, n, CONFIDENCE)
        return (
            (count / n, Interval(*ends, CONFIDENCE, "wilson")) if ends else (None, None)
        )

    found = (*share(both, both + missed), *share(neither, neither + invented))
    return MachineCheck(judge, both, missed, invented, neither, *found, undecided)


@dataclass(frozen=True)
class Decision:
    """The labels of one item, and the grade they result in."""

    labels: Mapping[str, LogEntry]
    counts: float | None
    """The grade that counts; None for a tie, which is left out."""
    how: Counted
    final: LogEntry | None
    """The label that settles it, or settled it before a judge changed theirs."""

    @property
    def grades(self) -> dict[str, float]:
        """The grades by judge."""
        return {
            who: one.grade for who, one in self.labels.items() if one.grade is not None
        }


def decide(state: LabelState, item: int, *, machines: bool = False) -> Decision | None:
    """Return the final or the majority grade of an item; None without any label.

    Labels of language models count only with ``machines``.
    """
    labels = {
        who: one
        for who, one in state.labels(item).items()
        if machines or not is_machine(who)
    }
    final = state.final(item)
    if final is not None:
        return Decision(labels, final.grade, "final", final)
    if not labels:
        return None
    counted = Counter(label.grade for label in labels.values()).most_common()
    reopened = state.reopened(item)
    if len(counted) > 1 and counted[0][1] == counted[1][1]:
        return Decision(labels, None, "tie", reopened)
    how: Counted = (
        "majority" if len(counted) > 1 else "agreed" if len(labels) > 1 else "one"
    )
    return Decision(labels, counted[0][0], how, reopened)


@dataclass(frozen=True)
class Conflict(Decision, Plain):
    """An item on which judges differ, and the grade that counts."""

    item: PoolItem
    notes: Mapping[str, str]
    """The judges' notes."""

    @property
    def standing(self) -> Standing:
        """Whether a person has to settle it."""
        if self.how == "final":
            return "settled"
        return "open" if self.how == "tie" or self.final is not None else "counted"

    @property
    def verdict(self) -> str:
        """The grade that counts, in words."""
        if self.how == "final" and self.final is not None:
            return f"Counts as {self.counts:g}: settled by {self.final.judge}."
        since = ""
        if self.final is not None:
            since = f"Settled as {self.final.grade:g} by {self.final.judge}, and changed since. "
        if self.counts is None:
            return f"{since}Left out: a tie."
        votes = [*self.grades.values()].count(self.counts)
        return f"{since}Counts as {self.counts:g}: {votes} of {len(self.grades)} say so."

    def to_dict(self) -> dict[str, Any]:
        """The conflict as plain values."""
        about = self.item.label
        keys = ("grades", "counts", "how", "final", "notes")
        names = ("query_id", "query", "text", "document")
        said = {name: getattr(about, name) for name in names}
        result = {key: plain(getattr(self, key)) for key in keys}
        return {"item": self.item.position, **said, "id": about.item, **result}


@dataclass(frozen=True)
class JudgeSummary(Plain):
    """What one judge did."""

    judge: str
    labelled: int
    skipped: int
    notes: int
    last: str
    """When the last entry was made."""


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Plain, ShowsItself):
    """How far judges agree, and where they do not."""

    shown_by: ClassVar[str] = "calipers.labels.agreement"
    dict_keys: ClassVar[str] = (
        "judges judged shared alike alpha conflicts left_out machines"
    )

    judges: tuple[JudgeSummary, ...]
    judged: int
    """Results that somebody labelled."""
    shared: int
    """Results that at least two labelled."""
    alike: int
    """Of these, those with the same grade from all."""
    alpha: Alpha | None
    """None with fewer than ten shared results."""
    conflicts: tuple[Conflict, ...]
    """The largest difference first."""
    machines: tuple[MachineCheck, ...] = ()

    @property
    def left_out(self) -> int:
        """Results without a grade: a tie that nobody settled."""
        return sum(conflict.counts is None for conflict in self.conflicts)

    def standing(self, which: str) -> Sequence[Conflict]:
        """The conflicts of one standing."""
        return [conflict for conflict in self.conflicts if conflict.standing == which]


def agreement(items: Sequence[PoolItem], state: LabelState) -> Agreement:
    """How far the judges of some items agree; language models are compared with humans."""
    decided = {
        item: one for item in state.touched() if (one := decide(state, item)) is not None
    }
    grades = {item: one.grades for item, one in decided.items() if one.labels}
    people = list(dict.fromkeys(who for grade in grades.values() for who in grade))
    shared = [grade for grade in grades.values() if len(grade) > 1]
    table = np.array(
        [[grade.get(who, np.nan) for who in people] for grade in grades.values()]
    )
    conflicts = (
        Conflict(
            one.labels, one.counts, one.how, one.final, items[item], state.notes(item)
        )
        for item, one in decided.items()
        if len(set(one.grades.values())) > 1 or (one.how == "final" and one.grades)
    )
    said = {name: state.of_judge(name) for name in state.judges()}
    judges = [
        one
        for one in said
        if not is_machine(one) and {e.kind for e in said[one]} != {"final"}
    ]
    checks = (_machine(name, state, decided) for name in said if is_machine(name))
    return Agreement(
        tuple(_summary(judge, state) for judge in judges),
        len(grades),
        len(shared),
        sum(len(set(one.values())) == 1 for one in shared),
        alpha_of(table) if len(people) > 1 else None,
        tuple(
            sorted(
                conflicts,
                key=lambda conflict: (
                    min(conflict.grades.values()) - max(conflict.grades.values())
                ),
            )
        ),
        tuple(check for check in checks if check is not None),
    )


def _summary(judge: str, state: LabelState) -> JudgeSummary:
    entries = state.of_judge(judge)
    given = [state.current(item, judge) for item in {entry.item for entry in entries}]
    kinds = Counter(one.kind for one in given if one is not None)
    notes = len({entry.item for entry in entries if entry.note})
    return JudgeSummary(judge, kinds["label"], kinds["skip"], notes, entries[-1].saved)


def _machine(
    name: str, state: LabelState, decided: Mapping[int, Decision]
) -> MachineCheck | None:
    """Compare a machine with the human grade, on items that both labelled."""
    said = [(state.current(item, name), one.counts) for item, one in decided.items()]
    both = [
        (one.grade, grade)
        for one, grade in said
        if one is not None and one.grade is not None
    ]
    used = np.array(
        [(mine > 0, theirs > 0) for mine, theirs in both if theirs is not None]
    )
    if not len(used):
        return None
    return compare_with_people(name, used[:, 0], used[:, 1], len(both) - len(used))


def verdict(found: Agreement) -> str:
    """How well the judges agree, worded by the interval of alpha."""
    if len([judge for judge in found.judges if judge.labelled]) < 2:
        return "One judge alone: there is nobody to agree with."
    seen = f"the same grade on {found.alike:,} of {plural(found.shared, 'shared result')}"
    if not found.shared:
        return "No result was labelled by two judges yet."
    if (alpha := found.alpha) is None:
        return f"Judges gave {seen}; a coefficient needs {LEAST_SHARED}."
    if alpha.value is None or alpha.interval is None:
        why = "only one grade was used" if alpha.value is None else "too few"
        return f"Judges gave {seen}; a coefficient cannot be said: {why}."
    low, high = (
        next((words for least, words in STRENGTHS if end >= least), WEAKEST)
        for end in (alpha.interval.low, alpha.interval.high)
    )
    words = "The judges hardly agree" if low == WEAKEST else f"The judges agree {low}"
    if low != high:
        sure = low != WEAKEST
        words = (
            f"The judges agree at least {low}"
            if sure
            else "How far judges agree is not clear"
        )
    ends = f"{alpha.interval.low:.3f}–{alpha.interval.high:.3f}"
    return f"{words}: alpha is {alpha.value:.3f} ({ends}), {seen}.".replace("-", "−")


def document(found: Agreement) -> Document:
    """How far the judges agree, and where they do not."""
    blocks: list[Block] = [_machine_table(machine) for machine in found.machines]
    if found.conflicts:
        title = f"Judges differ on {len(found.conflicts):,} of {plural(found.shared, 'result')}"
        blocks.append(Lines([*_conflicts(found.conflicts)], title))
    return Document(verdict(found), blocks=blocks, notes=[*_notes(found)])


def _machine_table(machine: MachineCheck) -> Table:
    """How well a machine's labels match those of human annotators."""
    relevant = machine.both + machine.missed
    others = machine.neither + machine.invented
    found = (
        ("relevant", relevant, machine.sensitivity, machine.sensitivity_interval),
        ("not relevant", others, machine.specificity, machine.specificity_interval),
    )
    rows = []
    for words, n, value, ends in found:
        share = "none" if value is None else f"{value:.0%}"
        rows.append(
            (words, f"{n:,}", share, f"{ends.low:.0%}–{ends.high:.0%}" if ends else "")
        )
    heads = (
        Column("to people", words=True),
        "results",
        "the same to the machine",
        "interval",
    )
    return Table(heads, rows, title=f"{printable(machine.judge, 40)} against people")


def _conflicts(some: Sequence[Conflict]) -> Iterator[str]:
    for one in some[:EXAMPLES]:
        about = one.item.label
        yield printable(about.query or about.query_id, LONGEST)
        text = printable(" ".join((about.text or "").split()), LONGEST)
        named = ", ".join(
            printable(part, 40) for part in (about.item, about.title) if part
        )
        yield "  " + ": ".join(filter(None, (named, f"“{text}”" if text else "")))
        grades = (f"{printable(who, 30)} {grade:g}" for who, grade in one.grades.items())
        yield f"  {', '.join(grades)}. {printable(one.verdict)}"
    if len(some) > EXAMPLES:
        yield f"… and {len(some) - EXAMPLES:,} more in the JSON"


def _notes(found: Agreement) -> Iterator[Note]:
    if found.left_out:
        yield Note(
            "missing",
            f"{plural(found.left_out, 'result')} left out as a tie: settle them.",
        )
    judges = [
        f"{printable(judge.judge, LONGEST)}: {plural(judge.labelled, 'label')}"
        + (f", {judge.skipped:,} skipped" if judge.skipped else "")
        for judge in found.judges
    ]
    if judges:
        yield Note("doubt", f"{'; '.join(judges)}.")
    if found.alpha:
        yield Note("marks", "Of alpha 1 is full agreement, 0 what chance gives.")
        yield Note("method", "The interval is that of the jackknife over the results.")


# The ground truth that labels make


@dataclass(frozen=True, eq=False)
class JudgedTruth:
    """The earlier ground truth, updated with the labels."""

    ground_truth: GroundTruth | None
    """None if there was no ground truth and nothing was judged."""
    grades: Mapping[int, float] = field(default_factory=dict)
    """The grade of each item that was judged, by its position in the pool."""
    left_out: int = 0
    """Items without a grade: a tie that nobody settled."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Who labelled each query: person:anna, machine:small, import, or several."""
    finished: bool = False
    """Whether humans judged everything in the pool."""

    def tagged(self, order: str | None) -> GroundTruth | None:
        """The ground truth with tags for who labelled each query and how it was chosen.

        ``order`` is the order of the queue; None without a queue.
        """
        truth = self.ground_truth
        if truth is None:
            return None
        said = [self.sources.get(one, IMPORT) for one in truth.queries["query"]]
        tags = {JUDGED_BY: pl.Series(JUDGED_BY, said, dtype=pl.String)}
        if order is not None:
            chosen = WHOLE_QUEUE if self.finished else order
            queue = [None if one == IMPORT else chosen for one in said]
            tags[QUEUE] = pl.Series(QUEUE, queue, dtype=pl.String)
        return replace(truth, tags={**truth.tags, **tags})


def is_relevant(grade: float, rel: float | None) -> bool:
    """Whether a grade counts as relevant."""
    return grade > 0.0 if rel is None else grade >= rel


def why_waiting(
    query: str, items: Iterable[int], found: JudgedTruth, state: LabelState
) -> str | None:
    """Why a question that was drawn cannot count yet: a result was skipped, or is a tie."""
    for item in items:
        if item in found.grades:
            continue
        if state.labels(item):
            return f"Judges differ on a result of the question {query!r:.60}: settle it to go on."
        given = state.given(item).values()
        if given and all(one.kind == "skip" for one in given):
            return (
                f"A result of the question {query!r:.60} was skipped: judge it to go on."
            )
    return None


def judged_truth(
    before: GroundTruth | None,
    items: Sequence[PoolItem],
    state: LabelState,
    settings: PoolSettings,
    *,
    machines: bool = False,
    unnamed: Collection[str] = (),
) -> JudgedTruth:
    """The earlier ground truth with one grade for every judged item that is not a tie.

    A label replaces the earlier grade of the same item. Labels of language models count only
    with ``machines``; ``unnamed`` judges may be human or not.
    """
    rows = []
    left_out = 0
    said_by: dict[int, list[str]] = {}
    grades: dict[int, float] = {}
    for position in state.touched():
        found = decide(state, position, machines=machines)
        if found is None or found.counts is None:
            left_out += found is not None
            continue
        given = (
            [found.final]
            if found.how == "final" and found.final
            else [*found.labels.values()]
        )
        marked = [*given, *found.labels.values()]
        quote = next(
            (one for one in marked if one.quote and one.grade == found.counts), None
        )
        names = (
            IMPORT if one.judge in unnamed else source_of(one.judge) for one in given
        )
        said_by[position], grades[position] = [*names], float(found.counts)
        target = _target(items[position].label, quote, settings.targets_as)
        rows.append({"grade": grades[position], **target})
    if not rows:
        return JudgedTruth(before, left_out=left_out)
    same = [name for name in TARGET_SCHEMA if name != "grade"]
    new = pl.DataFrame(rows, schema=TARGET_SCHEMA).group_by(same, maintain_order=True)
    labelled = new.agg(pl.col("grade").max()).select(*TARGET_SCHEMA)
    truth = _merge_labels(before, labelled, items)
    sources: dict[str, set[str]] = {}
    for one in items:
        sources.setdefault(one.label.query_id, set()).update(
            said_by.get(one.position, (IMPORT,))
        )
    # Targets that nobody judged came with the ground truth.
    same.remove("group")
    kept = truth.targets.join(labelled, on=same, how="anti", nulls_equal=True)
    for query in kept["query"].unique():
        sources.setdefault(query, set()).add(IMPORT)
    return JudgedTruth(
        truth,
        grades,
        left_out,
        {query: ",".join(sorted(names)) for query, names in sources.items()},
        all(is_peoples(",".join(said_by.get(item.position, ()))) for item in items),
    )


def _target(label: Label, marked: LogEntry | None, by: TargetsAs) -> dict[str, object]:
    """A judged item as a row of a ground truth."""
    known = {"query": label.query_id, "document": label.document}
    quote = None if marked is None else marked.quote
    if by == "span" and label.start is not None:
        if marked is None or quote is None:
            return {**known, "start": label.start, "end": label.end}
        at = (
            (label.text or "").find(quote)
            if marked.quote_start is None
            else marked.quote_start
        )
        start = label.start + max(at, 0)
        return {
            **known,
            "start": start,
            "end": start + len(quote) if at >= 0 else label.end,
        }
    if by == "id" and label.item is not None:
        return {**known, "item": label.item}
    if not quote and label.text is None:
        raise InvalidInput(
            f"The item {label.item!r:.60} of the query {label.query_id!r:.60} has no text, which a "
            f"ground truth by {by} needs; write it by id, or give runs with texts."
        )
    return {**known, "quote": quote or label.text}


def _merge_labels(
    before: GroundTruth | None, labelled: pl.DataFrame, items: Sequence[PoolItem]
) -> GroundTruth:
    """The ground truth with the labelled targets in place of what was said of them before."""
    texts = {item.label.query_id: item.label.query for item in items}
    both = {"query": pl.String(), "text": pl.String()}
    asked = pl.DataFrame([*texts.items()], schema=both, orient="row")
    asked = asked.filter(pl.col("query").is_in(labelled["query"].implode()))
    if before is None:
        return GroundTruth.from_targets(labelled, queries=asked)
    kept = before.targets
    for same in (["item"], ["quote"], ["document", "start", "end"]):
        on = ["query", *same]
        # A relabelled target stays in its group of alternatives.
        groups = kept.drop_nulls([*same, "group"]).select(*on, was="group").unique(on)
        known = labelled.select(on).drop_nulls()
        labelled = labelled.join(groups, on=on, how="left", maintain_order="left")
        labelled = labelled.with_columns(group=pl.coalesce("group", "was")).drop("was")
        kept = kept.join(known, on=on, how="anti", maintain_order="left")
    new = asked.join(before.queries, on="query", how="anti", maintain_order="left")
    return GroundTruth.from_targets(
        pl.concat([kept, labelled]),
        queries=pl.concat([before.queries.select("query", "text"), new]),
        tags={
            name: tag.extend_constant(None, new.height).alias(name)
            for name, tag in before.tags.items()
        },
    )


def measured(
    truth: GroundTruth | None, runs: Mapping[str, Run], settings: PoolSettings
) -> dict[str, Summary]:
    """The watched metric of every run, with its interval."""
    scored = {name: scored_run(truth, run, settings) for name, run in runs.items()}
    nothing = Summary(settings.metric, None, None, None, 0, 0)
    return {
        name: nothing if scores is None else next(iter(scores.summaries.values()))
        for name, scores in scored.items()
    }


def scored_run(
    truth: GroundTruth | None,
    run: Run,
    settings: PoolSettings,
    policy: Policy | None = None,
) -> Scores | None:
    """The watched metric of a run for every query; None while nothing can be matched."""
    if truth is None or not truth.targets.height:
        return None
    try:
        pair = match_pair(truth, run, matching_of(settings, policy))
    except NoCommonIds:
        return None
    return score(pair, choose_metrics(settings.metric, None, settings.rel))


def matching_of(settings: PoolSettings, policy: Policy | None = None) -> Matching:
    """How the ground truth of a pool is matched."""
    return Matching(rel=settings.rel, policy=policy or Policy())
