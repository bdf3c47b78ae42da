"""A diagnosis as a document: what is wrong, the cures that matter, and where targets were lost."""

from collections.abc import Sequence

from calipers.model.document import (
    Block,
    Cell,
    Cells,
    Column,
    Document,
    Heads,
    Lines,
    Note,
    Table,
    note_of,
)
from calipers.model.fact import Fact, Sentence, replaced, sentence
from calipers.model.recorded import Recorded
from calipers.questions.diagnose.result import (
    NEARLY,
    CuredValue,
    Diagnosis,
    Leak,
    TriedCure,
    leak_fact,
    percent_of,
    share_bounds,
)
from calipers.words import first_results, number

MOST_LEAKS = 4
"""Reasons that the line of the leak names; the others are summed up."""


def document(diagnosis: Diagnosis) -> Document:
    """The first line, the cures that matter, the leak, and the next command."""
    blocks: list[Block] = []
    if diagnosis.cures:
        blocks.append(_table(diagnosis.cures))
    blocks.append(Lines([leak_line(diagnosis.leak)], prose=True))
    if diagnosis.gap:
        blocks.append(Lines([diagnosis.gap], prose=True))
    blocks.append(_tried(diagnosis.tried))
    # What the table says of ids is not said twice.
    by_ids = any(cure.name == "ids" for cure in diagnosis.cures)
    may_be_two = any(leak.means == NEARLY.means for leak in diagnosis.leak)
    notes = [
        note_of(_without_advice(line) if may_be_two else line)
        for line in Recorded(diagnosis.settings).notes
        if not (by_ids and "called nearly so" in line)
    ]
    if diagnosis.queries > diagnosis.n:
        without = Fact(
            about="left out", count=diagnosis.queries - diagnosis.n, of=diagnosis.queries
        )
        template = "{it.count:query is|queries are} left out of recall: nothing relevant is known."
        notes.append(Note("left out", sentence(template, it=without)))
    notes.append(Note("counted", _counted(diagnosis)))
    if diagnosis.next is not None:
        notes.append(Note("next", diagnosis.next))
    return Document(
        diagnosis.sentence, blocks=blocks, notes=notes, rows=lambda: diagnosis.cures
    )


def _without_advice(line: str) -> str:
    """A note on ids that nearly meet without how to make them one; any other as it is."""
    head, advice, _ = line.partition(" They differ in ")
    return replaced(line, head) if advice and "called nearly so" in head else line


def _table(cures: Sequence[TriedCure]) -> Table:
    """One row for each cure: the deciding metrics, and how it is done."""
    names = [value.metric.partition("@")[0] for value in cures[0].values]
    cut = cures[0].values[0].metric.partition("@")[2]
    same = all(
        value.metric.endswith(f"@{cut}") for cure in cures for value in cure.values
    )
    heads = [f"{name}@{cut}" if same and cut else name for name in names]
    rows: list[Cells] = [
        (cure.title, *map(_value, cure.values), _how(cure)) for cure in cures
    ]
    columns: Heads = (Column("cure", words=True), *heads, Column("how", words=True))
    return Table(columns, rows)


def _value(value: CuredValue) -> Cell:
    """The mean after the cure, and what it gains."""
    gain = (
        f"{value.gain:+.3f}".replace("-", "−") if abs(value.gain) >= 0.0005 else "0.000"
    )
    standing = value.standing if value.standing in ("better", "worse") else None
    return Cell(f"{number(value.after)}  {gain}", standing)


def _how(cure: TriedCure) -> str:
    """The option that applies it, or what to do."""
    if cure.option is not None and cure.name in ("larger_k", "smaller_k"):
        return f"{cure.option}: {cure.advice}"
    if cure.option is not None:
        return cure.option if cure.kind == "would be" else f"at most, {cure.option}"
    return cure.advice if cure.kind == "would be" else f"at most, {cure.advice}"


def leak_line(leaks: Sequence[Leak]) -> Sentence:
    """Where every target is; each share is rounded by itself."""
    total = sum(leak.targets for leak in leaks)
    rest = sum(leak.targets for leak in leaks[MOST_LEAKS + 1 :])
    named = [leak for leak in leaks[: MOST_LEAKS + 1] if leak.targets]
    found = [] if named and named[0] is leaks[0] else [leaks[0]]
    listed = [*found, *named]
    if rest:
        other = Leak("other", "for other reasons", rest, rest / total)
        listed.append(other)
    shares = [percent_of(leak.targets, total) if total else "100%" for leak in listed]
    means = ["found", *(leak.means for leak in listed[1:])]
    words = (f"{share} {what}" for share, what in zip(shares, means, strict=True))
    text = f"Of what it should find: {', '.join(words)}."
    facts = [leak_fact(leak, total) for leak in [*leaks, *(listed[-1:] if rest else [])]]
    return Sentence(text, [*facts, *share_bounds(shares)])


def _tried(tried: Sequence[TriedCure]) -> Table:
    """Every cure that was tried, for ``--explain``."""
    rows: list[Cells] = [
        (cure.title, *map(_value, cure.values), cure.kind) for cure in tried
    ]
    columns = (Column("tried", words=True), "recall", "ndcg", Column("", words=True))
    return Table(
        columns, rows, "What was tried on the run as it was recorded", detail=True
    )


def _counted(diagnosis: Diagnosis) -> Sentence:
    """The main metrics as they are."""
    known = [
        Fact(
            about="mean",
            metric=summary.metric,
            value=summary.mean,
            queries=summary.n,
            k=diagnosis.k,
        )
        for summary in diagnosis.summaries
        if summary.mean is not None and not summary.metric.startswith("judged")
    ]
    means = ", ".join(f"{fact.metric} {number(fact.value or 0.0)}" for fact in known)
    queries = Fact(about="count", count=diagnosis.n, k=diagnosis.k, text="queries")
    first = "all results" if diagnosis.is_far else first_results(diagnosis.k)
    text = f"{diagnosis.n:,} queries, {first}: {means}."
    return Sentence(text, [queries, *known])
