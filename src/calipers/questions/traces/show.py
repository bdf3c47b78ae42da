"""What was taken from traces, in a few lines."""

from rich.console import Console
from rich.text import Text

from calipers.present.escape import printable
from calipers.present.terminal import show_with
from calipers.questions.traces.rule import TracedQuestions

SHOWN = 5


def lines(found: TracedQuestions) -> list[str]:
    """How many questions of how many askings, and what was done to them."""
    doubtful = sum(one.disagreement > 0 for one in found.questions)
    said = [
        f"{len(found.questions):,} of {found.unique:,} different questions, from {found.traces:,} "
        f"askings; for {doubtful:,} of them the results differed from one asking to the next."
    ]
    if found.masked:
        said.append(f"Masked in {found.masked:,} places.")
    return said


def print_traces(found: TracedQuestions, console: Console, *, explain: bool = False) -> None:
    """The counts, and a few of the questions."""
    shown = len(found.questions) if explain else SHOWN
    for line in lines(found):
        console.print(Text(line))
    console.print()
    for one in found.questions[:shown]:
        about = f"asked {one.asked}×" if one.asked > 1 else "asked once"
        differing = f", results differ by {one.disagreement:.0%}" if one.disagreement else ""
        console.print(Text(f"  {printable(one.query, 90)}  ({about}{differing})"))
    if len(found.questions) > shown:
        console.print(Text(f"  … and {len(found.questions) - shown:,} more", style="dim"))


show_with(TracedQuestions, print_traces, rows=lambda found: found.questions)
