"""Run a grid of retrievers, score all, compare all."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from calipers.api.compare import compare
from calipers.api.evaluate import choose_metrics
from calipers.config import Config, find_config, read_config
from calipers.errors import CalipersError, InvalidInput, RetrieverFailed, WriteFailed
from calipers.model.comparison import Comparison
from calipers.retrievers.base import Question
from calipers.retrievers.grid import (
    Combination,
    Plan,
    Workshop,
    check_functions,
    read_plan,
    with_baseline,
)
from calipers.retrievers.journal import Meta, meta_path
from calipers.retrievers.questions import fingerprint, read_questions
from calipers.retrievers.retrieve import retrieve_to_report

DEPTH = 20
MEASURES = (
    "metrics", "k", "rel", "match", "level", "seed", "like",
    "missing", "unanswerable", "duplicates", "unknown", "errors", "ties",
)  # fmt: skip

Watch = Callable[[Combination], AbstractContextManager[tuple[Any, Any]]]
"""Told of each combination before it is asked; gives the callbacks for its progress."""


@dataclass(frozen=True, eq=False)
class Planned:
    """What a grid would do, and how much of it is done."""

    combinations: tuple[Combination, ...]
    done: tuple[int, ...]
    """Questions that are finished already, for each combination."""
    questions: int

    def to_dict(self) -> dict[str, Any]:
        """What ``--dry-run --json`` prints."""
        return {
            "questions": self.questions,
            "combinations": [
                {**one.to_dict(), "done": done}
                for one, done in zip(self.combinations, self.done, strict=True)
            ],
        }


@dataclass(frozen=True, eq=False)
class Grid:
    """Every combination that ran, held against the baseline."""

    combinations: tuple[Combination, ...]
    reports: Mapping[str, Mapping[str, Any]]
    """How each went, by name; see ``retrieve``."""
    failures: Mapping[str, str]
    """Combinations that could not be run, and why; they are not in the comparison."""
    comparison: Comparison

    def to_dict(self, *, examples: int = 5) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {
            "combinations": [
                {**one.to_dict(), "report": self.reports.get(one.name)} for one in self.combinations
            ],
            "failures": dict(self.failures),
            "comparison": self.comparison.to_dict(examples=examples),
        }


def plan_grid(config: str | os.PathLike[str] | None = None) -> Planned:
    """The combinations of a grid file; nothing is asked, but every function is looked for."""
    _, plan, questions, _ = _read(config, None)
    print_of_questions = fingerprint(questions)
    done = tuple(_done(one, print_of_questions) for one in plan.combinations)
    return Planned(plan.combinations, done, len(questions))


def grid(
    config: str | os.PathLike[str] | None = None,
    *,
    baseline: str | None = None,
    metrics: Any = None,
    restart: bool = False,
    retry_errors: bool = False,
    anyway: bool = False,
    watch: Watch | None = None,
) -> Grid:
    """Ask every combination of a grid file every question, and compare them all.

    ``config`` is a calipers.toml (or pyproject.toml) with a table ``[grid]``; without it the one
    of the working folder is taken. Each combination has a run file of its own: a grid that was
    interrupted goes on where it stopped, and what is finished is neither built nor asked again.
    ``restart`` begins again, ``retry_errors`` asks again what failed. ``baseline`` and
    ``metrics`` go before those of the file. A combination that fails is reported, and the
    others go on.
    """
    found, plan, questions, measures = _read(config, baseline)
    if metrics is not None:
        measures["metrics"] = metrics
        choose_metrics(metrics, measures.get("k"))
    try:
        plan.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteFailed(
            f"The folder {plan.output} cannot be made: {error.strerror}; name another output in "
            "[grid]."
        ) from error
    reports: dict[str, Mapping[str, Any]] = {}
    failures: dict[str, str] = {}
    workshop = Workshop(plan.folder)
    for one in plan.combinations:
        try:
            reports[one.name] = _run(
                one, plan, workshop, questions, watch, restart=restart, retry_errors=retry_errors
            )
        except (RetrieverFailed, _CannotBeMade) as error:
            failures[one.name] = str(error)
    first = plan.baseline or plan.combinations[0].name
    if first in failures or len(reports) < 2:
        raise RetrieverFailed(_nothing_to_compare(first, failures))
    comparison = compare(
        {one.name: one.output for one in plan.combinations if one.name in reports},
        _ground_truth(found, plan), baseline=first, anyway=anyway, **measures,
    )  # fmt: skip
    return Grid(plan.combinations, reports, failures, comparison)


class _CannotBeMade(CalipersError):
    """A factory that raised; the other combinations go on."""


def _read(
    config: str | os.PathLike[str] | None, baseline: str | None
) -> tuple[Config, Plan, tuple[Question, ...], dict[str, Any]]:
    found = find_config() if config is None else read_config(Path(config))
    if found.path is None:
        raise InvalidInput(
            "There is no calipers.toml here or in a folder above; write one with a table [grid], "
            "or name the file."
        )
    measures = {name: found.shared[name] for name in MEASURES if name in found.shared}
    if "score" in found.shared:
        measures["weights"] = found.shared["score"]
    plan = read_plan(found.grid, found.path, _depth(measures))
    plan = with_baseline(plan, baseline)
    check_functions(plan)
    questions = read_questions(plan.questions or _ground_truth(found, plan))
    return found, plan, questions, measures


def _depth(measures: Mapping[str, Any]) -> int:
    """As deep as the metrics look."""
    chosen = choose_metrics(
        measures.get("metrics"), measures.get("k"), measures.get("rel"), measures.get("weights")
    )
    return max([DEPTH, *(metric.k for metric in chosen if metric.k is not None)])


def _ground_truth(found: Config, plan: Plan) -> str:
    for name in ("ground-truth", "data"):
        if name in found.shared:
            return str(found.shared[name])
    raise InvalidInput(
        f'{plan.path} names no ground truth; write ground-truth = "questions.jsonl" above [grid].'
    )


def _run(
    one: Combination, plan: Plan, workshop: Workshop, questions: tuple[Question, ...],
    watch: Watch | None, *, restart: bool, retry_errors: bool,
) -> Mapping[str, Any]:  # fmt: skip
    settings = {**one.settings, "k": one.k, "questions": fingerprint(questions)}
    before = None if restart else _finished(one, settings)
    if before is not None and not (retry_errors and before.get("failed")):
        return before
    # Without callbacks where nobody watches.
    with watch(one) if watch is not None else nullcontext((None, None)) as (total, progress):
        try:
            retriever = workshop.build(one)
        except InvalidInput as error:
            raise _CannotBeMade(str(error)) from error
        return retrieve_to_report(
            retriever, list(questions), k=one.k, output=one.output, restart=restart,
            retry_errors=retry_errors, total=total, progress=progress, **plan.pace,
        ).to_dict()  # fmt: skip


def _meta(one: Combination) -> Meta | None:
    try:
        return msgspec.json.decode(meta_path(one.output).read_bytes(), type=Meta)
    except (OSError, msgspec.DecodeError):
        return None


def _finished(one: Combination, settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The report of a combination that is complete, so that its index need not be built again."""
    meta = _meta(one)
    if meta is None or not meta.complete or meta.settings != settings or not one.output.is_file():
        return None
    return meta.report


def _done(one: Combination, questions: str) -> int:
    meta = _meta(one)
    settings = {**one.settings, "k": one.k, "questions": questions}
    if meta is None or meta.settings != settings or not one.output.is_file():
        return 0
    with one.output.open("rb") as file:
        return sum(line.endswith(b"\n") for line in file)


def _nothing_to_compare(first: str, failures: Mapping[str, str]) -> str:
    name = first if first in failures else next(iter(failures))
    what = "The baseline" if first in failures else "Nothing is left to compare: the combination"
    return f"{what} {name!r} could not be run. {failures[name]}"
