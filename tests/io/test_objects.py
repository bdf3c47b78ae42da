"""Objects of other libraries that hold a dataset, recognised by what they have."""

import pandas as pd
import pyarrow as pa
import pytest

from calipers import evaluate
from calipers.errors import InvalidInput

ROWS = [
    {"question": "q1", "expected_ids": ["a", "b"], "retrieved": ["a", "x", "b"]},
    {"question": "q2", "expected_ids": ["c"], "retrieved": ["x", "y", "z", "c"]},
]
SAMPLES = [
    {"user_input": "q1", "retrieved_contexts": ["The cat sat."], "reference_contexts": ["cat sat"]},
    {"user_input": "q2", "retrieved_contexts": ["No."], "reference_contexts": ["It is a lock"]},
]


class Streamed:
    """As ``datasets.IterableDataset``: no length, no places, rows one after the other."""

    features = column_names = info = None

    def __init__(self, rows):
        self.rows = rows

    def with_format(self, kind):
        assert kind is None
        return self

    def __iter__(self):
        return iter(self.rows)


class Held(Streamed):
    """As ``datasets.Dataset``: slices of its own hand are tables of Arrow."""

    def __len__(self):
        return len(self.rows)

    def with_format(self, kind):
        assert kind == "arrow"
        return self

    def __getitem__(self, places):
        return pa.Table.from_pylist(self.rows[places])


class Samples:
    """As ragas' ``EvaluationDataset``."""

    samples = SAMPLES

    def to_list(self):
        return SAMPLES


def recall(value, **more):
    return evaluate(value, metrics="recall@3", **more)["recall@3"].mean


@pytest.mark.parametrize("kind", [Held, Streamed])
def test_datasets_of_hugging_face(kind):
    assert recall(kind(ROWS)) == 0.5
    assert recall(kind(SAMPLES)) == 0.5
    assert recall({"test": kind(ROWS)}) == 0.5
    with pytest.raises(InvalidInput, match=r"several splits: test, train; .*data\['test'\]"):
        recall({"test": kind(ROWS), "train": kind(ROWS)})
    questions = [{"question": "What is it?", "expected_ids": ["a"]}]
    assert recall(kind(questions), retriever=lambda query, k: ["b", "a"]) == 1.0


def test_the_real_datasets():
    datasets = pytest.importorskip("datasets", reason="needs datasets")
    whole = datasets.Dataset.from_list(ROWS)
    assert recall(whole) == recall(whole.to_iterable_dataset()) == 0.5
    # What was selected is not in its table.
    assert recall(whole.select([0])) == 1.0
    assert recall(datasets.DatasetDict({"test": whole})) == 0.5


def test_samples_of_ragas():
    assert recall(Samples()) == 0.5


def test_the_real_samples_of_ragas():
    ragas = pytest.importorskip("ragas", reason="needs ragas")
    samples = [ragas.SingleTurnSample(**one) for one in SAMPLES]
    assert recall(ragas.EvaluationDataset(samples=samples)) == 0.5


def test_a_column_of_pandas_whose_labels_are_the_queries():
    truth = pd.DataFrame({"q": ["q1", "q1", "q2"], "doc": ["a", "b", "c"]})
    truth = truth.groupby("q")["doc"].apply(list)
    assert recall(None, ground_truth=truth, run=pd.Series({"q1": ["x", "a"], "q2": ["c"]})) == 0.75
    graded = pd.Series({"q1": {"a": 0, "b": 1}})
    assert recall(None, ground_truth=graded, run=pd.Series({"q1": {"b": 0.5, "a": 0.9}})) == 1.0


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pd.Series(["a", "b"]), r"ground_truth\[0\] is 'a'; it must be a mapping"),
        (pd.Series([["a"], ["b"]], index=["q", "q"]), "has the query 'q' twice among its labels"),
        (
            pd.Series([["a"]], index=pd.MultiIndex.from_tuples([("q", 1)])),
            "an id is a text",
        ),
    ],
)
def test_a_column_that_cannot_be_meant_is_refused(column, said):
    with pytest.raises(InvalidInput, match=said):
        evaluate(ground_truth=column, run={"q": ["a"]})
