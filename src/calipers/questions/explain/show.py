"""One question on a terminal: what became of its targets, then what came back."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from calipers.present.escape import printable
from calipers.present.notes import print_notes, where_read
from calipers.present.terminal import open_table, show_with
from calipers.questions.explain.rule import Explanation
from calipers.words import first_results, plural

SHOWN = 60


def verdict(found: Explanation) -> str:
    """What happened, in a line."""
    took = "" if found.latency_ms is None else f" ({found.latency_ms:.0f} ms)"
    if not found.results:
        return f"{printable(found.retriever)} returned nothing{took}."
    if not found.targets:
        what = "no answer exists" if found.id is not None else "nobody said what should be found"
        return f"{plural(len(found.results), 'result')}{took}; {what}."
    at = ", ".join(str(one.rank) for one in found.targets if one.found)
    where = f" (rank {at})" if at else ""
    return (
        f"{found.found} of {plural(found.sought, 'target')} "
        f"{'is' if found.found == 1 else 'are'} in the {first_results(found.k)}{where}."
    )


def print_explanation(found: Explanation, console: Console, *, explain: bool = False) -> None:
    """The verdict, the targets with their ranks or reasons, and the results."""
    console.print(Text(verdict(found), style="bold"))
    if found.targets:
        console.print()
        console.print(_targets(found, console))
    if found.results:
        console.print()
        console.print(_results(found))
    print_notes([printable(line) for line in found.notes], console, explain=explain)


def _targets(found: Explanation, console: Console) -> Table:
    table = open_table()
    table.add_column("target", overflow="ellipsis", no_wrap=True, max_width=SHOWN)
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("why it is missing", overflow="fold", ratio=1)
    table.add_column("what to do", overflow="fold", ratio=1, style="dim")
    for one in found.targets:
        rank = "" if one.rank is None else str(one.rank)
        why = one.means or ("" if one.found else "an alternative was found")
        remedy = where_read(one.remedy, console)
        table.add_row(Text(printable(one.name, SHOWN)), rank, why, remedy)
    return table


def _results(found: Explanation) -> Table:
    table = open_table()
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("id", overflow="ellipsis", no_wrap=True, max_width=30)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("text", overflow="ellipsis", no_wrap=True, ratio=1)
    for one in found.results:
        table.add_row(
            str(one.rank),
            "✓" if one.target else "",
            Text("" if one.id is None else printable(one.id, SHOWN)),
            "" if one.score is None else f"{one.score:.3f}",
            Text("" if one.text is None else printable(" ".join(one.text.split()))),
        )
    return table


show_with(Explanation, print_explanation, rows=lambda found: found.table)
