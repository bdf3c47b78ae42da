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
    done = calipers_command("sweep", "--floor", write(tmp_path), "--explain")
    assert done.code == 0
    said = " ".join(done.out.split())
    assert said.startswith(
        "✓ Floor 0.8 keeps all that is found in these 90 queries; 0% of those without an answer "
        "are answered, 100% without it."
    )
    assert "It keeps at least 0.967 of what is found on new queries (95%)." in said
    assert "wrongly answered 1.000 → 0.000 of 30 queries without an answer" in said
    assert "On queries that had no part in choosing it (5 folds, floors 0.8 to 0.8)" in said


def test_too_few_queries(tmp_path):
    done = calipers_command("sweep", "--floor", write(tmp_path, 40), columns=400)
    assert done.code == 0
    assert done.out.startswith("~ Floor 0.8 keeps all that is found in these 30 queries; ")
    assert "It could keep as little as 0.905 of what is found (95%)." in done.out
    assert "About 29 more queries would settle 0.95; until then only returning" in done.out
    assert "at least 59 are needed" in done.out


def test_csv_has_every_floor(tmp_path):
    done = calipers_command("sweep", "--floor", write(tmp_path), "--csv")
    lines = done.out.splitlines()
    assert lines[0].startswith("floor,precision,recall,kept,wrongly_answered")
    assert lines[1].startswith(",")
    assert [line.split(",")[0] for line in lines[2:]] == ["0.3", "0.8"]
