"""What became of quotes, on a terminal."""

from collections.abc import Iterator

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from calipers.present.escape import printable
from calipers.present.notes import MoreWith, Note, is_python, print_notes
from calipers.present.terminal import print_verdict, show_with
from calipers.questions.resolve.rule import MOST_PLACES, Located, Resolution
from calipers.words import plural

SHOWN = 3
QUOTED = 70


def print_resolution(
    resolution: Resolution, console: Console, *, written: str | None = None, explain: bool = False
) -> None:
    """The counts, and examples of what was not found once, or all of it."""
    shown = None if explain else SHOWN
    counts, total = resolution.counts, len(resolution.quotes)
    print_verdict(verdict(resolution), console)
    if not total:
        _print_written(console, written)
        print_notes(resolution.notes, console, explain=explain)
        return
    fate = "the first place was taken" if resolution.first else "left as they are"
    for outcome, words in (
        ("once", "found once: document, start and end are known"),
        ("several", f"found in several places: {fate}"),
        ("none", "not found: left as they are"),
    ):
        console.print(Text(f"{counts[outcome]:>6,} of {total:,} quotes {words}"))
    for outcome, title in (("several", "Found in several places"), ("none", "Not found")):
        some = [one for one in resolution.quotes if one.outcome == outcome]
        if some:
            console.print()
            console.print(Text(f"{title}:", style="bold"))
            for one in some[:shown]:
                console.print(Padding(Text(_line(one)), (0, 0, 0, 2)))
            if shown and len(some) > shown:
                console.print(MoreWith(f"  … and {len(some) - shown:,} more"))
    console.print()
    _print_written(console, written)
    said = (Note("missing", line) for line in _advice(resolution))
    print_notes([*said, *resolution.notes], console, explain=explain)


def _advice(resolution: Resolution) -> Iterator[str]:
    """What to do about the quotes that have no place."""
    if resolution.counts["several"] and not resolution.first:
        yield "Quote more of the passage, add its document, or take the first place (--first)."
    lost = [one for one in resolution.quotes if one.outcome == "none"]
    unknown = [one for one in lost if one.unknown_document]
    if unknown:
        named = sorted({str(one.wanted.document) for one in unknown})
        shown = ", ".join(printable(name, QUOTED) for name in named[:SHOWN])
        yield (
            f"{plural(len(unknown), 'quote')} not found: the corpus does not have the document "
            f"({shown}{', …' if len(named) > SHOWN else ''}). Name documents as the corpus does, "
            "or leave them out."
        )
    if len(lost) > len(unknown):
        yield "Check those not found against the documents; spelling and punctuation count."


def _print_written(console: Console, written: str | None) -> None:
    how = "write()" if is_python(console) else "a second file, OUT,"
    said = f"Written to {written}." if written else f"Nothing was written; {how} writes it."
    console.print(Text(said))


def verdict(resolution: Resolution) -> str:
    """How many of the quotes have a place now."""
    once, total = resolution.counts["once"], len(resolution.quotes)
    if not total:
        return "No quote is open: each has its place, or there is none."
    if once == total:
        return f"{plural(total, 'quote')}, found once each in the documents."
    return (
        f"{once:,} of {plural(total, 'quote')} stand once in the documents; the others need a look."
    )


def _line(one: Located) -> str:
    quote = printable(one.wanted.quote, QUOTED)
    line = f"· query {printable(one.wanted.query, QUOTED)}: “{quote}”"
    if one.wanted.document is not None:
        line += f" in {printable(one.wanted.document, QUOTED)}"
    if one.places:
        shown = ", ".join(
            f"{printable(place.document, QUOTED)} {place.start}–{place.end}"
            for place in one.places[:3]
        )
        more = len(one.places) - 3
        least = "at least " if len(one.places) >= MOST_PLACES else ""
        line += f": {least}{plural(len(one.places), 'place')}, {shown}{', …' if more > 0 else ''}"
    elif one.elsewhere:
        line += f" (it stands in {printable(one.elsewhere[0].document, QUOTED)})"
    return line


show_with(Resolution, print_resolution, rows=lambda found: found.quotes)
