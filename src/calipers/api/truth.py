"""Operations on a ground truth: check it, place its quotes, make it, write it in another form."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from calipers.api.operation import operation
from calipers.errors import InvalidInput

if TYPE_CHECKING:
    from calipers.io.source import Progress
    from calipers.model.agreement import Agreement, How, Scale, TargetsAs, Weights, WhenTied
    from calipers.model.conversion import Conversion
    from calipers.model.draft import Draft
    from calipers.model.health import Health
    from calipers.model.resolution import Resolution
    from calipers.model.traces import TracedQuestions


@operation(page="audit", command="audit")
def audit(
    ground_truth: Any,
    *,
    run: Any = None,
    corpus: Any = None,
    match: str | None = None,
    confidence: float = 0.95,
    columns: Any = None,
    progress: "Progress | None" = None,
) -> "Health":
    """Look for everything that is wrong with a ground truth, by itself and against a corpus.

    ``ground_truth`` is whatever ``evaluate`` takes; it may hold results too. ``corpus`` is a
    folder of .txt and .md files, a JSON lines, CSV or Parquet file, a table, or a mapping of id
    to text; it is read in batches and never held as a whole. With results (``run``, or in the
    same file) the width of the interval is measured, else it is the widest possible. ``match``
    is that of ``evaluate``; "quote" says that plain strings are quotes. ``confidence`` is the
    level of the interval, ``columns`` says which column is what ({"item": "expected_ids"}), and
    ``progress`` is called with the bytes read and the bytes in all.

    >>> found = audit({"q1": {"a": 1}, "q2": {"b": 1, "c": 1}}, corpus={"a": "x", "b": "y"})
    >>> [(finding.name, finding.severity, finding.count) for finding in found.findings][0]
    ('id_not_in_corpus', 'error', 1)
    """
    from calipers.analyse import audit as rule
    from calipers.io.columns import Columns
    from calipers.io.corpus import open_corpus
    from calipers.io.load import load

    opened = None if corpus is None else open_corpus(corpus, progress)
    said = Columns.of(columns)
    data = load(ground_truth, "ground_truth", progress, said)
    if data.ground_truth is None and data.run is None:
        raise InvalidInput(
            "There is no ground truth to audit: its records have neither results nor a ground "
            "truth; give the file with the judgements."
        )
    if data.ground_truth is None:
        raise InvalidInput(
            f"There is no ground truth to audit: found {data.kind}, which holds results only; "
            "give the file with the judgements, and this one with --run (run= in Python)."
        )
    results = data.run if run is None else load(run, "run", progress, said).run
    said.check_used()
    if run is not None and results is None:
        raise InvalidInput("The run holds no results; give what the retriever returned.")
    return rule.audit(data.ground_truth, results, opened, match=match, confidence=confidence)


@operation(page="resolve", command="resolve")
def resolve(
    ground_truth: Any,
    corpus: Any,
    *,
    first: bool = False,
    columns: Any = None,
    progress: "Progress | None" = None,
) -> "Resolution":
    """Find the document, start and end of every quote of a ground truth.

    Start and end count characters of the document as it stands in the corpus; the quote stays
    beside them. A quote that is not found, or found in several places, is left as it is and
    reported; ``first`` takes the first place instead. Targets that are ids or have a span
    already are left alone, and so is everything else in the records. ``columns`` says which
    column is what ({"quote": "expected_passage"}).

    >>> evals = [{"query": "What is the GIL?", "ground_truth": [{"quote": "is a lock"}]}]
    >>> found = resolve(evals, {"gil.md": "The GIL  is\\na lock."})
    >>> found.counts
    {'once': 1, 'several': 0, 'none': 0}
    >>> found.records[0]["ground_truth"]
    [{'quote': 'is a lock', 'document': 'gil.md', 'start': 9, 'end': 18}]
    """
    from calipers.analyse import resolve as rule
    from calipers.io.columns import Columns
    from calipers.io.corpus import open_corpus
    from calipers.io.load import load

    opened = open_corpus(corpus, progress)
    said = Columns.of(columns)
    data = load(ground_truth, "ground_truth", progress, said)
    said.check_used()
    return rule.resolve(ground_truth, data, opened, first=first, columns=said)


@operation(page="make-ground-truth", command="draft")
def draft(
    runs: Any,
    *,
    questions: Any = None,
    k: int = 10,
    seed: int = 0,
    ground_truth: Any = None,
    corpus: Any = None,
    columns: Any = None,
) -> "Draft":
    """Pool the first k results of several runs into rows that somebody can judge.

    ``runs`` is one run or a list of them, in any form. Each pair of question and item is there
    once, whichever run found it; rank, score and run are not in the rows, and the items of a
    question are shuffled by ``seed``. ``questions`` gives the texts and the order of the
    questions; without it the runs must know them. ``ground_truth`` leaves out what is judged
    already, ``corpus`` fills in texts that the runs do not carry, and ``columns`` says which
    column is what ({"item": "chunk"}).

    >>> found = draft([{"q": ["a", "b"]}, {"q": ["b", "c"]}], questions={"q": "Who?"}, k=1)
    >>> sorted(row.item for row in found.rows), found.rows[0].query
    (['a', 'b'], 'Who?')
    """
    from calipers.analyse import draft as rule
    from calipers.io.columns import Columns

    said, asked = Columns.of(columns), None
    if questions is not None:
        from calipers.retrievers.questions import read_questions

        asked = {one.id: one.text for one in read_questions(questions, said)}
    return rule.draft(
        runs, asked, k=k, seed=seed, ground_truth=ground_truth, corpus=corpus, columns=said
    )


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

    from calipers.analyse.traces import check_sample, sample_traces
    from calipers.io.trace_files import read_traces

    check_sample(n, disagreement)
    given = [files] if isinstance(files, str | os.PathLike) else list(files)
    records = (
        (Path(one).name.split(".")[0], record) for one in given for record in read_traces(one)
    )
    patterns = [mask] if isinstance(mask, str) else list(mask)
    return sample_traces(records, patterns, n=n, by=by, disagreement=disagreement, seed=seed)


@operation(page="make-ground-truth", command="agreement")
def agreement(
    labels: Any,
    *,
    scale: "Scale" = "ordinal",
    weights: "Weights" = "none",
    merge: "How | None" = None,
    when_tied: "WhenTied" = "leave",
    targets_as: "TargetsAs" = "id",
    add_to: Any = None,
    machine: str | None = None,
    confidence: float = 0.95,
    columns: Any = None,
) -> "Agreement":
    """Read what judges filled in and say how far they agree.

    ``labels`` is a path, a list of paths, or a mapping of judge to path or to a list of labels;
    a row without a judge belongs to the judge that its file is named for. ``scale`` is that of
    Krippendorff's alpha, ``weights`` ("none", "linear", "quadratic") those of Cohen's kappa.

    ``merge`` ("majority", "mean", "max", "min") makes one ground truth of all opinions. In a
    majority, two grades with equally many votes are left out and reported, unless ``when_tied``
    says which to take ("max", "min", "mean"). ``targets_as`` ("id", "quote", "span") is what its
    targets are. ``add_to`` is a ground truth to which the new judgements are added; ``columns``
    says which of its columns is what. ``machine`` names the judge that is a language model: then
    its sensitivity and specificity against the people are part of the answer. ``confidence`` is
    that of all intervals.

    >>> from calipers.model.labels import Label
    >>> anna = [Label("q", item="a", grade=1), Label("q", item="b", grade=0)]
    >>> bo = [Label("q", item="a", grade=1), Label("q", item="b", grade=2)]
    >>> found = agreement({"anna": anna, "bo": bo}, merge="majority")
    >>> found.disagreements[0].grades
    {'anna': 0, 'bo': 2}
    >>> found.merged.records
    ({'query': 'q', 'ground_truth': [{'id': 'a', 'grade': 1}]},)
    """
    from calipers.analyse.agreement import agree
    from calipers.io.columns import Columns

    said = Columns.of(columns)
    if said.named and add_to is not None:
        from calipers.io.load import load

        add_to = load(add_to, "ground_truth", None, said)
        said.check_used()
    return agree(
        labels, scale=scale, weights=weights, merge=merge, when_tied=when_tied,
        targets_as=targets_as, add_to=add_to, machine=machine, confidence=confidence,
    )  # fmt: skip


@operation(page="formats", command="convert")
def convert(
    data: Any = None,
    output: str | os.PathLike[str] = "",
    *,
    ground_truth: Any = None,
    run: Any = None,
    to: str | None = None,
    form: str | None = None,
    columns: Any = None,
    progress: "Progress | None" = None,
) -> "Conversion":
    """Write a ground truth, a run or both in another form.

    Give ``data``, or ``ground_truth`` and ``run``, or one of the two; each may be anything that
    ``evaluate`` takes. The form to write follows from the ending of ``output`` or from ``to``;
    ``form`` names the form to read where the content alone does not say, and ``columns`` which
    column is what, such as {"item": "expected_ids"}. Files with one record
    per query pass through a few thousand at a time, and results in tables and TREC files batch
    by batch.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = convert(ground_truth={"q": {"a": 2}}, output=f"{folder}/out.qrels")
    ...     print(pathlib.Path(done.files[0]).read_text(), end="")
    q 0 a 2
    """
    from calipers.io import convert as rule

    return rule.convert(
        data, output, ground_truth=ground_truth, run=run, to=to, form=form, columns=columns,
        progress=progress,
    )  # fmt: skip
