"""The answer as a document: the number, a table by source, and how far to trust it."""

from pathlib import Path

from calipers.model.document import Block, Column, Document, Lines, Note, Table
from calipers.present.escape import printable
from calipers.questions.begin.result import DEPTH, QUESTIONS, FirstQuestions, LeftOut
from calipers.shell import join_words
from calipers.words import plural


def document(found: FirstQuestions) -> Document:
    """What word matching finds, by source, with the audit and what to do next."""
    count = plural(found.questions, "question")
    ends = ""
    if found.interval is not None:
        low, high = found.interval.low, found.interval.high
        ends = f" ({low:.0%}–{high:.0%})".replace("%–", "–")
    heads = (Column("source", words=True), "questions", "documents", f"in first {DEPTH}")
    rows = [
        (
            *(one.source, f"{one.questions:,}", f"{one.documents:,}"),
            *(f"{one.in_first:.3f}", f"{one.at_top:.3f}"),
        )
        for one in found.sources
    ]
    details = {
        "Files that were passed over, or read with a guess": map(_left_out, found.passed_over),
        "Questions that were dropped": map(_left_out, found.dropped),
    }
    listed = ((title, list(lines)) for title, lines in details.items())
    blocks: list[Block] = [Table((*heads, "at rank 1"), rows)]
    blocks += [Lines(lines, title=title, detail=True) for title, lines in listed if lines]
    audit, file = found.audit, found.written[0] if found.written else QUESTIONS
    can = "nothing" if (audit["detects"] or 1) >= 1 else f"differences of {audit['detects']:.2g}"
    labels = join_words(["calipers", "labels", "sample", file])
    wrote = f"Wrote {', '.join(map(printable, found.written))}. " if found.written else ""
    there = Path(file).parent
    place = "Next" if there == Path() else f"Next, in {printable(str(there))}"
    after = join_words(["calipers", "eval", "--retriever", "search.py:search"])
    return Document(
        f"Word matching finds {found.recall:.0%} of the targets of {count} in the first {DEPTH} "
        f"results{ends}.",
        blocks=blocks,
        notes=[
            Note(
                "input",
                f"Audit: copies of their passage {audit['copied']:,}, near-identical questions "
                f"{audit['near_identical']:,}, ambiguous targets {audit['ambiguous']:,}; they can "
                f"detect {can}{'' if can == 'nothing' else ' or more'}.",
            ),
            Note(
                "doubt",
                f"A smoke test: the documents' own words flatter keyword search. Correct it with "
                f"30 labels: {labels}"
                if found.is_smoke_test
                else f"Questions made from text flatter keyword search; label 30 of them: {labels}",
            ),
            Note("next", f"{wrote}{place}: {after}"),
        ],
        rows=lambda: found.sources,
    )


def _left_out(one: LeftOut) -> str:
    more = one.count - len(one.examples)
    names = printable(", ".join(one.examples), 200) + (f" and {more:,} more" if more > 0 else "")
    return f"{one.count:,} {one.reason}" + (f": {names}" if one.examples else "")
