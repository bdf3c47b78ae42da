"""What an operation is handed: a matched pair, files and values, or what the history kept."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from calipers.api.keywords import Reading, Where
from calipers.errors import InvalidInput
from calipers.io.load import load_pair
from calipers.io.results import is_result
from calipers.io.source import Progress
from calipers.match.pair import check_matching, match_pair
from calipers.model.gate import Baseline
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Matched
from calipers.model.policy import Policy
from calipers.model.run import Run
from calipers.model.scores import Scores

GIVEN = "baseline"
"""What scores that were handed over are called."""
POLICIES = ("missing", "unanswerable", "duplicates", "unknown", "errors", "ties")
NOT_ABOUT_MATCHING = ("store", "progress", "fingerprints")


def matched(data: Any = None, *, keep: bool = False, **reading: Unpack[Reading]) -> Matched:
    """The pair that is given, or one that is read and matched now.

    With ``keep`` the run stays in memory, so that no further question reads its file again.
    """
    if isinstance(data, Matched):
        _refuse_beside_pair(data, reading)
        return data
    match, level, rel = reading.get("match"), reading.get("level"), reading.get("rel")
    corpus_size, like = reading.get("corpus_size"), reading.get("like")
    policy = Policy.like(like) if like else Policy()
    policy = policy.with_changes(**{name: reading.get(name) for name in POLICIES})
    check_matching(match, level, rel, corpus_size)
    truth, run = read_pair(
        data, reading.get("ground_truth"), reading.get("run"),
        reading.get("progress"), reading.get("store"),
    )  # fmt: skip
    return match_pair(
        truth, run.kept() if keep else run, policy=policy, match=match, level=level, rel=rel,
        corpus_size=corpus_size, fingerprints=reading.get("fingerprints", True),
    )  # fmt: skip


def _refuse_beside_pair(pair: Matched, reading: Mapping[str, Any]) -> None:
    for name, value in reading.items():
        if value is None or name in NOT_ABOUT_MATCHING or (name, value) == ("rel", pair.rel):
            continue
        raise InvalidInput(
            f"A matched pair is given together with {name}={value!r}; how it is read and matched "
            f"was decided when it was made, so give {name} to calipers.read."
        )


def read_pair(
    data: Any,
    ground_truth: Any,
    run: Any,
    progress: Progress | None = None,
    store: Where = None,
) -> tuple[GroundTruth, Run]:
    """The ground truth and the run, from files and values or from what the history kept."""
    return load_pair(_kept(data, store), ground_truth, _kept(run, store), progress)


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


def measured_before(value: Any, store: Where = None) -> Baseline | None:
    """A result with its name and date, from scores, a result file or a reference such as @main.

    None for anything else: a run, a file of records. Every operation that takes results asks
    here, so that all of them take the same.
    """
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


def is_result_file(value: Any) -> bool:
    """Whether a value is the path of a result that was measured before."""
    return (
        isinstance(value, str | os.PathLike) and Path(value).is_file() and is_result(Path(value))
    )


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
