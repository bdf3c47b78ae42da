"""A fusion as a document: the setting to use, what each lane adds, and the upper bound."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from calipers.model.document import (
    Cell,
    Cells,
    Column,
    Document,
    Heads,
    Lines,
    Note,
    Picture,
    Table,
    of_claim,
)
from calipers.present.charts import Band, Chart, Dot, Panel, Stroke, numbers
from calipers.questions.fuse.result import Fusion
from calipers.words import number, plural, signed


def document(found: Fusion) -> Document:
    """The answer, the deciding settings, the lanes, and what is left to gain."""
    made = of_claim(
        found.claim,
        *_notes(found),
        blocks=[
            _settings(found),
            _lanes(found),
            *_details(found),
            Picture(lambda: over_weight(found)),
            *(
                Lines(text.split("\n"), f"{engine}: {found.advised.name}", detail=True)
                for engine, text in found.snippets.items()
            ),
        ],
        rows=lambda: [
            {"setting": one.name, "kind": one.kind, **one.means} for one in found.settings
        ],
    )
    # A sentence may begin with the name of a lane, which is written as it is.
    return replace(made, sentence=found.claim.fact)


def _settings(found: Fusion) -> Table:
    """The default, the advised and the best setting and each lane, with gains over the default."""
    singles = [one for one in found.settings if one.kind == "alone"]
    shown = {one.name: one for one in (found.default, found.advised, found.best, *singles)}
    usual, rows = found.default, list[Cells]()
    for name, one in shown.items():
        cells: list[Cell | str] = [Cell(name, strong=name == found.advised.name)]
        for metric in found.metrics:
            gain = signed(one.means[metric] - usual.means[metric])
            beside = "default" if name == usual.name else gain
            cells.append(f"{number(one.means[metric])}  {beside}")
        rows.append(cells)
    return Table((Column("setting", words=True), *found.metrics), rows)


def _means(head: str, found: Fusion, rows: Mapping[str, Mapping[str, float]], title: str) -> Table:
    """The mean of each metric, a row for each name."""
    table: list[Cells] = [
        [Cell(name), *(number(means[metric]) for metric in found.metrics)]
        for name, means in rows.items()
    ]
    return Table((Column(head, words=True), *found.metrics), table, title, detail=bool(title))


def _lanes(found: Fusion) -> Table:
    timed = any(one.latency for one in found.lanes)
    heads = ("found by it alone", "lost without it", "depth needed", *["p50, p95"] * timed)
    rows: list[Cells] = [
        [
            Cell(one.name),
            f"{one.found_alone:,}",
            f"{one.lost_without:,}",
            f"{one.depth_needed:,} of {one.depth:,}",
            *([f"{at.p50:,.0f}, {at.p95:,.0f} ms" if (at := one.latency) else ""] * timed),
        ]
        for one in found.lanes
    ]
    return Table((Column("lane", words=True), *heads), rows)


def _details(found: Fusion) -> Iterator[Table]:
    """The reranker, the queries that each lane wins by slice, and every setting."""
    if one := found.reranker:
        stages = {"as given": one.before, "reranked": one.after, "best order": one.best}
        yield _means("candidates", found, stages, "")
    if slices := found.lanes[0].wins_by:
        won: list[Cells] = [
            [Cell(name), *(f"{one.wins_by[name]:,}" for one in found.lanes)] for name in slices
        ]
        heads: Heads = (Column("queries", words=True), *(one.name for one in found.lanes))
        yield Table(heads, won, "Queries won by each lane", detail=True)
    every = {one.name: one.means for one in found.settings}
    yield _means("setting", found, every, "Every setting")


def _notes(found: Fusion) -> Iterator[Note]:
    yield from (Note("input", text) for text in found.noticed)
    for lane in found.lanes:
        is_told = lane.name in f"{found.claim.fact} {found.noticed}"
        if lane.silent and not is_told:
            many = plural(lane.silent, "query", "queries")
            yield Note("missing", f"{lane.name} returned nothing for {many}.")
    metric, reranker = found.primary, found.reranker
    if reranker is not None:
        share = reranker.share_of_time
        yield Note(
            "doubt",
            f"The reranker brings {metric} from {reranker.before[metric]:.3f} to "
            f"{reranker.after[metric]:.3f} of at most {reranker.best[metric]:.3f}, and needs "
            f"{reranker.candidates_needed:,} of {reranker.candidates:,} candidates."
            + ("" if share is None else f" It takes {share:.0%} of the time."),
        )
        if reranker.lost:
            yield Note("counted", f"It lost {plural(reranker.lost, 'target')} of the first k.")
    yield Note(
        "doubt",
        f"The lanes hold {found.ceiling.recall:.0%} of what should be found; in the best order "
        f"{metric} would be {found.ceiling.best_order[metric]:.3f}.",
    )
    for how, times in found.latency.items():
        said = "in parallel" if how == "parallel" else "one after the other"
        yield Note("counted", f"All lanes {said}: {times}.")
    if found.tokens is not None:
        text = f"The first {found.k} results hold {found.tokens:,.0f} tokens per query."
        yield Note("counted", text)
    yield Note(
        "method",
        f"{plural(len(found.settings), 'setting')} were tried. The gain on new queries is "
        "cross-fitted: each twentieth of the queries is measured with the setting that is best on "
        "the others.",
    )


def over_weight(found: Fusion) -> Chart | None:
    """The gain over the default against the weight of the second lane, with its band."""
    points, second = found.over_weight, found.lanes[1].name
    if not points:
        return None
    band = [
        (one.weight, one.low, one.high)
        for one in points
        if one.low is not None and one.high is not None
    ]
    ends = [0.0, *(one.gain for one in points), *(end for _, *some in band for end in some)]
    panel = Panel(
        numbers(0, 1, f"weight of {second}"),
        numbers(min(ends), max(ends), f"{found.decided_by}, gain"),
        [
            Band(band),
            Stroke([(0.0, 0.0), (1.0, 0.0)], "even", dashed=True, width=1.5),
            Stroke([(one.weight, one.gain) for one in points]),
            *(
                Dot(one.weight, one.gain, f"{second} {one.weight:.1f}: {signed(one.gain)}")
                for one in points
            ),
        ],
    )
    return Chart(found.claim.fact, [panel], "The gain over the default for each weight.")
