"""A fusion as a document: the setting to use, what each lane adds, and the upper bound."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

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
from calipers.model.fact import Fact, Sentence, facts_of, named, sentence
from calipers.present.charts import Band, Chart, Dot, Panel, Stroke, numbers
from calipers.questions.fuse.result import Fusion
from calipers.words import number, signed


def document(fusion: Fusion) -> Document:
    """The answer, the deciding settings, the lanes, and what is left to gain."""
    made = of_claim(
        fusion.claim,
        *_notes(fusion),
        blocks=[
            _settings(fusion),
            _lanes(fusion),
            *_details(fusion),
            # Only two lanes have one weight to draw over.
            *([Picture(partial(over_weight, fusion))] if fusion.over_weight else []),
            *(
                Lines(text.split("\n"), f"{engine}: {fusion.advised.name}", detail=True)
                for engine, text in fusion.snippets.items()
            ),
        ],
        rows=lambda: [
            {"setting": setting.name, "kind": setting.kind, **setting.means}
            for setting in fusion.settings
        ],
    )
    # A sentence may begin with the name of a lane, which is written as it is.
    return replace(made, sentence=fusion.claim.fact)


def _settings(fusion: Fusion) -> Table:
    """The default, the advised and the best setting and each lane, with gains over the default."""
    singles = [setting for setting in fusion.settings if setting.kind == "alone"]
    shown = {
        setting.name: setting
        for setting in (fusion.default, fusion.advised, fusion.best, *singles)
    }
    usual = fusion.default
    rows = list[Cells]()
    for name, way in shown.items():
        cells: list[Cell | str] = [Cell(name, strong=name == fusion.advised.name)]
        for metric in fusion.metrics:
            gain = signed(way.means[metric] - usual.means[metric])
            beside = "default" if name == usual.name else gain
            cells.append(f"{number(way.means[metric])}  {beside}")
        rows.append(cells)
    return Table((Column("setting", words=True), *fusion.metrics), rows)


def _means(
    head: str, fusion: Fusion, rows: Mapping[str, Mapping[str, float]], title: str
) -> Table:
    """The mean of each metric, a row for each name."""
    table: list[Cells] = [
        [Cell(name), *(number(means[metric]) for metric in fusion.metrics)]
        for name, means in rows.items()
    ]
    return Table(
        (Column(head, words=True), *fusion.metrics), table, title, detail=bool(title)
    )


def _lanes(fusion: Fusion) -> Table:
    timed = any(lane.latency for lane in fusion.lanes)
    heads = (
        "found by it alone",
        "lost without it",
        "depth needed",
        *["p50, p95"] * timed,
    )
    rows: list[Cells] = [
        [
            Cell(lane.name),
            f"{lane.found_alone:,}",
            f"{lane.lost_without:,}",
            f"{lane.depth_needed:,} of {lane.depth:,}",
            *(
                [f"{at.p50:,.0f}, {at.p95:,.0f} ms" if (at := lane.latency) else ""]
                * timed
            ),
        ]
        for lane in fusion.lanes
    ]
    return Table((Column("lane", words=True), *heads), rows)


def _details(fusion: Fusion) -> Iterator[Table]:
    """The reranker, the queries that each lane wins by slice, and every setting."""
    if reranker := fusion.reranker:
        stages = {
            "as given": reranker.before,
            "reranked": reranker.after,
            "best order": reranker.best,
        }
        yield _means("candidates", fusion, stages, "")
    if slices := fusion.lanes[0].wins_by:
        won: list[Cells] = [
            [Cell(name), *(f"{lane.wins_by[name]:,}" for lane in fusion.lanes)]
            for name in slices
        ]
        heads: Heads = (
            Column("queries", words=True),
            *(lane.name for lane in fusion.lanes),
        )
        yield Table(heads, won, "Queries won by each lane", detail=True)
    every = {setting.name: setting.means for setting in fusion.settings}
    yield _means("setting", fusion, every, "Every setting")


def _notes(fusion: Fusion) -> Iterator[Note]:
    """What was noticed, what is left to gain, what it costs, and how it was measured."""
    yield from (Note("input", text) for text in fusion.noticed)
    for lane in fusion.lanes:
        told = {
            fact.system
            for fact in facts_of(fusion.claim.fact)
            if (fact.about, fact.text) == ("count", "silent")
        }
        # A lane without any result is named as idle.
        if 0 < lane.silent < fusion.queries and lane.name not in told:
            silent = Fact(
                about="count", system=lane.name, count=lane.silent, text="silent"
            )
            template = "{it.system} returned nothing for {it.count:query|queries}."
            yield Note("missing", sentence(template, it=silent))
    yield from _reranked(fusion)
    yield Note("doubt", _at_most(fusion))
    for how, times in fusion.latency.items():
        way = "in parallel" if how == "parallel" else "one after the other"
        timed = sentence("All lanes {way}: {it.text}.", way=way, it=named(str(times)))
        yield Note("counted", timed)
    if fusion.tokens is not None:
        held = Fact(about="count", k=fusion.k, count=round(fusion.tokens), text="tokens")
        template = "The first {it.k} results hold {it.count} tokens per query."
        yield Note("counted", sentence(template, it=held))
    tried = Fact(about="count", count=len(fusion.settings), text="tried")
    yield Note(
        "method",
        sentence(
            "{it.count:setting|settings} were tried. The gain on new queries is "
            "cross-fitted: each twentieth of the queries is measured with the setting "
            "that is best on the others.",
            it=tried,
        ),
    )


def _reranked(fusion: Fusion) -> Iterator[Note]:
    """What the reranker gains, needs and loses; nothing where there is none."""
    reranker = fusion.reranker
    if reranker is None:
        return
    metric = fusion.primary
    share = reranker.share_of_time
    took = Fact(about="count", value=share, text="time")
    yield Note(
        "doubt",
        sentence(
            "The reranker brings {it.metric} from {it.before} to {it.value} of at most "
            "{it.high}, and needs {it.count} of {it.of} candidates.{time}",
            it=Fact(
                about="bound",
                metric=metric,
                before=reranker.before[metric],
                value=reranker.after[metric],
                high=reranker.best[metric],
                count=reranker.candidates_needed,
                of=reranker.candidates,
            ),
            time=""
            if share is None
            else sentence(" It takes {it.value:.0%} of the time.", it=took),
        ),
    )
    if reranker.lost:
        lost = Fact(about="count", count=reranker.lost, text="lost")
        template = "It lost {it.count:target|targets} of the first k."
        yield Note("counted", sentence(template, it=lost))


def _at_most(fusion: Fusion) -> Sentence:
    """What all lanes hold together, and the metric in the best order."""
    held = Fact(about="bound", metric="recall", value=fusion.ceiling.recall)
    best = fusion.ceiling.best_order[fusion.primary]
    return sentence(
        "The lanes hold {held.value:.0%} of what should be found; in the best order "
        "{best.metric} would be {best.value}.",
        held=held,
        best=Fact(about="bound", metric=fusion.primary, value=best),
    )


def over_weight(fusion: Fusion) -> Chart:
    """The gain over the default against the weight of the second lane, with its band."""
    points = fusion.over_weight
    second = fusion.lanes[1].name
    band = [
        (point.weight, point.low, point.high)
        for point in points
        if point.low is not None and point.high is not None
    ]
    ends = [
        0.0,
        *(point.gain for point in points),
        *(end for _, *some in band for end in some),
    ]
    panel = Panel(
        numbers(0, 1, f"weight of {second}"),
        numbers(min(ends), max(ends), f"{fusion.decided_by}, gain"),
        [
            Band(band),
            Stroke([(0.0, 0.0), (1.0, 0.0)], "even", dashed=True, width=1.5),
            Stroke([(point.weight, point.gain) for point in points]),
            *(
                Dot(
                    point.weight,
                    point.gain,
                    f"{second} {point.weight:.1f}: {signed(point.gain)}",
                )
                for point in points
            ),
        ],
    )
    return Chart(fusion.claim.fact, [panel], "The gain over the default for each weight.")
