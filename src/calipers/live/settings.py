"""The operations of this package, declared once: names, types and defaults."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.input_types import PathText, QuestionsInput, RetrieverInput
from calipers.live.keywords import MOST_RESULTS, AskingModel, Retrieving
from calipers.operation import PYTHON, Setting, Settings, operation

if TYPE_CHECKING:
    from calipers.live.result import LiveRun, MachineLabels


@dataclass(frozen=True, kw_only=True)
class RetrieveSettings(Settings):
    """What `retrieve` takes."""

    asking: Retrieving = Retrieving()

    workers: Annotated[
        int | None,
        Setting(
            "Questions asked at a time. [default: 8; 1 for a command]",
            metavar="N",
            file="workers",
        ),
    ] = None
    output: Annotated[
        str | os.PathLike[str] | None,
        Setting(
            "A .jsonl file, which the same call goes on with if it was stopped.",
            only=PYTHON,
        ),
    ] = None


@operation(page="retrieve", command="retrieve")
def retrieve(
    search: Annotated[
        RetrieverInput,
        Setting("", argument="[RETRIEVER]", file="retriever", unchecked=True),
    ],
    questions: Annotated[
        QuestionsInput,
        Setting(
            "", argument="[QUESTIONS]", file="ground-truth", path=True, unchecked=True
        ),
    ],
    k: Annotated[
        int,
        Setting("Results to ask for.", "-k", file="ask-for", least=1, most=MOST_RESULTS),
    ] = 20,
    *,
    settings: RetrieveSettings,
) -> "LiveRun":
    """Ask a retriever every question and return what came back as a run.

    ``search`` is a function of (query, k), sync or async; or a text: an address, ``cmd:``
    and a command, ``mcp:server#tool``, or ``package.module:function``. ``questions`` is a
    path, a ground truth, a mapping of id to text, or a list of texts or records;
    ``columns`` says which column of a table is what, where its name does not, such as
    ``{"query": "Frage"}``.

    With ``output`` the run is also kept in that file, and goes on there after an
    interruption. A finished output is asked again and the old one kept as .bak.

    >>> def search(query: str, k: int) -> list[str]:
    ...     return ["b", "a"]
    >>> run = retrieve(search, {"q1": "Who wrote it?"}, k=2)
    >>> run.frame["item"].to_list()
    ['b', 'a']
    >>> run.report.answered
    1
    """
    from calipers.live.driver import Limits
    from calipers.live.retrieve import retrieve_to_run
    from calipers.live.run_file import ExistingRun

    asking = settings.asking
    return retrieve_to_run(
        search,
        questions,
        k=k,
        output=settings.output,
        columns=asking.columns,
        limits=Limits(settings.workers, asking.timeout, asking.patience.retries),
        wish=ExistingRun(asking.restart, asking.retry_errors),
        options=asking.options,
        watch=asking.patience.watch,
    )


@operation(page="make-ground-truth", command="labels judge")
def labels_judge(
    labels: Annotated[
        PathText | Sequence[object], Setting("", argument="FILE", unchecked=True)
    ],
    *,
    settings: AskingModel,
) -> "MachineLabels":
    """Let a language model grade every pair of question and item.

    ``labels`` is a file of ``draft``, or a list of labels; grades that it holds are not
    shown to the model and not kept. ``endpoint`` is an OpenAI-compatible address and has
    no default; ``key_env`` names the environment variable with its key. The others say
    how it is asked: ``cache`` (a folder), ``workers``, ``timeout``, ``retries``.

    The grades are 0, 1 and 2. A refusal, a malformed answer or another grade leaves the
    row without one, and is counted.
    """
    from calipers.live.chat import grade_labels

    return grade_labels(labels, settings)
