"""Sealed queries on a terminal: what was set aside, from which slices, and how to ask."""

from rich.console import Console
from rich.text import Text

from calipers.present.escape import printable
from calipers.present.terminal import OpenTable, print_verdict, show_with
from calipers.questions.seal.ledger import per_look
from calipers.questions.seal.rule import Sealed
from calipers.words import plural


def print_sealed(found: Sealed, console: Console) -> None:
    """How many, the slices, and what to do with each file."""
    whole = found.open.queries + found.sealed.queries
    print_verdict(
        f"Sealed {found.sealed.queries:,} of {plural(whole, 'query', 'queries')} "
        f"({found.sealed.queries / whole:.0%}); {found.open.queries:,} stay open.",
        console,
    )
    if found.slices:
        rows = [
            [
                Text(printable(f"{one.tag}={one.value}", 40)),
                Text(f"{one.queries:,}"),
                Text(f"{one.sealed:,}"),
            ]
            for one in found.slices
        ]
        console.print(OpenTable(("slice", "queries", "sealed"), rows))
        console.print()
    for line in lines(found):
        console.print(line, markup=False, soft_wrap=True)


def lines(found: Sealed) -> list[str]:
    """What each file is for."""
    spent = f"{100 * per_look(found.error, found.looks):.2g}%"
    told = [
        f"Tune on {found.files['open']}.",
        f"Then ask: calipers confirm NEW OLD --sealed {found.files['sealed']}",
        f"{plural(found.looks, 'look')} at an error of {spent} each, all written to "
        f"{found.files['ledger']}: keep it.",
    ]
    if found.whole is not None:
        told.append(f"{found.whole} still holds every query: put it away.")
    return [printable(one) for one in told]


show_with(Sealed, print_sealed)
