import json
from itertools import combinations

import pytest

import calipers.io.formats as forms
from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.format import RowFormat
from calipers.io.formats.ours import OURS_ALONE
from calipers.io.load import load, load_pair
from calipers.io.registry import built_in, named


def write(tmp_path, text, name="data"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_records_of_two_tools_at_once_are_named_both(tmp_path):
    record = {"user_input": "q", "reference_contexts": ["a"], "retrieval_context": ["a"]}
    path = write(tmp_path, json.dumps([record]))
    with pytest.raises(InvalidInput, match=r"could be two: ragas .* or deepeval"):
        load(path, "both")
    with pytest.raises(InvalidInput, match="data could be two: ragas"):
        load([record], "both")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("data", "Dear reader\n", r"its first line is 'Dear reader'.*JSON lines"),
        ("data", '{"query": "q", "tags": {"a": 1}}\n{"query": "r"}\n', "neither results nor a gr"),
        ("notes.md", "x", r"it holds notes\.md"),
        ("dataset_dict.json", '{"splits": ["train", "test"]}', "several splits: train, test; name"),
        ("state.json", "{}", r"state\.json does not list its parts"),
        ("dataset_dict.json", "{}", r"dataset_dict\.json does not list its parts"),
    ],
)
def test_what_is_in_no_known_form_is_said_so(name, content, said, tmp_path):
    path = write(tmp_path, content, name)
    with pytest.raises(InvalidInput, match=said):
        load_pair(path if name == "data" else tmp_path, None, None)


def test_records_under_any_key_of_one_object(tmp_path):
    path = write(tmp_path, json.dumps({"data": [{"query": "q", "ground_truth": ["a"]}]}))
    assert load(path, "both").ground_truth is not None
    bad = write(tmp_path, json.dumps({"data": [{"query": "q", "ground_truth": [{"grade": 1}]}]}))
    with pytest.raises(InvalidInput, match=r"\$\.data\[0\]\.ground_truth\[0\]"):
        load(bad, "both")


def test_a_name_that_does_not_exist_is_answered_with_the_nearest():
    with pytest.raises(InvalidInput, match=r"Did you mean ragas\?"):
        named("ragass")


def test_records_of_our_names_alone_are_no_other_form():
    # Such a file is taken for ours without asking the others, so none of them may want it.
    others = [
        form
        for form in built_in()
        if isinstance(form, RowFormat) and not form.fallback and form.name != "ours"
    ]
    assert len(others) > 5
    for n in range(len(OURS_ALONE) + 1):
        for keys in map(frozenset, combinations(sorted(OURS_ALONE), n)):
            assert [form.name for form in others if form.recognise(keys)] == []
            ours = bool(keys & {"retrieved", "ground_truth"})
            assert named("ours").recognise(keys) == ours  # type: ignore[attr-defined]


def test_a_form_needs_no_more_than_its_module(monkeypatch, tmp_path):
    write(
        tmp_path,
        "import msgspec\n"
        "from calipers.io.format import EachRow\n"
        "class Row(msgspec.Struct):\n    asked: str\n    seen: list[str]\n"
        "class Beacon(EachRow):\n"
        "    name, title, row, known_by = 'beacon', 'beacons', Row, ({'asked', 'seen'},)\n"
        "    def record(self, row, at):\n"
        "        return {'query': row.asked, 'retrieved': row.seen}\n",
        "beacon.py",
    )
    monkeypatch.setattr(forms, "__path__", [*forms.__path__, str(tmp_path)])
    built_in.cache_clear()
    try:
        assert named("beacon").title == "beacons"
        found = load([{"asked": "q", "seen": ["a"]}], "run")
        assert found.run is not None
        assert found.run.frame["item"].to_list() == ["a"]
        assert [form.fallback for form in built_in()][-3:] == [1, 2, 3]
    finally:
        built_in.cache_clear()


def test_squad_is_named_and_its_line_reads(tmp_path):
    rows = [
        {
            "id": "1",
            "question": "Where?",
            "context": "It is in France.",
            "answers": {"text": ["a"]},
        },
        {"id": "2", "question": "When?", "context": "It was in 1066.", "answers": {}},
    ]
    path = tmp_path / "squad.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = {"1": ["It is in France. And more."], "2": ["x y"]}
    results = [{"query": q, "retrieved": [{"text": t} for t in v]} for q, v in run.items()]
    with pytest.raises(InvalidInput, match=r"is SQuAD.*columns=\{") as caught:
        evaluate(ground_truth=path, run=results)
    assert '{"quote": "context", "ignore": "answers"}' in str(caught.value).replace("[", "")
    said = {"quote": "context", "ignore": "answers"}
    assert evaluate(ground_truth=path, run=results, columns=said)["mrr"].mean == 0.5
    nested = {"version": "2", "data": [{"title": "N", "paragraphs": [{"qas": []}]}]}
    (tmp_path / "squad.json").write_text(json.dumps(nested))
    with pytest.raises(InvalidInput, match="SQuAD as it is published"):
        evaluate(ground_truth=tmp_path / "squad.json", run=results)
