"""The page on validity says what the marks of the questions that were read say."""

import csv
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "validity.md").read_text(encoding="utf-8")


def test_the_shares_on_the_page_are_those_of_the_marks() -> None:
    with (ROOT / "simulations" / "read_questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    marks = Counter(row["mark"] for row in rows)
    right = len(rows) - marks["wrong target"]
    assert set(marks) == {"fit", "nobody asks", "wrong target"}
    assert all(bool(row["reason"]) == (row["mark"] != "fit") for row in rows)
    assert f"{len(rows)} questions of twenty-one folders" in PAGE
    assert (
        f"**{marks['fit']} are fit ({marks['fit'] / len(rows):.0%}), and {right} targets are right "
        f"({right / len(rows):.0%}).**"
    ) in PAGE
    assert len({row["folder"] for row in rows}) == 21
    assert Counter(row["source"] for row in rows)["headings"] == len(rows) - 1
    assert "All but one are of `headings`" in PAGE
    lines = [line for line in PAGE.splitlines() if line.count("|") == 5 and "read" not in line]
    shares = Counter(line.split("|")[3].strip() for line in lines if "%" in line)
    for folder in {row["folder"] for row in rows}:
        read = [row for row in rows if row["folder"] == folder]
        fit = sum(row["mark"] == "fit" for row in read)
        assert shares[f"{fit / len(read):.0%}"] > 0, folder
