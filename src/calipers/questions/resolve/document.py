"""Quotes and their places, as a document."""

from collections.abc import Iterator

from calipers.model.document import Column, Document, Lines, Note, Table
from calipers.present.escape import printable
from calipers.questions.resolve.rule import MOST_PLACES, Located, Resolution
from calipers.words import plural

SHOWN = 3
QUOTED = 70


def document(resolution: Resolution) -> Document:
    """How many quotes have a place now, and which were found several times or not at all."""
    counts = resolution.counts
    fate = "the first place was taken" if resolution.first else "left as they are"
    words = {
        "once": "found once: document, start and end are known",
        "several": f"found in several places: {fate}",
        "none": "not found: left as they are",
    }
    rows = [(f"{counts[outcome]:,}", said) for outcome, said in words.items()]
    return Document(
        verdict(resolution),
        blocks=[
            *([Table(("quotes", Column("", words=True)), rows)] if resolution.quotes else []),
            *_examples(resolution),
        ],
        notes=[*(Note("missing", one) for one in _advice(resolution)), *resolution.notes],
        rows=lambda: resolution.quotes,
    )


def _examples(resolution: Resolution) -> Iterator[Lines]:
    for outcome, title in (("several", "Found in several places"), ("none", "Not found")):
        lines = [_line(one) for one in resolution.quotes if one.outcome == outcome]
        if lines:
            yield Lines(lines[:SHOWN], title)
        if len(lines) > SHOWN:
            yield Lines(lines[SHOWN:], f"{title}: the others", detail=True)


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
