"""One pair at the hub: whatever is asked of it, it is read once and matched once."""

# mypy: disable-error-code="attr-defined,func-returns-value"

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import calipers
from calipers.errors import InvalidInput, NoCommonIds
from calipers.io.files.open import Source
from calipers.match import by_id, by_quote, by_span
from calipers.questions import inputs
from tests.command import calipers_command, typed

RECORDS: list[dict[str, Any]] = [
    {
        "id": f"q{i}",
        "query": f"question {i}",
        "retrieved": [
            {"id": f"d{(i + j) % 12}", "text": f"text {j}", "score": 9 - j} for j in range(6)
        ],
        "ground_truth": {f"d{i % 12}": 2, f"d{(i + 4) % 12}": 1, "far": 1},
        "tags": {"type": "odd" if i % 2 else "even"},
    }
    for i in range(24)
]


TURNED = [{**one, "retrieved": one["retrieved"][::-1]} for one in RECORDS]


@pytest.fixture
def evals(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("other.jsonl", TURNED)
    return write("evals.jsonl", RECORDS)


def write(name, records):
    path = Path.cwd() / name
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


@pytest.fixture
def counted(monkeypatch):
    """How often files are read as a whole, and runs are matched."""
    counts: Counter[str] = Counter()
    pieces = Source._pieces

    def counting_pieces(self):
        yield from pieces(self)
        # A look at the first lines, to know the form, does not come to the end.
        counts[f"read {Path(self.name).name}"] += 1

    monkeypatch.setattr(Source, "_pieces", counting_pieces)
    for module in (by_id, by_quote, by_span):
        assemble = module.assemble

        def counting(*args, _assemble=assemble, **settings):
            counts["matched"] += 1
            return _assemble(*args, **settings)

        monkeypatch.setattr(module, "assemble", counting)
    return counts


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (
            "eval evals.jsonl --html r.html --markdown r.md --per-query q.csv --by type "
            "--save nightly --store history.db",
            {"read evals.jsonl": 1, "matched": 1},
        ),
        (
            "eval -g truth.jsonl -r run.jsonl --html r.html",
            {"read truth.jsonl": 1, "read run.jsonl": 1, "matched": 1},
        ),
        (
            "compare evals.jsonl other.jsonl --html r.html",
            {"read evals.jsonl": 1, "read other.jsonl": 1, "matched": 2},
        ),
    ],
)
def test_every_output_at_once_reads_each_file_once_and_matches_once(evals, counted, line, read):
    for name, part in (("truth.jsonl", "ground_truth"), ("run.jsonl", "retrieved")):
        write(name, [{key: one[key] for key in ("id", "query", part)} for one in RECORDS])
    result = typed(f"{line} --json")
    assert result.code == 0, result.err
    assert dict(counted) == read


def test_questions_to_a_pair_read_nothing_and_match_nothing(evals, counted):
    pair = calipers.read(evals)
    before = dict(counted)
    calipers.evaluate(pair, metrics="recall@5")
    calipers.sweep(pair)
    calipers.diagnose(pair)
    calipers.misses(pair)
    calipers.gate(pair, require="recall@5 >= 0.1")
    calipers.report(pair)
    assert {"read evals.jsonl": 1, "matched": 1} == before == dict(counted)


def test_a_pair_answers_as_its_file_does(evals):
    pair = calipers.read(evals, rel=2)
    assert calipers.evaluate(pair).to_dict() == calipers.evaluate(evals, rel=2).to_dict()
    assert calipers.sweep(pair).to_dict() == calipers.sweep(evals, rel=2).to_dict()
    assert calipers.misses(pair).to_dict() == calipers.misses(evals, rel=2).to_dict()
    assert calipers.diagnose(pair).to_dict() == calipers.diagnose(evals, rel=2).to_dict()
    levels = calipers.levels(pair, at="evidence,chunk")
    assert calipers.levels(evals, at="evidence,chunk", rel=2).to_dict() == levels.to_dict()


def test_pairs_are_compared_like_their_files(evals):
    pairs = {"old": calipers.read(evals), "new": calipers.read(TURNED)}
    files = {"old": str(evals), "new": TURNED}
    assert calipers.compare(files).to_dict() == calipers.compare(pairs).to_dict()


@pytest.mark.parametrize(
    ("keyword", "value"), [("match", "id"), ("rel", 2.0), ("run", {"q": []}), ("like", "trec_eval")]
)
def test_how_a_pair_was_matched_cannot_be_changed_afterwards(evals, keyword, value):
    pair = calipers.read(evals)
    with pytest.raises(InvalidInput, match=f"{keyword}=.*give {keyword} to calipers.read"):
        calipers.evaluate(pair, **{keyword: value})


def test_a_run_that_stays_is_scanned_once_whoever_stops_early(evals, counted):
    run = inputs.read_pair(evals, None, None)[1].kept()
    next(run.scan())
    assert run.frame.equals(inputs.read_pair(evals, None, None)[1].frame)
    assert list(run.scan())
    assert counted["read evals.jsonl"] == 2


def test_pairs_are_compared_whatever_else_is_read_by_columns():
    """Columns that nobody named are none, also beside a pair that was read before."""
    truth = {"q": ["a"], "r": ["b"]}
    pairs = {
        name: calipers.read(ground_truth=truth, run={"q": items, "r": items})
        for name, items in (("one", ["a", "b"]), ("two", ["c", "b"]))
    }
    assert calipers.compare(pairs, metrics="mrr").systems == ("one", "two")
    with pytest.raises(InvalidInput, match="so give columns to"):
        calipers.compare(pairs, metrics="mrr", columns={"item": "x"})


@pytest.mark.parametrize("where", [{"type": "odd"}, {"type": "odd", "targets": "3 to 5 targets"}])
def test_only_queries_with_the_tags_are_looked_at(evals, where):
    odd = [one for one in RECORDS if one["tags"]["type"] == "odd"]
    alone, part = calipers.evaluate(odd), calipers.evaluate(evals, where=where)
    assert part.queries.equals(alone.queries)
    assert {name: one.mean for name, one in part.summaries.items()} == {
        name: one.mean for name, one in alone.summaries.items()
    }
    # Two results that differ in it are not the same.
    assert part.settings["where"] == where
    assert calipers.misses(evals, where=where).reasons == calipers.misses(odd).reasons
    assert calipers.diagnose(evals, where=where).n == len(odd)
    systems = {"a": evals, "b": evals}
    assert calipers.compare(systems, where=where).difference("b", "recall@10").n == len(odd)


def test_scores_of_some_queries_are_not_compared_with_those_of_all(evals):
    whole = calipers.evaluate(evals)
    with pytest.raises(InvalidInput, match="the setting where is"):
        calipers.compare({"a": whole, "b": calipers.evaluate(evals, where={"type": "odd"})})


def test_a_tag_or_a_value_that_none_has_is_refused(evals):
    def said(*options):
        printed = calipers_command("misses", evals, *options)
        assert printed.code == 2
        return printed.err

    assert "no tag 'tpye'" in said("--where", "tpye=odd")
    assert "Did you mean type?" in said("--where", "tpye=odd")
    assert "No query has type=ood; type is even, odd. Did you mean odd?" in said(
        "--where", "type=ood"
    )
    assert "write name=value" in said("--where", "odd")


@pytest.mark.parametrize("settings", [{"where": {"kind": "a"}}, {"min_score": 0.5}])
def test_a_part_is_matched_once(monkeypatch, settings):
    """The whole is looked at only where nothing of the part is found."""
    calls = []
    real = inputs.match_pair
    monkeypatch.setattr(
        inputs, "match_pair", lambda *args, **how: calls.append(1) or real(*args, **how)
    )
    records = [
        {
            "query": f"q{i}",
            "retrieved": [{"id": "a", "score": 0.9 if i % 2 else 0.1}],
            "ground_truth": ["a"] if i else ["b"],
            "tags": {"kind": "a" if i % 2 else "b"},
        }
        for i in range(4)
    ]
    found = calipers.evaluate(records, metrics="recall@1", **settings)
    assert len(calls) == 1
    assert found.policy.nothing_in_common == "zero"
    calls.clear()
    wrong = [{**record, "ground_truth": ["nowhere"]} for record in records]
    with pytest.raises(NoCommonIds):
        calipers.evaluate(wrong, metrics="recall@1", **settings)
    assert len(calls) == 2


def test_where_counts_relevant_targets_and_not_those_of_grade_0():
    records = [
        {"query": "one", "retrieved": ["a"], "ground_truth": {"a": 1, "b": 0}},
        {"query": "two", "retrieved": ["x"], "ground_truth": {"a": 1, "b": 1}},
    ]
    for targets, mean in (("1 target", 1.0), ("2 targets", 0.0)):
        scores = calipers.evaluate(records, where={"targets": targets}, metrics="recall@1")
        assert (scores["recall@1"].n, scores["recall@1"].mean) == (1, mean)
