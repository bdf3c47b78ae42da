"""List the common metrics, all of them, or one."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from calipers.model.document import Block, Cell, Column, Document, Lines, Note, Table
from calipers.model.result import HasRows
from calipers.operation import Setting, operation

COMMON = frozenset(
    {
        *(
            "hit_rate",
            "precision",
            "recall",
            "f1",
            "full_recall",
            "ndcg",
            "mrr",
            "map",
            "rbp",
        ),
        *("r_precision", "span_recall", "span_precision", "iou", "judged", "leak_rate"),
    }
)
"""The metrics listed by default."""


class MetricList(HasRows, list[dict[str, Any]]):
    """Metrics as plain values."""

    shown_by: ClassVar[str] = "calipers.questions.metrics"


@operation(page="metrics", command="metrics")
def metrics(
    name: Annotated[str | None, Setting("", argument="[NAME]")] = None,
    *,
    all: Annotated[bool, Setting("List every metric.")] = False,  # noqa: A002 - as the option is called
) -> "MetricList":
    """The usual metrics as plain values, all there are, or the one that a name stands for.

    Those of other packages are listed too. A name may be in any tool's spelling.

    >>> metrics("P_5")[0]["name"], len(metrics()), len(metrics(all=True)) > 30
    ('precision', 15, True)
    """
    from calipers.measures import definitions, load_plugged, parse

    load_plugged()
    chosen = [
        definition
        for definition in definitions().values()
        if all
        or definition.name in COMMON
        or not definition.function.__module__.startswith("calipers.")
    ]
    if name is not None:
        chosen = [metric.definition for metric in parse([name], ks=[1])][:1]
    return MetricList(definition.to_dict() for definition in chosen)


BETTER = {"higher": "higher is better", "lower": "lower is better", "neither": ""}


def document(listing: MetricList) -> Document:
    """One row per metric; all details if there is only one."""
    from calipers.measures import definitions

    rows = [
        (
            Cell(
                f"{metric['name']}{'@k' if '@k' in metric['grammar'] else ''}",
                strong=True,
            ),
            metric["formula"],
        )
        for metric in listing
    ]
    table = Table((Column("metric", words=True), Column("formula", words=True)), rows)
    alone = len(listing) == 1
    blocks: list[Block] = [] if alone else [table]
    blocks += (
        Lines([*_about(metric)], metric["grammar"], detail=not alone)
        for metric in listing
    )
    sentence = f"{listing[0]['name']}." if alone else f"{len(listing)} metrics."
    notes = []
    if not alone:
        others = len(listing) < len(definitions())
        first = "`calipers metrics --all` lists the others, " if others else ""
        notes.append(Note("next", f"{first}`calipers metrics NAME` explains one."))
    return Document(sentence, blocks=blocks, notes=notes, rows=lambda: map(_row, listing))


def _about(metric: dict[str, Any]) -> Iterator[str]:
    low, high = metric["bounds"]
    bounds = f"{low:g} to {high:g}" if high is not None else f"from {low:g}"
    yield ", ".join(filter(None, (bounds, BETTER[metric["better"]])))
    yield from filter(None, (metric["formula"], metric["notes"]))
    if metric["parameters"]:
        words = "; ".join(
            f"{name}: {parameter['allowed']}"
            + (
                ""
                if parameter["default"] is None
                else f" ({parameter['default']} unless given)"
            )
            for name, parameter in metric["parameters"].items()
        )
        yield f"Parameters: {words}."
    if metric["also_called"]:
        yield f"Also called {', '.join(metric['also_called'])}."


def _row(metric: dict[str, Any]) -> dict[str, Any]:
    low, high = (None if end is None else float(end) for end in metric["bounds"])
    known = {name: metric[name] for name in ("name", "grammar", "better", "formula")}
    return {**known, "lowest": low, "highest": high}
