"""A conversion on a terminal: what was read, what was written, what was left out."""

from rich.console import Console
from rich.text import Text

from calipers.present.escape import printable
from calipers.present.terminal import show_with
from calipers.questions.convert.rule import Conversion

SHOWN = {"targets": "target", "results": "result"}


def lines(conversion: Conversion) -> list[str]:
    """The sentences, safe to print."""
    held = [
        f"{count:,} {name if count == 1 else name + 's'}"
        for facet, name in SHOWN.items()
        if (count := conversion.counts.get(facet))
    ]
    source = f" from {' and '.join(conversion.read)}" if conversion.read else ""
    first = f"Wrote {', '.join(conversion.files)} ({conversion.form}){source}"
    said = [f"{first}: {', '.join(held) or 'no targets and no results'} read."]
    return [printable(line) for line in (*said, *conversion.sentences)]


def print_conversion(conversion: Conversion, console: Console) -> None:
    """The first line plain, the remarks under it."""
    first, *rest = lines(conversion)
    console.print(Text(first))
    for line in rest:
        console.print(Text(line, style="dim"))


show_with(Conversion, print_conversion)
