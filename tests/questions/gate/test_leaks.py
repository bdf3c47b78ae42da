import json

import calipers
from tests.command import calipers_command

RECORDS = [
    {
        "query": "Who pays?",
        "id": f"q{i}",
        "retrieved": ["a", "secret"] if i < 7 else ["a"],
        "ground_truth": ["a"],
        "forbidden": ["secret", "other"],
        "tags": {"tenant": "x" if i % 2 else "y"},
    }
    for i in range(10)
]


def test_a_gate_names_every_leak():
    verdict = calipers.gate(RECORDS, require="leak_rate@10 == 0")
    (check,) = verdict.failed
    assert check.value == 0.7
    assert [(one.query, one.rank, one.forbidden) for one in check.leaks] == [
        (f"q{i}", 2, "secret") for i in range(7)
    ]


def test_of_a_slice_and_within_k():
    verdict = calipers.gate(RECORDS, require=["leak@2 == 0 for tenant=x", "leak_rate@1 == 0"])
    assert [one.query for one in verdict.checks[0].leaks] == ["q1", "q3", "q5"]
    assert verdict.checks[1].status == "passed"


def test_on_a_terminal_and_in_markdown(tmp_path):
    path = tmp_path / "evals.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in RECORDS))
    summary = tmp_path / "summary.md"
    done = calipers_command(
        "gate", str(path), "--require", "leak_rate@10 == 0", "--markdown", str(summary)
    )
    assert done.code == 1
    assert done.out.count("rank 2: secret") == 7
    assert summary.read_text().count("rank 2: secret") == 7
