"""How a retrieval went, and what a language model made, in plain words."""

from calipers.live.result import (
    SHORTEST_CHUNK,
    LiveRun,
    MachineLabels,
    RetrievalReport,
    WrittenQuestions,
)
from calipers.present.escape import printable
from calipers.present.terminal import show_lines
from calipers.words import plural


def report_lines(report: RetrievalReport) -> list[str]:
    """The report as short lines: what was asked, how long it took, what went wrong."""
    lines = [_asked(report)]
    latency = report.latency_ms
    if latency["count"]:
        line = ", ".join(f"{p} {duration(latency[p])}" for p in ("p50", "p95", "p99", "max"))
        if latency["warm_up_count"]:
            first = plural(int(latency["warm_up_count"]), "call")
            line += f" (without the first {first}: mean {duration(latency['warm_up_mean'])})"
        lines.append(f"Latency: {line}.")
    if report.failed:
        kinds = ", ".join(f"{n} {kind}" for kind, n in report.errors.items())
        lines.append(f"{plural(report.failed, 'question')} failed: {printable(kinds)}.")
        lines.append(f"The first error: {printable(report.first_error or '', 400)}")
    if report.empty:
        lines.append(f"{plural(report.empty, 'answer')} without any result.")
    if report.short:
        lines.append(f"{plural(report.short, 'answer')} with fewer than {report.k:,} results.")
    if report.cut:
        lines.append(
            f"{plural(report.cut, 'answer')} with more than {report.k} results: cut off there."
        )
    if report.unsorted:
        lines.append(
            f"{plural(report.unsorted, 'answer')} with scores that neither fall nor rise: the "
            "order of the list counts."
        )
    if report.earlier:
        lines.append(printable(report.earlier, 400))
    return lines


def _asked(report: RetrievalReport) -> str:
    before = report.questions - report.asked - report.cached
    line = f"{plural(report.answered, 'question')} of {report.questions:,} answered"
    if report.asked and report.per_second is not None:
        line += (
            f"; {report.asked:,} asked in {report.seconds:.1f} s ({report.per_second:,.1f} per "
            "second)"
        )
    if report.cached:
        line += f", {report.cached:,} from the cache"
    if before > 0:
        line += f", {before:,} finished before"
    return line + "."


def duration(milliseconds: float | None) -> str:
    """A latency as it is shown, with two digits where it is short.

    >>> duration(0.0861), duration(250.4), duration(12_340), duration(None)
    ('0.086 ms', '250 ms', '12.3 s', '–')
    """
    if milliseconds is None:
        return "–"
    if milliseconds >= 10_000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 100 else f"{milliseconds:.2g} ms"


def judged_lines(found: MachineLabels, output: str | None = None) -> list[str]:
    """How many rows were graded, how, and what to do next."""
    counts = found.to_dict()["grades"]
    shown = ", ".join(f"{count:,} × {grade}" for grade, count in counts.items())
    lines = [
        f"{found.labelled:,} of {plural(len(found.rows), 'row')} graded by "
        f"{printable(found.judge)}: {shown}.",
        *_prompts_asked(found.report),
    ]
    if found.without_text:
        lines.append(f"{plural(found.without_text, 'row')} without a text, not sent.")
    lines.append(
        f"{_written(output)} Grade some rows yourself and compare the machine with them: "
        f"calipers labels agreement yours.csv {output or 'machine.jsonl'}"
    )
    return lines


def question_lines(found: WrittenQuestions, output: str | None = None) -> list[str]:
    """How many questions were written and rejected, and what to do next."""
    lines = [
        f"{plural(len(found.records), 'question')} by {printable(found.source)} from "
        f"{plural(found.chunks, 'chunk')}.",
        *_prompts_asked(found.report),
    ]
    lines += [f"{count:,} rejected: {reason}." for reason, count in found.rejected.items()]
    if found.too_short:
        lines.append(
            f"{plural(found.too_short, 'chunk')} with fewer than {SHORTEST_CHUNK} characters not "
            "drawn from."
        )
    lines.append(
        f"{_written(output)} Read every question before you use it; then: calipers audit "
        f"{output or 'questions.jsonl'}"
    )
    return lines


def _written(output: str | None) -> str:
    return f"Written to {output}." if output else "Write them with write()."


def _prompts_asked(report: RetrievalReport) -> list[str]:
    line = f"{plural(report.asked, 'prompt')} asked"
    if report.asked:
        line += f" in {report.seconds:.1f} s"
    if report.cached:
        line += f", {report.cached:,} from the cache"
    lines = [f"{line}."]
    if report.failed:
        kinds = ", ".join(f"{n:,} {kind}" for kind, n in report.errors.items())
        lines.append(f"{report.failed:,} got no usable answer: {printable(kinds)}.")
        lines.append(f"The first: {printable(report.first_error or '', 400)}")
    return lines


show_lines(LiveRun, lambda found: report_lines(found.report), rows=lambda found: found.frame)
show_lines(MachineLabels, judged_lines, rows=lambda found: found.rows)
show_lines(WrittenQuestions, question_lines, rows=lambda found: found.records)
