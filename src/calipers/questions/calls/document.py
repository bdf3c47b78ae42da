"""What each call of the retriever adds, as a document."""

from calipers.model.document import Document, Note, Table
from calipers.questions.calls.rule import CallTable
from calipers.words import first_results, number, plural, share

TOKENS = {
    "estimate": "The tokens are estimated from the texts, four characters each.",
    None: "Tokens are not known: not every result has 'tokens' or a text.",
}
COLUMNS = ("call", "queries", "recall@calls", "added", "useless", "results", "tokens")


def document(found: CallTable) -> Document:
    """What the calls add, and one row per call: recall after it, what it added, what it cost."""
    rows = [
        (
            f"{one.call}",
            f"{one.queries:,}",
            *(
                "–" if value is None else number(value)
                for value in (one.recall, one.added, one.useless, one.results, one.tokens)
            ),
        )
        for one in found.calls
    ]
    return Document(
        verdict(found),
        blocks=[Table(COLUMNS, rows)],
        notes=notes(found),
        rows=lambda: found.calls,
    )


def verdict(found: CallTable) -> str:
    """How much the first call finds, and how much all of them find."""
    first, last = found.calls[0], found.calls[-1]
    if first.recall is None or last.recall is None:
        return "Nothing can be said: no query has anything to find."
    if first is last:
        return f"One call finds {share(first.recall)} of what it should."
    return (
        f"The first call finds {share(first.recall)} of what it should, all "
        f"{len(found.calls)} together {share(last.recall)}."
    )


def notes(found: CallTable) -> list[Note]:
    """What the columns are over."""
    shown = "all results" if found.k is None else f"the {first_results(found.k)}"
    lines = [
        Note(
            "marks",
            "Recall after each call and all before it, over "
            f"{plural(found.queries, 'query', 'queries')} with an answer, with {shown} of each "
            "call. Useless: the share of these calls that found nothing new.",
        )
    ]
    if (said := TOKENS.get(found.tokens_from)) is not None:
        lines.append(Note("counted", said))
    return lines
