"""What a report says of one retriever: the answers to several questions, as documents."""

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from typing import NamedTuple

from calipers.engines.scoring import choose_metrics, score
from calipers.errors import InvalidInput
from calipers.input_types import GroundTruthInput, SystemsInput
from calipers.model.document import Block, Column, Document, Lines, Table, in_order
from calipers.model.matched import Matched
from calipers.model.result import ShowsItself
from calipers.present.scores import document as score_document
from calipers.present.scores import interval_table, score_table
from calipers.questions.compare.settings import CompareSettings, compare
from calipers.questions.diagnose.rule import diagnose_pair
from calipers.questions.inputs import tags_of
from calipers.questions.reading import Intervals, MatchingSettings
from calipers.questions.report.browse import Browse
from calipers.questions.report.curve import recall_curve
from calipers.questions.report.result import Report, SystemReport
from calipers.questions.slices.result import Slices
from calipers.questions.slices.rule import slice_scores
from calipers.questions.sweep.result import Sweep
from calipers.questions.sweep.rule import sweep_over_k
from calipers.questions.systems import is_result_file, matched_systems, name_systems

_AS_USUAL = Intervals()
DEEPEST_SWEEP = 100
MOST_SLICES = 12
"""A tag with more values than this is not sliced by default."""
PARTS = {
    "sweep": ("over-k", "Which k"),
    "curve": ("curve", "Precision over recall"),
    "diagnosis": ("diagnosis", "Diagnosis"),
    "misses": ("lost", "Where recall is lost"),
    "slices": ("slices", "Slices"),
}
"""The anchor and the name of each part."""


def describe(
    browse: Browse,
    intervals: Intervals = _AS_USUAL,
    *,
    by: Iterable[str] | None = None,
    price: float | None = None,
) -> SystemReport:
    """Ask every question of a report of one retriever.

    ``price``: what a million tokens cost.
    """
    pair = browse.pair
    k = browse.k
    if pair is None:
        raise InvalidInput(
            "What was retrieved was not kept with this evaluation, so there is no report of it; "
            "save without --no-results."
        )
    swept = _swept(pair.depth, k)
    asked: Mapping[str, Callable[[], ShowsItself]] = {
        "sweep": lambda: _sweep(pair, swept, intervals, price),
        "curve": lambda: recall_curve(pair),
        "diagnosis": lambda: diagnose_pair(
            pair, k=k, confidence=intervals.confidence, cluster=intervals.cluster
        ),
        "misses": browse.explain,
        "slices": lambda: _slices(browse, by),
    }
    answers: dict[str, ShowsItself | str] = {}
    for name, ask in asked.items():
        try:
            answers[name] = ask()
        except InvalidInput as error:
            answers[name] = str(error)
    return SystemReport(browse, answers)


def compare_runs(
    systems: SystemsInput,
    ground_truth: GroundTruthInput | None,
    settings: CompareSettings,
) -> Report:
    """Compare retrievers as ``compare`` does, with the rankings of each for the page."""
    named = name_systems(systems)
    for value in named.values():
        if is_result_file(value):
            raise InvalidInput(
                f"{value} is a result that was measured before, without its rankings; a report "
                "shows rankings, so give the run itself."
            )
    # Each run is read and matched once, for the comparison and for the page.
    measures = settings.measures
    intervals = measures.intervals
    pairs = matched_systems(
        named, ground_truth, settings.matching, tags=tags_of(intervals), again=True
    )
    comparison = compare(pairs, settings=replace(settings, matching=MatchingSettings()))
    metrics = choose_metrics(measures.metrics, measures.k)
    made = [
        SystemReport(
            Browse(
                name,
                score(
                    pair,
                    metrics,
                    confidence=intervals.confidence,
                    cluster=intervals.cluster,
                ),
                pair,
            ),
            {},
        )
        for name, pair in pairs.items()
    ]
    first = comparison.baseline
    return Report(tuple(sorted(made, key=lambda one: one.name != first)), comparison)


class ReportPart(NamedTuple):
    """One question about a retriever, answered."""

    ident: str
    name: str
    document: Document


def parts(system: SystemReport) -> list[ReportPart]:
    """Every part, or the reason why it could not be made; a note is in the first that has it."""
    printed = {note.text for note in in_order(summary(system.browse).notes)}
    made = []
    for name, found in system.answers.items():
        # Queries without tags have no slices, and nothing is said of it.
        if isinstance(found, str):
            if name not in ("slices", "curve"):
                made.append(ReportPart(*PARTS[name], Document(found)))
            continue
        document = _read(found.document(), printed)
        printed |= {note.text for note in in_order(document.notes)}
        made.append(ReportPart(*PARTS[name], document))
    return made


def _read(document: Document, printed: Set[str]) -> Document:
    """A document without its hints for the command line, and without examples: they follow.

    What was ``printed`` above is left out, too.
    """
    blocks: list[Block] = [
        replace(block, more="") if isinstance(block, Table) else block
        for block in document.blocks
        if not isinstance(block, Lines) or block.detail or block.prose
    ]
    notes = [
        note
        for note in in_order(document.notes)
        if note.kind != "next" and note.text not in printed
    ]
    return replace(document, blocks=blocks, notes=notes)


def summary(browse: Browse) -> Document:
    """What ``eval`` prints, with the highest possible precision."""
    made = score_document(browse.scores)
    blocks = [score_table(browse.scores, browse.ceilings), interval_table(browse.scores)]
    return replace(made, blocks=blocks)


def settings_table(browse: Browse) -> Table:
    """The settings of the evaluation, and the fingerprints of its input."""
    scores = browse.scores
    shown = {**scores.settings, **scores.policy.to_dict()}
    rows = [
        (name, str(value)) for name, value in shown.items() if value and name != "notes"
    ]
    rows += [
        (f"fingerprint: {name}", value) for name, value in scores.fingerprints.items()
    ]
    cells = [(name.replace("_", " "), value) for name, value in rows]
    heads = ("setting", Column("value", words=True))
    return Table(heads, cells, "Settings and fingerprints", detail=True)


def _swept(depth: int, k: int) -> list[int] | None:
    """The values of k to draw, fewer for a deep run; None: as ``sweep`` chooses."""
    if depth <= DEEPEST_SWEEP:
        return None
    usual = [*range(1, 21), *range(25, DEEPEST_SWEEP + 1, 5)]
    return sorted({*usual, min(k, depth), depth})


def _sweep(
    pair: Matched, ks: list[int] | None, intervals: Intervals, price: float | None
) -> Sweep:
    if not pair.depth:
        raise InvalidInput("No query got any results, so there is no k to choose.")
    return sweep_over_k(
        pair,
        k=ks,
        confidence=intervals.confidence,
        cluster=intervals.cluster,
        price=price,
    )


def _slices(browse: Browse, by: Iterable[str] | None) -> Slices:
    few = (name for name, values in browse.tags.items() if len(values) <= MOST_SLICES)
    cuts = list(by or few)
    if not cuts:
        raise InvalidInput("The queries have no tags with a few values each.")
    return slice_scores(browse.scores, cuts, metrics=browse.shown[:3])
