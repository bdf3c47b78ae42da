"""Every wrapper gives the numbers of `evaluate`, through the library that it is made for."""

import os
from types import SimpleNamespace

import pytest
from hypothesis import given, settings

from calipers.errors import InvalidInput
from tests.integrations.cases import METRICS, agree, cases, evaluated

pytestmark = pytest.mark.filterwarnings("ignore")
few = settings(max_examples=12, deadline=None)


class TestLangSmith:
    def test_the_evaluator(self):
        from calipers.integrations.langsmith import evaluator

        @few
        @given(cases())
        def holds(case):
            for outputs, expected, match in shapes(case):
                found = evaluator(*METRICS, match=match)(
                    inputs={"question": "q"},
                    outputs={"documents": outputs},
                    reference_outputs={"ground_truth": expected},
                )
                values = {one["key"]: one["score"] for one in found}
                assert agree(values, evaluated(outputs, expected, match))

        holds()


class TestLlamaIndex:
    def test_the_metrics(self):
        pytest.importorskip("llama_index.core", reason="needs llama-index-core")
        from calipers.integrations.llama_index import metrics

        @few
        @given(cases())
        def holds(case):
            results, expected = case.results(), list(case.grades)
            texts = [one["text"] for one in results]
            quotes = case.plain_quotes()
            for match, wanted in (
                ("id", evaluated(case.retrieved, expected, "id")),
                ("quote", evaluated(results, [{"quote": one} for one in quotes], "quote")),
            ):
                found = {
                    one.metric_name: one.compute(
                        query="q",
                        expected_ids=expected,
                        retrieved_ids=case.retrieved,
                        expected_texts=quotes,
                        retrieved_texts=texts,
                    ).score
                    for one in metrics(*METRICS, match=match)
                }
                plain = {name: None if v != v else v for name, v in found.items()}
                assert agree(plain, wanted)

        holds()

    def test_no_expected_texts_are_no_zero(self):
        pytest.importorskip("llama_index.core", reason="needs llama-index-core")
        from calipers.integrations.llama_index import metrics

        (one,) = metrics("recall@1", match="quote")
        with pytest.raises(InvalidInput, match="no expected texts"):
            one.compute(expected_ids=["a"], retrieved_ids=["a"], retrieved_texts=["a text"])


class TestMLflow:
    def test_the_scorer_reads_outputs_and_spans(self):
        pytest.importorskip("mlflow.genai", reason="needs mlflow")
        from calipers.integrations.mlflow import scorer
        from calipers.store.mlflow_log import mlflow_name

        @few
        @given(cases())
        def holds(case):
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

        holds()

    def test_documents_that_mlflow_expects_are_ids_or_quotes(self):
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


class TestLangfuse:
    def test_the_evaluator(self):
        pytest.importorskip("langfuse", reason="needs langfuse")
        from calipers.integrations.langfuse import evaluator

        @few
        @given(cases())
        def holds(case):
            for outputs, expected, match in shapes(case):
                found = evaluator(*METRICS, match=match)(
                    input="q", output=outputs, expected_output=expected, metadata=None
                )
                wanted = evaluated(outputs, expected, match)
                defined = {name: value for name, value in wanted.items() if value is not None}
                assert agree({one.name: one.value for one in found}, defined)

        holds()


class TestHaystack:
    def test_the_component_in_a_pipeline(self):
        pytest.importorskip("haystack", reason="needs haystack-ai")
        from haystack import Document, Pipeline

        from calipers.integrations.haystack import evaluator

        def documents(results):
            return [Document(id=one["id"], content=one["text"]) for one in results]

        @few
        @given(cases())
        def holds(case):
            wanted_ids = [{"id": one, "text": f"Chapter {one}"} for one in case.grades]
            quotes = [Document(content=one) for one in case.plain_quotes()]
            expected = {"id": documents(wanted_ids), "quote": quotes}
            for match, truth in expected.items():
                pipeline = Pipeline()
                pipeline.add_component("calipers", evaluator(*METRICS, match=match))
                found = pipeline.run(
                    {
                        "calipers": {
                            "ground_truth_documents": [truth],
                            "retrieved_documents": [documents(case.results())],
                        }
                    }
                )["calipers"]
                said = [{"quote": one} for one in case.plain_quotes()]
                plain = list(case.grades) if match == "id" else said
                wanted = evaluated(case.results(), plain, match)
                assert agree(found["individual_scores"][0], wanted)
                assert agree(found["score"], wanted)

        holds()

    def test_lists_of_different_lengths_are_refused(self):
        pytest.importorskip("haystack", reason="needs haystack-ai")
        from calipers.integrations.haystack import evaluator

        with pytest.raises(InvalidInput, match="for 1 questions and retrieved documents for 2"):
            evaluator("mrr").run(ground_truth_documents=[[]], retrieved_documents=[[], []])


class TestDSPy:
    def test_the_metric(self):
        from calipers.integrations.dspy import metric

        @few
        @given(cases())
        def holds(case):
            for outputs, expected, match in shapes(case):
                wanted = evaluated(outputs, expected, match)
                example = SimpleNamespace(ground_truth=expected)
                prediction = SimpleNamespace(passages=outputs)
                for name, value in wanted.items():
                    follow = metric(name, match=match)
                    if value is None:
                        with pytest.raises(InvalidInput, match="is undefined for an example"):
                            follow(example, prediction)
                    else:
                        assert abs(follow(example, prediction) - value) <= 1e-12
                        assert follow(example, prediction, trace=[]) is (value >= 1)

        holds()

    def test_a_field_that_is_not_there_is_named(self):
        from calipers.integrations.dspy import metric

        with pytest.raises(InvalidInput, match=r"has no field 'passages'.*retrieved="):
            metric("mrr")(SimpleNamespace(ground_truth=["a"]), SimpleNamespace(context=["a"]))
        with pytest.raises(InvalidInput, match="stands for 2 metrics"):
            metric("recall@1,2")


def test_no_library_is_imported_before_its_wrapper_is_used():
    import subprocess
    import sys
    from pathlib import Path

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
