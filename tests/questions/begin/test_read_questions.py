"""The page on validity says what the marks of the questions that were read say."""

import csv
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "validity.md").read_text(encoding="utf-8")
READINGS = {"1": ("first", 12), "2": ("second", 12), "3": ("third", 12), "4": ("fourth", 8)}


def marked() -> list[dict[str, str]]:
    with (ROOT / "simulations" / "read_questions.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_shares_on_the_page_are_those_of_the_marks() -> None:
    rows = marked()
    assert {row["mark"] for row in rows} == {
        "fit",
        "nobody asks",
        "wrong target",
        "elsewhere too",
    }
    assert all(bool(row["reason"]) == (row["mark"] != "fit") for row in rows)
    strict = [row for row in rows if row["reading"] in READINGS]
    assert f"{len(strict)} questions of forty-four folders" in PAGE
    assert len({row["folder"] for row in strict}) == 44
    assert Counter(row["source"] for row in strict)["headings"] == len(strict) - 1
    assert "All but one are of `headings`" in PAGE
    for number, (name, folders) in READINGS.items():
        marks = Counter(row["mark"] for row in rows if row["reading"] == number)
        read = marks.total()
        shares = [marks["fit"], read - marks["wrong target"], marks["elsewhere too"]]
        shares.append(marks["nobody asks"])
        cells = " | ".join(f"{share / read:.0%}" for share in shares)
        assert f"| {name} | {folders} | {read} | {cells} |" in PAGE
    last = Counter(row["mark"] for row in strict if row["reading"] != "1")
    right = last.total() - last["wrong target"]
    assert (
        f"**In the last three readings {last['fit']} of {last.total()} are fit "
        f"({last['fit'] / last.total():.0%}), and the targets of {right} answer "
        f"({right / last.total():.0%}).**"
    ) in PAGE
    before = Counter(row["mark"] for row in rows if row["reading"] == "0")
    assert f"Of {before.total()} questions that earlier rules made" in PAGE
    assert f"marked {before['fit'] / before.total():.0%} as fit" in PAGE.replace("\n", " ")


def test_the_table_of_the_third_reading_is_that_of_its_marks() -> None:
    third = [row for row in marked() if row["reading"] == "3"]
    folders = dict.fromkeys(row["folder"] for row in third)
    begin = PAGE.index("| folder | read | fit |")
    lines = [line for line in PAGE[begin:].splitlines()[2:] if line.count("|") == 5]
    assert len(lines) == len(folders)
    for folder, line in zip(folders, lines, strict=True):
        marks = Counter(row["mark"] for row in third if row["folder"] == folder)
        share = f"{marks['fit'] / marks.total():.0%}"
        assert f"| {marks.total()} | {share} |" in line, folder
        first = folder.partition("-")[0]
        known = {"nut": "network ups tools", "sakura": "sakura"}
        assert known.get(first, first) in line.lower(), folder
