"""Drafts, agreement, samples, pools and labels, as documents."""

from collections.abc import Iterator, Sequence

from calipers.labels.desk import Desk
from calipers.labels.draft import Draft
from calipers.labels.result import (
    Agreement,
    Coefficient,
    Exported,
    Imported,
    MachineCheck,
    Merged,
    Opinions,
    PoolChanged,
)
from calipers.labels.sample_result import JudgeAgreement, SampleState
from calipers.model.document import Answers, Block, Column, Document, Lines, Note, Table, of_claim
from calipers.model.scores import Interval
from calipers.present.escape import printable
from calipers.store.pool import PoolInfo, PoolList
from calipers.words import first_results, number, plural

LONGEST = 64
MOST_PAIRS_OF_JUDGES = 10
NAMED = 5
"""Questions that a note names."""
EXAMPLES = 3
"""Disagreements that are listed."""
STRENGTHS = ((0.8, "agree well"), (0.6, "agree fairly well"), (0.4, "agree in part"))
"""From which value of alpha on judges agree how well."""


def of_draft(draft: Draft, output: str | None = None) -> Document:
    """What is in a file to label, and what to do with it."""
    left_out = f"; {plural(draft.judged, 'pair')} judged before left out" if draft.judged else ""
    sentence = f"Nothing is left to label{left_out}, so nothing is written."
    if draft.rows:
        sentence = (
            f"{plural(len(draft.rows), 'pair')} to label for "
            f"{plural(draft.queries, 'question')}: the {first_results(draft.k)} of "
            f"{plural(draft.runs, 'run')}, each once{left_out}."
        )
    return Document(sentence, notes=[*_draft_notes(draft, output)], rows=lambda: draft.rows)


def _draft_notes(draft: Draft, output: str | None) -> Iterator[Note]:
    if draft.silent:
        silent = plural(len(draft.silent), "question")
        yield Note("missing", f"{silent} without any result: {_named(draft.silent)}.")
    if draft.unknown:
        unknown = plural(draft.unknown, "query", "queries")
        yield Note("missing", f"{unknown} of the runs are not among the questions.")
    if draft.without_text:
        pairs = plural(draft.without_text, "pair")
        yield Note("missing", f"{pairs} without a text to judge; add the texts with --corpus.")
    if draft.rows:
        written = f"Written to {output}." if output else "Write it with write()."
        yield Note(
            "doubt", f"{written} Fill in 'grade' (0 = does not help) and 'judge', a copy per judge."
        )
        yield Note("next", "Then: `calipers labels agreement FILE…`")


def _named(names: Sequence[str], most: int = NAMED) -> str:
    more = ", …" if len(names) > most else ""
    return ", ".join(printable(one, 40) for one in names[:most]) + more


def of_agreement(found: Agreement, output: str | None = None) -> Document:
    """How far the judges agree, where they do not, and what was made of their labels."""
    blocks: list[Block] = [_coefficients(found.coefficients)] if found.coefficients else []
    if found.machine is not None:
        blocks.append(_machine_table(found.machine))
    if found.disagreements:
        title = (
            f"{len(found.disagreements):,} of {plural(found.shared, 'pair')} that several judged "
            "have different grades"
        )
        blocks.append(Lines([*_opinions(found.disagreements)], title))
    if found.merged is not None and found.merged.tied:
        blocks.append(Lines([*_opinions(found.merged.tied)], "Left out, as tied", detail=True))
    return Document(
        verdict(found),
        blocks=blocks,
        notes=[*_agreement_notes(found, output)],
        rows=lambda: found.coefficients,
    )


def verdict(found: Agreement) -> str:
    """How well the judges agree, by the measure over all of them."""
    if not found.coefficients:
        return "One judge alone: there is nobody to agree with."
    first = found.coefficients[0]
    if first.value is None:
        return f"How far the judges agree cannot be said: {first.why_not}."
    words = next((words for least, words in STRENGTHS if first.value >= least), "hardly agree")
    return (
        f"The judges {words}: {first.name} is {first.value:.3f} on "
        f"{plural(first.n, 'pair')}.".replace("-", "−")
    )


def _coefficients(coefficients: Sequence[Coefficient]) -> Table:
    everybody, pairs = coefficients[:2], coefficients[2:]
    left = len(pairs) - MOST_PAIRS_OF_JUDGES
    if left > 0:
        lowest = sorted(pairs, key=lambda one: (one.value is None, one.value or 0.0))
        pairs = lowest[:MOST_PAIRS_OF_JUDGES]
    rows = [(one.name, f"all {len(one.judges)}", *_values(one)) for one in everybody]
    for one in pairs:
        judges = " – ".join(printable(name, 30) for name in one.judges)
        rows.append((one.name, judges, *_values(one)))
    return Table(
        (Column("measure", words=True), Column("judges", words=True), "value", "interval", "pairs"),
        rows,
        more=f"… and {left:,} pairs of judges that agree more" if left > 0 else "",
    )


def _values(one: Coefficient) -> tuple[str, str, str]:
    value = "none" if one.value is None else f"{one.value:.3f}"
    ends = f"{one.interval.low:.3f} to {one.interval.high:.3f}" if one.interval else ""
    return value.replace("-", "−"), ends.replace("-", "−"), f"{one.n:,}"


def _machine_table(machine: MachineCheck) -> Table:
    """How far the labels of a machine can be trusted, by those of people."""
    return Table(
        (Column("to people", words=True), "pairs", "the same to the machine", "interval"),
        [
            (
                "relevant (sensitivity)",
                f"{machine.both + machine.missed:,}",
                *_share(machine.sensitivity, machine.sensitivity_interval),
            ),
            (
                "not relevant (specificity)",
                f"{machine.neither + machine.invented:,}",
                *_share(machine.specificity, machine.specificity_interval),
            ),
        ],
        title=f"{printable(machine.judge, 40)} against people",
    )


def _share(value: float | None, interval: Interval | None) -> tuple[str, str]:
    ends = f"{interval.low:.0%}–{interval.high:.0%}" if interval else ""
    return "none" if value is None else f"{value:.0%}", ends


def _opinions(some: Sequence[Opinions]) -> Iterator[str]:
    for one in some[:EXAMPLES]:
        about = one.about
        yield _question(one)
        shown = ", ".join(printable(part, 40) for part in (about.item, about.title) if part)
        if about.text is not None:
            shown = f"{shown}: " if shown else ""
            shown += f"“{printable(' '.join(about.text.split()), LONGEST)}”"
        yield f"  {shown}"
        grades = (f"{printable(who, 30)} {grade:g}" for who, grade in one.grades.items())
        yield f"  {', '.join(grades)}"
    if len(some) > EXAMPLES:
        yield f"… and {len(some) - EXAMPLES:,} more in the JSON"


def _question(one: Opinions) -> str:
    query, text = one.about.query_id, one.about.query
    if text is None or text == query:
        return printable(query, LONGEST)
    return f"{printable(query, 30)}: {printable(text, LONGEST)}"


def _agreement_notes(found: Agreement, output: str | None) -> Iterator[Note]:
    if found.merged is not None:
        yield from _merged_notes(found.merged, output)
    judges = [
        f"{printable(one.name, LONGEST)}: {plural(one.labelled, 'label')}"
        + (f", {one.missing:,} without a grade" if one.missing else "")
        for one in found.judges
    ]
    yield Note("doubt", f"{'; '.join(judges)}.")
    if not found.coefficients:
        return
    if found.machine is not None and found.machine.undecided:
        split = plural(found.machine.undecided, "pair")
        yield Note("counted", f"People are split on {split}, not counted for the machine.")
    if alone := len(found.opinions) - found.shared:
        yield Note("counted", f"{plural(alone, 'pair')} judged by one of them only.")
    for one in found.coefficients:
        if one.value is None:
            yield Note("counted", f"{one.name} has no value: {one.why_not}.")
    yield Note("marks", "1 is full agreement, 0 what chance gives.")
    yield Note("method", "The interval is that of the jackknife over the pairs.")


def _merged_notes(merged: Merged, output: str | None) -> Iterator[Note]:
    if merged.left_without:
        yield Note(
            "missing",
            f"{plural(len(merged.left_without), 'question')} with nothing relevant left, as judges "
            f"differ ({_named(merged.left_without)}): it would not be measured. Let a third judge "
            "decide, or give --when-tied max.",
        )
    if merged.tied:
        yield Note(
            "input",
            f"{plural(len(merged.tied), 'pair')} left out of the ground truth: two grades have "
            "equally many votes. Give --when-tied max, min or mean to decide.",
        )
    written = f", written to {output}" if output else ""
    yield Note(
        "next",
        f"{plural(merged.targets, 'judgement')} merged by {merged.how}, "
        f"{plural(len(merged.records), 'question')}{written}.",
    )


def of_sample(found: SampleState) -> Document:
    """What the sample says at its last look, how wide it is, and how good the machine is."""
    first, *further = found.claims
    slices = (Column("slice", words=True), "agreement", "interval", "machine only", "people only")
    return of_claim(
        first,
        *_sample_notes(found),
        blocks=[
            *([Answers(further)] if further else []),
            *([Table((*slices, "results"), [*map(_slice, found.slices)])] if found.slices else []),
        ],
        rows=lambda: found.looks,
    )


def _slice(one: JudgeAgreement) -> tuple[str, ...]:
    ends = one.interval
    return (
        printable(one.where or "", LONGEST),
        number(one.same),
        f"{number(ends.low)}–{number(ends.high)}" if ends else "",
        f"{one.invented:,}",
        f"{one.missed:,}",
        f"{one.results:,}",
    )


def _sample_notes(found: SampleState) -> Iterator[Note]:
    """How it was drawn, and when it may be read."""
    draw = found.draw
    later = found.judged - (found.counted or 0)
    if found.counted and later:
        yield Note("doubt", f"{later:,} judged since the last look count at the next.")
    looks = ", ".join(f"{one:,}" for one in draw.looks)
    hold = (
        f"Looks at {looks}: the {draw.confidence:.0%} intervals of all of them hold together, so "
        "you may stop at any."
    )
    if len(draw.looks) == 1:
        hold = f"It is read once, at {looks}."
    yield Note(
        "counted",
        f"{printable(found.pool)}: {plural(draw.looks[-1], *found.unit)} at most, drawn at random "
        f"of {draw.total:,} (seed {draw.seed}). {hold}",
    )


def of_export(found: Exported) -> Document:
    """What was written, and what was left out."""
    where = ", ".join(map(printable, found.files))
    if found.fingerprint is None:
        return Document(
            f"Written to {where}: {plural(found.labels, 'label')} of {found.targets:,} results to "
            f"{plural(found.queries, 'query', 'queries')}, each with its judge and time."
        )
    left_out = f"{found.unsettled:,} left out, as judges differ; settle them in the browser."
    return Document(
        f"Written to {where}: {plural(found.targets, 'target')} of "
        f"{plural(found.queries, 'query', 'queries')}, {found.labels:,} of them labelled here.",
        notes=[
            *([Note("missing", left_out)] if found.unsettled else []),
            Note("counted", f"Its fingerprint is {found.fingerprint[:12]}."),
        ],
    )


def of_import(found: Imported) -> Document:
    """What was read, and what was there already."""
    more = f", {found.known:,} were there already" if found.known else ""
    empty = f", {found.ungraded:,} rows have no grade" if found.ungraded else ""
    judges = ", ".join(printable(name, 40) for name in found.judges) or "nobody"
    return Document(
        f"{plural(found.added, 'label')} by {judges} added to {printable(found.pool)}{more}{empty}."
    )


def of_pools(found: PoolList) -> Document:
    """The pools, and how much of each is judged."""
    place = printable(found.place)
    if not found.pools:
        return Document(
            f"There is no pool in {place}; make one with `calipers serve --judge RUN …`.",
            rows=lambda: found.pools,
        )
    has_machines = any(one.by_machines for one in found.pools)
    heads = ("judged", "questions", "labels", *["by models"] * has_machines, "made", "closed")
    return Document(
        f"{plural(len(found.pools), 'pool')} in {place}.",
        blocks=[
            Table(
                (Column("pool", words=True), Column("judges", words=True), *heads),
                [_pool(one, has_machines) for one in found.pools],
            )
        ],
        rows=lambda: found.pools,
    )


def _pool(one: PoolInfo, has_machines: bool) -> tuple[str, ...]:
    return (
        printable(one.name),
        ", ".join(printable(name, 40) for name in one.judges),
        f"{one.judged:,} of {one.items:,}",
        f"{one.queries:,}",
        f"{one.labels:,}",
        *[f"{one.by_machines:,}"] * has_machines,
        one.created[:10],
        (one.closed or "")[:10],
    )


def of_change(found: PoolChanged) -> Document:
    """What became of a pool."""
    done = {
        "close": "is closed: nothing is judged in it until `labels close --reopen`",
        "reopen": "is open again",
        "delete": f"is deleted with its {plural(found.items, 'result')}; its log is kept",
    }
    return Document(f"The pool {printable(found.pool)} {done[found.change]}.")


def of_desk(desk: Desk) -> Document:
    """What there is to judge, and by whom."""
    judges = ", ".join(printable(name, 40) for name in desk.judges)
    return Document(
        f"{printable(desk.name)}: {plural(len(desk.items), 'result')} to judge by {judges}."
    )
