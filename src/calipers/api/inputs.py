"""What an operation is handed: a matched pair, files and values, or what the history kept."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from calipers.analyse.scoring import deepest
from calipers.api.keywords import ASKING, DEPTH, Matching, Reading, Where
from calipers.errors import InvalidInput, NoCommonIds
from calipers.io.columns import Columns
from calipers.io.load import load, load_pair
from calipers.io.source import Progress
from calipers.match.pair import check_matching, match_again, match_pair
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched
from calipers.model.policy import CHOICES, Policy
from calipers.model.run import Run, Scan
from calipers.model.scores import Scores

if TYPE_CHECKING:
    from calipers.measures import Metric
    from calipers.model.gate import Baseline

GIVEN = "baseline"
"""What scores that were handed over are called."""
INPUTS = ("ground_truth", "run", *ASKING)
POLICIES = tuple(CHOICES)
NOT_ABOUT_MATCHING = ("store", "progress", "fingerprints", "watch", "memory", "temp")


def matched(
    data: Any = None, *, keep: bool = False, looks: int = DEPTH, **reading: Unpack[Reading]
) -> Matched:
    """The pair that is given, or one that is read and matched now.

    With ``keep`` the run stays in memory, so that no further question reads its file again. A
    live retriever is asked for as many results as the caller ``looks`` at.
    """
    if isinstance(data, Matched):
        _refuse_beside_pair(data, reading)
        return data
    truth, run, matching = as_read(data, reading, looks)
    return match_pair(
        truth, run.kept() if keep else run, level=reading.get("level"),
        fingerprints=reading.get("fingerprints", True), **matching,
    )  # fmt: skip


def as_read(
    data: Any, reading: Reading, looks: int = DEPTH
) -> tuple[GroundTruth, Run, dict[str, Any]]:
    """Both sides, not matched yet, and the arguments of ``match_pair`` but for the level."""
    if isinstance(data, Matched):
        _refuse_beside_pair(data, reading)
        asked = replace(data.policy, ties=data.ties_asked)
        size = data.settings["corpus_size"]
        matching = {"match": data.match_asked, "policy": asked, "rel": data.rel}
        mapped = data.settings.get("map_ids")
        return *data.as_read, {
            **matching, "corpus_size": size, "like": data.like, "map_ids": mapped,
        }  # fmt: skip
    like, rel, size = reading.get("like"), reading.get("rel"), reading.get("corpus_size")
    policy = Policy.like(like) if like else Policy()
    policy = policy.with_changes(**{name: reading.get(name) for name in POLICIES})
    check_matching(reading.get("match"), reading.get("level"), rel, size)
    together = _bring_together(reading.get("memory"), reading.get("temp"))
    columns, mapped = Columns.of(reading.get("columns")), reading.get("map_ids")
    if mapped is not None:
        from calipers.match.map_ids import parse_id_map

        parse_id_map(mapped)
    if any(reading.get(name) is not None for name in ASKING if name != "watch"):
        # Loaded when used: who measures files need not wait for what asks retrievers.
        from calipers.api.asking import with_answers

        data, reading = with_answers(data, reading, looks)
    truth, run = read_pair(
        data, reading.get("ground_truth"), reading.get("run"),
        reading.get("progress"), reading.get("store"), columns,
    )  # fmt: skip
    if not run.in_memory:
        run = replace(run, together=together)
    if columns is not reading.get("columns"):
        columns.check_used()
    matching = {"match": reading.get("match"), "policy": policy, "rel": rel, "map_ids": mapped}
    return truth, run, {**matching, "corpus_size": size, "like": like}


def _bring_together(
    memory: str | int | None, temp: str | os.PathLike[str] | None
) -> Callable[[Scan], Scan]:
    """How rows that mix queries are brought together; what was asked for is checked now."""
    if memory is not None or temp is not None:
        from calipers.engines.shards import Shards

        return Shards(memory, temp)

    def when_needed(scan: Scan) -> Scan:
        # Most runs need none of it.
        from calipers.engines.shards import Shards

        return Shards()(scan)

    return when_needed


def like_of(data: Any, reading: Reading) -> str | None:
    """The tool whose numbers are asked for."""
    return data.like if isinstance(data, Matched) else reading.get("like")


def matched_like(pair: Matched, other: Any, reading: Reading) -> Matched:
    """Another run of the same queries, matched as ``pair`` was; it may bring its ground truth."""
    if isinstance(other, Matched):
        return other
    columns = Columns.of(reading.get("columns"))
    found = load(_plain(_kept(other, reading.get("store"))), "run", None, columns)
    if reading.get("ground_truth") is not None or found.ground_truth is None:
        return match_again(pair, load_pair(found, pair.ground_truth, None)[1])
    return matched(found, **without_inputs(reading))


def _refuse_beside_pair(pair: Matched, reading: Reading) -> None:
    for name, value in reading.items():
        if value is None or name in NOT_ABOUT_MATCHING or (name, value) == ("rel", pair.rel):
            continue
        if name == "columns" and not Columns.of(value).named:
            continue
        raise InvalidInput(
            f"A matched pair is given together with {name}={value!r}; how it is read and matched "
            f"was decided when it was made, so give {name} to calipers.read."
        )


def matched_systems(
    systems: Mapping[str, Any], ground_truth: Any, matching: Matching, *, measured: bool
) -> dict[str, Matched]:
    """Every system that is a run, matched; the ground truth they share is read once.

    ``measured`` says that other systems beside these are results that were measured before.
    """
    if ground_truth is not None and not systems and measured:
        raise InvalidInput(
            "A ground truth is given, and every system is a result that was measured already; "
            "leave the ground truth out, or give the runs themselves."
        )
    columns = Columns.of(matching.get("columns"))
    truth = None if ground_truth is None else load(ground_truth, "ground_truth", None, columns)
    matching = {**matching, "columns": columns if columns.named else None}
    found = {}
    for name, value in systems.items():
        try:
            found[name] = matched(value, **_with_truth(value, truth, matching))
        except NoCommonIds as error:
            raise NoCommonIds(f"{name} cannot be measured. {error}") from None
    if systems:
        columns.check_used()
    return found


def with_retrievers(
    systems: Mapping[str, Any], retrievers: Mapping[str, Any] | None, questions: Any,
    metrics: Sequence["Metric"], asking: Mapping[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """The systems, and the run of each retriever, asked as deep as the metrics look."""
    for name in retrievers or {}:
        if name in systems:
            raise InvalidInput(f"Two systems are called {name!r}; give each a name of its own.")
    if not retrievers:
        return dict(systems)
    from calipers.api.asking import answers_of

    return {**systems, **answers_of(retrievers, questions, asking, deepest(metrics))}


def _with_truth(value: Any, truth: Any, matching: Matching) -> Reading:
    """The keywords to read one of several systems by; a pair brings its own ground truth."""
    own = {} if truth is None or isinstance(value, Matched) else {"ground_truth": truth}
    return cast(Reading, {**matching, **own})


def matched_to_report(
    data: Any, systems: Mapping[str, Any] | Sequence[Any] | None, name: str | None,
    reading: Reading, *, looks: int = DEPTH,
) -> dict[str, Matched]:  # fmt: skip
    """Every retriever that a report describes, matched, by the name that the page gives it."""
    run = reading.get("run")
    if systems is None:
        live = reading.get("retriever")
        given = live if live is not None else run if run is not None else data
        return {name or _name_of(given): matched(data, keep=True, looks=looks, **reading)}
    if data is not None or run is not None:
        raise InvalidInput(
            "Both systems and a run are given; give all retrievers as systems, or one as a run."
        )
    truth = reading.get("ground_truth")
    columns = Columns.of(reading.get("columns"))
    loaded = None if truth is None else load(truth, "ground_truth", None, columns)
    reading = {**reading, "columns": columns if columns.named else None}
    found = {}
    for one, value in name_systems(systems).items():
        if isinstance(value, Scores) or is_result_file(value):
            is_file = isinstance(value, str | os.PathLike)
            raise InvalidInput(
                f"{value if is_file else 'One of the systems'} is a result that was measured "
                "before, without its rankings; a report shows rankings, so give the run itself."
            )
        keywords = _with_truth(value, loaded, without_inputs(reading))
        found[one] = matched(value, keep=True, **keywords)
    return found


def _plain(run: Any) -> Any:
    """A run that was handed over, read by the rule for the answers of a retriever."""
    if not isinstance(run, Mapping | list | tuple):
        return run
    from calipers.retrievers.handed import with_plain_answers

    return with_plain_answers(run)


def named_run(value: Any, name: str, store: Where) -> Run:
    """A run with a name: its file, or what the caller calls it."""
    if isinstance(value, Matched):
        return value.run
    found = load(_plain(_kept(value, store)), "run").run
    if found is None:
        raise InvalidInput(
            f"{value if isinstance(value, str | os.PathLike) else name} holds no results; give "
            "what a retriever returned, such as a file of `calipers retrieve`."
        )
    return replace(found, name=str(value) if isinstance(value, str | os.PathLike) else name)


def without_inputs(reading: Reading) -> Matching:
    """The keywords that say how to match, without those that say what."""
    how = {name: value for name, value in reading.items() if name not in INPUTS}
    return cast(Matching, how)


def _name_of(value: Any) -> str:
    """What to call a retriever: its file, without the ending."""
    if isinstance(value, Matched):
        value = value.run
    if isinstance(value, str | os.PathLike):
        return Path(value).name.split(".")[0] or "the retriever"
    named = getattr(value, "name", None) or getattr(value, "__name__", None)
    return Path(named).name.split(".")[0] if isinstance(named, str) else "the retriever"


def read_pair(
    data: Any,
    ground_truth: Any,
    run: Any,
    progress: Progress | None = None,
    store: Where = None,
    columns: Columns | None = None,
) -> tuple[GroundTruth, Run]:
    """The ground truth and the run, from files and values or from what the history kept."""
    data, run = _kept(data, store), _plain(_kept(run, store))
    if run is None and (ground_truth is not None or isinstance(data, list | tuple)):
        data = _plain(data)
    return load_pair(data, ground_truth, run, progress, columns)


def _kept(value: Any, store: Where) -> Any:
    """What a saved evaluation was made from, for a reference; anything else as it is."""
    if not is_reference(value):
        return value
    from calipers.store.load import load_retrieved
    from calipers.store.open import open_store
    from calipers.store.references import resolve

    opened = open_store(store)
    return load_retrieved(opened, resolve(opened, value))


def is_reference(value: Any) -> bool:
    """Whether a value names an evaluation of the history; a file can be written as ./@file."""
    return isinstance(value, str) and value.startswith("@")


def measured_before(value: Any, store: Where = None) -> "Baseline | None":
    """A result with its name and date, from scores, a result file or a reference such as @main.

    None for anything else: a run, a file of records. Every operation that takes results asks
    here, so that all of them take the same.
    """
    from calipers.model.gate import Baseline

    if isinstance(value, Baseline):
        return value
    if isinstance(value, Scores):
        return Baseline(value, GIVEN, None)
    if is_reference(value):
        from calipers.store.load import load_scores
        from calipers.store.open import open_store
        from calipers.store.references import resolve

        opened = open_store(store)
        evaluation = resolve(opened, value)
        return Baseline(load_scores(opened, evaluation), value, evaluation.saved)
    if is_result_file(value):
        from calipers.io.baselines import read_baseline

        return read_baseline(Path(value))
    return None


def scores_of(value: Any, store: Where = None) -> Scores:
    """The scores that a value is, or that it names."""
    found = measured_before(value, store)
    if found is None:
        raise InvalidInput(
            f"{value if isinstance(value, str | os.PathLike) else type(value).__name__} holds no "
            "scores; give what calipers.evaluate returned, or a file that `calipers eval` wrote "
            "with --json or with --per-query scores.parquet."
        )
    return found.scores


def measured_already(data: Any, reading: Reading) -> Scores | None:
    """The scores that are given in place of something to measure; None where there are none."""
    found = measured_before(data, reading.get("store"))
    if found is None:
        return None
    if any(reading.get(name) is not None for name in ("ground_truth", "run", "retriever")):
        raise InvalidInput(
            "A result that was measured already is given together with a ground truth, a run or "
            "a retriever; give one or the other."
        )
    return found.scores


def baseline_of(value: Any, store: Where) -> "Baseline | None":
    """The baseline that a value stands for; what is no result gets its sentence from the reader."""
    if value is None:
        return None
    from calipers.io.baselines import read_baseline

    return measured_before(value, store) or read_baseline(value)


def is_result_file(value: Any) -> bool:
    """Whether a value is the path of a result that was measured before."""
    from calipers.io.results import is_result
    from calipers.io.score_tables import is_score_table

    if not isinstance(value, str | os.PathLike):
        return False
    path = Path(value)
    return is_score_table(path) or (path.is_file() and is_result(path))


def name_systems(systems: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    """Every system by a name of its own; paths are named for their files.

    >>> name_systems(["runs/bm25.jsonl", "runs/dense.jsonl.gz"])
    {'bm25': 'runs/bm25.jsonl', 'dense': 'runs/dense.jsonl.gz'}
    >>> list(name_systems(["runs/test.1", "runs/test.2"]))
    ['test.1', 'test.2']
    >>> list(name_systems(["old/run.txt", "new/run.txt"]))
    ['old/run.txt', 'new/run.txt']
    """
    if isinstance(systems, Mapping):
        return {str(name): value for name, value in systems.items()}
    paths: list[str] = []
    for value in systems:
        if not isinstance(value, str | os.PathLike):
            raise InvalidInput(
                f"A system is given as a {type(value).__name__} without a name; give a mapping of "
                "names to systems, or a list of paths."
            )
        paths.append(os.fspath(value))
    for path in paths:
        if paths.count(path) > 1:
            raise InvalidInput(f"The file {path} is given twice; compare two different ones.")
    names = [path if is_reference(path) else Path(path).name for path in paths]
    stems = [name if is_reference(name) else name.split(".")[0] or name for name in names]
    shortest = next(level for level in (stems, names, paths) if len(set(level)) == len(paths))
    return dict(zip(shortest, paths, strict=True))
