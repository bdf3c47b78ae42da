"""What may be asked of a language model, declared once: names, types and defaults."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from calipers.live.keywords import AskingModel
from calipers.operation import Setting, operation

if TYPE_CHECKING:
    from calipers.live.chat.result import MachineLabels, WrittenQuestions

Endpoint = Annotated[
    str,
    Setting("An OpenAI-compatible address, such as http://127.0.0.1:8000/v1.", metavar="ADDRESS"),
]
Model = Annotated[str, Setting("The name of the model.", metavar="NAME")]
KeyEnv = Annotated[
    str | None,
    Setting(
        "The environment variable that holds the key; it is never written anywhere.",
        metavar="VARIABLE",
    ),
]


@operation(page="make-ground-truth", command="labels judge")
def labels_judge(
    labels: Annotated[Any, Setting("", argument="FILE")],
    *,
    endpoint: Endpoint,
    model: Model,
    key_env: KeyEnv = None,
    **asking: Unpack[AskingModel],
) -> "MachineLabels":
    """Let a language model grade every pair of question and item.

    ``labels`` is a file of ``draft``, or a list of labels; grades that it holds are not shown to
    the model and not kept. ``endpoint`` is an OpenAI-compatible address and has no default;
    ``key_env`` names the environment variable with its key. The others say how it is asked:
    ``cache`` (a folder), ``workers``, ``timeout``, ``retries``, ``rate``, ``max_errors``.

    The grades are 0, 1 and 2. A refusal, a malformed answer or another grade leaves the row
    without one, and is counted.
    """
    from calipers.live.chat.judge import grade_labels

    return grade_labels(labels, endpoint=endpoint, model=model, key_env=key_env, **asking)


@operation(page="make-ground-truth", command="labels questions")
def labels_questions(
    corpus: Annotated[Any, Setting("", argument="[CORPUS]", file="corpus")],
    *,
    endpoint: Endpoint,
    model: Model,
    n: Annotated[int, Setting("How many chunks to write a question from.", "-n")] = 50,
    seed: Annotated[int, Setting("The seed that draws the chunks.")] = 0,
    key_env: KeyEnv = None,
    reading: Callable[[int, int], None] | None = None,
    **asking: Unpack[AskingModel],
) -> "WrittenQuestions":
    """Let a language model write one question from each of n chunks, drawn by ``seed``.

    Each question comes with the words that answer it. They must stand in the chunk (line ends,
    spacing and invisible characters apart); where they do not, the question is rejected and
    counted. ``reading`` is told the bytes of the corpus that are read and the bytes in all; the
    other arguments are those of ``judge``.
    """
    from calipers.live.chat.questions import questions_from

    return questions_from(
        corpus,
        endpoint=endpoint,
        model=model,
        n=n,
        seed=seed,
        key_env=key_env,
        reading=reading,
        **asking,
    )
