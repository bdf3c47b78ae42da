"""Ask a live retriever every question, and keep what it returns as a run."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Unpack

import msgspec

from calipers.errors import RetrieverFailed, check_number
from calipers.io.records.records import Record, build
from calipers.io.tables.columns import Columns
from calipers.live.adapters.base import Question
from calipers.live.adapters.recognise import as_retriever
from calipers.live.driver import RETRIES, TIMEOUT_SECONDS, Driver, Pace
from calipers.live.keywords import Progress, RetrieverOptions, Retrieving
from calipers.live.questions import open_questions
from calipers.live.result import LiveRun, RetrievalReport
from calipers.live.run_file import AnswerCounts, RunWriter, Wish
from calipers.model.run import Run
from calipers.words import plural

_record = msgspec.json.Decoder(Record).decode


def retrieve_to_run(
    search: Any,
    questions: Any,
    *,
    k: int = 20,
    workers: int | None = None,
    output: str | os.PathLike[str] | None = None,
    **settings: Unpack[Retrieving],
) -> LiveRun:
    """Ask a retriever every question; the run is in memory, or in the ``output``.

    >>> run = retrieve_to_run(lambda query, k: ["b", "a"], {"q1": "Who wrote it?"}, k=2)
    >>> run.frame["item"].to_list(), run.report.answered
    (['b', 'a'], 1)
    """
    lines: list[bytes] = []
    report = retrieve_to_report(
        search, questions, k=k, workers=workers, output=output, told=lines.append, **settings
    )
    if output is not None:
        return LiveRun.in_file(Path(output), report)
    asked = open_questions(questions, Columns.of(settings.get("columns")))
    order = {one.id: number for number, one in enumerate(asked)}
    records = sorted(
        map(_record, lines), key=lambda r: order[str(r.query if r.id is None else r.id)]
    )
    run = build(records, lambda number: f"results[{number}]", "results").run
    if run is None:
        raise RetrieverFailed(f"{report.retriever} gave no results.")
    about = {name: getattr(run, name) for name in Run.__dataclass_fields__}
    return LiveRun(**{**about, "name": report.retriever, "asked_for": k}, report=report)


def retrieve_to_report(
    search: Any,
    questions: Any,
    *,
    k: int = 20,
    workers: int | None = None,
    output: str | os.PathLike[str] | None = None,
    timeout: float | None = TIMEOUT_SECONDS,
    retries: int = RETRIES,
    rate: float | None = None,
    max_errors: int | None = None,
    warm_up: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    label: str | None = None,
    restart: bool = False,
    resume: bool = False,
    keep: bool = False,
    afresh: bool = False,
    retry_errors: bool = False,
    columns: Any = None,
    progress: Progress | None = None,
    total: Callable[[int], None] | None = None,
    told: Callable[[bytes], None] | None = None,
    **options: Unpack[RetrieverOptions],
) -> RetrievalReport:
    """Ask a retriever every question, write what comes back, and say how it went.

    Each finished question is in the ``output`` at once, and the same call goes on where it was
    interrupted. ``told`` gets each line as it is written where there is no output; with ``afresh``
    an output that does not fit is set aside. What the others do: ``keywords.Retrieving``.
    """
    check_number("k", k, whole=True, least=1)
    wish = Wish(restart, resume, keep, retry_errors, afresh)
    asked = open_questions(questions, Columns.of(columns))
    retriever = as_retriever(search, **options)
    pace = Pace(
        workers=retriever.workers if workers is None else workers,
        timeout=timeout,
        retries=retries,
        rate=rate,
        max_errors=max_errors,
        warm_up=warm_up,
    )
    decides = {**retriever.settings, "k": k, **({"label": label} if label is not None else {})}
    counts = AnswerCounts(k)

    def kept(_: Sequence[int], lines: Sequence[bytes]) -> None:
        if told is not None:
            for line in lines:
                told(line)

    with ExitStack() as held:
        writer = cached = None
        # First: a cache that cannot be used leaves no output behind.
        if cache is not None:
            # Loaded when used: SQLite is not needed without a cache.
            from calipers.live.cache import Cache

            # Answers of before code was noted down stay those of addresses and models.
            known = {**decides, "code": retriever.code} if retriever.code else decides
            cached = held.enter_context(closing(Cache(cache, known)))
        if output is not None:
            opened = RunWriter.open(output, decides, asked, counts, code=retriever.code, wish=wish)
            writer = held.enter_context(closing(opened))
        if total is not None:
            total(len(asked))
        driver = Driver(
            retriever,
            enumerate(asked) if writer is None else writer.unfinished(),
            len(asked) if writer is None else writer.left,
            k,
            pace,
            counts,
            kept if writer is None else writer.write,
            cache=cached,
        )
        try:
            driver.run(progress)
        except RetrieverFailed as failed:
            raise RetrieverFailed(_what_now(str(failed), counts, len(asked), writer)) from None
        if counts.empty and counts.empty == counts.answered:
            if writer is not None:
                writer.discard()
            raise RetrieverFailed(_nothing_found(retriever.name, counts))
        report = counts.report(
            retriever=retriever.name,
            questions=len(asked),
            asked=driver.asked,
            seconds=driver.seconds,
            output=None if writer is None else str(writer.path),
            earlier=None if writer is None else writer.earlier,
        )
        if writer is not None:
            writer.finish(report.to_dict())
    return report


def ask_once(
    search: Any, question: Question, k: int, timeout: float | None, options: RetrieverOptions
) -> tuple[Run, str, float | None]:
    """The results for one question, the name of the retriever, and the milliseconds it took."""
    retriever, lines = as_retriever(search, **options), list[bytes]()
    pace = Pace(workers=1, timeout=timeout, warm_up=0)
    Driver(
        retriever,
        [(0, question)],
        1,
        k,
        pace,
        AnswerCounts(k),
        lambda _, written: lines.extend(written),
    ).run()
    record = _record(lines[0])
    found = build([record], lambda _: retriever.name, retriever.name).run
    if found is None:
        raise RetrieverFailed(f"{retriever.name} gave no results.")
    return found, retriever.name, record.latency_ms


def _nothing_found(retriever: str, counts: AnswerCounts) -> str:
    failed = f", and {counts.errors.total()} failed" if counts.errors else ""
    return (
        f"{retriever} was asked {plural(counts.done, 'question')} and returned no result for any "
        f"of them{failed}; there is nothing to measure. Ask it one question by hand: is its index "
        "filled, and does it return a list?"
    )


def _what_now(sentence: str, counts: AnswerCounts, questions: int, writer: RunWriter | None) -> str:
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
