"""Running a grid: every combination is asked every question, unless that was done before."""

from collections.abc import Callable, Mapping
from typing import Any

from calipers.errors import CalipersError, InvalidInput, RetrieverFailed, WriteFailed
from calipers.live.keywords import Callbacks, callbacks
from calipers.live.questions import Questions
from calipers.live.resume import Meta, read_meta
from calipers.live.retrieve import retrieve_to_report
from calipers.questions.grid.plan import Plan
from calipers.questions.grid.result import Combination, Planned
from calipers.questions.grid.workshop import Workshop, check_functions, code_of_combination

Watch = Callable[[Combination], Callbacks]
"""Told of each combination before it is asked; gives the callbacks for its progress."""


def what_is_left(plan: Plan) -> Planned:
    """What a grid would do; nothing is asked, but every function is looked for."""
    check_functions(plan.combinations, plan.folder)
    questions = plan.questions
    done = tuple(_done(one, plan, questions) for one in plan.combinations)
    return Planned(plan.combinations, done, len(questions))


def run_all(
    plan: Plan, *, restart: bool, retry_errors: bool, watch: Watch | None
) -> tuple[dict[str, Mapping[str, Any]], dict[str, str]]:
    """Ask every combination; how each went, and why some could not be run, both by name."""
    check_functions(plan.combinations, plan.folder)
    questions = plan.questions
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
        before = None if restart else _finished(one, plan, questions)
        if before is not None and not (retry_errors and before.get("failed")):
            reports[one.name] = before
            continue
        try:
            reports[one.name] = _run(
                one, plan, workshop, questions, watch, restart=restart, retry_errors=retry_errors
            )
        except (RetrieverFailed, _CannotBeMade) as error:
            failures[one.name] = str(error)
    if plan.baseline in failures or len(reports) < 2:
        raise RetrieverFailed(_nothing_to_compare(plan.baseline, failures))
    return reports, failures


class _CannotBeMade(CalipersError):
    """A factory that raised; the other combinations go on."""


def _run(
    one: Combination,
    plan: Plan,
    workshop: Workshop,
    questions: Questions,
    watch: Watch | None,
    *,
    restart: bool,
    retry_errors: bool,
) -> Mapping[str, Any]:
    with callbacks(watch, one) as (total, progress):
        try:
            retriever = workshop.build(one)
        except InvalidInput as error:
            raise _CannotBeMade(str(error)) from error
        return retrieve_to_report(
            retriever,
            list(questions),
            k=one.k,
            output=one.output,
            restart=restart,
            afresh=True,
            retry_errors=retry_errors,
            total=total,
            progress=progress,
            **plan.pace,
        ).to_dict()


def _fitting(one: Combination, plan: Plan, questions: Questions) -> Meta | None:
    """What stands beside the run of a combination, where it was made as it would be made now."""
    meta = read_meta(one.output) if one.output.is_file() else None
    settings = {**one.settings, "k": one.k, "questions": questions.fingerprint}
    if meta is None or meta.settings != settings:
        return None
    # A run of before code was noted down cannot be told apart; it fits as it always did.
    code = code_of_combination(one, plan.folder) if meta.code else {}
    return meta if meta.code == code else None


def _finished(one: Combination, plan: Plan, questions: Questions) -> Mapping[str, Any] | None:
    """The report of a combination that is complete, so that its index need not be built again."""
    meta = _fitting(one, plan, questions)
    return meta.report if meta is not None and meta.complete else None


def _done(one: Combination, plan: Plan, questions: Questions) -> int:
    """How many questions of a combination are finished."""
    if _fitting(one, plan, questions) is None:
        return 0
    with one.output.open("rb") as file:
        return sum(line.endswith(b"\n") for line in file)


def _nothing_to_compare(first: str, failures: Mapping[str, str]) -> str:
    name = first if first in failures else next(iter(failures))
    what = "The baseline" if first in failures else "Nothing is left to compare: the combination"
    return f"{what} {name!r} could not be run. {failures[name]}"
