"""Short names in a tool's fields of texts are ids: ``faq 1`` is not found in ``faq 12``."""

import json

import polars as pl
import pytest

from calipers import evaluate
from calipers.match.short_names import are_names

WANTED = {"one": ["faq 1", "faq 3"], "two": ["faq 2"]}
RETURNED = {"one": ["faq 12", "faq 3"], "two": ["faq 2", "faq 5"]}


def deepeval(wanted, returned):
    return [
        {"input": q, "actual_output": "x", "context": wanted[q], "retrieval_context": returned[q]}
        for q in wanted
    ]


def ragas(wanted, returned):
    return [
        {"user_input": q, "reference_contexts": wanted[q], "retrieved_contexts": returned[q]}
        for q in wanted
    ]


def value(**given):
    scores = evaluate(**given, metrics="recall@5")
    return scores["recall@5"].mean, scores.settings["match"], scores.settings["notes"]


@pytest.mark.parametrize("tool", [deepeval, ragas])
@pytest.mark.parametrize("sign", [" ", "-", "_", " no. "])
def test_ids_in_fields_of_texts_are_compared_as_ids(tool, sign):
    wanted, returned = (
        {q: [name.replace(" ", sign) for name in names] for q, names in side.items()}
        for side in (WANTED, RETURNED)
    )
    mean, match, notes = value(data=tool(wanted, returned))
    assert (mean, match) == (0.75, "id")
    assert [note for note in notes if "short names" in note]
    assert not [note for note in notes if "taken as quotes" in note]


@pytest.mark.parametrize("tool", [deepeval, ragas])
def test_a_short_quote_is_looked_for_in_sentences(tool):
    returned = {"one": ["Refunds take 30 days, as the law says."], "two": ["It is blue."]}
    mean, match, notes = value(data=tool({"one": ["30 days"], "two": ["blue"]}, returned))
    assert (mean, match) == (1.0, "quote")
    assert [note for note in notes if "taken as quotes" in note]


def test_what_is_called_a_quote_stays_one():
    rows = [
        {"query": q, "retrieved": [{"text": t} for t in RETURNED[q]],
         "ground_truth": [{"quote": t} for t in WANTED[q]]}
        for q in WANTED
    ]  # fmt: skip
    assert value(data=rows)[:2] == (1.0, "quote")


def test_either_side_may_be_in_a_file_of_its_own(tmp_path):
    plain = [{"query": q, "retrieved": RETURNED[q]} for q in WANTED]
    truth = [{"query": q, "ground_truth": WANTED[q]} for q in WANTED]
    both = deepeval(WANTED, RETURNED)
    wanted = [{key: row[key] for key in row if key != "retrieval_context"} for row in both]
    returned = [{key: row[key] for key in row if key != "context"} for row in both]
    for given in ((truth, returned), (wanted, plain), (wanted, returned)):
        paths = []
        for number, rows in enumerate(given):
            paths.append(tmp_path / f"{number}.json")
            paths[-1].write_text(json.dumps(rows))
        mean, match, notes = value(ground_truth=paths[0], run=paths[1])
        assert (mean, match) == (0.75, "id")
        assert not [note for note in notes if "taken as quotes" in note]


def test_one_long_result_makes_texts_of_all():
    long = {**RETURNED, "two": ["faq 2", "What faq 2 says is long, and ends with a full stop."]}
    assert value(data=deepeval(WANTED, long))[1] == "quote"


def test_names_that_never_meet_are_ids_only_where_all_are_numbered():
    numbered = deepeval({"one": ["faq 1"]}, {"one": ["faq 12"]})
    with pytest.raises(ValueError, match="no item id in common"):
        value(data=numbered)
    assert value(data=deepeval({"one": ["old cats"]}, {"one": ["black old cats"]}))[1] == "quote"


@pytest.mark.parametrize(
    ("text", "is_name"),
    [("a " * 5, False), ("a" * 41, False), ("返金ポリシー", True),
     ("返金は三十日以内に行われます", False), ("Is it?", False), ("kb/a 1.md", True)],
)  # fmt: skip
def test_a_name_is_short_and_no_sentence(text, is_name):
    assert are_names(pl.Series([text])) is is_name
