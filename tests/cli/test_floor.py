import json

from tests.command import calipers_command


def write(tmp_path, n=120):
    path = tmp_path / "evals.jsonl"
    records = [
        {
            "query": f"q{i}",
            "ground_truth": ["a"] if i % 4 else [],
            "retrieved": [{"id": "a", "score": 0.8 if i % 4 else 0.3}],
        }
        for i in range(n)
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return str(path)


def test_the_floor_its_cost_and_how_it_did_elsewhere(tmp_path):
    done = calipers_command("floor", write(tmp_path))
    assert done.code == 0
    said = " ".join(done.out.split())
    assert "Return only results with a score of at least 0.8" in said
    assert "wrongly answered 1.000 → 0.000 of 30 queries without an answer" in said
    assert "On queries that had no part in choosing it (5 folds, floors 0.8 to 0.8)" in said


def test_too_few_queries(tmp_path):
    done = calipers_command("floor", write(tmp_path, 12))
    assert done.code == 0
    assert "No floor keeps 0.95 of what is found" in done.out
    assert "at least 59 are needed" in " ".join(done.out.split())


def test_csv_has_every_floor(tmp_path):
    done = calipers_command("floor", write(tmp_path), "--csv")
    lines = done.out.splitlines()
    assert lines[0].startswith("floor,precision,recall,kept,wrongly_answered")
    assert lines[1].startswith(",")
    assert [line.split(",")[0] for line in lines[2:]] == ["0.3", "0.8"]


def test_two_goals_at_once_are_refused(tmp_path):
    done = calipers_command("floor", write(tmp_path), "--keep", "0.9", "--recall", "0.9")
    assert done.code == 2
    assert "Both keep and recall" in done.err
