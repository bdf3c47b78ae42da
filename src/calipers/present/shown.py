"""A saved evaluation on a terminal."""

from rich.console import Console
from rich.text import Text

from calipers.model.evaluation import Evaluation
from calipers.model.history import Shown
from calipers.present.history import tags_shown
from calipers.present.plain import printable
from calipers.present.terminal import print_scores


def print_shown(shown: Shown, console: Console, *, notes: bool = True) -> None:
    """A saved evaluation: what it is, and its scores as they were printed then."""
    for line in about(shown.evaluation):
        console.print(Text(line))
    console.print()
    print_scores(shown.scores, console, notes=notes)


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
