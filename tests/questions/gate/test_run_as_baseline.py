"""A run as the baseline is refused with a call that works."""

import json

import pytest

import calipers
from calipers.errors import InvalidInput

TRUTH = {"q": ["a"], "r": ["b"]}
RUN = {"q": ["a", "b"], "r": ["a", "b"]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"query": query, "retrieved": items} for query, items in RUN.items()]
    (tmp_path / "old.json").write_text(json.dumps(rows))
    rows = [{"query": query, "ground_truth": items} for query, items in TRUTH.items()]
    (tmp_path / "truth.json").write_text(json.dumps(rows))
    both = [{**row, "retrieved": items} for row, items in zip(rows, RUN.values(), strict=True)]
    (tmp_path / "both.json").write_text(json.dumps(both))
    return tmp_path


def sentence_of(**inputs):
    with pytest.raises(InvalidInput, match="is a run, and a baseline is") as caught:
        calipers.gate(baseline="old.json", **inputs)
    return str(caught.value)


@pytest.mark.parametrize(
    ("inputs", "named"),
    [
        ({"ground_truth": "truth.json", "run": RUN}, "truth.json"),
        ({"data": "both.json", "metrics": "recall", "k": [1, 7]}, "both.json"),
    ],
)
def test_the_call_names_the_ground_truth_and_the_metrics(folder, inputs, named):
    sentence = sentence_of(**inputs)
    call = sentence.split("call ")[1].split(", then give")[0]
    assert f"ground_truth={named!r}" in call
    eval(call, {"calipers": calipers})
    data = [inputs.pop("data")] if "data" in inputs else []
    assert calipers.gate(*data, baseline="old.baseline.json", **inputs).passed


@pytest.mark.usefixtures("folder")
def test_a_ground_truth_that_has_no_name_is_not_given_one():
    sentence = sentence_of(ground_truth=TRUTH, run=RUN)
    assert "ground_truth=…, " in sentence
    assert "with this ground truth" in sentence


@pytest.mark.usefixtures("folder")
def test_without_a_ground_truth_no_call_is_proposed():
    assert "gate_save" not in sentence_of(data="old.json")
