"""calipers gate, and gate save and show, as a user meets them."""

import json
import re
import shlex

import pytest

from tests.command import calipers_command, refused
from tests.questions.gate.test_rule import N, records


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.json").write_text(json.dumps(records(N)))
    (tmp_path / "bad.json").write_text(json.dumps(records(0)))
    return tmp_path


@pytest.fixture
def baseline(folder):
    saved = calipers_command("gate", "save", "good.json", "-m", "mrr", "-o", "main.json")
    assert saved.code == 0, saved.err
    return folder / "main.json"


def test_reports_are_written_for_passes_failures_and_errors(folder, baseline):
    reports = ("--markdown", "summary.md")
    assert calipers_command("gate", "good.json", "-b", baseline, *reports).code == 0
    assert "## ✓ " in (folder / "summary.md").read_text()
    assert calipers_command("gate", "bad.json", "-b", baseline, *reports).code == 1
    assert "## ✗ " in (folder / "summary.md").read_text()
    refused("gate", "nowhere.json", "-b", baseline, *reports)
    assert "Could not be checked" in (folder / "summary.md").read_text()


def test_one_word_in_ci(folder, baseline):
    (folder / "calipers.toml").write_text(
        'data = "good.json"\n[gate]\nrequire = ["mrr >= 0.9", "recall@1 >= 0.9 for type=odd"]\n'
        'baseline = "main.json"\nby = "type"\n'
    )
    printed = calipers_command("gate")
    assert printed.code == 0, printed.err
    assert "recall@1 >= 0.9 for type=odd" in printed.out
    assert calipers_command("gate", "bad.json").code == 1


def test_a_baseline_is_json(folder):
    assert "end its name in .json" in refused("gate", "save", "good.json", "-o", "main.csv")
    assert "there is no folder" in refused("gate", "save", "good.json", "-o", "no/main.json")


def test_ties_that_decide_are_said_and_what_changed_leads(tmp_path):
    """recall is the same in both; the order, which ties decide, is better."""
    for name, rank in (("old", 4), ("new", 1)):
        rows = []
        for at in range(12):
            results = [{"id": f"x{at}-{other}", "score": 0.5} for other in range(5)]
            results[rank] = {"id": f"t{at}", "score": 0.5}
            rows.append({"id": f"q{at}", "ground_truth": [f"t{at}"], "retrieved": results})
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    old, new, main = (tmp_path / name for name in ("old.json", "new.json", "main.json"))
    metrics = ("-m", "recall@5,ndcg@5")
    assert calipers_command("gate", "save", old, *metrics, "-o", main).code == 0
    printed = calipers_command("gate", new, "--baseline", main).out
    assert "No worse than the baseline in ndcg@5: 12 of 12 queries better" in printed
    assert "Equal scores decide ndcg@5: it is 0.387" in printed
    assert "Equal scores decide ndcg@5" in calipers_command("compare", old, new, *metrics).out


def test_ties_that_cannot_make_the_loss_leave_the_screen_to_what_was_lost(tmp_path):
    """Ties move ndcg@5 by less than 0.2, and every query lost its target."""
    rows: dict[str, list[dict[str, object]]] = {"old": [], "new": []}
    for at in range(12):
        others = [{"id": f"x{at}-{other}", "score": 0.9 - other / 10} for other in range(6)]
        rows["old"].append(
            {
                "id": f"q{at}",
                "ground_truth": [f"t{at}"],
                "retrieved": [{"id": f"t{at}", "score": 1}],
            }
        )
        late = [*others[:3], {"id": f"t{at}", "score": others[3]["score"]}, *others[3:]]
        rows["new"].append({**rows["old"][-1], "retrieved": late})
    for name, some in rows.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(some))
    old, new, main = (tmp_path / name for name in ("old.json", "new.json", "main.json"))
    metrics = ("-m", "ndcg@5,mrr")
    assert calipers_command("gate", "save", old, *metrics, "-o", main).code == 0
    printed = calipers_command("gate", new, "--baseline", main).out
    assert "Failed: ndcg@5 fell from 1.000 to 0.431" in printed
    assert "Equal scores decide" not in printed
    explained = calipers_command("gate", new, "--baseline", main, "--explain").out
    assert "Equal scores decide ndcg@5: it is 0.387 in their worst order" in explained
    # A requirement that lies between the two orders hangs on them.
    needs = calipers_command("gate", new, "--require", "ndcg@5 >= 0.4").out
    assert "Equal scores decide ndcg@5" in needs
    far = calipers_command("gate", new, "--require", "ndcg@5 >= 0.3").out
    assert "Equal scores decide" not in far


def test_texts_that_begin_alike_are_named_by_id_and_no_cluster_is_a_slice(tmp_path):
    for name, lost in (("old", 0), ("new", 8)):
        rows = [
            {
                "id": f"q{at}",
                "query": f"How do I change the setting {at}?",
                "ground_truth": ["t"],
                "retrieved": ["x"] if at < lost else ["t"],
                "tags": {"intent": f"i{at // 2}", "key": at, "team": "a"},
            }
            for at in range(120)
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    old, new, main = (tmp_path / name for name in ("old.json", "new.json", "main.json"))
    assert calipers_command("gate", "save", old, "-m", "recall@5", "-o", main).code == 0
    line = ("gate", new, "--baseline", main, "--explain")
    printed = calipers_command(*line).out
    assert 'Lost most: "q0", "q1", "q2".' in printed
    assert "--by intent compares each" in printed
    by_intent = calipers_command(*line, "--cluster", "intent").out
    # Every query has a key of its own, and all have one team.
    assert "compares each" not in by_intent


WITH_TRUTH = ("-g", "my questions.json")
AS_A_BASELINE = {
    "the settings file": ("new.json", "--baseline", "old.json"),
    "the call": ("new.json", *WITH_TRUTH, "--baseline", "old.json"),
    "the data": ("all.json", "--baseline", "old.json"),
    "the run itself": ("all.json", "--baseline", "all2.json"),
    "the call, not the run": ("new.json", *WITH_TRUTH, "--baseline", "all2.json"),
    "a blank in its name": ("all.json", "--baseline", "my old.json"),
    "metrics and several k": ("all.json", "-m", "recall", "-k", "2,7", "-b", "old.json"),
}


@pytest.mark.parametrize("line", AS_A_BASELINE.values(), ids=AS_A_BASELINE)
def test_a_run_as_a_baseline_is_refused_with_a_line_that_works_in_its_folder(folder, line):
    def write(name, without):
        kept = [{key: record[key] for key in record if key != without} for record in records(N)]
        (folder / name).write_text(json.dumps(kept))

    write("my questions.json", "retrieved")
    for name in ("old.json", "my old.json", "new.json"):
        write(name, "ground_truth")
    for name in ("all.json", "all2.json"):
        write(name, None)
    if not {*line} & {"-g", "all.json"}:
        (folder / "calipers.toml").write_text('ground-truth = "my questions.json"\n')
    sentence = refused("gate", *line)
    save, use = re.fullmatch(r".*`calipers (.*)`, then give (.*)\.", sentence).groups()
    asked = line[: [word in ("-b", "--baseline") for word in line].index(True)]
    assert ("-g" in asked) <= ("-g 'my questions.json'" in save)
    assert calipers_command(*shlex.split(save)).code == 0
    printed = calipers_command("gate", *asked, *shlex.split(use))
    assert (printed.code, printed.err.count("Error")) == (0, 0), printed.err


def test_the_line_for_a_run_leaves_out_how_a_retriever_is_asked(folder):
    (folder / "search.py").write_text("def search(query, k):\n    return ['a'] * k\n")
    (folder / "old.json").write_text(json.dumps(records(N)))
    live = ("--retriever", "search.py:search", "--ask-for", "20", "--workers", "2")
    asked = (*live, "-g", "old.json", "-m", "mrr", "--baseline", "old.json")
    save = refused("gate", *asked).split("`")[1]
    assert save == "calipers gate save -m mrr old.json -g old.json -o old.baseline.json"
    assert calipers_command(*shlex.split(save)[1:]).code == 0


def test_no_line_is_proposed_where_no_ground_truth_is_known(folder):
    kept = [{"query": record["query"], "retrieved": record["retrieved"]} for record in records(N)]
    (folder / "old.json").write_text(json.dumps(kept))
    sentence = refused("gate", "old.json", "--baseline", "old.json")
    assert "give the ground truth with --ground-truth" in sentence
    assert "`" not in sentence
