"""What may be asked here, declared once: names, types and defaults."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.operation import PYTHON, Setting, Settings, operation
from calipers.questions.begin.candidates import BY_DEFAULT, SOURCES

if TYPE_CHECKING:
    from calipers.questions.begin.check import CheckedQuestions
    from calipers.questions.begin.result import FirstQuestions


def _names(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


@dataclass(frozen=True, kw_only=True)
class FirstQuestionsSettings(Settings):
    """What `first_questions` takes."""

    questions: Annotated[
        int, Setting("How many questions to keep.", metavar="N", least=1, most=10_000)
    ] = 120
    k: Annotated[
        int | None,
        Setting(
            "How many results a reader gets. [default: 10; 3 without a FOLDER]",
            "-k",
            "N",
            least=1,
            most=1000,
        ),
    ] = None
    seed: Annotated[int, Setting("The seed that draws the questions.", least=0)] = 0
    sources: Annotated[
        list[str] | None,
        Setting(
            f"Where questions come from: {', '.join(SOURCES)}. [default: "
            f"{','.join(BY_DEFAULT)}]",
            metavar="LIST",
            read=_names,
        ),
    ] = None
    endpoint: Annotated[
        str | None,
        Setting(
            "Let a model write the questions: an OpenAI-compatible address.",
            metavar="URL",
            needs=("model",),
        ),
    ] = None
    model: Annotated[
        str | None, Setting("The name of the model.", metavar="NAME", needs=("endpoint",))
    ] = None
    key_env: Annotated[
        str | None,
        Setting(
            "The environment variable that holds its key.",
            metavar="VARIABLE",
            needs=("endpoint",),
        ),
    ] = None
    cache: Annotated[
        str | os.PathLike[str] | None,
        Setting(
            "Keep its answers in this folder, and ask nothing twice. [default: "
            ".calipers/answers]",
            "--cache-folder",
            "FOLDER",
            needs=("endpoint",),
        ),
    ] = None
    agree: Annotated[
        Callable[[int, int], object] | None,
        Setting(
            "Called with the prompts and the tokens before a model is asked; may raise.",
            only=PYTHON,
        ),
    ] = None
    progress: Annotated[
        Callable[[int, int], None] | None,
        Setting("Called with the bytes read and the bytes in all.", only=PYTHON),
    ] = None


@operation(page="begin-with-nothing", command="init")
def first_questions(
    folder: Annotated[
        str | os.PathLike[str], Setting("", argument="[FOLDER]", path=True)
    ],
    *,
    settings: FirstQuestionsSettings,
) -> "FirstQuestions":
    """Make questions from a folder of documents, and measure what word matching finds.

    ``folder`` may also be a git repository or a corpus file. A model is asked only where
    ``endpoint`` and ``model`` name one; it then writes all questions, unless ``sources``
    adds some. Nothing is written: ``write`` of the answer does that.
    """
    from calipers.questions.begin.rule import make

    return make(folder, settings)


@dataclass(frozen=True, kw_only=True)
class LabelsCheckSettings(Settings):
    """What `labels_check` takes."""

    answers: Annotated[
        Mapping[str, str] | None,
        Setting(
            "What is known: yes, nobody asks or wrong target, by the id of a question."
        ),
    ] = None
    most: Annotated[int, Setting("How many questions to draw.", least=1)] = 30
    seed: Annotated[int, Setting("The seed that draws them.", least=0)] = 0
    drop: Annotated[bool, Setting("Take unfit questions out of the file.")] = False


@operation(page="begin-with-nothing", command="labels sample")
def labels_check(
    questions: Annotated[str | os.PathLike[str], Setting("", path=True)],
    *,
    settings: LabelsCheckSettings,
) -> "CheckedQuestions":
    """Draw made questions at random, and note whether they are fit, in their own file.

    ``questions`` is a file that `first_questions` wrote. A question is fit if somebody
    would ask it and its target is right. `corrected` takes the file as ``people``: the
    mean of those that are.
    """
    from calipers.questions.begin.check import check

    return check(Path(questions), settings)
