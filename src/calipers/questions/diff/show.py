"""What changed between two runs: on a terminal and as a page."""

from os import PathLike
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.io.files.write import whole_file
from calipers.present.escape import printable
from calipers.present.notes import MoreWith, Note, print_notes
from calipers.present.terminal import open_table, print_verdict, show_with
from calipers.questions.diff.result import Diff, Moved, QueryDiff
from calipers.words import first_results, number, plural

LONGEST = 70
MOST_MOVED = 3
ON_PAGE = 1_000
"""Queries on a page: more would make it slow to open, and nobody reads them."""
NAMES = {"rbo": "rank-biased overlap", "overlap": "overlap@{k}", "tau": "Kendall's tau"}


def verdict(diff: Diff) -> str:
    """The answer in one line."""
    total = len(diff.queries)
    if not diff.changed:
        return f"Nothing changed in the {first_results(diff.k)} of {_queries(total)}."
    new = diff.queries.moved("new")
    lost = diff.queries.moved("lost")
    what = f"{plural(new, 'new result')}, {lost:,} lost"
    if not new and not lost:
        what = "the same results in another order"
    return f"{diff.changed:,} of {_queries(total)} changed in the {first_results(diff.k)}: {what}."


def print_diff(diff: Diff, console: Console, *, examples: int = 5, explain: bool = False) -> None:
    """The answer, the means, slices, and the most changed queries; with ``explain`` all of them."""
    print_verdict(verdict(diff), console)
    means = _named_means(diff)
    console.print(Text("; ".join(f"{name} {_shown(value)}" for name, value in means) + "."))
    if diff.slices:
        console.print()
        console.print(_slices(diff))
    changed = diff.queries.changed()
    worst = list(changed if explain else changed[:examples])
    if worst:
        console.print()
        console.print(_most_changed(diff, worst, None if explain else MOST_MOVED))
    if worst and (rest := len(changed) - len(worst)):
        console.print(MoreWith(f"… and {rest:,} more"))
    print_notes(notes(diff), console, explain=explain)


def notes(diff: Diff) -> list[Note]:
    """What was not compared, what is judged already, and what the measures mean."""
    said = [
        Note("missing", f"{_queries(len(some))} {text}: not compared.")
        for text, some in (
            ("only in the old run", diff.only_old),
            ("only in the new", diff.only_new),
        )
        if some
    ]
    if diff.already_judged:
        left = plural(diff.already_judged, "new result")
        said.append(Note("counted", f"{left} judged already by the ground truth."))
    return [
        *(Note("input", printable(one)) for one in diff.notes),
        *said,
        Note(
            "marks",
            "1 means that nothing changed. Rank-biased overlap counts the top of both lists most, "
            "overlap@k the results that both have, Kendall's tau their order.",
        ),
    ]


def save_diff(diff: Diff, path: str | PathLike[str]) -> None:
    """Write the page, whole or not at all."""
    from calipers.questions.report.page.page import fill

    changed = diff.queries.changed()
    view: dict[str, Any] = {
        "diff": diff,
        "verdict": verdict(diff),
        "means": _named_means(diff),
        "listed": changed[:ON_PAGE],
        "left_out": max(0, len(changed) - ON_PAGE),
    }
    with whole_file(Path(path)) as file:
        file.write(fill("diff.html.j2", view).encode())


def _named_means(diff: Diff) -> list[tuple[str, float | None]]:
    return [(text.format(k=diff.k), diff.mean(name)) for name, text in NAMES.items()]


def _queries(n: int) -> str:
    return plural(n, "query", "queries")


def _shown(value: float | None) -> str:
    return "–" if value is None else number(value).replace("-", "−")


def _slices(diff: Diff) -> Table:
    table = open_table("slice", numbers=("queries", "changed", "rbo", f"overlap@{diff.k}"))
    for one in diff.slices:
        table.add_row(
            Text(f"{printable(one.by, 20)}={printable(one.value, 40)}"),
            f"{one.queries:,}",
            f"{one.changed:,}",
            number(one.rbo),
            number(one.overlap),
        )
    return table


def _most_changed(diff: Diff, worst: list[QueryDiff], most: int | None) -> Table:
    table = open_table(numbers=("rbo", f"overlap@{diff.k}"))
    table.add_column("the most changed", overflow="fold")
    for one in worst:
        lines = [printable(one.text or one.query, LONGEST)]
        for what, some in (("new", one.new), ("lost", one.lost)):
            if some:
                lines.append(f"{what}: {_moved(some, most)}")
        table.add_row(number(one.rbo), number(one.overlap), Text("\n".join(lines)))
    return table


def _moved(some: tuple[Moved, ...], most: int | None) -> str:
    shown = ", ".join(f"{printable(one.item, 40)} (rank {one.rank})" for one in some[:most])
    return shown + (f" and {len(some) - most} more" if most and len(some) > most else "")


show_with(Diff, print_diff, rows=lambda found: found.queries)
