"""A grid: every combination of retrievers and parameters of a file, each asked every question."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec
import numpy as np

from calipers.config import find_config, inside, read_config
from calipers.engines.scoring import choose_metrics, deepest
from calipers.errors import InvalidInput, RetrieverFailed, WriteFailed
from calipers.frozen import dataclass
from calipers.io.tables.columns import Columns
from calipers.live.adapters.base import Retriever, Secrets, shown_value, without_secrets
from calipers.live.adapters.recognise import add_to_path, as_retriever, load_target
from calipers.live.code import code_of
from calipers.live.driver import Limits
from calipers.live.questions import Questions, read_questions
from calipers.live.retrieve import retrieve_to_report
from calipers.live.run_file import ExistingRun, Meta, read_meta
from calipers.measures.spec import check_cutoff
from calipers.model.matched import Matched
from calipers.model.slicing import clusters_of
from calipers.operation import arguments_of, build, keys_of
from calipers.questions.compare.result import Comparison
from calipers.questions.compare.settings import CompareSettings, compare
from calipers.questions.default_metrics import DEFAULT_KS
from calipers.questions.expected_gain import ExpectedGain
from calipers.questions.grid.result import Combination, Grid
from calipers.questions.inputs import refuse_sealed, tags_of
from calipers.questions.reading import MatchingSettings
from calipers.questions.systems import matched_systems
from calipers.questions.tokens import may_have_tokens, tokens_shown
from calipers.statistics.clusters import exact_mean
from calipers.statistics.winner import WinnerGain, winner_gain
from calipers.words import did_you_mean

if TYPE_CHECKING:
    from calipers.questions.grid.settings import GridSettings

DEPTH = 20
"""Results to ask for unless the file or its metrics need more."""
LONGEST_NAME = 80
MEASURES = frozenset(arguments_of(CompareSettings)) - {"baseline", "anyway"}
"""The settings of ``compare`` that a grid accepts: how runs are measured."""
EXAMPLE = '[grid.retrievers.bm25]\nmake = "mypackage.search:bm25"'


class RetrieverTable(msgspec.Struct, forbid_unknown_fields=True, rename="kebab"):
    """What ``[grid.retrievers.NAME]`` may hold."""

    make: str
    params: dict[str, Any] = {}


class GridTable(msgspec.Struct, forbid_unknown_fields=True, rename="kebab"):
    """What ``[grid]`` may hold."""

    retrievers: dict[str, RetrieverTable]
    params: dict[str, Any] = {}
    k: int | None = None
    output: str = "grid"
    baseline: str | None = None
    workers: int | None = None
    timeout: float | None = None
    retries: int | None = None


@dataclass(frozen=True)
class Plan:
    """What a grid file asks for."""

    folder: Path
    """Paths and modules in the file are relative to this."""
    combinations: tuple[Combination, ...]
    output: Path
    baseline: str
    """The name of the combination that the others are compared with."""
    limits: Limits
    measures: CompareSettings
    """How the runs are measured and compared."""
    ground_truth: str


def read_grid(config: str | os.PathLike[str] | None) -> Plan:
    """Read the plan from a configuration file."""
    read = find_config() if config is None else read_config(Path(config))
    path = read.path
    shared = read.shared
    if path is None or not read.grid:
        what = (
            "There is no calipers.toml here or above"
            if path is None
            else f"{path} has no [grid]"
        )
        raise InvalidInput(f"{what}; write one, such as:\n{EXAMPLE}")
    try:
        grid = msgspec.convert(read.grid, GridTable)
    except msgspec.ValidationError as error:
        keys = ", ".join(GridTable.__struct_encode_fields__)
        inner = ", ".join(RetrieverTable.__struct_encode_fields__)
        raise InvalidInput(
            f"[grid] of {path} cannot be read: {error}. Its keys are {keys}; those of "
            f"each retriever are {inner}. Such as:\n{EXAMPLE}"
        ) from None
    measures = build(
        CompareSettings,
        {
            name: shared[key]
            for name, key in keys_of(compare).items()
            if name in MEASURES and key in shared
        },
    )
    chosen = choose_metrics(
        measures.measures.metrics, measures.measures.k, measures.matching.rel
    )
    truth = shared.get("ground-truth", shared.get("data"))
    if truth is None:
        raise InvalidInput(
            f'{path} names no ground truth; write ground-truth = "questions.jsonl" above [grid].'
        )
    folder = path.parent
    output = folder / inside(grid.output, path, f"The key grid.output of {path}")
    grid.k = deepest(chosen, DEPTH) if grid.k is None else check_cutoff(grid.k)
    asked = measures.measures
    if asked.metrics is None and asked.k is None and grid.k < max(DEFAULT_KS):
        # Fewer results are asked for than the usual metrics read.
        measures = replace(measures, measures=replace(asked, k=grid.k))
    combinations = [
        combination
        for name, table in grid.retrievers.items()
        for combination in _combinations(name, table, grid, output)
    ]
    files = {str(combination.output).casefold() for combination in combinations}
    names = [combination.name for combination in combinations]
    if len(combinations) < 2 or len(files) < len(combinations):
        raise InvalidInput(
            f"[grid] of {path} has the combinations: {', '.join(names)}. At least two "
            "are needed, each with a name of its own; add a value for a parameter, or "
            "take out one that is there twice."
        )
    return Plan(
        folder,
        tuple(combinations),
        output,
        _baseline(grid.baseline or names[0], names),
        _limits(grid),
        measures,
        str(truth),
    )


def _limits(grid: GridTable) -> Limits:
    """The limits that the file names; the others are the usual ones."""
    usual = Limits()
    return Limits(
        grid.workers,
        usual.timeout if grid.timeout is None else grid.timeout,
        usual.retries if grid.retries is None else grid.retries,
    )


def _combinations(
    name: str, table: RetrieverTable, grid: GridTable, output: Path
) -> Iterator[Combination]:
    """Every combination of one retriever's parameters; each member of a list is one."""
    all_params = {**grid.params, **table.params}
    choices = {
        name: value if isinstance(value, list) else [value]
        for name, value in all_params.items()
    }
    for values in product(*choices.values()):
        params = dict(zip(choices, values, strict=True))
        shown = msgspec.to_builtins(without_secrets(params), enc_hook=str)
        varying = [
            f"{name}={_said(shown[name])}"
            for name, several in choices.items()
            if several[1:]
        ]
        full = " ".join([name, *varying])
        yield Combination(
            full,
            name,
            table.make,
            params,
            cast("int", grid.k),
            output / f"{_file_name(full)}.jsonl",
            {"make": table.make, "params": shown},
        )


def _said(value: object) -> str:
    return (
        value
        if isinstance(value, str)
        else msgspec.json.encode(value, enc_hook=str).decode()
    )


def _baseline(wanted: str, names: list[str]) -> str:
    """The combination of that name."""
    if wanted in names:
        return wanted
    raise InvalidInput(
        f"The baseline {wanted!r} is none of the combinations, which are "
        f"{', '.join(names)}.{did_you_mean(wanted, names)}"
    )


def _file_name(name: str) -> str:
    r"""A portable file name, different for every combination.

    >>> _file_name("bm25 chunk_size=200"), _file_name("a/b")
    ('bm25-chunk_size=200', 'a-b-c14cddc0')
    """
    plain = name.replace(" ", "-")
    safe = re.sub(r"[^A-Za-z0-9_.=+-]", "-", plain).lstrip(".")[:LONGEST_NAME]
    if safe == plain:
        return safe
    return f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def run_grid(plan: Plan, settings: "GridSettings") -> Grid:
    """Run every combination, and compare the results."""
    matching = plan.measures.matching
    refuse_sealed(plan.ground_truth, matching.files.columns)
    reports, failures = _retrieved(plan, settings)
    runs = {
        combination.name: combination.output
        for combination in plan.combinations
        if combination.name in reports
    }
    intervals = plan.measures.measures.intervals
    pairs = matched_systems(runs, plan.ground_truth, matching, tags=tags_of(intervals))
    compared = replace(plan.measures, baseline=plan.baseline, matching=MatchingSettings())
    # The grid has latencies in its own table.
    comparison = replace(compare(pairs, settings=compared), latency_ms={})
    gain = _best_of(comparison, pairs, intervals.cluster)
    return Grid(
        plan.combinations,
        reports,
        failures,
        comparison,
        None if gain is None else comparison.systems[gain.winner],
        None
        if gain is None
        else ExpectedGain.of(gain, comparison.facts_of(comparison.primary or "").most),
        tokens_per_query(comparison, pairs),
    )


def tokens_per_query(
    comparison: Comparison, pairs: Mapping[str, Matched]
) -> dict[str, float]:
    """Mean tokens in the results that the primary metric reads, where tokens or texts are known."""
    k = next(
        (metric.k for metric in comparison.metrics if metric.name == comparison.primary),
        None,
    )
    means = {}
    for name, pair in pairs.items():
        shown = may_have_tokens(pair) and tokens_shown(pair, [k or max(1, pair.depth)])
        if shown:
            means[name] = exact_mean(shown.table[:, 0].astype(np.float64))
    return means


def _best_of(
    comparison: Comparison, pairs: Mapping[str, Matched], cluster: str | None
) -> WinnerGain | None:
    """The gain of the best combination over the baseline by the primary metric."""
    if comparison.primary is None:
        return None
    at = [metric.name for metric in comparison.metrics].index(comparison.primary)
    values = [comparison.values[name][:, at] for name in comparison.systems]
    truth = next(iter(pairs.values())).ground_truth
    clusters = clusters_of(truth.tags, cluster, truth.queries.height)
    if clusters is not None:
        of_query = dict(zip(truth.queries["query"], clusters, strict=True))
        clusters = np.array([of_query[query] for query in comparison.queries["query"]])
    table = comparison.metrics[at].turn * np.stack(values, axis=1)
    return winner_gain(table, comparison.systems.index(comparison.baseline), clusters)


def _retrieved(
    plan: Plan, settings: "GridSettings"
) -> tuple[dict[str, Mapping[str, object]], dict[str, str]]:
    """Run every combination; return the reports and the failures, both by name."""
    check_functions(plan)
    questions = read_questions(
        plan.ground_truth, Columns.of(plan.measures.matching.files.columns)
    )
    try:
        plan.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteFailed(
            f"The folder {plan.output} cannot be made: {error.strerror}; name another "
            "output in [grid]."
        ) from error
    restart = settings.restart
    retry_errors = settings.retry_errors
    reports: dict[str, Mapping[str, object]] = {}
    failures: dict[str, str] = {}
    for combination in plan.combinations:
        before = None if restart else _fitting(combination, plan, questions)
        if (
            before
            and before.report
            and not (retry_errors and before.report.get("failed"))
        ):
            # It is complete, and its index need not be built again.
            reports[combination.name] = before.report
            continue
        try:
            reports[combination.name] = retrieve_to_report(
                _build(combination, plan.folder),
                questions,
                k=combination.k,
                output=combination.output,
                limits=plan.limits,
                wish=ExistingRun(restart, retry_errors, afresh=True),
                watch=settings.watch,
            ).to_dict()
        except RetrieverFailed as error:  # it fails only its own combination
            failures[combination.name] = str(error)
    if plan.baseline in failures or len(reports) < 2:
        name = plan.baseline if plan.baseline in failures else next(iter(failures))
        what = "The baseline" if name == plan.baseline else "Nothing is left to compare:"
        raise RetrieverFailed(f"{what} {name!r} could not be run. {failures[name]}")
    return reports, failures


def check_functions(plan: Plan) -> None:
    """Check that every function exists, before any question is asked."""
    for combination in plan.combinations:
        function = load_target(_target(combination, plan.folder))[0]
        if not callable(function):
            raise InvalidInput(
                f"{combination.target} of the retriever {combination.retriever!r} is a "
                f"{type(function).__name__}; "
                "'make' names a function that returns the search function."
            )


class _InErrorsOnly(Secrets):
    """Redacts errors only: a parameter that looks secret may be a common word in results."""

    def redact_line(self, line: bytes) -> bytes:
        """Return the line unchanged: a function does not echo its parameters."""
        return line


def _build(combination: Combination, folder: Path) -> Retriever:
    """Build the retriever of a combination: its function is called with the parameters."""
    secrets = _InErrorsOnly()
    hidden = [
        str(value)
        for name, value in combination.params.items()
        if shown_value(name, value) != value
    ]
    secrets.add(*hidden)
    factory, module = load_target(_target(combination, folder))
    try:
        retriever = as_retriever(factory(**combination.params))
    except Exception as error:  # a user's factory may raise anything
        raise RetrieverFailed(
            f"The retriever {combination.name!r} cannot be made: {combination.target} "
            f"raises {type(error).__name__}: {secrets.redact(str(error))[:300]}"
        ) from error
    if hidden:
        retriever = replace(retriever, secrets=secrets)
    code = code_of(factory, module)
    return replace(
        retriever, name=combination.name, settings=combination.settings, code=code
    )


def _target(combination: Combination, folder: Path) -> str:
    add_to_path(folder.resolve())
    place, _, attribute = combination.target.rpartition(":")
    return (
        f"{folder / place}:{attribute}" if place.endswith(".py") else combination.target
    )


def _fitting(combination: Combination, plan: Plan, questions: Questions) -> Meta | None:
    """The metadata of a combination's run if it was made with the current settings and code."""
    meta = read_meta(combination.output) if combination.output.is_file() else None
    settings = {
        **combination.settings,
        "k": combination.k,
        "questions": questions.fingerprint,
    }
    if meta is None or meta.settings != settings:
        return None
    code = code_of(*load_target(_target(combination, plan.folder)))
    return meta if meta.code == code else None
