"""What no experiment of a library reaches: scorers of MLflow, refusals, lazy imports."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from calipers.errors import InvalidInput
from tests.integrations.cases import METRICS, agree, drawn, evaluated

pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_scorer_of_mlflow_reads_outputs_and_spans():
    pytest.importorskip("mlflow.genai", reason="needs mlflow")
    from calipers.integrations.mlflow import mlflow_name, scorer

    for case in drawn(12, seed=5):
        for outputs, expected, match in shapes(case):
            wanted = evaluated(outputs, expected, match)
            wanted = {mlflow_name(name): value for name, value in wanted.items()}
            score = scorer(*METRICS, match=match)
            spans = [span(outputs[2:], 2), span(outputs[:2], 1)]
            trace = SimpleNamespace(search_spans=lambda span_type, s=spans: s)
            for given_outputs, given_trace in ((outputs, None), ("an answer", trace)):
                found = score(
                    outputs=given_outputs,
                    expectations={"ground_truth": expected},
                    trace=given_trace,
                )
                assert agree({one.name: one.value for one in found}, wanted)


def test_documents_that_mlflow_expects_are_ids_or_quotes():
    pytest.importorskip("mlflow.genai", reason="needs mlflow")
    from calipers.integrations.mlflow import scorer

    expected = {"expected_retrieved_context": [{"doc_uri": "c1"}, {"doc_uri": "c2"}]}
    (found,) = scorer("recall@5")(outputs=["c2"], expectations=expected, trace=None)
    assert found.value == 0.5


def span(outputs, began):
    """A span as MLflow gives it: results with the id in their metadata."""
    return SimpleNamespace(outputs=[in_metadata(one) for one in outputs], start_time_ns=began)


def in_metadata(result):
    if isinstance(result, str):
        return {"metadata": {"doc_uri": result}}
    return {"page_content": result["text"], "metadata": {"doc_uri": result["id"]}}


def shapes(case):
    yield case.retrieved, case.grades, "id"
    yield case.results(), case.quotes(), "quote"


def test_what_a_library_leaves_out_is_refused_and_no_zero():
    pytest.importorskip("llama_index.core", reason="needs llama-index-core")
    pytest.importorskip("haystack", reason="needs haystack-ai")
    from calipers.integrations.haystack import evaluator
    from calipers.integrations.llama_index import metrics

    (one,) = metrics("recall@1", match="quote")
    with pytest.raises(InvalidInput, match="no expected texts"):
        one.compute(expected_ids=["a"], retrieved_ids=["a"], retrieved_texts=["a text"])
    found = one.compute(
        expected_texts=["a text"], retrieved_ids=["a"], retrieved_texts=["it is a text"]
    )
    assert found.score == 1
    with pytest.raises(InvalidInput, match="for 1 questions and retrieved documents for 2"):
        evaluator("mrr").run(ground_truth_documents=[[]], retrieved_documents=[[], []])


def test_the_metric_of_dspy_says_yes_or_no_and_what_it_lacks():
    from calipers.integrations.dspy import metric

    example, found = SimpleNamespace(ground_truth=["a", "b"]), SimpleNamespace(passages=["a"])
    assert metric("recall@1")(example, found) == 0.5
    assert metric("recall@1")(example, found, trace=[]) is False
    assert metric("recall@1", threshold=0.5)(example, found, trace=[]) is True
    for lacking, said in (
        ((SimpleNamespace(ground_truth=[]), found), "is undefined for an example"),
        ((example, SimpleNamespace(context=["a"])), r"has no field 'passages'.*retrieved="),
    ):
        with pytest.raises(InvalidInput, match=said):
            metric("mrr")(*lacking)
    with pytest.raises(InvalidInput, match="stands for 2 metrics"):
        metric("recall@1,2")


def test_no_library_is_imported_before_its_wrapper_is_used():
    source = Path(__file__).parents[2] / "src"
    wrappers = {one.stem for one in (source / "calipers" / "integrations").glob("[!_]*.py")}
    libraries = (wrappers - {"scorer"}) | {"openevals", "langchain_core", "pandas"}
    code = (
        "import calipers, sys; calipers.scorer('mrr')(['a'], ['a']);"
        + "".join(f"import calipers.integrations.{name};" for name in sorted(wrappers))
        + "print(*[n for n in sys.argv[1:] if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *libraries],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    assert done.stdout.split() == []
