"""Whole experiments through the libraries: every value and every mean is that of `evaluate`."""

import asyncio
from uuid import uuid4

import pytest

from tests.integrations.cases import METRICS, agree, drawn, evaluated, together

pytestmark = pytest.mark.filterwarnings("ignore")
CASES = drawn(12, seed=17)
BY_ID = [(case.retrieved, case.grades) for case in CASES]
BY_QUOTE = [(case.results(), case.quotes()) for case in CASES]
WAYS = pytest.mark.parametrize(("pairs", "match"), [(BY_ID, "id"), (BY_QUOTE, "quote")])


def rows(scores):
    return scores.per_query.select(METRICS).rows(named=True)


def means(scores):
    return {f"mean {name}": scores[name].mean for name in METRICS}


def test_the_cases_have_what_is_hard():
    assert any(not case.retrieved for case in CASES)
    assert any(len(set(case.retrieved)) < len(case.retrieved) for case in CASES)
    assert any(not any(case.grades.values()) for case in CASES)
    assert any(len(set(case.grades.values())) > 2 for case in CASES)


@WAYS
def test_langsmith_beside_an_evaluator_of_openevals(pairs, match, monkeypatch):
    library = pytest.importorskip("langsmith", reason="needs langsmith")
    openevals = pytest.importorskip("openevals", reason="needs openevals")
    from calipers.integrations.langsmith import evaluator, summary_evaluator

    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")
    examples = [
        library.schemas.Example(id=uuid4(), inputs={"n": n}, outputs={"ground_truth": expected})
        for n, (_, expected) in enumerate(pairs)
    ]
    results = library.evaluate(
        lambda inputs: {"documents": pairs[inputs["n"]][0]},
        data=examples,
        evaluators=[evaluator(*METRICS, match=match), openevals.exact_match],
        summary_evaluators=[summary_evaluator(*METRICS, match=match)],
        upload_results=False,
    )
    wanted = together(pairs, match)
    seen = 0
    for row in results:
        found = {one.key: one.score for one in row["evaluation_results"]["results"]}
        assert found.pop("exact_match") is False, "both kinds of evaluators were called"
        assert agree(found, rows(wanted)[row["example"].inputs["n"]])
        seen += 1
    assert seen == len(pairs)
    summary = {one.key: one for one in results._summary_results["results"]}
    assert agree({name: one.score for name, one in summary.items()}, means(wanted))
    interval = wanted["mrr"].interval
    assert f"{interval.low:.3f} to {interval.high:.3f}" in summary["mean mrr"].comment


@WAYS
def test_langfuse(pairs, match):
    langfuse = pytest.importorskip("langfuse", reason="needs langfuse")
    from calipers.integrations.langfuse import evaluator, run_evaluator

    client = langfuse.Langfuse(
        public_key="pk", secret_key="sk", base_url="http://127.0.0.1:9", tracing_enabled=False
    )
    result = client.run_experiment(
        name="retrieval",
        task=lambda *, item, **_: pairs[item["input"]][0],
        data=[{"input": n, "expected_output": expected} for n, (_, expected) in enumerate(pairs)],
        evaluators=[evaluator(*METRICS, match=match)],
        run_evaluators=[run_evaluator(*METRICS, match=match)],
    )
    wanted = together(pairs, match)
    assert len(result.item_results) == len(pairs)
    for one in result.item_results:
        row = rows(wanted)[one.item["input"]]
        defined = {name: value for name, value in row.items() if value is not None}
        assert agree({each.name: each.value for each in one.evaluations}, defined)
    assert agree({one.name: one.value for one in result.run_evaluations}, means(wanted))


def test_haystack():
    pytest.importorskip("haystack", reason="needs haystack-ai")
    from haystack import Document

    from calipers.integrations.haystack import evaluator

    found = evaluator(*METRICS, match="quote").run(
        ground_truth_documents=[[Document(content=q) for q in c.plain_quotes()] for c in CASES],
        retrieved_documents=[
            [Document(id=one["id"], content=one["text"]) for one in case.results()]
            for case in CASES
        ],
    )
    plain = [(case.results(), [{"quote": q} for q in case.plain_quotes()]) for case in CASES]
    wanted = together(plain, "quote")
    for row, right in zip(found["individual_scores"], rows(wanted), strict=True):
        assert agree(row, right)
    assert agree({f"mean {name}": v for name, v in found["score"].items()}, means(wanted))
    interval = wanted["mrr"].interval
    assert found["intervals"]["mrr"] == [interval.low, interval.high]


def test_the_evaluator_of_llama_index():
    pytest.importorskip("llama_index.core", reason="needs llama-index-core")
    from llama_index.core.evaluation import RetrieverEvaluator
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    from calipers.integrations.llama_index import metrics

    class Known(BaseRetriever):
        def _retrieve(self, query_bundle):
            results = CASES[int(query_bundle.query_str)].results()
            return [
                NodeWithScore(node=TextNode(id_=one["id"], text=one["text"])) for one in results
            ]

    evaluator = RetrieverEvaluator(metrics=metrics(*METRICS, match="id"), retriever=Known())
    for n, case in enumerate(CASES):
        found = asyncio.run(evaluator.aevaluate(str(n), expected_ids=list(case.grades)))
        # LlamaIndex itself takes a node that came twice out of the list.
        assert found.retrieved_ids == list(dict.fromkeys(case.retrieved))
        wanted = evaluated(found.retrieved_ids, list(case.grades), "id")
        defined = {name: v if v == v else None for name, v in found.metric_vals_dict.items()}
        assert agree(defined, wanted)


def test_dspy(tmp_path, monkeypatch):
    monkeypatch.setenv("DSPY_CACHEDIR", str(tmp_path))
    dspy = pytest.importorskip("dspy", reason="needs dspy")
    from calipers.integrations.dspy import metric

    class Search(dspy.Module):  # type: ignore[name-defined]
        def forward(self, n):
            return dspy.Prediction(passages=CASES[n].retrieved)

    answerable = [n for n, case in enumerate(CASES) if any(case.grades.values())]
    examples = [
        dspy.Example(n=n, ground_truth=CASES[n].grades).with_inputs("n") for n in answerable
    ]
    wanted = together([BY_ID[n] for n in answerable], "id")
    for name in METRICS:
        found = dspy.Evaluate(devset=examples, metric=metric(name), num_threads=1)(Search())
        for (example, _, value), right in zip(found.results, rows(wanted), strict=True):
            assert abs(value - right[name]) <= 1e-12, example
