"""The settings of `labels_traces`: names, types and defaults."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypedDict, Unpack

from calipers.operation import Setting, operation

if TYPE_CHECKING:
    from calipers.labels.traces import TracedQuestions


class LabelsTracesSettings(TypedDict, total=False):
    """What `labels_traces` takes."""

    n: Annotated[int | None, Setting("How many questions. [default: all]", "--n -n", "N")]
    by: Annotated[str | None, Setting("Draw in turns from the values of this tag.", metavar="TAG")]
    disagreement: Annotated[
        float,
        Setting(
            "The share to choose because their results differ between askings.",
            default=0.5,
            metavar="SHARE",
        ),
    ]
    mask: Annotated[
        str | Sequence[str],
        Setting(
            "Mask this first: a regular expression, or email, phone, iban, ip, url. Repeatable.",
            default=(),
            metavar="PATTERN",
            several=True,
        ),
    ]
    seed: Annotated[int, Setting("The seed that draws the questions.", default=0, least=0)]


@operation(page="make-ground-truth", command="labels draft")
def labels_traces(
    files: Annotated[
        str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        Setting(
            "Take questions from these traces instead. Repeatable.",
            "--from-traces",
            "FILE",
            several=True,
        ),
    ],
    **settings: Unpack[LabelsTracesSettings],
) -> "TracedQuestions":
    """Take the questions that people really asked from traces, each once.

    ``files`` are exports of OpenInference or OTLP spans, of LangSmith runs or of Langfuse
    observations. ``n`` questions are taken (default: all). A share of them, ``disagreement``, are
    those whose results differed most from one asking to the next. The rest are drawn at random by
    ``seed``, in turns from the values of the tag ``by``. ``mask`` are regular expressions, or
    "email", "phone", "iban", "ip" and "url": what they match is masked in questions, texts and
    tags before anything else is done.
    """
    from pathlib import Path

    from calipers.io.formats.traces import read_traces
    from calipers.labels.traces import sample_traces

    given = [files] if isinstance(files, str | os.PathLike) else list(files)
    records = (
        (Path(one).name.split(".")[0], record) for one in given for record in read_traces(one)
    )
    patterns = [settings["mask"]] if isinstance(settings["mask"], str) else list(settings["mask"])
    return sample_traces(
        records,
        patterns,
        n=settings["n"],
        by=settings["by"],
        disagreement=settings["disagreement"],
        seed=settings["seed"],
    )
