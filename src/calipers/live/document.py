"""Documents about a retrieval, and about a language model's labels and questions."""

from collections.abc import Iterator

from calipers.live.result import (
    LiveRun,
    MachineLabels,
    RetrievalReport,
    UnderstoodAnswer,
)
from calipers.model.document import Column, Document, Note, NoteKind, Table
from calipers.model.fact import Fact, named, sentence
from calipers.present.escape import printable
from calipers.words import plural

QUANTILES = ("p50", "p95", "p99", "max")


def of_run(live_run: LiveRun, then: str | None = None) -> Document:
    """Show the counts, the latencies and the errors; ``then`` is what to do next."""
    report = live_run.report
    written = (
        [Note("input", f"Written to {printable(report.output)}.")]
        if report.output
        else []
    )
    return Document(
        _asked(report),
        blocks=[_latency(report)] if report.latency_ms["count"] else [],
        notes=[*_notes(report), *written, *([Note("next", then)] if then else [])],
        rows=lambda: live_run.frame,
    )


def _asked(report: RetrievalReport) -> str:
    before = report.questions - report.asked - report.cached
    line = f"{report.answered:,} of {plural(report.questions, 'question')} answered"
    if report.asked and report.per_second is not None:
        line += (
            f"; {report.asked:,} asked in {report.seconds:.1f} s "
            f"({report.per_second:,.1f} per second)"
        )
    if report.cached:
        line += f", {report.cached:,} from the cache"
    if before > 0:
        line += f", {before:,} finished before"
    return line + "."


def _latency(report: RetrievalReport) -> Table:
    latency = report.latency_ms
    return Table(
        (Column("latency", words=True), *QUANTILES),
        [
            (
                plural(int(latency["count"] or 0), "call"),
                *(duration(latency[p]) for p in QUANTILES),
            )
        ],
    )


def _notes(report: RetrievalReport) -> Iterator[Note]:
    """Notes on errors and anything unusual."""
    if report.failed:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in report.errors.items())
        yield Note(
            "failed",
            f"{plural(report.failed, 'question')} failed ({printable(kinds)}); ask again "
            "with --retry-errors. The first error: "
            f"{printable(report.first_error or '', 400)}",
        )
    remarks: tuple[tuple[int, NoteKind, str], ...] = (
        (report.empty, "missing", "without any result."),
        (report.short, "missing", f"with fewer than {report.k:,} results."),
        (
            report.unsorted,
            "input",
            "whose scores neither fall nor rise: the list's order counts.",
        ),
    )
    for n, kind, what in remarks:
        if n:
            yield Note(kind, f"{plural(n, 'answer')} {what}")
    if report.remark:
        yield Note("input", report.remark)
    if report.earlier:
        yield Note("input", printable(report.earlier, 400))


def understood_lines(answer: UnderstoodAnswer) -> list[str]:
    """How the answer to one question is read, in one line, and a second for a remark."""
    results = plural(answer.results, "result")
    line = f"{answer.retriever} answered {answer.text!r:.60} with {results}"
    if answer.first is None:
        line += ": is its index filled, and does it return a list?"
    else:
        fields = ", ".join(
            f"{name} {value!r:.50}" for name, value in answer.first.items()
        )
        line += f" in {duration(answer.latency_ms)}; the first has {fields}"
        line += "; its scores neither fall nor rise" if answer.unsorted else ""
        line += (
            "".join(f"; stage {name} has {n}" for name, n in answer.stages.items()) + "."
        )
    remarks = [] if answer.remark is None else [answer.remark]
    return [printable(line), *remarks]


def duration(milliseconds: float | None) -> str:
    """Format a latency; a short one gets two digits.

    >>> duration(0.0861), duration(250.4), duration(12_340), duration(None)
    ('0.086 ms', '250 ms', '12.3 s', '–')
    """
    if milliseconds is None:
        return "–"
    if milliseconds >= 10_000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 100 else f"{milliseconds:.2g} ms"


def of_grades(machine_labels: MachineLabels, output: str | None = None) -> Document:
    """Show how many rows were graded, how, and what to do next."""
    grades = machine_labels.grades
    return Document(
        sentence(
            "{it.count} of {it.of:row|rows} graded by {judge.text}; {prompts.text}.",
            it=Fact(
                about="count",
                count=machine_labels.labelled,
                of=len(machine_labels.rows),
                text="graded",
            ),
            judge=named(printable(machine_labels.judge)),
            prompts=named(_prompts(machine_labels.report)),
        ),
        blocks=[
            Table(("grade", "rows"), [(grade, f"{n:,}") for grade, n in grades.items()])
        ],
        notes=_of_model(
            machine_labels.report,
            f"{plural(machine_labels.without_text, 'row')} without a text, not sent.",
            machine_labels.without_text,
            output,
            "Grade some rows yourself and compare: `calipers labels export yours.csv "
            f"{output or 'machine.jsonl'}`",
        ),
        rows=lambda: machine_labels.rows,
    )


def _of_model(
    report: RetrievalReport, missing: str, n: int, output: str | None, then: str
) -> list[Note]:
    """Notes on unusable replies, the ``n`` not sent, the output file, and what to do next."""
    notes = [Note("missing", missing)] if n else []
    if report.failed:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in report.errors.items())
        first = printable(report.first_error or "", 400)
        text = (
            f"{report.failed:,} got no usable answer ({printable(kinds)}). The first: "
            f"{first}"
        )
        notes.insert(0, Note("failed", text))
    written = (
        f"Written to {output}."
        if output
        else "Keep them with -o, in Python with write()."
    )
    return [*notes, Note("input", written), Note("next", then)]


def _prompts(report: RetrievalReport) -> str:
    line = f"{plural(report.asked, 'prompt')} asked"
    if report.asked:
        line += f" in {report.seconds:.1f} s"
    return f"{line}, {report.cached:,} from the cache" if report.cached else line
