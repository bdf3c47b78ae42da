"""What changed between two runs, as a document and as a page."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from calipers.io.files.write import whole_file
from calipers.model.document import Cells, Column, Document, Lines, Note, Table
from calipers.present.escape import printable
from calipers.questions.diff.result import Diff, Moved, QueryDiff
from calipers.words import first_results, number, plural

LONGEST = 70
MOST_MOVED = 3
EXAMPLES = 5
ON_PAGE = 1_000
"""Queries on a page: more would make it slow to open, and nobody reads them."""


def document(diff: Diff, examples: int = EXAMPLES) -> Document:
    """How many queries changed, by how much, and the most changed of them."""
    changed = diff.queries.changed()
    shown = list(changed[:examples])
    rest = len(changed) - len(shown)
    more = [Note("counted", f"{rest:,} more queries changed.")] if rest else []
    lines = [line for one in shown for line in _query(one, MOST_MOVED)]
    return Document(
        verdict(diff),
        blocks=[
            _means(diff),
            *([_slices(diff)] if diff.slices else []),
            *([Lines(lines, "The most changed")] if lines else []),
        ],
        notes=[*notes(diff), *more],
        rows=lambda: diff.queries,
    )


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
        *(Note("input", one) for one in diff.notes),
        *said,
        Note(
            "marks",
            "1 means that nothing changed. Rank-biased overlap counts the top of both lists most, "
            "overlap@k the results that both have, Kendall's tau their order.",
        ),
    ]


def save_diff(diff: Diff, path: str | PathLike[str]) -> None:
    """Write the page, whole or not at all."""
    from calipers.questions.report.page.page import document_page

    page = document_page(document(diff, ON_PAGE), "What changed between two runs")
    with whole_file(Path(path)) as file:
        file.write(page.encode("utf-8", "replace"))


def _means(diff: Diff) -> Table:
    means = (diff.mean("rbo"), diff.mean("overlap"), diff.mean("tau"))
    heads = ("rank-biased overlap", f"overlap@{diff.k}", "Kendall's tau")
    return Table(heads, [[_value(one) for one in means]])


def _queries(n: int) -> str:
    return plural(n, "query", "queries")


def _value(value: float | None) -> str:
    return "–" if value is None else number(value).replace("-", "−")


def _slices(diff: Diff) -> Table:
    rows: list[Cells] = [
        (
            f"{one.by}={printable(one.value, 40)}",
            f"{one.queries:,}",
            f"{one.changed:,}",
            number(one.rbo),
            number(one.overlap),
        )
        for one in diff.slices
    ]
    columns = (Column("slice", words=True), "queries", "changed", "rbo", f"overlap@{diff.k}")
    return Table(columns, rows)


def _query(one: QueryDiff, most: int) -> Iterator[str]:
    yield f"{number(one.rbo)}  {printable(one.text or one.query, LONGEST)}"
    for what, some in (("new", one.new), ("lost", one.lost)):
        if some:
            yield f"       {what}: {_moved(some, most)}"


def _moved(some: tuple[Moved, ...], most: int) -> str:
    shown = ", ".join(f"{printable(one.item, 40)} (rank {one.rank})" for one in some[:most])
    return shown + (f" and {len(some) - most} more" if len(some) > most else "")
