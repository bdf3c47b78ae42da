"""Drafts, agreement, samples, pools and labels, as documents."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from calipers.labels.agreement import LEAST_SHARED
from calipers.labels.desk import PoolSession
from calipers.labels.draft import Draft
from calipers.labels.result import (
    Agreement,
    Coefficient,
    Conflict,
    Exported,
    Imported,
    MachineCheck,
    PoolChanged,
    SampleState,
)
from calipers.labels.switch import document as of_switch
from calipers.model.document import Block, Column, Document, Lines, Note, Table, of_claim
from calipers.present.escape import printable
from calipers.store.pool import PoolList
from calipers.words import first_results, plural

LONGEST = 64
MOST_PAIRS_OF_JUDGES = 10
NAMED = 5
"""How many questions a note names."""
EXAMPLES = 3
"""How many disagreements are listed."""
STRENGTHS = ((0.8, "well"), (0.6, "fairly well"), (0.4, "in part"))
"""Thresholds of alpha with the words for them; below the last, judges hardly agree."""
WEAKEST = "hardly"


def of_draft(draft: Draft, output: str | None = None) -> Document:
    """What a file to label contains, and what to do with it."""
    if draft.switch is not None:
        return replace(of_switch(draft.switch), rows=lambda: draft.rows)
    sentence = "Nothing is left to label, so nothing is written."
    if draft.rows:
        sentence = (
            f"{plural(len(draft.rows), 'pair')} to label for "
            f"{plural(draft.queries, 'question')}: the {first_results(draft.k)} of "
            f"{plural(draft.runs, 'run')}, each once."
        )
    return Document(sentence, notes=[*_draft_notes(draft, output)], rows=lambda: draft.rows)


def _draft_notes(draft: Draft, output: str | None) -> Iterator[Note]:
    if draft.judged:
        yield Note("missing", f"{plural(draft.judged, 'pair')} judged before left out.")
    if draft.silent:
        named = ", ".join(printable(one, 40) for one in draft.silent[:NAMED])
        silent, more = plural(len(draft.silent), "question"), len(draft.silent) > NAMED
        yield Note("missing", f"{silent} without any result: {named}{', …' if more else ''}.")
    if draft.unknown:
        unknown = plural(draft.unknown, "query", "queries")
        yield Note("missing", f"{unknown} of the runs are not among the questions.")
    if draft.without_text:
        pairs = plural(draft.without_text, "pair")
        yield Note("missing", f"{pairs} without a text to judge; add the texts with --corpus.")
    if draft.rows:
        written = f"Written to {output}." if output else "Write it with write()."
        how = "Fill in 'grade' (0 = does not help) and 'judge', a copy per judge."
        yield Note("doubt", f"{written} {how}")
        yield Note("next", "Then: `calipers labels export FILE… -o truth.jsonl`")


def of_agreement(found: Agreement) -> Document:
    """How far the judges agree, and where they do not."""
    blocks: list[Block] = [_coefficients(found.coefficients)] if found.coefficients else []
    blocks += (_machine_table(one) for one in found.machines)
    if found.conflicts:
        title = f"Judges differ on {len(found.conflicts):,} of {plural(found.shared, 'result')}"
        blocks.append(Lines([*_conflicts(found.conflicts)], title))
    return Document(
        verdict(found),
        blocks=blocks,
        notes=[*_agreement_notes(found)],
        rows=lambda: found.coefficients,
    )


def verdict(found: Agreement) -> str:
    """How well the judges agree, worded by the interval of alpha."""
    if len([one for one in found.judges if one.labelled]) < 2:
        return "One judge alone: there is nobody to agree with."
    seen = f"the same grade on {found.alike:,} of {plural(found.shared, 'shared result')}"
    if not found.shared:
        return "No result was labelled by two judges yet."
    if not found.coefficients:
        return f"Judges gave {seen}; a coefficient needs {LEAST_SHARED}."
    first = found.coefficients[0]
    if first.value is None or first.interval is None:
        return f"Judges gave {seen}; a coefficient cannot be said: {first.why_not or 'too few'}."
    low, high = (_strength(end) for end in (first.interval.low, first.interval.high))
    words = "The judges hardly agree" if low == WEAKEST else f"The judges agree {low}"
    if low != high:
        sure = low != WEAKEST
        words = f"The judges agree at least {low}" if sure else "How far judges agree is not clear"
    ends = f"{first.interval.low:.3f}–{first.interval.high:.3f}"
    return f"{words}: alpha is {first.value:.3f} ({ends}), {seen}.".replace("-", "−")


def _strength(value: float) -> str:
    return next((words for least, words in STRENGTHS if value >= least), WEAKEST)


def _coefficients(coefficients: Sequence[Coefficient]) -> Table:
    everybody, *pairs = coefficients
    left = len(pairs) - MOST_PAIRS_OF_JUDGES
    if left > 0:
        lowest = sorted(pairs, key=lambda one: (one.value is None, one.value or 0.0))
        pairs = lowest[:MOST_PAIRS_OF_JUDGES]
    rows = [(everybody.name, f"all {len(everybody.judges)}", *_values(everybody))]
    for one in pairs:
        judges = " – ".join(printable(name, 30) for name in one.judges)
        rows.append((one.name, judges, *_values(one)))
    names = (Column("measure", words=True), Column("judges", words=True))
    more = f"… and {left:,} pairs of judges that agree more" if left > 0 else ""
    return Table((*names, "value", "interval", "results"), rows, more=more)


def _values(one: Coefficient) -> tuple[str, str, str]:
    value = "none" if one.value is None else f"{one.value:.3f}"
    ends = f"{one.interval.low:.3f} to {one.interval.high:.3f}" if one.interval else ""
    return value.replace("-", "−"), ends.replace("-", "−"), f"{one.n:,}"


def _machine_table(machine: MachineCheck) -> Table:
    """How well a machine's labels match those of human annotators."""
    relevant, others = machine.both + machine.missed, machine.neither + machine.invented
    found = (
        ("relevant", relevant, machine.sensitivity, machine.sensitivity_interval),
        ("not relevant", others, machine.specificity, machine.specificity_interval),
    )
    rows = []
    for words, n, value, ends in found:
        share = "none" if value is None else f"{value:.0%}"
        rows.append((words, f"{n:,}", share, f"{ends.low:.0%}–{ends.high:.0%}" if ends else ""))
    heads = (Column("to people", words=True), "results", "the same to the machine", "interval")
    return Table(heads, rows, title=f"{printable(machine.judge, 40)} against people")


def _conflicts(some: Sequence[Conflict]) -> Iterator[str]:
    for one in some[:EXAMPLES]:
        about = one.item.label
        yield printable(about.query or about.query_id, LONGEST)
        shown = ", ".join(printable(part, 40) for part in (about.item, about.title) if part)
        if about.text is not None:
            shown = f"{shown}: " if shown else ""
            shown += f"“{printable(' '.join(about.text.split()), LONGEST)}”"
        yield f"  {shown}"
        grades = (f"{printable(who, 30)} {grade:g}" for who, grade in one.grades.items())
        yield f"  {', '.join(grades)}. {printable(one.verdict)}"
    if len(some) > EXAMPLES:
        yield f"… and {len(some) - EXAMPLES:,} more in the JSON"


def _agreement_notes(found: Agreement) -> Iterator[Note]:
    if found.left_out:
        yield Note("missing", f"{plural(found.left_out, 'result')} left out as a tie: settle them.")
    judges = [
        f"{printable(one.judge, LONGEST)}: {plural(one.labelled, 'label')}"
        + (f", {one.skipped:,} skipped" if one.skipped else "")
        for one in found.judges
    ]
    if judges:
        yield Note("doubt", f"{'; '.join(judges)}.")
    if found.coefficients:
        yield Note("marks", "1 is full agreement, 0 what chance gives.")
        yield Note("method", "The interval is that of the jackknife over the results.")


def of_sample(found: SampleState) -> Document:
    """The estimate at the last look, its width, and the quality of the machine's labels."""
    blocks = [] if found.machine is None else [_machine_table(found.machine)]
    return of_claim(found.claims[0], *_sample_notes(found), blocks=blocks, rows=lambda: found.looks)


def _sample_notes(found: SampleState) -> Iterator[Note]:
    """How the sample was drawn, and when it may be read."""
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
    """What was written, what was left out, and how far the judges agree."""
    agreed = None if found.agreement is None else of_agreement(found.agreement)
    if agreed is not None and (not found.files or found.form == "every label"):
        return agreed if not found.files else replace(agreed, sentence=_written(found))
    notes = [] if agreed is None else [Note("doubt", agreed.sentence)]
    if found.left_out:
        left = plural(found.left_out, "result")
        words = f"{left} left out as a tie: settle it, or ask one more judge."
        notes.insert(0, Note("missing", words))
    if found.fingerprint is not None:
        notes.append(Note("counted", f"Its fingerprint is {found.fingerprint[:12]}."))
    blocks = [] if agreed is None else agreed.blocks
    return Document(_written(found), blocks=blocks, notes=notes)


def _written(found: Exported) -> str:
    where = ", ".join(map(printable, found.files))
    queries = plural(found.queries, "query", "queries")
    if found.fingerprint is None:
        what = f"{found.targets:,} results to {queries}"
        if found.labels:
            what = f"{plural(found.labels, 'label')} of {what}, each with its judge and time"
        return f"Written to {where}: {what}."
    targets = plural(found.targets, "target")
    return f"Written to {where}: {targets} of {queries}, {found.labels:,} of them labelled here."


def of_import(found: Imported) -> Document:
    """How many labels were read, and how many were there already."""
    more = f", {found.known:,} were there already" if found.known else ""
    empty = f", {found.ungraded:,} rows have no grade" if found.ungraded else ""
    judges = ", ".join(printable(name, 40) for name in found.judges) or "nobody"
    return Document(
        f"{plural(found.added, 'label')} by {judges} added to {printable(found.pool)}{more}{empty}."
    )


def of_pools(found: PoolList) -> Document:
    """The pools, and how much of each is judged."""
    place, pools = printable(found.place), found.pools
    if not pools:
        words = f"There is no pool in {place}; make one with `calipers serve --judge RUN …`."
        return Document(words, rows=lambda: pools)
    models = ["by models"] * any(one.by_machines for one in pools)
    rows = []
    for one in pools:
        judged = f"{one.judged:,} of {one.items:,}"
        counts = (one.queries, one.labels, *[one.by_machines] * len(models))
        dates = one.created[:10], (one.closed or "")[:10]
        rows.append((printable(one.name), judged, *(f"{n:,}" for n in counts), *dates))
    heads = ("judged", "questions", "labels", *models, "made", "closed")
    table = Table((Column("pool", words=True), *heads), rows)
    return Document(f"{plural(len(pools), 'pool')} in {place}.", blocks=[table], rows=lambda: pools)


def of_change(found: PoolChanged) -> Document:
    """That a pool was closed, reopened or deleted."""
    done = {
        "close": "is closed: nothing is judged in it until `labels export --reopen`",
        "reopen": "is open again",
        "delete": f"is deleted with its {plural(found.items, 'result')}; its log is kept",
    }
    return Document(f"The pool {printable(found.pool)} {done[found.change]}.")


def of_desk(desk: PoolSession) -> Document:
    """How many results a pool has to judge."""
    return Document(f"{printable(desk.name)}: {plural(len(desk.items), 'result')} to judge.")
