"""Run a grid: ask every combination every question that is not answered yet."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from calipers.errors import InvalidInput, RetrieverFailed, WriteFailed
from calipers.live.adapters.base import Retriever, Secrets, without_secrets
from calipers.live.adapters.recognise import KINDS, as_retriever, load_target, put_first
from calipers.live.code import code_of
from calipers.live.questions import Questions
from calipers.live.retrieve import retrieve_to_report
from calipers.live.run_file import Meta, read_meta
from calipers.model.matched import Matched
from calipers.model.slicing import clusters_of
from calipers.questions.compare.result import Comparison
from calipers.questions.compare.settings import compare
from calipers.questions.expected_gain import ExpectedGain
from calipers.questions.grid.file import Plan
from calipers.questions.grid.result import Combination, Grid
from calipers.questions.inputs import refuse_sealed
from calipers.questions.reading import MatchingSettings
from calipers.questions.systems import matched_systems
from calipers.questions.tokens import may_have_tokens, tokens_shown
from calipers.statistics.clusters import exact_mean
from calipers.statistics.winner import WinnerGain, winner_gain

MATCHING = frozenset(MatchingSettings.__annotations__)
"""The keywords for matching runs."""


def run_grid(plan: Plan, settings: Mapping[str, Any]) -> Grid:
    """Run every combination, and compare the results."""
    truth = plan.ground_truth
    refuse_sealed(truth, plan.measures.get("columns"))
    reports, failures = _retrieved(plan, settings)
    runs = {one.name: one.output for one in plan.combinations if one.name in reports}
    matching = {name: plan.measures[name] for name in plan.measures if name in MATCHING}
    pairs = matched_systems(runs, truth, cast("MatchingSettings", matching))
    rest = {name: value for name, value in plan.measures.items() if name not in MATCHING}
    comparison = compare(pairs, baseline=plan.baseline, anyway=settings["anyway"], **rest)
    gain = _best_of(comparison, pairs, rest.get("cluster"))
    return Grid(
        plan.combinations,
        reports,
        failures,
        comparison,
        None if gain is None else comparison.systems[gain.winner],
        None if gain is None else ExpectedGain.of(gain),
        tokens_per_query(comparison, pairs),
    )


def tokens_per_query(comparison: Comparison, pairs: Mapping[str, Matched]) -> dict[str, float]:
    """Mean tokens in the results that the primary metric reads, where tokens or texts are known."""
    k = next((one.k for one in comparison.metrics if one.name == comparison.primary), None)
    found = {}
    for name, pair in pairs.items():
        shown = may_have_tokens(pair) and tokens_shown(pair, [k or max(1, pair.depth)])
        if shown:
            found[name] = exact_mean(shown.table[:, 0].astype(np.float64))
    return found


def _best_of(
    comparison: Comparison, pairs: Mapping[str, Matched], cluster: str | None
) -> WinnerGain | None:
    """The gain of the best combination over the baseline by the primary metric."""
    if comparison.primary is None:
        return None
    at = [one.name for one in comparison.metrics].index(comparison.primary)
    values = [comparison.values[name][:, at] for name in comparison.systems]
    truth = next(iter(pairs.values())).ground_truth
    clusters = clusters_of(truth.tags, cluster, truth.queries.height)
    if clusters is not None:
        of_query = dict(zip(truth.queries["query"], clusters, strict=True))
        clusters = np.array([of_query[query] for query in comparison.queries["query"]])
    table = comparison.metrics[at].turn * np.stack(values, axis=1)
    return winner_gain(table, comparison.systems.index(comparison.baseline), clusters)


def _retrieved(
    plan: Plan, settings: Mapping[str, Any]
) -> tuple[dict[str, Mapping[str, Any]], dict[str, str]]:
    """Run every combination; return the reports and the failures, both by name."""
    check_functions(plan)
    questions = plan.questions
    try:
        plan.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteFailed(
            f"The folder {plan.output} cannot be made: {error.strerror}; name another output in "
            "[grid]."
        ) from error
    restart, retry_errors = settings["restart"], settings["retry_errors"]
    reports: dict[str, Mapping[str, Any]] = {}
    failures: dict[str, str] = {}
    workshop = _Workshop(plan.folder)
    for one in plan.combinations:
        before = None if restart else _fitting(one, plan, questions)
        if before and before.report and not (retry_errors and before.report.get("failed")):
            # It is complete, and its index need not be built again.
            reports[one.name] = before.report
            continue
        try:
            made = workshop.build(one)
        except InvalidInput as error:  # a bad factory fails only its own combination
            failures[one.name] = str(error)
            continue
        try:
            reports[one.name] = retrieve_to_report(
                made,
                questions,
                k=one.k,
                output=one.output,
                restart=restart,
                afresh=True,
                retry_errors=retry_errors,
                watch=settings["watch"],
                **plan.pace,
            ).to_dict()
        except RetrieverFailed as error:
            failures[one.name] = str(error)
    if plan.baseline in failures or len(reports) < 2:
        is_first = plan.baseline in failures
        name = plan.baseline if is_first else next(iter(failures))
        what = "The baseline" if is_first else "Nothing is left to compare: the combination"
        raise RetrieverFailed(f"{what} {name!r} could not be run. {failures[name]}")
    return reports, failures


def check_functions(plan: Plan) -> None:
    """Check that every function exists and takes its parameters, before any question is asked."""
    for one in plan.combinations:
        if not one.is_factory:
            _Workshop(plan.folder).build(one)
            continue
        function = _factory(one, plan.folder)
        try:
            inspect.signature(function).bind(**one.params)
        except ValueError:
            continue  # a function of C that does not say what it takes
        except TypeError as error:
            takes = ", ".join(inspect.signature(function).parameters) or "nothing"
            raise InvalidInput(
                f"The retriever {one.name!r} cannot be made: {one.target} does not take its "
                f"parameters ({error}); it takes {takes}."
            ) from None


class _InErrorsOnly(Secrets):
    """Redacts errors only: a parameter that looks secret may be a common word in results."""

    def redact_line(self, line: bytes) -> bytes:
        """Return the line unchanged: a function does not echo its parameters."""
        return line


class _Workshop:
    """Builds retrievers; those that differ only in k share one index, which may take hours."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: tuple[str, Mapping[str, Any]] | None = None
        self._searcher: Any = None

    def build(self, one: Combination) -> Retriever:
        """Build the retriever of a combination; a factory is called with its parameters."""
        shown, secrets = without_secrets(one.params), _InErrorsOnly()
        hidden = [str(value) for name, value in one.params.items() if shown[name] != value]
        secrets.add(*hidden)
        if one.is_factory:
            made = as_retriever(self._made(one, secrets))
            made = replace(made, code=_code_of_combination(one, self._folder))
        else:
            params = {"params": dict(one.params)} if one.params else {}
            made = as_retriever(_target(one, self._folder), **params)
        if hidden:
            made = replace(made, secrets=secrets)
        return replace(made, name=one.name, settings=one.settings)

    def _made(self, one: Combination, secrets: Secrets) -> Any:
        wanted = (one.target, one.params)
        if self._last != wanted:
            # Free the old one first: two indexes may not fit into memory.
            self._last = self._searcher = None
            try:
                self._searcher = _factory(one, self._folder)(**one.params)
            except Exception as error:  # a user's factory may raise anything
                raise InvalidInput(
                    f"The retriever {one.name!r} cannot be made: {one.target} raises "
                    f"{type(error).__name__}: {secrets.redact(str(error))[:300]}"
                ) from error
            self._last = wanted
        return self._searcher


def _code_of_combination(one: Combination, folder: Path) -> Mapping[str, str]:
    """The fingerprint of each source file of a retriever; no factory is called."""
    if one.is_factory:
        return code_of(*load_target(_target(one, folder)))
    return _Workshop(folder).build(one).code


def _factory(one: Combination, folder: Path) -> Any:
    found = load_target(_target(one, folder))[0]
    if not callable(found):
        raise InvalidInput(
            f"{one.target} of the retriever {one.retriever!r} is a {type(found).__name__}; 'make' "
            "names a function that returns the search function."
        )
    return found


def _target(one: Combination, folder: Path) -> str:
    put_first(folder.resolve())
    place, _, attribute = one.target.rpartition(":")
    if place.endswith(".py") and not place.startswith((*KINDS,)):
        return f"{folder / place}:{attribute}"
    return one.target


def _fitting(one: Combination, plan: Plan, questions: Questions) -> Meta | None:
    """The metadata of a combination's run if it was made with the current settings and code."""
    meta = read_meta(one.output) if one.output.is_file() else None
    settings = {**one.settings, "k": one.k, "questions": questions.fingerprint}
    if meta is None or meta.settings != settings:
        return None
    # Older runs have no record of the code, so they are accepted.
    code = _code_of_combination(one, plan.folder) if meta.code else {}
    return meta if meta.code == code else None
