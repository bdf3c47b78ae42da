"""One question as a document: what became of its targets, then what came back."""

from calipers.model.document import Cell, Cells, Column, Document, Table
from calipers.present.escape import printable
from calipers.questions.explain.rule import Explanation
from calipers.words import first_results, plural

SHOWN = 60


def document(found: Explanation) -> Document:
    """The targets with their ranks or the reasons why they are missing, and the results."""
    return Document(
        verdict(found),
        blocks=[
            *([_targets(found)] if found.targets else []),
            *([_results(found)] if found.results else []),
        ],
        notes=[*found.notes],
        rows=lambda: found.table,
    )


def verdict(found: Explanation) -> str:
    """What happened, in a line."""
    took = "" if found.latency_ms is None else f" ({found.latency_ms:.0f} ms)"
    if not found.results:
        return f"{found.retriever} returned nothing{took}."
    if not found.targets:
        what = "no answer exists" if found.id is not None else "nobody said what should be found"
        return f"{plural(len(found.results), 'result')}{took}; {what}."
    at = ", ".join(str(one.rank) for one in found.targets if one.found)
    where = f" (rank {at})" if at else ""
    return (
        f"{found.found} of {plural(found.sought, 'target')} "
        f"{'is' if found.found == 1 else 'are'} in the {first_results(found.k)}{where}."
    )


def _targets(found: Explanation) -> Table:
    rows: list[Cells] = [
        (
            printable(one.name, SHOWN),
            "" if one.rank is None else str(one.rank),
            one.means or ("" if one.found else "an alternative was found"),
            one.remedy,
        )
        for one in found.targets
    ]
    columns = (
        Column("target", words=True),
        "rank",
        Column("why it is missing", prose=True),
        Column("what to do", prose=True),
    )
    return Table(columns, rows)


def _results(found: Explanation) -> Table:
    rows: list[Cells] = [
        (
            Cell(str(one.rank), "passed" if one.target else None),
            "" if one.id is None else printable(one.id, SHOWN),
            "" if one.score is None else f"{one.score:.3f}",
            "" if one.text is None else printable(" ".join(one.text.split()), 200),
        )
        for one in found.results
    ]
    columns = ("rank", Column("id", words=True), "score", Column("text", words=True))
    return Table(columns, rows)
