"""Ask a live retriever every question, and keep its answers as a run."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import msgspec

from calipers.errors import RetrieverFailed, check_number
from calipers.io.records.explode import build_records
from calipers.io.records.schema import JsonRecord
from calipers.io.tables.columns import Columns
from calipers.live.adapters.base import Question, Retriever
from calipers.live.adapters.recognise import as_retriever
from calipers.live.driver import TIMEOUT_SECONDS, Driver, Limits, Pace
from calipers.live.keywords import MOST_RESULTS, RetrieverOptions, Watch
from calipers.live.questions import read_questions
from calipers.live.result import LiveRun, RetrievalReport, UnderstoodAnswer
from calipers.live.run_file import AnswerCounts, ExistingRun, RunWriter, read_entry
from calipers.model.run import Run
from calipers.words import plural

K = 20
"""Results that are asked for unless somebody says."""
_record = msgspec.json.Decoder(JsonRecord).decode


def retrieve_to_run(
    search: object,
    questions: object,
    *,
    k: int = K,
    output: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    columns: object = None,
    limits: Limits | None = None,
    wish: ExistingRun | None = None,
    options: RetrieverOptions | None = None,
    watch: Watch | None = None,
) -> LiveRun:
    """Ask a retriever every question; return the run, which also stays in the ``output`` file.

    >>> run = retrieve_to_run(lambda query, k: ["b", "a"], {"q1": "Who wrote it?"}, k=2)
    >>> run.frame["item"].to_list(), run.report.answered
    (['b', 'a'], 1)
    """
    lines: list[bytes] = []
    read = read_questions(questions, Columns.of(columns))
    report = retrieve_to_report(
        search,
        read,
        k=k,
        output=output,
        cache=cache,
        limits=limits,
        wish=wish,
        options=options,
        watch=watch,
        on_line=lines.append,
    )
    if output is not None:
        lines = Path(output).read_bytes().splitlines()
    order = {question.id: number for number, question in enumerate(read)}
    # A question that holds a secret is written without it, and comes last.
    records = sorted(
        map(_record, lines), key=lambda r: order.get(str(r.id or r.query), len(order))
    )
    run = _built(records, report.retriever)
    about = {name: getattr(run, name) for name in Run.__dataclass_fields__}
    name = report.retriever if output is None else str(output)
    return LiveRun(**{**about, "name": name, "asked_for": k}, report=report)


def _built(records: list[JsonRecord], retriever: str) -> Run:
    run = build_records(records, lambda number: f"results[{number}]", "results").run
    if run is None:
        raise RetrieverFailed(f"{retriever} gave no results.")
    return run


def retrieve_to_report(
    search: object,
    questions: object,
    *,
    k: int = K,
    output: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    columns: object = None,
    limits: Limits | None = None,
    wish: ExistingRun | None = None,
    options: RetrieverOptions | None = None,
    watch: Watch | None = None,
    on_line: Callable[[bytes], None] | None = None,
) -> RetrievalReport:
    """Ask a retriever every question, write the answers, and return the report.

    Each finished question is in the ``output`` at once, and the same call resumes an
    interrupted run; ``wish`` says what to do with one of other settings. Without an
    output ``on_line`` gets each line.
    """
    check_number("k", k, whole=True, least=1, most=MOST_RESULTS)
    read = read_questions(questions, Columns.of(columns))
    retriever = as_retriever(search, options)
    pace = (limits or Limits()).pace(retriever.workers)
    decides = {**retriever.settings, "k": k}
    counts = AnswerCounts(k, retriever.name)

    with ExitStack() as stack:
        writer = cached = None
        # First, so that an unusable cache leaves no output behind.
        if cache is not None:
            # Imported lazily: SQLite is not needed without a cache.
            from calipers.live.cache import Cache

            cached = stack.enter_context(closing(Cache(cache, decides)))
        if output is not None:
            opened = RunWriter(
                output,
                decides,
                read,
                counts,
                code=retriever.code,
                wish=wish or ExistingRun(),
            )
            writer = stack.enter_context(closing(opened))
        left = enumerate(read) if writer is None else writer.unfinished()
        write = partial(_hand_on, on_line) if writer is None else writer.write
        driver = Driver(retriever, left, k, pace, counts, write, cached)
        progress = None if watch is None else partial(watch, counts, len(read))
        _run_to_end(driver, counts, len(read), writer, progress)
        _refuse_no_results(retriever.name, counts, writer)
        report = counts.report(
            questions=len(read),
            asked=driver.asked,
            seconds=driver.seconds,
            output=None if writer is None else str(writer.path),
            earlier=None if writer is None else writer.earlier,
            remark=retriever.remark(),
        )
        if writer is not None:
            writer.finish(report.to_dict())
    return report


def _hand_on(
    on_line: Callable[[bytes], None] | None, _: Sequence[int], lines: Sequence[bytes]
) -> None:
    """Give each finished line to whoever asked for it, where there is no file."""
    if on_line is not None:
        for line in lines:
            on_line(line)


def _run_to_end(
    driver: Driver,
    counts: AnswerCounts,
    questions: int,
    writer: RunWriter | None,
    progress: Callable[[], None] | None,
) -> None:
    """Ask everything that is left; a failure says what is kept, and how to go on."""
    try:
        driver.run(progress)
    except RetrieverFailed as failed:
        raise RetrieverFailed(_what_now(str(failed), counts, questions, writer)) from None


def _refuse_no_results(
    retriever: str, counts: AnswerCounts, writer: RunWriter | None
) -> None:
    """Refuse a run in which no question got a result, and leave no file of it."""
    if not counts.answered or counts.marks["empty"] != counts.answered:
        return
    if writer is not None:
        writer.discard()
    errors = f", and {counts.errors.total()} failed" if counts.errors else ""
    raise RetrieverFailed(
        f"{retriever} was asked {plural(counts.done, 'question')} and returned no result "
        f"for any of them{errors}; there is nothing to measure. Ask it one question by "
        "hand: is its index filled, and does it return a list?"
    )


def ask_once(
    search: object,
    question: Question,
    k: int,
    timeout: float | None,
    options: RetrieverOptions,
) -> tuple[Run, str, float | None]:
    """Return the results for one question, the retriever's name, and the milliseconds it took."""
    retriever = as_retriever(search, options)
    record = _record(_one_answer(retriever, question, k, timeout))
    return _built([record], retriever.name), retriever.name, record.latency_ms


def what_is_understood(
    search: object,
    questions: object,
    k: int = K,
    timeout: float | None = TIMEOUT_SECONDS,
    columns: object = None,
    options: RetrieverOptions | None = None,
) -> UnderstoodAnswer:
    """Ask the first question only, and return how its answer is read."""
    question = read_questions(questions, Columns.of(columns))[0]
    retriever = as_retriever(search, options)
    entry = read_entry(_one_answer(retriever, question, k, timeout))
    stages = entry.stages or {}
    return UnderstoodAnswer(
        retriever=retriever.name,
        query=question.id,
        text=question.text,
        results=len(entry.retrieved),
        first=msgspec.to_builtins(entry.retrieved[0]) if entry.retrieved else None,
        stages={name: len(rows) for name, rows in stages.items()},
        unsorted=entry.unsorted,
        latency_ms=entry.latency_ms,
        remark=retriever.remark(),
    )


def _one_answer(
    retriever: Retriever, question: Question, k: int, timeout: float | None
) -> bytes:
    """Ask one question, and return the answer as a line of a run."""
    lines: list[bytes] = []

    def keep(_: Sequence[int], written: Sequence[bytes]) -> None:
        lines.extend(written)

    pace = Pace(workers=1, timeout=timeout)
    Driver(retriever, [(0, question)], k, pace, AnswerCounts(k), keep).run()
    return lines[0]


def _what_now(
    sentence: str, counts: AnswerCounts, questions: int, writer: RunWriter | None
) -> str:
    if not sentence.endswith((".", "?", "!")):
        sentence += "."
    if writer is None:
        return sentence
    if not counts.answered:
        writer.discard()
        return f"{sentence} No file was written."
    failed = ", and --retry-errors asks the failed ones again" if counts.errors else ""
    return (
        f"{sentence} {counts.done} of {questions} questions are finished and kept in "
        f"{writer.path}; the same command goes on from there{failed}."
    )
