"""Setting queries aside: what is sealed, what is written, and what refuses it afterwards."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput, SealedQueries, WriteFailed
from calipers.io.load import load
from calipers.questions.seal import rule
from calipers.questions.seal.rule import choose, content


def records():
    return [
        {
            "id": f"q{i}",
            "query": f"What is number {i}?",
            "ground_truth": [f"d{i}"],
            "tags": {"type": "ab"[i % 3 == 0], "intent": f"i{i // 3}"},
        }
        for i in range(60)
    ]


@pytest.fixture
def truth(tmp_path):
    path = tmp_path / "gt.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records()))
    return path


def names(path):
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def test_every_query_is_in_one_part_and_nothing_of_it_is_lost(truth, tmp_path):
    found = calipers.seal(truth)
    assert (found.open.queries, found.sealed.queries) == (36, 24)
    parts = [names(tmp_path / f"gt.{part}.jsonl") for part in ("open", "sealed")]
    assert sorted(parts[0] + parts[1]) == sorted(names(truth))
    whole = {one["id"]: one for one in records()}
    for line in (tmp_path / "gt.sealed.jsonl").read_text().splitlines():
        kept = json.loads(line)
        assert kept["tags"].pop("calipers-seal")
        assert kept == {**whole[kept["id"]], "ground_truth": {f"d{kept['id'][1:]}": 1}}


def test_the_same_queries_are_sealed_again(truth, tmp_path):
    (tmp_path / "again").mkdir()
    copied = shutil.copy(truth, tmp_path / "again" / "gt.jsonl")
    first, again = (calipers.seal(one).files["sealed"] for one in (truth, copied))
    assert names(Path(first)) == names(Path(again))


def test_clusters_stay_together(truth):
    found = calipers.seal(truth, share=0.5, cluster="intent")
    sealed = load(found.files["sealed"], "ground_truth", sealed=True).ground_truth
    opened = load(found.files["open"], "ground_truth").ground_truth
    assert not set(sealed.tags["intent"]) & set(opened.tags["intent"])


def test_questions_that_are_the_same_stay_together(tmp_path):
    twice = [{**one, "query": f" What  is {at // 2}? "} for at, one in enumerate(records())]
    found = calipers.seal(twice, output=tmp_path / "gt")
    sealed = load(found.files["sealed"], "ground_truth", sealed=True).ground_truth
    counts = sealed.queries["text"].value_counts()["count"]
    assert counts.to_list() == [2] * (found.sealed.queries // 2)


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, 20), min_size=30, max_size=90),
    st.floats(0.2, 0.6),
    st.integers(0, 5),
)
def test_the_share_is_met_but_for_half_a_unit(names, share, seed):
    units = np.unique(names, return_inverse=True)[1]
    mask = choose(units, share, seed)
    assert abs(mask.sum() - share * len(units)) <= np.bincount(units).max() / 2


@pytest.mark.parametrize(
    "given",
    [
        {f"q{i}": {f"d{i}": 2, f"e{i}": 1} for i in range(30)},
        [
            {"query": f"Who is {i}?", "ground_truth": [{"quote": f"It is {i}", "document": "d"}]}
            for i in range(30)
        ],
        [
            {
                "query": f"q{i}",
                "ground_truth": [{"document": "d", "start": i, "end": i + 5, "group": "g"}],
                "forbidden": [f"f{i}"],
            }
            for i in range(30)
        ],
        [{"query": f"q{i}", "ground_truth": ["a"] if i % 4 else []} for i in range(40)],
    ],
)
def test_whatever_a_ground_truth_holds_can_be_sealed(given, tmp_path):
    found = calipers.seal(given, output=tmp_path / "gt")
    for part in ("open", "sealed"):
        again = load(found.files[part], "ground_truth", sealed=True).ground_truth
        assert content(again) == getattr(found, part).fingerprint
    assert found.open.queries + found.sealed.queries == len(given)


ASKING = {
    "evaluate": lambda gt, run: calipers.evaluate(ground_truth=gt, run=run),
    "sweep": lambda gt, run: calipers.sweep(ground_truth=gt, run=run),
    "compare": lambda gt, run: calipers.compare({"a": run, "b": run}, gt),
    "diagnose": lambda gt, run: calipers.diagnose(ground_truth=gt, run=run),
    "misses": lambda gt, run: calipers.misses(ground_truth=gt, run=run),
    "gate": lambda gt, run: calipers.gate(ground_truth=gt, run=run, require="recall@10 > 0"),
    "audit": lambda gt, _: calipers.audit(gt),
    "labels draft": lambda gt, run: calipers.labels_draft([run], ground_truth=gt),
    "plan": lambda gt, run: calipers.plan({"a": run, "b": run}, ground_truth=gt, difference=0.1),
    "seal": lambda gt, _: calipers.seal(gt),
    "convert": lambda gt, _: calipers.convert(gt, f"{gt}.qrels", to="qrels"),
    "read": lambda gt, run: calipers.read(ground_truth=gt, run=run),
    "a retriever": lambda gt, _: calipers.evaluate(ground_truth=gt, retriever=never_asked),
    "explain": lambda gt, _: calipers.explain("q1", retriever=never_asked, ground_truth=gt),
}


def never_asked(query, k):
    raise AssertionError(f"{query} was asked for {k} results")


@pytest.mark.parametrize("name", ASKING)
def test_sealed_queries_are_refused_wherever_a_copy_of_them_stands(name, truth, tmp_path):
    sealed = Path(calipers.seal(truth).files["sealed"])
    copy = tmp_path / "elsewhere.jsonl"
    copy.write_text("".join(sealed.read_text().splitlines(keepends=True)[:9]))
    run = {f"q{i}": [f"d{i}"] for i in range(60)}
    for path in (sealed, copy):
        with pytest.raises(SealedQueries, match="calipers confirm OLD NEW --sealed"):
            ASKING[name](str(path), run)


def test_one_sealed_record_among_others_is_enough(truth, tmp_path):
    calipers.seal(truth)
    mixed = tmp_path / "mixed.jsonl"
    sealed = (tmp_path / "gt.sealed.jsonl").read_text().splitlines(keepends=True)
    mixed.write_text((tmp_path / "gt.open.jsonl").read_text() + sealed[3])
    with pytest.raises(SealedQueries, match=r"sealed queries \(1 of 37\)"):
        calipers.evaluate(ground_truth=mixed, run={"q1": ["d1"]})


def test_results_beside_sealed_queries_are_a_run_like_any_other(truth, tmp_path):
    found = calipers.seal(truth)
    run = tmp_path / "run.jsonl"
    with run.open("w") as file:
        for line in (tmp_path / "gt.sealed.jsonl").read_text().splitlines():
            one = json.loads(line)
            file.write(json.dumps({**one, "retrieved": ["d1"]}) + "\n")
    with pytest.raises(SealedQueries):
        calipers.evaluate(run)
    old = {f"q{i}": [f"d{i}"] for i in range(60)}
    assert calipers.confirm(run, old, sealed=found.files["sealed"]).confirmed


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"share": 0.0}, "share to seal is 0.0"),
        ({"share": 1.0}, "above 0 and below 1"),
        ({"looks": 0}, "at least 1"),
        ({"cluster": "topic"}, "no tag 'topic'"),
        ({"share": 0.05}, "3 of 60 queries would be sealed, which can confirm nothing; at least 9"),
        ({"share": 0.999}, "stay open"),
        ({"output": "."}, "is a folder; add a name"),
    ],
)
def test_what_cannot_be_sealed_is_said_and_leaves_no_file(asked, said, truth, tmp_path):
    with pytest.raises(InvalidInput, match=said):
        calipers.seal(truth, **asked)
    assert list(tmp_path.iterdir()) == [truth]


def test_queries_without_a_target_confirm_nothing(tmp_path):
    few = [
        {"id": f"q{i}", "query": f"What is {i}?", "ground_truth": ["d"] if i % 5 == 0 else []}
        for i in range(60)
    ]
    with pytest.raises(InvalidInput, match="of 12 queries with a target would be sealed, which"):
        calipers.seal(few, output=tmp_path / "few")
    some = [{**one, "ground_truth": ["d"] if i % 5 else []} for i, one in enumerate(few)]
    said = " ".join(str(calipers.seal(some, output=tmp_path / "some")).split())
    assert "Sealed 24 of 60 queries (40%); 36 stay open." in said
    lines = (tmp_path / "some.sealed.jsonl").read_text("utf-8").splitlines()
    answerable = sum(bool(json.loads(line)["ground_truth"]) for line in lines)
    assert f"{answerable} sealed queries with a target confirm a gain of about" in said


def test_what_is_sealed_is_not_sealed_over(truth, tmp_path):
    calipers.seal(truth)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InvalidInput, match="there already; queries are sealed once"):
        calipers.seal(truth)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(InvalidInput, match="says nothing of where to write"):
        calipers.seal(records())


def test_all_three_files_or_none(truth, tmp_path, monkeypatch):
    def full(path):
        raise WriteFailed(f"{path}: no room")

    monkeypatch.setattr(rule, "whole_file", full)
    with pytest.raises(WriteFailed):
        calipers.seal(truth)
    assert list(tmp_path.iterdir()) == [truth]


def test_the_ledger_has_the_name_that_is_given_and_confirm_finds_it(tmp_path):
    source = tmp_path / "gt.json"
    truth = [{"query": f"question {at}", "ground_truth": ["a"]} for at in range(60)]
    source.write_text(json.dumps(truth))
    found = calipers.seal(source, output=tmp_path / "part")
    assert found.files["ledger"] == str(tmp_path / "part.ledger.jsonl")
    assert "--ledger" not in str(found)
    old = {one["query"]: ["b", "a"] for one in truth}
    new = {one["query"]: ["a"] for one in truth}
    sealed = found.files["sealed"]
    assert calipers.confirm(old, new, sealed=sealed, metric="mrr").left == 4


def test_a_budget_belongs_to_the_queries_wherever_the_parts_go(tmp_path):
    source = tmp_path / "gt.json"
    truth = [{"query": f"question {at}", "ground_truth": ["a"]} for at in range(60)]
    source.write_text(json.dumps(truth))
    for folder in ("parts", "other"):
        (tmp_path / folder).mkdir()
    first = calipers.seal(source, output=tmp_path / "parts" / "one")
    assert first.files["ledger"] == str(tmp_path / "one.ledger.jsonl")
    assert f"--ledger {first.files['ledger']}`" in str(first)
    old = {one["query"]: ["b", "a"] for one in truth}
    new = {one["query"]: ["a"] for one in truth}
    sealed, kept = first.files["sealed"], first.files["ledger"]
    assert calipers.confirm(old, new, sealed=sealed, ledger=kept, metric="mrr").left == 4
    for output in (tmp_path / "other" / "two", None):
        with pytest.raises(InvalidInput, match="sealed already"):
            calipers.seal(source, output=output)
    copied = tmp_path / "copy.json"
    copied.write_text(json.dumps([*truth[:50], {"query": "new", "ground_truth": ["a"]}]))
    with pytest.raises(InvalidInput, match=r"queries are sealed already, with 4 looks left"):
        calipers.seal(copied)
    others = [{"query": f"another {at}", "ground_truth": ["a"]} for at in range(60)]
    copied.write_text(json.dumps(others))
    assert calipers.seal(copied).sealed.queries == 24


def test_how_much_so_many_queries_confirm(tmp_path):
    def sealed(n):
        truth = {f"q{n}-{at}": ["a"] for at in range(n)}
        return calipers.seal(truth, output=tmp_path / f"gt{n}")

    few, many = sealed(100), sealed(500)
    assert 0.25 <= few.confirms <= 0.4
    assert many.confirms < few.confirms / 2
    assert "40 sealed queries confirm a gain of about 0.3 in recall@10." in " ".join(
        str(few).split()
    )


def test_commands_quote_names_with_blanks(truth, tmp_path, monkeypatch):
    """The one that seal prints, the one of a refused file, and the one for queries that lack."""
    monkeypatch.chdir(tmp_path)
    truth.rename(tmp_path / "all questions.jsonl")
    found = calipers.seal("all questions.jsonl")
    assert "confirm OLD NEW --sealed 'all questions.sealed.jsonl'`" in str(found)
    run = {f"q{i}": [f"d{i}"] for i in range(1, 60)}
    with pytest.raises(InvalidInput, match=r"retrieve RETRIEVER 'all questions\.sealed\.jsonl'`"):
        calipers.confirm({"q1": ["d1"]}, run, sealed="all questions.sealed.jsonl")
