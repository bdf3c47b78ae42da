"""A fusion as a document: the setting to use, what each lane adds, and the upper bound."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from calipers.model.document import (
    Cell,
    Cells,
    Column,
    Document,
    Lines,
    Note,
    Picture,
    Table,
    of_claim,
)
from calipers.present.charts import Band, Chart, Dot, Panel, Stroke, numbers
from calipers.questions.fuse.result import FusedSetting, Fusion, Lane, Reranker
from calipers.words import listed, number, plural, signed


def document(found: Fusion) -> Document:
    """The answer, the deciding settings, the lanes, and what is left to gain."""
    made = of_claim(
        found.claim,
        *_notes(found),
        blocks=[
            _settings(found),
            _lanes(found),
            *([_reranker(found.reranker, found)] if found.reranker else []),
            *_wins(found),
            _every(found),
            Picture(lambda: over_weight(found)),
            *(
                Lines(text.split("\n"), f"{engine}: {found.advised.name}", detail=True)
                for engine, text in found.snippets.items()
            ),
        ],
        rows=lambda: _rows(found),
    )
    # A sentence may begin with the name of a lane, which is written as it is.
    return replace(made, sentence=found.claim.line[2:])


def _rows(found: Fusion) -> Iterator[dict[str, Any]]:
    for one in found.settings:
        yield {"setting": one.name, "kind": one.kind, **one.means}


def _settings(found: Fusion) -> Table:
    """The default, the best setting and the best lane, with gains over the default."""
    singles = [one for one in found.settings if one.kind == "alone"]
    shown = list(dict.fromkeys([found.best.name, *(one.name for one in singles)]))
    known = {one.name: one for one in (*found.settings, found.best, found.default)}
    rows: list[Cells] = [_setting(found, found.default)]
    rows += [_setting(found, known[name]) for name in shown if name != found.default.name]
    return Table((Column("setting", words=True), *found.metrics), rows)


def _setting(found: Fusion, one: FusedSetting) -> Cells:
    cells: list[Cell | str] = [Cell(one.name, strong=one is found.best)]
    for name in found.metrics:
        change = one.means[name] - found.default.means[name]
        beside = "default" if one is found.default else signed(change)
        cells.append(f"{one.means[name]:.3f}  {beside}")
    return cells


def _lanes(found: Fusion) -> Table:
    timed = any(one.latency for one in found.lanes)
    heads: list[Column | str] = [
        Column("lane", words=True),
        *("found by it alone", "lost without it", "depth needed"),
        *(["p50, p95"] if timed else []),
    ]
    rows: list[Cells] = [
        [
            Cell(one.name),
            f"{one.found_alone:,}",
            f"{one.lost_without:,}",
            f"{one.depth_needed:,} of {one.depth:,}",
            *([_times(one)] if timed else []),
        ]
        for one in found.lanes
    ]
    return Table(heads, rows)


def _times(lane: Lane) -> str:
    if lane.latency is None:
        return ""
    return f"{lane.latency.p50:,.0f}, {lane.latency.p95:,.0f} ms"


def _reranker(one: Reranker, found: Fusion) -> Table:
    rows: list[Cells] = [
        [Cell(name), *(f"{values[metric]:.3f}" for metric in found.metrics)]
        for name, values in (
            ("as given", one.before),
            ("reranked", one.after),
            ("best order", one.best),
        )
    ]
    return Table((Column("candidates", words=True), *found.metrics), rows)


def _wins(found: Fusion) -> list[Table]:
    """Which queries each lane wins, by slice."""
    slices = found.lanes[0].wins_by
    rows: list[Cells] = [
        [Cell(name), *(f"{one.wins_by[name]:,}" for one in found.lanes)] for name in slices
    ]
    heads: list[Column | str] = [Column("queries", words=True), *(one.name for one in found.lanes)]
    return [Table(heads, rows, "Queries won by each lane", detail=True)] if rows else []


def _every(found: Fusion) -> Table:
    rows: list[Cells] = [
        [Cell(one.name), *(number(one.means[name]) for name in found.metrics)]
        for one in found.settings
    ]
    columns: list[Column | str] = [Column("setting", words=True), *found.metrics]
    return Table(columns, rows, "Every setting", detail=True)


def _notes(found: Fusion) -> list[Note]:
    best = found.ceiling.best_order[found.primary]
    notes = [
        Note(
            "doubt",
            f"The lanes hold {found.ceiling.recall:.0%} of what should be found; in the best order "
            f"{found.primary} would be {best:.3f}.",
        )
    ]
    if one := found.reranker:
        time = (
            "" if one.share_of_time is None else f" It takes {one.share_of_time:.0%} of the time."
        )
        notes.insert(
            0,
            Note(
                "doubt",
                f"The reranker brings {found.primary} from {one.before[found.primary]:.3f} to "
                f"{one.after[found.primary]:.3f} of at most {one.best[found.primary]:.3f}, and "
                f"needs {one.candidates_needed:,} of {one.candidates:,} candidates.{time}",
            ),
        )
        if one.lost:
            notes.append(Note("counted", f"It lost {plural(one.lost, 'target')} of the first k."))
    for lane in found.lanes:
        if lane.best_for:
            notes.append(Note("counted", f"{lane.name} is best for {listed(lane.best_for)}."))
    for how, times in found.latency.items():
        said = "in parallel" if how == "parallel" else "one after the other"
        text = f"All lanes {said}: p50 {times.p50:,.0f} ms, p95 {times.p95:,.0f} ms."
        notes.append(Note("counted", text))
    if found.tokens is not None:
        text = f"The first {found.k} results hold {found.tokens:,.0f} tokens per query."
        notes.append(Note("counted", text))
    tried = plural(len(found.settings), "setting")
    notes.append(
        Note(
            "method",
            f"{tried} were tried. The gain on new queries is cross-fitted: each twentieth of the "
            "queries is measured with the setting that is best on the others.",
        )
    )
    return notes


def over_weight(found: Fusion) -> Chart | None:
    """The gain over the default against the weight of the second lane, with its band."""
    points = found.over_weight
    if not points:
        return None
    band = [(one.weight, one.low, one.high) for one in points if one.low is not None]
    dots = [
        Dot(one.weight, one.gain, f"{found.lanes[1].name} {one.weight:.1f}: {signed(one.gain)}")
        for one in points
    ]
    ends = [end for one in points for end in (one.gain, one.low, one.high) if end is not None]
    low, high = min(0.0, *ends), max(0.0, *ends)
    line = [(one.weight, one.gain) for one in points]
    flat = Stroke([(0.0, 0.0), (1.0, 0.0)], "even", dashed=True, width=1.5)
    panel = Panel(
        numbers(0, 1, f"weight of {found.lanes[1].name}"),
        numbers(low, high, f"{found.primary}, gain"),
        [Band([(x, a, b) for x, a, b in band if b is not None]), flat, Stroke(line), *dots],
    )
    return Chart(found.claim.fact, [panel], "The gain over the default for each weight.")
