"""Every field is certain, harmless or refused: the cases that gave a wrong number without a word.

Each stands with its smallest file. What is refused names the line that settles it; a second table
here pastes such lines and gets the right number.
"""

import json
import re
from typing import Any

import polars as pl
import pytest

from calipers import audit, convert, evaluate, read
from calipers.errors import CalipersError, InvalidInput
from calipers.io.load import load
from calipers.io.tables.columns import Columns


def put(folder, content, name="data"):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def mean(metric, *args, **kwargs):
    return evaluate(*args, metrics=[metric], **kwargs)[metric].mean


def targets(path, **more):
    truth = load(path, "ground_truth", **more).ground_truth
    return {(q, i): g for q, i, g in truth.targets.select("query", "item", "grade").iter_rows()}


def test_names_can_be_several_patterns_and_paths(tmp_path):
    truth = put(tmp_path, "question,URL\nq,a\n", "sheet.csv")
    run = put(tmp_path, "question,url,score\nq,b,2\nq,a,1\n", "log.csv")
    said = Columns.of(["item=URL,url"])
    assert mean("mrr", ground_truth=truth, run=run, columns=said) == 0.5
    wide = put(tmp_path, "question,Erwartet,Treffer 1,Treffer 2\nq,a,b,a\n", "wide.csv")
    said = Columns.of(["retrieved=Treffer *", "item=Erwartet"])
    assert mean("mrr", wide, columns=said) == 0.5
    log = [{"query": "q", "retrieved": [{"metadata": {"source": s}} for s in ("b", "a")]}]
    said = Columns.of(["item=metadata.source"])
    found = mean("mrr", ground_truth={"q": ["a"]}, run=put(tmp_path, log), columns=said)
    assert found == 0.5


def test_bytes_of_no_meaning_are_no_topics(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(bytes((n * 37 + 11) % 255 + 1 for n in range(300)) + b"<top>")
    with pytest.raises(CalipersError, match="neither text nor"):
        load(path, "both")


class ObjectApiResponse:
    """An answer as Elasticsearch's client has it: no mapping."""

    def __init__(self, body):
        self.body, self.meta = body, {}

    def __iter__(self):
        return iter(self.body)


def test_an_answer_of_elasticsearch_is_what_it_holds():
    hits = [{"_id": "b", "_score": 2.0}, {"_id": "a", "_score": 1.0}]
    body = {"took": 3, "timed_out": False, "_shards": {}, "hits": {"total": 2, "hits": hits}}

    def search(query):
        return ObjectApiResponse(body)

    truth = [{"query": "Who is it?", "ground_truth": ["a"]}]
    assert mean("mrr", ground_truth=truth, retriever=search) == 0.5
    for kept in (body, hits):
        assert mean("mrr", ground_truth=truth, run={"Who is it?": kept}) == 0.5
        assert mean("mrr", [{**truth[0], "retrieved": kept}]) == 0.5


def test_a_table_of_pandas_needs_no_further_library(monkeypatch):
    import polars as pl

    class Column(list[str]):
        def tolist(self):
            return list(self)

    class Frame:
        columns = ("question", "chunk_id")
        __dataframe__ = None

        def __getitem__(self, name):
            return Column([f"{name} {n}" for n in range(2)])

    made = pl.DataFrame

    def refuse(value, *args, **more):
        if isinstance(value, Frame):
            raise ImportError("pyarrow is required")
        return made(value, *args, **more)

    monkeypatch.setattr(pl, "DataFrame", refuse)
    from calipers.io.tables.scan import from_other_library

    assert from_other_library(Frame(), "data").columns == ["question", "chunk_id"]


@pytest.mark.parametrize("value", [{"q": {2**200: 1}}, {"q": {"a": 1j}}, {"q": {"a": [1]}}])
def test_values_that_no_table_holds_are_read_or_refused_in_words(value):
    try:
        evaluate(ground_truth=value, run={"q": ["a"]})
    except CalipersError as error:
        assert "run" in str(error) or "ground_truth" in str(error)  # noqa: PT017


def test_like_trec_eval_reads_no_subtopics(tmp_path):
    lines = "q 1 a 1\nq 2 a 1\nq 2 b 0\nq 2 c 1\n"
    given = {"ground_truth": put(tmp_path, lines, "d.qrels"), "run": {"q": {"a": 2, "b": 1}}}
    assert mean("recall@2", **given) == 1.0
    assert mean("recall@2", **given, like="trec_eval") == 0.5
    assert mean("subtopic_recall@2", **given, like="trec_eval") == 1.0


def test_standard_output_gets_the_form_that_is_named(tmp_path):
    from tests.command import calipers_command, refused

    path = put(tmp_path, [{"query": "q", "retrieved": ["a\rb"], "ground_truth": ["c"]}])
    out = calipers_command("convert", path, "-", "--to", "csv").out
    assert out.startswith("query,retrieved,ground_truth")
    assert "run, qrels, csv" in refused("convert", path, "-", "--to", "trec")
    back = tmp_path / "back.csv"
    convert(path, back)
    assert load(back, "run").run.frame["item"].to_list() == ["a\rb"]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("https://a.org/x/", "https://a.org/x"),
        ("http://a.org/x", "https://a.org/x"),
        ("a.org/x/", "https://a.org/x"),
        ("https://a.org/x?page=2", "https://a.org/x"),
        ("docs/v1/x.md", "x.md"),
        ("7.0", "7"),
    ],
)
def test_a_rule_for_ids_that_would_make_them_meet_is_proposed_and_works(ours, theirs):
    given: dict[str, Any] = {"ground_truth": {"q": [ours]}, "run": {"q": [theirs]}}
    with pytest.raises(CalipersError) as caught:
        evaluate(**given)
    rule = str(caught.value).partition('map_ids="')[2].partition('"')[0]
    assert mean("mrr", **given, map_ids=rule) == 1.0


@pytest.mark.parametrize("name", ["expected_ids", "ground_truth", "positives"])
@pytest.mark.parametrize("lines", [False, True])
def test_lists_beside_the_targets_are_merged_with_them(name, lines, tmp_path):
    given = {"query": "q", name: ["z"], "negatives": ["u"]}
    text = json.dumps(given) if lines else json.dumps([given])
    for value in (put(tmp_path, text), [given], pl.DataFrame([given])):
        assert targets(value) == {("q", "u"): 0, ("q", "z"): 1}, value
    graded = {"query": "q", name: ["u", "z"], "grades": [0, 1]}
    for value in (put(tmp_path, json.dumps([graded])), [graded], pl.DataFrame([graded])):
        with pytest.raises(InvalidInput, match=re.escape("'grades'")):
            targets(value)
    for value in (put(tmp_path, json.dumps([graded])), [graded]):
        said = Columns.of({"grade": "grades"})
        assert targets(value, columns=said) == {("q", "u"): 0, ("q", "z"): 1}, value
    paired = [{"query": "q", name: [["u", 0], ["z", 1]]}]
    assert targets(paired) == {("q", "u"): 0, ("q", "z"): 1}


@pytest.mark.parametrize(
    ("written", "grade"), [("50%", 0.5), ("2,5", 2.5), ("7.5 %", 0.075), ("x", 1.0), ("👎", 0.0)]
)
def test_a_grade_is_one_number_in_every_form(written, grade, tmp_path):
    row = {"question": "q", "chunk_id": "a", "relevance": written}
    table = f'question;chunk_id;relevance\nq;a;"{written}"\n'
    inside = {"query": "q", "ground_truth": [{"chunk_id": "a", "relevance": written}]}
    forms = (put(tmp_path, table), put(tmp_path, json.dumps(row), "f.jsonl"), [row], [inside])
    for given in (*forms, pl.DataFrame([row]), {"q": {"a": written}}):
        if not isinstance(given, dict):
            assert targets(given) == {("q", "a"): grade}, given
    assert targets([{"query": "q", "ground_truth": {"a": written}}]) == {("q", "a"): grade}


@pytest.mark.parametrize("value", [True, 3, 1.5, "a"])
def test_a_tag_is_one_text_in_every_form(value, tmp_path):
    text = str(value).lower()
    table = f"query,chunk_id,tag.kind\nq,a,{text}\n"
    flat = {"query": "q", "chunk_id": "a", "tag.kind": value}
    own = {"query": "q", "ground_truth": ["a"]}
    listed = [{**own, "tags": {"kind": value}}], [{**own, "tag.kind": value}]
    for given in (put(tmp_path, table), [flat], pl.DataFrame([flat]), *listed):
        assert [*load(given, "ground_truth").ground_truth.tags["kind"]] == [text], given


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "csv"])
def test_an_id_that_looks_like_nothing_is_written_and_read_again(ending, tmp_path):
    group = {"query": "q", "ground_truth": [{"id": "-", "grade": 1, "group": "g"}, {"id": "b"}]}
    plain = {"query": "p", "ground_truth": {"-": 1, "b": 0}}
    convert([group, plain], tmp_path / f"out.{ending}")
    assert targets(tmp_path / f"out.{ending}") == targets([group, plain])
    assert ("q", "-") in targets([group, plain])


@pytest.mark.parametrize("names", ["query,retrieved,ground_truth", "question,hits,expected_ids"])
def test_a_table_means_the_same_under_our_names_and_others(names, tmp_path):
    asked, found, wanted = names.split(",")
    rows = [{asked: "q", found: "b;a;c", wanted: "a"}, {asked: "p", found: "c", wanted: "b;c"}]
    text = f"{names}\nq,b;a;c,a\np,c,b;c\n"
    for given in (put(tmp_path, text), rows, pl.DataFrame(rows), put(tmp_path, rows, "j.json")):
        assert mean("mrr", given) == 0.75
        assert mean("recall@5", given) == 0.75
    # A second row of a query adds a target; a field that may be its grade is asked about.
    more = [*rows, {asked: "q", found: "b;a;c", wanted: "z"}]
    assert mean("recall@5", more) == 0.5
    graded = [{asked: "q", wanted: "a", "verdict": 0}, {asked: "p", wanted: "b", "verdict": 1}]
    with pytest.raises(InvalidInput, match=re.escape('columns={"grade": "verdict"}')):
        load(graded, "ground_truth")


def test_audit_convert_and_eval_say_the_same_of_the_reading(tmp_path):
    path = put(tmp_path, "query,correct_chunks,__expected\nHow?,a;b,x:y\nWhen?,c,x:y\n", "q.csv")
    said = list(load(path, "ground_truth").ground_truth.notes)
    assert said[0] == "target ← correct_chunks; not read: __expected."
    assert list(audit(path).notes) == said
    assert list(convert(path, tmp_path / "out.jsonl").remarks) == said
    scores = evaluate({"How?": ["a"], "When?": ["c"]}, ground_truth=path)
    assert list(scores.settings["notes"][: len(said)]) == said


def test_a_run_may_name_queries_by_their_texts(tmp_path):
    path = put(tmp_path, "id,question,chunk_id\nq1,How?,a\nq2,When?,c\n", "q.csv")
    truth = load(path, "ground_truth").ground_truth
    assert truth.queries.rows() == [("q1", "How?"), ("q2", "When?")]
    run = {"How?": ["a"], "When?": ["c"]}
    scores = evaluate(run, ground_truth=path, metrics="mrr")
    assert scores["mrr"].mean == 1.0
    assert any("by their texts" in note for note in scores.settings["notes"])
    records = [{"id": "q1", "query": "How?", "retrieved": ["a"]}]
    by_text = put(tmp_path, "question,chunk_id\nHow?,a\nWhen?,c\n", "texts.csv")
    assert mean("mrr", records, ground_truth=by_text) == 0.5


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (["item=nothing"], "no column 'nothing' to take as item: .* has question, chunk_id"),
        (["itm=chunk_id"], "cannot be named as 'itm'; it can be .*Did you mean item"),
        (["chunk_id"], "'chunk_id' cannot be read; write what it is"),
        (["item=chunk_id", "query=chunk_id"], "said beside another field for the same column"),
        ({"item": 3}, "The column for item is 3"),
    ],
)
def test_a_column_that_cannot_be_named_so(named, said, tmp_path):
    path = put(tmp_path, "question,chunk_id\nHow?,a\n", "q.csv")
    with pytest.raises(InvalidInput, match=said):
        evaluate({"How?": ["a"]}, ground_truth=path, columns=named)


_GRADED = {
    "in a table": "query,item,grade\nq,a,2\nq,b,1.0\n",
    "in targets": '{"query": "q", "expected": [{"id": "a", "grade": 2}, {"id": "b", "grade": 1}]}',
    "by item": '{"query": "q", "ground_truth": {"a": 2, "b": "1"}}',
}


@pytest.mark.parametrize("form", _GRADED)
def test_a_grade_that_is_a_number_can_be_said_too(form, tmp_path):
    path = tmp_path / ("truth.csv" if form == "in a table" else "truth.jsonl")
    path.write_text(_GRADED[form])
    truth = read(
        run={"q": ["b", "a"]}, ground_truth=path, columns={"grades": "2=3,1=0"}
    ).ground_truth
    assert truth.targets["grade"].to_list() == [3.0, 0.0]


def test_grades_that_no_value_has_are_refused(tmp_path):
    path = tmp_path / "truth.qrels"
    path.write_text("q 0 a 2\n")
    with pytest.raises(InvalidInput, match=r'Leave columns={"grades": …} out, or name what stands'):
        read(run={"q": ["a"]}, ground_truth=path, columns={"grades": "2=3"})


def test_a_column_id_is_the_item_of_a_run_without_another(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("query,id,title,score\nq,a,T,0.3\nq,b,U,0.2\n")
    assert mean("mrr", path, ground_truth={"q": ["b"]}) == 0.5
