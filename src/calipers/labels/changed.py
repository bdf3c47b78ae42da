"""May I switch? Label only the results in which an old and a new run differ.

Questions are drawn by how many results differ (``calipers.statistics.switching``); those that did
not change make no difference and need no label. Labels that were given before count as known.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from calipers.errors import InvalidInput, check_number
from calipers.io.load import load_ground_truth, load_run
from calipers.labels.draft import Draft, question_texts, read_asked, with_corpus
from calipers.labels.judging import JudgedTruth
from calipers.labels.make import check_settings, keep
from calipers.labels.switch import Switch
from calipers.model.arrays import Floats
from calipers.model.ground_truth import GroundTruth
from calipers.model.labels import JUDGED_BY, MACHINE, IfThere, Label, Pair, SwitchDraw
from calipers.model.run import Run
from calipers.questions.pooling import FACTS, first_results, known_grade, rows_to_label, shuffled
from calipers.statistics import switching
from calipers.statistics.switching import Verdict
from calipers.store.label_pools import PoolContent
from calipers.store.open import Store
from calipers.store.pool import LabelState, PoolSettings
from calipers.words import plural

PLACE = ("document", "start", "end")
FEWEST_TO_SHARE = 20
"""With fewer results, two runs may share none by chance."""


@dataclass(frozen=True, eq=False)
class ChangedResults:
    """The results in the first k of one run only, in the order in which questions are drawn."""

    rows: tuple[Label, ...]
    """The results to label, question after question, shuffled within each."""
    side: Floats
    """For each row 1 if the new run has it, -1 if the old one does."""
    start: tuple[int, ...]
    """The first row of each question; the last entry is the number of rows."""
    sizes: Floats
    """How far the difference of each question can be from 0."""
    known: float
    """The sum of the differences that earlier labels settle."""
    labelled_before: int
    """Results that earlier labels settle."""
    changed: int
    """Questions with a result in one run only."""
    by_place: bool
    """Whether results are the same by their place in a document, and not by id."""


def compare_first(
    runs: Mapping[str, Run],
    k: int,
    seed: int,
    truth: GroundTruth | None = None,
    rel: float | None = None,
) -> ChangedResults:
    """Find the results in which the first k of an old and a new run differ, and draw questions."""
    old, new = (_first(run, k) for run in runs.values())
    by_place = all(_has_places(one) for one in (old, new))
    sides = {-1: _without(old, new, by_place), 1: _without(new, old, by_place)}
    found: dict[str, list[tuple[Label, int]]] = {}
    for side, frame in sides.items():
        for row in frame.to_dicts():
            found.setdefault(row["query"], []).append((Label(row.pop("query"), **row), side))
    if by_place and _same_ids(*sides.values()):
        # Two chunkings number their chunks alike, so that an id does not say which one is meant.
        found = {
            query: [(replace(one, item=None), side) for one, side in some]
            for query, some in found.items()
        }
    targets = _targets(truth, list(found))
    known, before = 0.0, 0
    left: dict[str, list[tuple[Label, int]]] = {}
    for query, some in sorted(found.items()):
        for one, side in some:
            grade = known_grade(one, targets.get(query, ()))
            if grade is None:
                left.setdefault(query, []).append((one, side))
            else:
                known, before = known + side * is_relevant(grade, rel), before + 1
    queries = list(left)
    sizes = np.array(
        [max(sum(s == side for _, s in some) for side in sides) for some in left.values()], float
    )
    order = switching.draw_order(sizes, np.random.default_rng(seed))
    rows: list[Label] = []
    side_of: list[int] = []
    start = [0]
    for at in order.tolist():
        of_label = {id(one): side for one, side in left[queries[at]]}
        mixed = shuffled((one for one, _ in left[queries[at]]), seed)
        rows += mixed
        side_of += [of_label[id(one)] for one in mixed]
        start.append(len(rows))
    return ChangedResults(
        tuple(rows),
        np.array(side_of, float),
        tuple(start),
        sizes[order],
        known,
        before,
        len(found),
        by_place,
    )


def check_pair(runs: Mapping[str, Run], k: int) -> int:
    """Refuse runs that cannot be compared; returns how many questions they were asked."""
    check_number("k", k, whole=True, least=1)
    if len(runs) != 2:
        raise InvalidInput(
            f"--changed compares an old run with a new one, and {plural(len(runs), 'run')} "
            f"{'is' if len(runs) == 1 else 'are'} given; name two, the old one first."
        )
    (old, first), (new, second) = ((name, _asked(run)) for name, run in runs.items())
    others = first ^ second
    if len(others) > len(first | second) / 2:
        raise InvalidInput(
            f"{old} and {new} answer different questions: {len(others):,} of "
            f"{len(first | second):,} are in one of them only; record both for the same questions."
        )
    one, two = (_first(run, k) for run in runs.values())
    by_place = all(_has_places(frame) for frame in (one, two))
    shares = _without(one, two, by_place).height < one.height
    if not shares and min(one.height, two.height) > FEWEST_TO_SHARE:
        raise InvalidInput(
            f"{old} and {new} share no result. If they are two chunkings, record document, start "
            "and end with each result; else give both the same ids (calipers convert --map-ids)."
        )
    return len(first | second)


def is_relevant(grade: float, rel: float | None) -> bool:
    """Whether a grade counts as relevant."""
    return grade > 0.0 if rel is None else grade >= rel


def _asked(run: Run) -> set[str]:
    """The questions of a run, also those without results."""
    named = set() if run.queries is None else set(run.queries["query"])
    return named | set(run.frame["query"].unique())


def _first(run: Run, k: int) -> pl.DataFrame:
    """The first k results of each question, each once, with what identifies them as ``key``."""
    frame = first_results(run, k)
    ids = [pl.col(one) for one in ("item", "text") if one in frame.columns]
    return frame.with_columns(key=pl.coalesce(ids)).unique(
        ["query", "key"], keep="first", maintain_order=True
    )


def _has_places(frame: pl.DataFrame) -> bool:
    return all(one in frame.columns and not frame[one].null_count() for one in PLACE)


def _without(frame: pl.DataFrame, other: pl.DataFrame, by_place: bool) -> pl.DataFrame:
    """The results that the other run does not have, without ``rank`` and ``key``.

    By place, two results of a document are one if they share half of the shorter.
    """
    if not by_place:
        left = frame.join(other, on=["query", "key"], how="anti", maintain_order="left")
        return left.select("query", *(one for one in FACTS if one in frame.columns))
    here = frame.with_row_index("at")
    both = here.join(other, on=["query", "document"], suffix="_other")
    shared = pl.min_horizontal("end", "end_other") - pl.max_horizontal("start", "start_other")
    length = pl.min_horizontal(
        pl.col("end") - pl.col("start"), pl.col("end_other") - pl.col("start_other")
    )
    same = both.filter((shared > 0) & (2 * shared >= length))["at"].unique().implode()
    left = here.filter(~pl.col("at").is_in(same))
    return left.select("query", *(one for one in FACTS if one in frame.columns))


def _same_ids(old: pl.DataFrame, new: pl.DataFrame) -> bool:
    """Whether a question has one id in both, for different places."""
    if "item" not in old.columns or "item" not in new.columns:
        return False
    return bool(old.join(new, on=["query", "item"], how="semi").height)


def _targets(
    truth: GroundTruth | None, queries: Sequence[str]
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The labels given before, by question; those of a language model do not count."""
    if truth is None:
        return {}
    targets = truth.targets.filter(pl.col("query").is_in(queries))
    if JUDGED_BY in truth.tags:
        by_machine = truth.tags[JUDGED_BY].str.contains(MACHINE, literal=True).fill_null(False)
        names = truth.queries["query"].filter(by_machine)
        targets = targets.filter(~pl.col("query").is_in(names.implode()))
    return targets.rows_by_key("query", named=True)


def switch_at(
    found: ChangedResults,
    grades: Sequence[float | None],
    draw: SwitchDraw,
    k: int,
    rel: float | None = None,
    waiting: str | None = None,
    pool: str | None = None,
) -> Switch:
    """What the labels say at the last look that they reach: one grade or None for each row."""
    many = len(found.sizes)
    relevant = np.array([g is not None and is_relevant(g, rel) for g in grades], bool)
    missing = np.array([g is None for g in grades], bool)
    parts = np.array(found.start[:-1], dtype=np.int64)
    differences = np.add.reduceat(relevant * found.side, parts) if many else np.zeros(0)
    unlabelled = np.flatnonzero(np.add.reduceat(missing, parts)) if many else np.zeros(0)
    labelled = int(unlabelled[0]) if unlabelled.size else many
    looks = switching.looks_of(many)
    counted = max((one for one in looks if one <= labelled), default=None)
    difference = low = high = None
    verdict: Verdict = "open"
    if counted is not None:
        drawn = differences[:counted]
        level = switching.level_of(many, draw.confidence)
        total = switching.switch_totals(drawn, found.sizes, level)
        difference, low, high = (
            (float(one) + found.known) / draw.queries
            for one in (total.estimate, total.low, total.high)
        )
        verdict = switching.verdict_of(low, high, draw.allow)
        if verdict == "safe" and switching.many_lost(drawn):
            verdict = "small loss"
    ahead = next((one for one in looks if one > labelled), many)
    if counted is not None and low is not None and high is not None:
        ahead = switching.look_ahead(low, high, looks, counted, draw.allow)
    ahead = labelled if verdict != "open" else max(ahead, labelled)
    return Switch(
        **asdict(draw),
        k=k,
        changed=found.changed,
        labelled_before=found.labelled_before,
        drawn_from=many,
        labelled=labelled,
        looks=looks,
        counted=counted,
        difference=difference,
        low=low,
        high=high,
        verdict=verdict,
        more_queries=ahead - labelled,
        more_results=int(missing[found.start[labelled] : found.start[ahead]].sum()),
        waiting=waiting,
        pool=pool,
    )


def make_changed(
    opened: Callable[[], Store],
    name: str,
    runs: Mapping[str, Any],
    *,
    ground_truth: Any = None,
    questions: Any = None,
    corpus: Any = None,
    if_there: IfThere = "refuse",
    allow: float,
    settings: PoolSettings,
) -> int:
    """Keep a pool of what differs between an old and a new run; returns its number."""
    check_settings(settings)
    loaded = {one: load_run(value, one) for one, value in runs.items()}
    truth = None if ground_truth is None else load_ground_truth(ground_truth)
    draw = switch_draw(loaded, settings.depth, allow)
    found = compare_first(loaded, settings.depth, settings.seed, truth, settings.rel)
    if not found.rows:
        raise InvalidInput(
            f"There is nothing to judge. {switch_at(found, (), draw, settings.depth).claim.fact}"
        )
    rows = to_label(found, loaded, questions, corpus, truth)
    as_span = found.by_place and all(one.start is not None for one in rows)
    by_id = any(one.item is not None for one in rows)
    settings = replace(
        settings,
        order="plain",
        switch=draw,
        targets_as="span" if as_span else "id" if by_id else "quote",
    )
    return keep(opened(), name, rows, loaded, truth, settings, if_there)


def draft_changed(
    runs: Mapping[str, Any],
    *,
    k: int,
    seed: int,
    allow: float,
    ground_truth: Any = None,
    questions: Any = None,
    corpus: Any = None,
    grades: Mapping[Pair, float],
) -> Draft:
    """The rows of a file to label only what differs, and what the filled-in grades say."""
    loaded = {one: load_run(value, one) for one, value in runs.items()}
    truth = None if ground_truth is None else load_ground_truth(ground_truth)
    draw = switch_draw(loaded, k, allow)
    found = compare_first(loaded, k, seed, truth)
    rows = to_label(found, loaded, questions, corpus, truth)
    switch = switch_at(found, [grades.get(one.pair) for one in found.rows], draw, k)
    return Draft(
        rows=rows,
        runs=len(loaded),
        k=k,
        seed=seed,
        queries=len(found.sizes),
        silent=(),
        unknown=0,
        judged=found.labelled_before,
        without_text=sum(one.text is None for one in rows),
        switch=switch,
    )


def switch_draw(runs: Mapping[str, Run], k: int, allow: float) -> SwitchDraw:
    """What is fixed before the first label; refuses runs that cannot be compared."""
    check_number("allow", allow, least=0.0)
    queries = check_pair(runs, k)
    old, new = runs
    return SwitchDraw(old=old, new=new, queries=queries, allow=allow)


def to_label(
    found: ChangedResults,
    runs: Mapping[str, Run],
    questions: Any,
    corpus: Any,
    truth: GroundTruth | None,
) -> Sequence[Label]:
    """The rows with the texts of their questions, and those of a corpus."""
    queries = list(dict.fromkeys(one.query_id for one in found.rows))
    texts = read_asked(questions) or {}
    if questions is None and truth is not None:
        texts = dict(truth.queries.select("query", "text").drop_nulls().iter_rows())
    missing = [one for one in queries if one not in texts]
    texts = {**question_texts(list(runs.values()), missing), **texts}
    rows = rows_to_label([found.rows], texts.get)
    if corpus is not None and found.rows:
        rows = rows.like(with_corpus(rows.table, corpus))
    return rows


class SwitchWatch:
    """A pool of what differs, and what its labels say."""

    def __init__(self, content: PoolContent, draw: SwitchDraw) -> None:
        self.content, self.draw = content, draw

    @cached_property
    def _changed(self) -> ChangedResults:
        settings = self.content.settings
        runs, truth = self.content.runs, self.content.ground_truth
        return compare_first(runs, settings.depth, settings.seed, truth, settings.rel)

    def state(self, found: JudgedTruth, state: LabelState) -> Switch:
        """What the labels so far say."""
        settings = self.content.settings
        grades = [found.grades.get(one.position) for one in self.content.items]
        return switch_at(
            self._changed,
            grades,
            self.draw,
            settings.depth,
            settings.rel,
            self._waiting(grades, state),
            self.content.name,
        )

    def _waiting(self, grades: Sequence[float | None], state: LabelState) -> str | None:
        """Why the first question that is not labelled completely cannot count."""
        first = next((at for at, grade in enumerate(grades) if grade is None), None)
        if first is None:
            return None
        query = self.content.items[first].label.query_id
        for item in self.content.items[first:]:
            if item.label.query_id != query:
                break
            if grades[item.position] is None and state.labels(item.position):
                return f"Judges differ on a result of the question {query!r:.60}: settle it."
            given = state.given(item.position).values()
            if given and all(one.kind == "skip" for one in given):
                return f"A result of the question {query!r:.60} was skipped: judge it to go on."
        return None
