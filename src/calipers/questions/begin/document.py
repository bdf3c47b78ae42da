"""The answer as a document: the number, a table by source, and how far to trust it."""

from calipers.model.document import Block, Column, Document, Lines, Note, Table
from calipers.present.escape import printable
from calipers.questions.begin.result import DEPTH, QUESTIONS, FirstQuestions, LeftOut
from calipers.shell import join_words
from calipers.words import plural


def document(found: FirstQuestions) -> Document:
    """What word matching finds, by source, with the audit and what to do next."""
    count = plural(found.questions, "question")
    ends = (
        "" if found.interval is None else f" ({found.low:.0%}–{found.high:.0%})".replace("%–", "–")
    )
    blocks: list[Block] = [
        Table(
            (
                Column("source", words=True),
                "questions",
                "documents",
                f"in first {DEPTH}",
                "at rank 1",
            ),
            [
                (
                    one.source,
                    f"{one.questions:,}",
                    f"{one.documents:,}",
                    f"{one.in_first:.3f}",
                    f"{one.at_top:.3f}",
                )
                for one in found.sources
            ],
        ),
        Lines(
            [f"{one.count:,} {one.reason}: {_some(one)}" for one in found.passed_over],
            title="Files that were passed over, or read with a guess",
            detail=True,
        ),
        Lines(
            [f"{one.count:,}: {one.reason}" for one in found.dropped],
            title="Questions that were dropped",
            detail=True,
        ),
    ]
    return Document(
        f"Word matching finds {found.recall:.0%} of the targets of {count} in the first {DEPTH} "
        f"results{ends}.",
        blocks=[one for one in blocks if not isinstance(one, Lines) or one.lines],
        notes=[
            Note("input", _audit(found)),
            Note("doubt", _trust(found)),
            Note("next", _next(found)),
        ],
        rows=lambda: found.sources,
    )


def _some(one: LeftOut) -> str:
    more = one.count - len(one.examples)
    return printable(", ".join(one.examples), 200) + (f" and {more:,} more" if more > 0 else "")


def _trust(found: FirstQuestions) -> str:
    if not found.is_smoke_test:
        return (
            f"Questions made from text flatter keyword search; label 30 of them: {_labels(found)}"
        )
    return (
        "A smoke test: the documents' own words flatter keyword search. Correct it with 30 labels: "
        f"{_labels(found)}"
    )


def _labels(found: FirstQuestions) -> str:
    file = found.written[0] if found.written else QUESTIONS
    return join_words(["calipers", "labels", "sample", file])


def _audit(found: FirstQuestions) -> str:
    audit = found.audit
    detects = audit["detects"]
    least = (
        "nothing" if detects is None or detects >= 1 else f"differences of {detects:.2g} or more"
    )
    return (
        f"Audit: {audit['copied']:,} stand in their own passage, {audit['near_identical']:,} are "
        f"nearly identical, {audit['ambiguous']:,} targets are ambiguous; they can detect {least}."
    )


def _next(found: FirstQuestions) -> str:
    wrote = f"Wrote {', '.join(map(printable, found.written))}. " if found.written else ""
    return f"{wrote}Next: {join_words(['calipers', 'eval', '--retriever', 'search.py:search'])}"
