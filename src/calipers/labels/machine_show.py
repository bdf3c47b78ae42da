"""What a language model made, in plain words."""

from calipers.live.result import RetrievalReport
from calipers.model.machine import SHORTEST_CHUNK, MachineLabels, WrittenQuestions
from calipers.present.escape import printable
from calipers.words import plural


def judged_lines(found: MachineLabels, output: str) -> list[str]:
    """How many rows were graded, how, and what to do next."""
    counts = found.to_dict()["grades"]
    shown = ", ".join(f"{count:,} × {grade}" for grade, count in counts.items())
    lines = [
        f"{found.labelled:,} of {plural(len(found.rows), 'row')} graded by "
        f"{printable(found.judge)}: {shown}.",
        *_asked(found.report),
    ]
    if found.without_text:
        lines.append(f"{plural(found.without_text, 'row')} without a text, not sent.")
    lines.append(
        f"Written to {output}. Grade some rows yourself and compare the machine with them: "
        f"calipers agreement yours.csv {output}"
    )
    return lines


def question_lines(found: WrittenQuestions, output: str) -> list[str]:
    """How many questions were written and rejected, and what to do next."""
    lines = [
        f"{plural(len(found.records), 'question')} by {printable(found.source)} from "
        f"{plural(found.chunks, 'chunk')}.",
        *_asked(found.report),
    ]
    lines += [f"{count:,} rejected: {reason}." for reason, count in found.rejected.items()]
    if found.too_short:
        lines.append(
            f"{plural(found.too_short, 'chunk')} with fewer than {SHORTEST_CHUNK} characters not "
            "drawn from."
        )
    lines.append(
        f"Written to {output}. Read every question before you use it; then: calipers audit {output}"
    )
    return lines


def _asked(report: RetrievalReport) -> list[str]:
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
