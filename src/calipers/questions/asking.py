"""A live retriever in place of a run: asked here, then measured like any other."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from calipers.errors import CalipersError, InvalidInput, SealedQueries
from calipers.questions.reading import ASKING, DEPTH, Reading

if TYPE_CHECKING:
    from calipers.live.result import LiveRun


def below(k: Any) -> int:
    """How many results to ask for where what stands below k is looked at too.

    >>> below(None), below(50)
    (20, 100)
    """
    return max(DEPTH, 2 * k) if isinstance(k, int) else DEPTH


def with_answers(data: Any, reading: Reading, looks: int) -> tuple[Any, Reading]:
    """What is to be read, with the answers of a retriever as the run where one is given.

    ``looks`` is how many results are looked at, for callers who do not say how many to ask for.
    """
    how = {name: value for name, value in reading.items() if name not in ASKING}
    if reading.get("retriever") is None:
        return data, cast(Reading, how)
    questions = _questions(data, reading)
    refuse_sealed(questions, reading.get("columns"))
    run = ask(reading["retriever"], _readable(questions, reading), reading, looks)
    how |= {"ground_truth": questions, "run": run}
    return None, cast(Reading, how)


def answers_of(
    retrievers: Mapping[str, Any], questions: Any, asking: Mapping[str, Any], looks: int
) -> "dict[str, LiveRun]":
    """The run of each of several retrievers, by its name; all are asked the same questions."""
    if retrievers and questions is None:
        raise InvalidInput(
            "Retrievers are given without the questions to ask them; give the file of the "
            "questions with their ground truth."
        )
    if retrievers:
        refuse_sealed(questions)
    return {name: ask(one, questions, asking, looks) for name, one in retrievers.items()}


def refuse_sealed(questions: Any, columns: Any = None) -> None:
    """Say so before a retriever is asked; whatever else is wrong is said by who measures."""
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns

    if not isinstance(questions, str | PathLike) or not Path(questions).is_file():
        return
    try:
        load(questions, "ground_truth", None, Columns.of(columns))
    except SealedQueries:
        raise
    except CalipersError:
        return


def ask(retriever: Any, questions: Any, asking: Mapping[str, Any], looks: int) -> "LiveRun":
    """What one retriever answers, as deep as it is looked at."""
    # Loaded when used: who measures files need not wait for what asks retrievers.
    from calipers.live.keywords import callbacks
    from calipers.live.retrieve import retrieve_to_run

    with callbacks(asking.get("watch")) as (total, progress):
        return retrieve_to_run(
            retriever,
            questions,
            k=asking.get("ask_for") or looks,
            workers=asking.get("workers"),
            total=total,
            progress=progress,
        )


def _questions(data: Any, reading: Reading) -> Any:
    """The one place to ask from and to measure by, where a retriever brings the results."""
    given = [one for one in (data, reading.get("ground_truth")) if one is not None]
    if len(given) != 1:
        raise InvalidInput(
            f"With --retriever (retriever= in Python) one file is needed, the questions with "
            f"their ground truth; {len(given) or 'none'} {'are' if given else 'is'} given."
        )
    return given[0]


def _readable(questions: Any, reading: Reading) -> Any:
    """The questions, read by the names of columns that the caller gave, where any were given."""
    if not reading.get("columns"):
        return questions
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns

    columns = Columns.of(reading["columns"])
    return load(questions, "ground_truth", None, columns).ground_truth or questions
