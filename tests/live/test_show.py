from calipers.live.settings import retrieve
from calipers.live.show import report_lines


def test_everything_remarkable_is_said() -> None:
    answers = {
        "none": [],
        "few": ["a"],
        "many": ["a", "b", "c", "d"],
        "unsorted": [("a", 1.0), ("b", 3.0), ("c", 2.0)],
        "bad": None,
    }
    report = retrieve(lambda query, k: answers[query], list(answers), k=3, workers=1).report
    lines = report_lines(report)
    assert lines[0].startswith("4 questions of 5 answered; 5 asked in ")
    assert lines[1].startswith("Latency: p50 ")
    assert lines[2:] == [
        "1 question failed: 1 bad answer.",
        lines[3],
        "1 answer without any result.",
        "1 answer with fewer than 3 results.",
        "1 answer with more than 3 results: cut off there.",
        "1 answer with scores that neither fall nor rise: the order of the list counts.",
    ]
    assert lines[3].startswith("The first error: bad answer: the retriever returned None")


def test_a_quiet_run_is_two_lines() -> None:
    report = retrieve(
        lambda query, k: ["a"] * k, [f"q{i}" for i in range(20)], k=2, workers=2
    ).report
    lines = report_lines(report)
    assert len(lines) == 2
    assert "(without the first 2 calls: mean " in lines[1]
