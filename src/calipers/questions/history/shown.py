"""A saved evaluation on a terminal."""

from rich.console import Console

from calipers.model.evaluation import Evaluation
from calipers.present.answer import print_notes, print_verdict
from calipers.present.escape import printable
from calipers.present.printers import show_with
from calipers.questions.evaluate.notes import notes as notes_of
from calipers.questions.evaluate.show import print_score_table, verdict
from calipers.questions.history.result import Shown
from calipers.questions.history.show import tags_shown


def print_shown(
    shown: Shown, console: Console, *, notes: bool = True, explain: bool = False
) -> None:
    """A saved evaluation: what it found, its scores as they were then, and what it is."""
    print_verdict(verdict(shown.scores), console)
    print_score_table(shown.scores, console)
    said = notes_of(shown.scores) if notes else []
    print_notes([*about(shown.evaluation), *said], console, explain=explain)


def about(one: Evaluation) -> list[str]:
    """What is known of an evaluation, in a line or two."""
    where = ""
    if one.commit:
        branch = f" ({printable(one.branch, 40)})" if one.branch else ""
        changed = ", with changes that were not committed" if one.dirty else ""
        where = f" on commit {one.commit[:10]}{branch}{changed}"
    lines = [f"{printable(one.name)} ({one.id}), saved {one.saved:%Y-%m-%d %H:%M:%S} UTC{where}."]
    if one.tags:
        lines.append(f"Tags: {tags_shown(one)}.")
    return lines


show_with(Shown, print_shown)
