"""The inputs of an operation: a pair, files, values, saved evaluations or a live retriever."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl

from calipers.errors import CalipersError, InvalidInput, SealedQueries, check_number
from calipers.io.files.spill import SHARE_TO_HOLD, memory_in_bytes
from calipers.io.load import load, load_pair, load_run
from calipers.io.records.gather import MemoryBudget
from calipers.io.tables.columns import Columns
from calipers.match.pair import match_again, match_pair
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched
from calipers.model.matching import Matching
from calipers.model.run import MOST_KEPT, Run, Scan
from calipers.model.slicing import queries_where
from calipers.operation import arguments_of, is_given, to_record
from calipers.questions.reading import ASKING, DEPTH, Inputs, MatchingSettings, Reading, Where


def matched(
    data: Any = None,
    reading: Reading | None = None,
    *,
    keep: bool = False,
    again: bool = False,
    looks: int = DEPTH,
) -> Matched:
    """Return the given pair, or read and match one.

    ``keep`` holds the run in memory, so that its file is no longer needed. ``again``: the caller
    reads the results again, so a small run stays in memory. ``looks`` is the number of results
    to ask a live retriever for.
    """
    reading = reading or {}
    if isinstance(data, Matched):
        _refuse_beside_pair(data, reading)
        return data
    truth, run, matching = as_read(data, reading, looks)
    return match_pair(
        truth,
        run.kept(None) if keep else run.kept(few_bytes(reading.get("memory"))) if again else run,
        matching,
        fingerprints=reading.get("fingerprints", True),
    )


def as_read(data: Any, reading: Reading, looks: int = DEPTH) -> tuple[GroundTruth, Run, Matching]:
    """Read the ground truth and the run, and return them with the matching settings."""
    if isinstance(data, Matched):
        _refuse_beside_pair(data, reading)
        return *data.as_read, data.asked_again
    matching = Matching.of(reading, to_record(reading, Reading))
    together = bring_together(reading.get("memory"))
    named, weighed = reading.get("columns"), cast(dict[str, Any], reading).get("weight_by")
    columns = None if named is None and weighed is None else Columns.of(named).with_tag(weighed)
    if any(reading.get(name) is not None for name in ASKING if name != "watch"):
        data, reading = _with_answers(data, reading, columns, looks)
    truth, run = read_pair(
        data,
        reading.get("ground_truth"),
        reading.get("run"),
        reading.get("store"),
        columns,
        _room(reading),
    )
    if reading.get("like") == "trec_eval" and not _asks_for_subtopics(reading):
        from calipers.io.formats.trec import without_subtopics

        truth = without_subtopics(truth)
    run = _within(run, together)
    where, least = reading.get("where"), reading.get("min_score")
    if where or least is not None:
        # Check the ids over everything: what is left may all be wrong.
        match_pair(truth, run, matching, fingerprints=False)
        lenient = replace(matching.policy, nothing_in_common="zero")
        matching = replace(matching, policy=lenient)
    if where:
        truth, run = only_where(truth, run, where)
    if least is not None:
        run = only_above(run, least)
    if columns is not None and not isinstance(named, Columns):
        columns.check_used()
    return truth, run, matching


def only_where(truth: GroundTruth, run: Run, where: Mapping[str, str]) -> tuple[GroundTruth, Run]:
    """Restrict the ground truth and the run to queries with these tags."""
    counts = np.bincount(truth.target_query, truth.targets["grade"] > 0, truth.queries.height)
    known = truth.queries.with_columns(pl.Series("targets", counts.astype(np.int64)))
    chosen = queries_where(known, truth.tags, where)
    others = truth.queries["query"].filter(~chosen).implode()

    def kept(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(~pl.col("query").is_in(others))

    def within(run: Run) -> Run:
        return replace(
            run,
            scan=lambda: map(kept, run.scan()),
            queries=None if run.queries is None else kept(run.queries),
            stages={name: within(stage) for name, stage in run.stages.items()},
        )

    return truth.only(chosen), within(run)


def only_above(run: Run, least: float) -> Run:
    """The run without results of a lower score; a query that loses all of them stays in it."""
    check_number("The lowest score to keep", least, such_as=0.5)
    asked, rises, falls = [], 0, 0
    for frame in run.scan():
        if "score" not in frame.columns or frame["score"].null_count():
            raise InvalidInput(
                "--min-score leaves out results by their score, and not every result has one; give "
                "every result a 'score'."
            )
        asked.append(frame["query"].unique(maintain_order=True))
        if run.order != "score":
            ordered = frame if run.order == "listed" else frame.sort("query", "rank")
            steps = ordered["score"].diff().filter(ordered["query"] == ordered["query"].shift())
            rises, falls = rises + int((steps > 0).sum()), falls + int((steps < 0).sum())
    check_direction(rises, falls)
    names = (
        pl.concat(asked).unique(maintain_order=True) if asked else pl.Series([], dtype=pl.String)
    )
    return replace(
        run,
        scan=lambda: (frame.filter(pl.col("score") >= least) for frame in run.scan()),
        queries=names.alias("query").to_frame() if run.queries is None else run.queries,
    )


def check_direction(rises: int, falls: int) -> None:
    """Raise if scores rise down the ranking: they are distances, where less is better."""
    if rises > falls:
        raise InvalidInput(
            "The scores rise down the ranking, so they look like distances, of which less is "
            "better; a floor needs scores of which more is better. Give them with a minus sign."
        )


def _asks_for_subtopics(reading: Mapping[str, Any]) -> bool:
    """Whether a metric needs subtopics, which trec_eval does not support."""
    return any(
        word in str(reading.get("metrics")) for word in ("alpha", "subtopic", "st_rec", "strec")
    )


def run_within(value: Any, name: str | None, columns: Columns, memory: str | int | None) -> Run:
    """Load a run without a ground truth."""
    together = bring_together(memory)
    return _within(load_run(value, name, columns, MemoryBudget(memory)), together)


def _within(run: Run, together: Callable[[Scan], Scan]) -> Run:
    return run if run.in_memory else replace(run, together=together)


def bring_together(memory: str | int | None) -> Callable[[Scan], Scan]:
    """Return a function that groups rows by query; the size is checked now."""
    if memory is not None:
        from calipers.engines.shards import Shards

        return Shards(memory)

    def when_needed(scan: Scan) -> Scan:
        # Most runs are grouped already and never load this.
        from calipers.engines.shards import Shards

        return Shards()(scan)

    return when_needed


def few_bytes(memory: str | int | None) -> int:
    """The largest run, in bytes, that stays in memory between two questions."""
    if memory is None:
        return MOST_KEPT
    return min(MOST_KEPT, memory_in_bytes(memory) // SHARE_TO_HOLD)


def _room(reading: MatchingSettings) -> MemoryBudget:
    """The memory and disk budget for results."""
    return MemoryBudget(reading.get("memory"))


def like_of(data: Any, reading: Reading) -> str | None:
    """The tool whose numbers are to be reproduced."""
    return data.asked.like if isinstance(data, Matched) else reading.get("like")


def matched_like(pair: Matched, other: Any, reading: Reading) -> Matched:
    """Match another run of the same queries like ``pair``; it may have its own ground truth."""
    if isinstance(other, Matched):
        return other
    columns = Columns.of(reading.get("columns"))
    given = plain_run(kept_before(other, reading.get("store")))
    found = load(given, "run", columns, _room(reading))
    if reading.get("ground_truth") is not None or found.ground_truth is None:
        return match_again(pair, load_pair(found, pair.ground_truth, None)[1])
    return matched(found, cast(Reading, without_inputs(reading)))


def judged_by(pair: Matched, truth: GroundTruth) -> Matched:
    """Match the same run with another ground truth for some of its queries."""
    asked = pair.asked_again
    policy = replace(asked.policy, unknown="ignore")
    return match_pair(truth, pair.as_read[1], replace(asked, policy=policy))


def _refuse_beside_pair(pair: Matched, reading: Reading) -> None:
    declared = arguments_of(Reading)
    for name, value in reading.items():
        one = declared.get(name)
        if one is None or not is_given(one, value) or (name, value) == ("rel", pair.rel):
            continue
        if one.setting is not None and one.setting.changes_nothing:
            continue
        raise InvalidInput(
            f"A matched pair is given together with {name}={value!r}; how it is read and matched "
            f"was decided when it was made, so give {name} to calipers.read."
        )


def plain_run(run: Any) -> Any:
    """The run in a mapping of scores by item, quickly; any other value unchanged."""
    from calipers.io.load import scores_by_item

    found = scores_by_item(run)
    return run if found is None else found


def without_inputs(reading: Reading) -> MatchingSettings:
    """The matching settings without the inputs."""
    how = {name: value for name, value in reading.items() if name not in Inputs.__annotations__}
    return cast(MatchingSettings, how)


def read_pair(
    data: Any,
    ground_truth: Any,
    run: Any,
    store: Where = None,
    columns: Columns | None = None,
    room: MemoryBudget | None = None,
) -> tuple[GroundTruth, Run]:
    """Read the ground truth and the run from files, values or the history."""
    data, run = kept_before(data, store), plain_run(kept_before(run, store))
    if run is None and (ground_truth is not None or isinstance(data, list | tuple)):
        data = plain_run(data)
    return load_pair(data, ground_truth, run, columns, room)


def kept_before(value: Any, store: Where) -> Any:
    """Resolve a reference to the inputs of its saved evaluation; return other values unchanged."""
    if not is_reference(value):
        return value
    from calipers.store.listing import resolve
    from calipers.store.load import load_retrieved
    from calipers.store.open import open_store

    opened = open_store(store)
    return load_retrieved(opened, resolve(opened, value))


def is_reference(value: Any) -> bool:
    """Whether a value is a reference to the history; write a file of that name as ./@file."""
    return isinstance(value, str) and value.startswith("@")


def below(k: Any) -> int:
    """The number of results to ask for when ranks below k matter too.

    >>> below(None), below(50)
    (20, 100)
    """
    return max(DEPTH, 2 * k) if isinstance(k, int) else DEPTH


def _with_answers(
    data: Any, reading: Reading, columns: Columns | None, looks: int
) -> tuple[Any, Reading]:
    """The inputs to read; the run is a live retriever's answers if one is given.

    ``looks`` is the number of results to ask for unless the settings say.
    """
    how = {name: value for name, value in reading.items() if name not in ASKING}
    if reading.get("retriever") is None:
        return data, cast(Reading, how)
    given = [one for one in (data, reading.get("ground_truth")) if one is not None]
    if len(given) != 1:
        raise InvalidInput(
            f"With --retriever (retriever= in Python) one file is needed, the questions with "
            f"their ground truth; {len(given) or 'none'} {'are' if given else 'is'} given."
        )
    # Imported here so that measuring files does not load the code for live retrievers.
    from calipers.live.retrieve import retrieve_to_run

    # Read before anything is asked: what cannot be measured, or is sealed, is not asked.
    questions = load(given[0], "ground_truth", columns)
    how |= {"ground_truth": questions}
    how["run"] = retrieve_to_run(
        reading["retriever"],
        questions.ground_truth or given[0],
        k=reading.get("ask_for") or looks,
        workers=reading.get("workers"),
        watch=reading.get("watch"),
    )
    return None, cast(Reading, how)


def refuse_sealed(questions: Any, columns: Any = None) -> None:
    """Raise on sealed queries before anything is asked; other errors are raised later."""
    if not isinstance(questions, str | PathLike):
        return
    if not Path(questions).is_file() and not Path(questions).is_dir():
        return
    try:
        load(questions, "ground_truth", Columns.of(columns))
    except SealedQueries:
        raise
    except CalipersError:
        return
