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
    done = calipers_command("sweep", "--floor", write(tmp_path))
    assert done.code == 0
    said = " ".join(done.out.split())
    assert said.startswith(
        "✓ floor 0.8 keeps all that is found in these 90 queries; queries without an answer that "
        "are answered: 100% → 0% (safe: at least 0.967 of what is found beyond them, with 95% "
        "confidence)"
    )
    assert "wrongly answered 1.000 → 0.000 of 30 queries without an answer" in said
    assert "On queries that had no part in choosing it (5 folds, floors 0.8 to 0.8)" in said


def test_too_few_queries(tmp_path):
    done = calipers_command("sweep", "--floor", write(tmp_path, 40), columns=400)
    assert done.code == 0
    first, possible, settles = done.out.splitlines()[:3]
    assert first == (
        "? floor 0.8 keeps all that is found in these 30 queries; queries without an answer that "
        "are answered: 100% → 0% (not shown to keep 0.95 beyond them)"
    )
    assert possible.strip() == "It could keep as little as 0.905 of what is found (95%)."
    assert settles.strip() == (
        "About 29 more queries would settle 0.95; until then only returning everything loses "
        "nothing."
    )
    assert "at least 59 are needed" in done.out


def test_csv_has_every_floor(tmp_path):
    done = calipers_command("sweep", "--floor", write(tmp_path), "--csv")
    lines = done.out.splitlines()
    assert lines[0].startswith("floor,precision,recall,kept,wrongly_answered")
    assert lines[1].startswith(",")
    assert [line.split(",")[0] for line in lines[2:]] == ["0.3", "0.8"]
