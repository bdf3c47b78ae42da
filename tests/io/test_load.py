"""Whatever is handed in, of any library, is read and left as it was, or refused in words."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import calipers
from calipers import evaluate
from calipers.errors import InvalidInput, RetrieverFailed, UnreadableFile
from calipers.io.load import load, read_value

TRUTH: dict[str, dict[str, float]] = {"q": {"a": 2, "b": 0}, "r": {"c": 1}}
RUN = {"r": {"x": 1.0, "c": 1.0}, "q": {"b": 0.5, "a": 0.9}}
RECORDS: list[dict[str, Any]] = [
    {"query": "q", "retrieved": [{"id": "a", "score": 1}], "ground_truth": {"a": 1}, "tags": {}},
    {"query": "r", "retrieved": [], "ground_truth": [{"id": "a", "grade": 1}]},
]


def frame(mapping: dict[str, dict[str, float]], number: str) -> pl.DataFrame:
    rows = [
        {"query": q, "item": i, number: v} for q, items in mapping.items() for i, v in items.items()
    ]
    return pl.DataFrame(rows)


def test_nothing_is_changed() -> None:
    pairs: tuple[tuple[Any, Any], ...] = (
        (TRUTH, RUN),
        (frame(TRUTH, "grade"), frame(RUN, "score")),
        (frame(TRUTH, "grade").to_pandas(), frame(RUN, "score").to_pandas()),
    )
    for truth, run in pairs:
        before = copy.deepcopy((truth, run))
        calipers.evaluate(ground_truth=truth, run=run)
        for was, is_now in zip(before, (truth, run), strict=True):
            same = was == is_now if isinstance(was, dict) else was.equals(is_now)
            assert same
    before_records = copy.deepcopy(RECORDS)
    calipers.evaluate(RECORDS)
    assert before_records == RECORDS


def test_values_are_taken_as_they_are() -> None:
    truth = load(TRUTH, "ground_truth")
    run = load(RUN, "run")
    direct = calipers.evaluate(ground_truth=TRUTH, run=RUN)
    assert calipers.evaluate(ground_truth=truth, run=run).to_dict() == direct.to_dict()
    values = calipers.evaluate(ground_truth=truth.ground_truth, run=run.run)
    assert values.to_dict() == direct.to_dict()


@pytest.mark.parametrize("grade", [1, 0.5, True, None, "2", float("nan")])
def test_a_large_mapping_of_grades_is_read_as_a_small_one_is(grade: object) -> None:
    """The shortcut that it takes changes no value, no sentence, and no other kind of object."""
    graded = {f"q{n}": {f"d{n}": grade, "e": 2} for n in range(300)}
    answers: list[object] = []
    for look in (load, lambda value, role: read_value(value, role, "ground_truth")):
        try:
            truth = look(graded, "ground_truth").ground_truth
        except InvalidInput as error:
            answers.append(str(error))
        else:
            answers.append((truth.fingerprint, truth.n_queries, truth.targets.to_dicts()))
    assert answers[0] == answers[1]


def test_a_large_object_of_records_by_number_is_no_mapping_of_grades() -> None:
    records = {str(n): {"query_id": n, "doc_id": 7 * n, "relevance": 1} for n in range(300)}
    truth = load(records, "ground_truth").ground_truth
    assert truth is not None
    assert truth.targets["item"].to_list()[:3] == ["0", "7", "14"]


def test_a_second_file_replaces_the_part_of_the_first(tmp_path: Path) -> None:
    evals = tmp_path / "evals.json"
    evals.write_text(json.dumps(RECORDS))
    better = calipers.evaluate(evals, run={"q": ["a"], "r": ["a"]}, metrics="mrr")
    assert better.of("mrr").tolist() == [1.0, 1.0]
    other = calipers.evaluate(evals, ground_truth={"q": ["a"]}, metrics="mrr")
    assert other.of("mrr").tolist() == [1.0]


def test_an_address_is_refused_without_its_password_and_so_are_a_pattern_and_a_folder(tmp_path):
    for scheme in ("https", "s3"):
        with pytest.raises(InvalidInput, match=rf"^{scheme}://host/x\.parquet is an address"):
            load(f"{scheme}://me:hunter2@host/x.parquet?sig=hunter2", "run")
    (tmp_path / "a.csv").write_text("query,item,score\nq,a,1\n")
    with pytest.raises(UnreadableFile, match="There is no file"):
        load(tmp_path / "*.csv", "run")
    with pytest.raises(UnreadableFile, match="Name a file in"):
        load(tmp_path, "run")


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


WANTED = {"q": ["a"]}


def of_pandas(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"query": ["q", "r"], "ground_truth": [["a"], ["b"]], **columns})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (of_pandas(retrieved=[["a"], 3]), "in its column 'retrieved'"),
        (of_pandas(retrieved=[["a"], {"x": 1}]), "in its column 'retrieved'"),
        (of_pandas(retrieved=[["a"], object()]), "in its column 'retrieved'"),
        (of_pandas(item=[1 + 2j, 3j]), "in its column 'item'"),
        (
            [{"query": "q", "retrieved": np.int64(1), **WANTED}],
            "data[0].retrieved: np.int64(1) is no list of results",
        ),
        (
            [{"query": "q", "retrieved": ["a"], "ground_truth": np.float64(1)}],
            "data[0].ground_truth: found float",
        ),
        (
            [{"query": "q", "retrieved": np.array(1), "ground_truth": ["a"]}],
            "a ndarray that holds no list of results",
        ),
    ],
)
def test_a_value_that_does_not_belong_gets_a_sentence(given: Any, words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        calipers.evaluate(given)
    assert words in str(refused.value)


def test_an_answer_that_lacks_results_is_refused() -> None:
    answer = {"_shards": {"total": 3, "failed": 1}, "hits": {"hits": [{"_id": "a"}]}}
    said = r"run\['q'\]\.retrieved lacks results: 1 of 3 shards failed; ask again"
    with pytest.raises(InvalidInput, match=said):
        calipers.evaluate(run={"q": answer}, ground_truth=WANTED)


def test_a_table_that_a_retriever_returns_is_its_rows() -> None:
    table = pd.DataFrame({"id": ["a", "b"], "score": [2.0, 1.0]})
    run = calipers.retrieve(lambda query, k: table, ["q"])
    assert run.frame["item"].to_list() == ["a", "b"]
    with pytest.raises(RetrieverFailed, match="no result"):
        calipers.retrieve(lambda query, k: pl.DataFrame({"id": []}), ["q"])


def test_arrays_and_tables_inside_of_records_and_mappings_are_lists():
    import numpy as np
    import polars as pl

    from calipers import evaluate

    lists: tuple[Any, ...] = (
        np.array(["b", "a"]),
        pl.Series(["b", "a"]),
        pl.DataFrame({"id": ["b", "a"]}),
    )
    for results in lists:
        record = {"query": "q", "retrieved": results, "ground_truth": pl.Series(["a"])}
        assert evaluate([record], metrics="mrr")["mrr"].mean == 0.5
        truth = {"q": np.array(["a"])}
        assert evaluate(ground_truth=truth, run={"q": results}, metrics="mrr")["mrr"].mean == 0.5


def test_what_is_called_a_ground_truth_is_never_proposed_as_results(tmp_path):
    path = tmp_path / "truth.jsonl"
    path.write_text('{"query": "Who?", "ground_truth": ["a"]}\n')
    with pytest.raises(InvalidInput, match="has no results, only a ground truth") as refused:
        evaluate(ground_truth={"Who?": ["a"]}, run=path)
    assert "retrieved" not in str(refused.value).partition(" has no results")[0]
