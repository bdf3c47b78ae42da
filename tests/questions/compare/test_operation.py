import json
from pathlib import Path

import pytest

import calipers
from calipers import compare, evaluate
from calipers.errors import InvalidInput
from calipers.questions.systems import name_systems
from tests.command import calipers_command, refused
from tests.questions.samples import write_lines
from tests.systems import NEW, OLD, records

TRUTH = {f"q{i}": ["target"] for i in range(len(OLD))}


def run(hits):
    return {record["id"]: record["retrieved"] for record in records(hits)}


@pytest.fixture
def files(tmp_path):
    def write(name, value):
        path = tmp_path / name
        path.write_text(json.dumps(value))
        return path

    write("old.json", run(OLD))
    write("new.json", run(NEW))
    write("gt.json", TRUTH)
    write("old_evals.json", records(OLD))
    write("new_evals.json", records(NEW))
    for name, hits in (("old", OLD), ("new", NEW)):
        write(f"{name}_result.json", evaluate(records(hits)).to_dict())
    return tmp_path


def test_every_form_of_input_gives_the_same_answer(files):
    forms = [
        compare([files / "old.json", files / "new.json"], files / "gt.json"),
        compare({"old": files / "old_evals.json", "new": files / "new_evals.json"}),
        compare({"old": files / "old_result.json", "new": files / "new_result.json"}),
        compare({"old": evaluate(records(OLD)), "new": evaluate(records(NEW))}),
        compare({"old": records(OLD), "new": records(NEW)}),
        compare({"old": files / "old_result.json", "new": files / "new_evals.json"}),
    ]
    first = forms[0].differences
    assert all(comparison.differences == first for comparison in forms[1:])


def test_runs_beside_results_are_measured_by_the_metrics_of_the_results():
    narrow = evaluate(records(OLD), metrics="recall@2,mrr")
    comparison = compare({"old": narrow, "new": records(NEW)})
    assert [m.name for m in comparison.metrics] == ["recall@2", "mrr"]


def test_metrics_cutoffs_and_policies_reach_the_evaluation():
    comparison = compare({"old": run(OLD), "new": run(NEW)}, TRUTH, k=[2, 3], rel=1)
    assert "recall@3(rel=1)" in [m.name for m in comparison.metrics]
    named = compare({"old": run(OLD), "new": run(NEW)}, TRUTH, metrics="recall", k=4)
    assert [m.name for m in named.metrics] == ["recall@4"]


def test_systems_are_named_for_their_files():
    assert list(name_systems(["a/x.run", "b/y.run.gz"])) == ["x", "y"]
    assert list(name_systems(["a/x.run", "b/x.run"])) == ["a/x.run", "b/x.run"]
    assert list(name_systems(["a/x.one", "b/x.two"])) == ["x.one", "x.two"]
    with pytest.raises(InvalidInput, match="a/x is given twice"):
        name_systems(["a/x", "a/x"])
    with pytest.raises(InvalidInput, match="dict without a name"):
        name_systems([{}])


def test_what_cannot_be_compared_is_said(files):
    with pytest.raises(InvalidInput, match="every system is a result that was measured already"):
        compare([files / "old_result.json", files / "new_result.json"], files / "gt.json")
    with pytest.raises(InvalidInput, match=r"no ground truth|which can be a ground truth or a run"):
        compare([files / "old.json", files / "new.json"])
    result = evaluate(records(OLD)).to_dict()
    (files / "future.json").write_text(json.dumps({**result, "schema": 99, "calipers": "9"}))
    with pytest.raises(InvalidInput, match="format number 99"):
        compare([files / "future.json", files / "new_result.json"])
    with pytest.raises(InvalidInput, match="no 'recall@7' in old"):
        compare({"old": files / "old_result.json", "new": records(NEW)}, metrics="recall@7")


def test_a_missing_query_is_a_zero_and_no_way_out():
    partial = {query: items for query, items in run(NEW).items() if query != "q0"}
    comparison = compare({"old": run(OLD), "new": partial}, TRUTH, metrics="mrr")
    assert comparison.difference("new", "mrr").n == len(OLD)
    with pytest.raises(InvalidInput, match=r"mrr is undefined for 1 query of new \('q0'\)"):
        compare({"old": run(OLD), "new": partial}, TRUTH, metrics="mrr", missing="exclude")


def hits(*tenths):
    """Runs of ten results each, so many of them right, four times over."""
    right = [f"t{i}" for i in range(10)]
    return {
        f"q{i}": [*right[:n], *(f"x{i}" for i in range(10 - n))] for i, n in enumerate(tenths * 4)
    }


def test_gains_and_losses_that_cancel_out_are_no_difference(tmp_path):
    old, new = hits(2, 5, 5), hits(5, 4, 3)
    truth = {query: [f"t{i}" for i in range(10)] for query in old}
    found = calipers.compare({"old": old, "new": new}, truth, metrics="precision@10")
    assert found.difference("new", "precision@10").difference == 0.0
    assert found.claims[0].next == "To detect 0.05 takes 70 to 500 queries."
    kept = tmp_path / "old.json"
    calipers.gate_save(ground_truth=truth, run=old, metrics="precision@10", to=kept)
    assert calipers.gate(ground_truth=truth, run=new, baseline=kept).passed


def test_a_mean_of_two_tenths_is_two_tenths():
    run = hits(1, 2, 3)
    truth = {query: [f"t{i}" for i in range(10)] for query in run}
    assert calipers.gate(ground_truth=truth, run=run, require="precision@10 >= 0.2").passed


@pytest.mark.parametrize("given", [(), ("-g", "truth.jsonl")])
@pytest.mark.parametrize("names", ["a truth", "truth a", "a b truth", "a truth b"])
def test_a_file_without_results_is_no_system(names, given, tmp_path, monkeypatch):
    """As `compare *.jsonl` gives it: what is said to do works."""
    monkeypatch.chdir(tmp_path)
    asked = [{"query": f"What is {n}?", "id": f"q{n}"} for n in range(4)]
    for name in "ab":
        write_lines(f"{name}.jsonl", [{**one, "retrieved": ["t", name]} for one in asked])
    write_lines("truth.jsonl", [{**one, "ground_truth": ["t"]} for one in asked])
    systems = [f"{name}.jsonl" for name in names.split()]
    said = refused("compare", *systems, *given)
    assert "truth.jsonl holds a ground truth and no results, so it is no system" in said
    assert ("-g (ground_truth" in said) is not given
    assert "--run" not in said
    left = [name for name in systems if name != "truth.jsonl"]
    done = calipers_command("compare", *left, "-g", "truth.jsonl")
    assert (done.code == 0) is (len(left) > 1)


def test_the_ground_truth_among_the_systems_is_refused(tmp_path, monkeypatch):
    """As `compare m*.csv -g m_truth.csv` gives it, by its content and not by its name."""
    monkeypatch.chdir(tmp_path)
    rows = {"m_truth": 0, "m_old": 2, "m_new": 3}
    for name, every in rows.items():
        wrong = [every and not number % every for number in range(12)]
        lines = [f"q{n},{'x' if bad else 'd'}{n}\n" for n, bad in enumerate(wrong)]
        Path(f"{name}.csv").write_text("query,item\n" + "".join(lines))
    truth = Path("m_truth.csv")
    head, *lines = truth.read_text().splitlines()
    Path("m_copy.csv").write_text("\n".join([head, *reversed(lines)]) + "\n")
    for name in ("m_truth.csv", "m_copy.csv"):
        with pytest.raises(InvalidInput, match="holds the same rows as the ground truth"):
            calipers.compare(["m_old.csv", name], "m_truth.csv", metrics="recall@10")
    calipers.compare(["m_old.csv", "m_new.csv"], "m_truth.csv", metrics="recall@10")
    # A run that is right everywhere and says more is a run.
    scored = truth.read_text().replace("item\n", "item,score\n").replace("\nq", ",1\nq")
    Path("perfect.csv").write_text(scored.replace("score,1", "score").rstrip() + ",1\n")
    calipers.compare(["m_old.csv", "perfect.csv"], "m_truth.csv", metrics="recall@10")


@pytest.mark.parametrize("name", ["m_truth.tsv", "m_truth.json"])
def test_a_ground_truth_whose_grades_read_as_scores_is_refused_too(name, tmp_path, monkeypatch):
    """A table of BEIR and a mapping of item to number can be a run as well."""
    monkeypatch.chdir(tmp_path)
    grades = {f"q{n}": {f"d{n}": 1, f"e{n}": n % 3} for n in range(12)}
    rows = [f"{q}\t{d}\t{g}\n" for q, items in grades.items() for d, g in items.items()]
    Path("m_truth.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    Path("m_truth.json").write_text(json.dumps(grades))
    Path("m_old.csv").write_text("query,item\n" + "".join(f"q{n},e{n}\n" for n in range(12)))
    with pytest.raises(InvalidInput, match="holds the same rows as the ground truth"):
        calipers.compare(["m_old.csv", name], "m_truth.tsv", metrics="recall@10")
    scored = {q: {d: g + 0.5 for d, g in items.items()} for q, items in grades.items()}
    Path("m_best.json").write_text(json.dumps(scored))
    calipers.compare(["m_old.csv", "m_best.json"], "m_truth.tsv", metrics="recall@10")


def test_the_median_latency_is_printed_where_every_run_recorded_it(tmp_path):
    """A number beside the answer: it decides nothing."""
    paths = {}
    for name, times in (
        ("old", (10, 30, 20, 500)),
        ("new", (50, 70, 60, 90)),
        ("bare", (None,) * 4),
    ):
        rows = [
            {"query": f"q{i}", "retrieved": ["a"], "ground_truth": ["a"], "latency_ms": time}
            for i, time in enumerate(times)
        ]
        paths[name] = tmp_path / f"{name}.jsonl"
        paths[name].write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = compare({"old": paths["old"], "new": paths["new"]}, metrics="recall@1")
    assert found.latency_ms == {"old": 25.0, "new": 65.0}
    assert found.to_dict()["latency_ms"] == {"old": 25.0, "new": 65.0}
    assert "Median latency: 25 ms for old, 65 ms for new." in found.explain()
    assert "Median latency: 25 ms for old, 65 ms for new." in str(found)
    without = compare({"old": paths["old"], "bare": paths["bare"]}, metrics="recall@1")
    assert "latency" not in without.explain()
