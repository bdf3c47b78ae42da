"""What may be asked here, declared once: names, types and defaults."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from calipers.operation import operation

if TYPE_CHECKING:
    from calipers.questions.traces.rule import TracedQuestions


@operation(page="traces", command="traces")
def traces(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    n: int | None = None,
    by: str | None = None,
    disagreement: float = 0.5,
    mask: str | Sequence[str] = (),
    seed: int = 0,
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

    from calipers.io.formats.trace_files import read_traces
    from calipers.questions.traces.rule import check_sample, sample_traces

    check_sample(n, disagreement)
    given = [files] if isinstance(files, str | os.PathLike) else list(files)
    records = (
        (Path(one).name.split(".")[0], record) for one in given for record in read_traces(one)
    )
    patterns = [mask] if isinstance(mask, str) else list(mask)
    return sample_traces(records, patterns, n=n, by=by, disagreement=disagreement, seed=seed)
