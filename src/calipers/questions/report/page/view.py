"""A report as the values that the template writes down; nothing is decided in the template."""

from collections.abc import Iterator
from typing import Any

from calipers.model.claim import SIGNS
from calipers.model.document import Answers, note_texts
from calipers.model.scores import Summary
from calipers.present.chart_output import on_page
from calipers.present.escape import clean
from calipers.present.html import blocks_html, notes_html
from calipers.present.scores import notes_of, score_table
from calipers.questions.compare.document import document as comparison_document
from calipers.questions.compare.document import head_to_head
from calipers.questions.compare.result import Comparison
from calipers.questions.diagnose.document import remarks
from calipers.questions.misses.document import waterfall
from calipers.questions.report.page.queries import QueryData, query_data
from calipers.questions.report.result import Report, SystemReport
from calipers.questions.slices.document import slices_chart
from calipers.questions.sweep.document import (
    advice,
    leading_claim,
    over_k,
    precision_recall,
    shown_points,
)
from calipers.questions.sweep.floor_answer import lines as floor_lines
from calipers.words import first_results, listed, number, share, signed

FOUR = ("hit_rate", "recall", "precision", "f1")
ORDERED = ("ndcg", "mrr", "map")
MEANS = {
    "hit_rate": "queries with at least one hit",
    "recall": "of what should be found",
    "precision": "of what is shown",
    "f1": "both in one number",
    "ndcg": "best results first",
    "mrr": "how early the first hit comes",
    "map": "precision along the ranking",
}
STATIC_ROWS = 50
"""Rows of the table that stand in the page itself, for readers without JavaScript."""
EXAMPLES = 5


def page_view(report: Report, beside: str | None = None, *, full: bool = False) -> dict[str, Any]:
    """Everything on the page. ``beside`` is the file that holds what had no room."""
    moves = [] if report.comparison is None else list(_moves(report.comparison))
    named = [one["query"] for move in moves for one in move["queries"]]
    data = query_data(report, named, full=full)
    for move in moves:
        for one in move["queries"]:
            one["row"] = data.positions.get(one["query"])
    several = report.comparison is not None
    return {
        "title": listed([clean(one.name) for one in report.systems]),
        "k": report.k,
        "version": report.scores.settings["calipers"],
        "systems": [system_view(one, several) for one in report.systems],
        "comparison": None
        if report.comparison is None
        else comparison_view(report.comparison, moves),
        "data": data,
        "room": _room(data, beside),
        "static": _static(data),
        "tags": _tag_choices(data),
        "definitions": report.definitions,
        "lead": headline(report.systems[0], clean(report.systems[0].name)),
    }


def system_view(system: SystemReport, several: bool) -> dict[str, Any]:
    """Everything that is shown of one retriever; ``several``: it is one of some."""
    name = clean(system.name)
    recall = stem_of(system, "recall")
    drawn: dict[str, str] = {}
    if system.sweep and any(
        point.values["recall"].mean is not None for point in system.sweep.points
    ):
        sweep = system.sweep
        drawn["over_k"] = on_page(over_k(sweep))
        drawn["curve"] = on_page(precision_recall(sweep))
    if system.misses:
        drawn["waterfall"] = on_page(waterfall(system.misses))
    if system.slices and recall.mean is not None:
        drawn["slices"] = on_page(slices_chart(system.slices, recall.metric, recall.mean))
    return {
        "name": name,
        "headline": headline(system, name),
        "four": [_tile(system, stem) for stem in FOUR],
        "ordered": [_tile(system, stem) for stem in ORDERED],
        "notes": note_texts(notes_of(system.head)),
        "table": blocks_html([score_table(system.scores)]),
        "settings": _settings(system),
        "charts": drawn,
        "which_k": blocks_html([Answers([leading_claim(system.sweep)])]) if system.sweep else "",
        "advice": advice(system.sweep) if system.sweep else [],
        "floor": blocks_html([Answers([system.floor.claim])]) if system.floor else "",
        "floor_lines": [*map(clean, note_texts(floor_lines(system.floor)))] if system.floor else [],
        "points": shown_points(system.sweep) if system.sweep else [],
        "sweep": system.sweep,
        "diagnosis": system.diagnosis,
        "healthy": blocks_html([Answers([system.diagnosis.claim])])
        if system.diagnosis and not system.diagnosis.findings
        else "",
        "remarks": note_texts(remarks(system.diagnosis)) if system.diagnosis else [],
        "misses": system.misses,
        "slices": system.slices,
        "slice_claims": blocks_html([Answers(system.slices.claims)]) if system.slices else "",
        "without": system.without,
        "several": several,
    }


def _tile(system: SystemReport, stem: str) -> dict[str, str]:
    summary = stem_of(system, stem)
    ceiling = _ceiling(system, stem)
    most = "" if ceiling is None else f"; at most {number(ceiling)} can be reached"
    return {"name": summary.metric, "means": MEANS[stem] + most, **_value(summary)}


def _ceiling(system: SystemReport, stem: str) -> float | None:
    """The best that any retriever could have at k, where that is less than 1."""
    points = system.sweep.points if system.sweep else ()
    point = next((one for one in points if one.k == system.k), None)
    if point is None or stem not in ("precision", "recall"):
        return None
    most = point.precision_ceiling if stem == "precision" else point.recall_ceiling
    return None if most is None or most >= 1 else most


def _value(summary: Summary) -> dict[str, str]:
    if summary.mean is None:
        return {"mean": "–", "interval": "undefined"}
    ends = summary.interval
    between = f"{number(ends.low)} – {number(ends.high)}" if ends else ""
    return {"mean": number(summary.mean), "interval": between or "no interval: too few queries"}


def _settings(system: SystemReport) -> list[tuple[str, str]]:
    scores = system.scores
    shown = {**scores.settings, **scores.policy.to_dict()}
    lines = [
        (name, str(value)) for name, value in shown.items() if name != "notes" and value is not None
    ]
    prints = [
        (f"fingerprint: {name.replace('_', ' ')}", value)
        for name, value in scores.fingerprints.items()
    ]
    return [(name, clean(value)) for name, value in (*lines, *prints)]


def comparison_view(comparison: Comparison, moves: list[dict[str, Any]]) -> dict[str, Any]:
    """Everything that is shown of a comparison, with the queries that ``moves`` lists."""
    metric, answer = comparison.leading, comparison_document(comparison)
    return {
        "standing": (answer.standing or "").split(" ")[0],
        "sign": SIGNS[answer.standing] if answer.standing else "",
        "lead": clean(answer.sentence),
        "answer": blocks_html(answer.blocks[:1]) + notes_html(answer.notes),
        "details": blocks_html(answer.blocks[1:2]),
        "differences": blocks_html(answer.blocks[-1:]),
        "metric": metric,
        "scatters": [
            {"name": clean(name), "chart": on_page(head_to_head(comparison, name, metric))}
            for name in comparison.others
        ],
        "moves": moves,
        "baseline": clean(comparison.baseline),
    }


def _moves(comparison: Comparison) -> Iterator[dict[str, Any]]:
    metric = comparison.leading
    for name in comparison.others:
        for title, wins in (("Largest wins", True), ("Largest losses", False)):
            found = comparison.largest(name, metric, wins=wins, count=EXAMPLES)
            yield {
                "system": clean(name),
                "title": title,
                "wins": wins,
                "queries": [
                    {
                        "query": one.query,
                        "text": clean((one.text or one.query)[:300]),
                        "difference": signed(one.difference),
                        "before": number(one.baseline),
                        "after": number(one.system),
                    }
                    for one in found
                ],
            }


def _room(data: QueryData, beside: str | None) -> list[str]:
    lines = []
    if data.rows < data.all_rows:
        lines.append(
            f"The table holds {data.rows:,} of {data.all_rows:,} queries: the worst, and a sample "
            "of the others. --per-query writes the scores of all of them."
        )
    if data.left_out:
        where = f"they are in {clean(beside)}" if beside else "save the report to have them written"
        lines.append(
            f"To keep this page small, the rankings of {len(data.left_out):,} queries are not in "
            f"it ({where}); those of the worst and of a sample are. --full puts all of them here."
        )
    elif data.cut:
        lines.append(
            f"Every ranking is here; of each text {data.cut} characters around what was matched "
            "(--full: whole texts)."
        )
    return lines


def _static(data: QueryData) -> list[list[Any]]:
    """The worst rows, in the order that the page opens with."""
    recall = [name.partition("@")[0] for name in data.values["metrics"]].index("recall")

    def worth(row: list[Any]) -> tuple[bool, float]:
        value = row[3][0][recall] if row[3][0] else None
        return (value is None, value or 0.0)

    return sorted(data.values["rows"], key=worth)[:STATIC_ROWS]


def _tag_choices(data: QueryData) -> list[tuple[str, list[str]]]:
    choices = []
    for at, tag in enumerate(data.values["tags"]):
        values = sorted({row[2][at] for row in data.values["rows"] if row[2][at] is not None})
        if 1 < len(values) <= 50:
            choices.append((tag, values))
    return choices


def stem_of(system: SystemReport, stem: str) -> Summary:
    """The summary of a metric at the cut-off that is described, whatever its parameters."""
    name = next(facts.name for facts in system.head.metrics if facts.kind == stem)
    return system.head[name]


def headline(system: SystemReport, name: str) -> str:
    """How much is found, and how much of what is shown is known to be right."""
    recall, precision = (stem_of(system, stem).mean for stem in ("recall", "precision"))
    if recall is None or precision is None:
        return f"Nothing can be said of {name}: no query has anything to find."
    # A name is written as it is given; words in place of one begin a sentence.
    named = name.capitalize() if name.startswith("the ") else name
    return (
        f"{named} finds {share(recall)} of what it should in the {first_results(system.k)}; "
        f"{share(precision)} of what it shows is known to be relevant."
    )
