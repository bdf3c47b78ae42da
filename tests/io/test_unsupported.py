import json

import pytest

from calipers import evaluate
from calipers.errors import InvalidInput
from calipers.io.load import load

NAMED = {
    "topics of TREC": (
        "<top>\n<num> Number: 301\n<title> International Organized Crime\n</top>\n",
        "is a topic file",
    ),
    "topics in XML": (
        '<topics><topic number="1"><query>obama family tree</query></topic></topics>',
        "is a topic file",
    ),
    "topics with tabs": (
        "301\tinternational organized crime\n302\tpoliomyelitis and post polio\n",
        "is a topic file",
    ),
    "topics with six words": (
        "301 what is the charge of an electron\n302 who wrote the book of job first\n",
        "is plain text",
    ),
    "topics with colons": ("301:who wrote this\n302:how do lists grow\n", "is a topic file"),
    "values of trec_eval": (
        "map\t301\t0.17\nP_5\t301\t0.2000\nmap\tall\t0.17\n",
        "is what trec_eval printed",
    ),
    "prose": ("It was a dark and stormy night; rain\nfell in torrents, except at\n", "is plain"),
    "promptfoo's output": (
        json.dumps({"evalId": "e", "results": {"results": [], "stats": {}}, "config": {}}),
        "is of promptfoo",
    ),
    "an older output of promptfoo": (
        json.dumps({"version": 2, "results": {"results": [{"vars": {}}], "stats": {}}}),
        "is of promptfoo",
    ),
    "promptfoo's configuration": (
        "prompts:\n  - x {{y}}\nproviders:\n  - openai:gpt\n",
        "is of promptfoo",
    ),
    "scores of MTEB": (
        json.dumps({"task_name": "NFCorpus", "scores": {"test": [{"ndcg_at_10": 0.3}]}}),
        "is a result of MTEB",
    ),
    "SQuAD": (
        json.dumps({"version": "2.0", "data": [{"title": "a", "paragraphs": []}]}),
        "is SQuAD",
    ),
    "SQuAD as a table": ("id,title,context,question,answers\n1,a,b c d,who?,x\n", "is SQuAD"),
    "predictions of LlamaIndex": (
        json.dumps({"class_name": "RagPredictionDataset", "predictions": [{"response": "a"}]}),
        "holds predictions of LlamaIndex",
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_file_of_another_kind_is_named_for_what_it_is(name, tmp_path):
    content, said = NAMED[name]
    path = tmp_path / "data"
    path.write_text(content)
    for role in ("ground_truth", "run"):
        with pytest.raises(InvalidInput, match=f"(?i)data {said}.*(give|make)"):
            load(path, role)


def test_an_object_in_memory_is_named_too():
    with pytest.raises(InvalidInput, match="run is a result of MTEB"):
        evaluate({"task_name": "x", "scores": {"test": []}}, ground_truth={"q": ["a"]})


@pytest.mark.parametrize(
    "text", ["1 Q0 a 1\n2 Q0 b 0\n", "1\tQ0\ta\t1\n", "1 0 a 1\n", "1 q0 a 2\n"]
)
def test_judgements_may_have_q0_in_the_second_column(text, tmp_path):
    path = tmp_path / "qrels"
    path.write_text(text)
    for role in ("ground_truth", "both"):
        truth = load(path, role).ground_truth
        assert truth is not None
        assert truth.targets["item"][0] == "a"


def test_a_run_is_still_a_run(tmp_path):
    path = tmp_path / "run"
    for text in ("1 Q0 a 1 2 t\n", "1 Q0 a 1 2\n", "1\t0\ta\t1\t2.5e-1\tmy tag\n", "1 x a 1 2 t\n"):
        path.write_text(text)
        run = load(path, "both").run
        assert run is not None, text
        assert run.frame["item"].to_list() == ["a"]


@pytest.mark.parametrize(
    "text",
    [
        "how do lists grow\t17\t1\n",
        "python version 3 12\t17\t1\n",
        "what is\t17\t1\nhow is\t18\t1\n",
        "area 51\t3\n",
        "one two three four five six\n",
    ],
)
def test_texts_are_no_columns_between_blanks(text, tmp_path):
    path = tmp_path / "data"
    path.write_text(text)
    for role in ("ground_truth", "run", "both"):
        with pytest.raises(InvalidInput):
            load(path, role)
