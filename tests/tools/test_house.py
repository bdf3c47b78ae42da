"""What the table of the house counts, on sources that have one of each."""

import ast
from pathlib import Path

import pytest

from tools import house

ROOT = Path(__file__).parents[2]


def source(text: str, name: str = "rule.py") -> house.Source:
    return house.Source(Path(name), text.splitlines(), list(ast.walk(ast.parse(text))))


@pytest.mark.parametrize(
    ("count", "text", "expected"),
    [
        (house.settings_by_key, 'settings["k"]\nscores.settings.get("k")\nasked[0]\nrow["k"]', 2),
        (house.loose_parameters, "def f(a: dict[str, Any], b: Mapping[str, Any], c: int): ...", 2),
        (house.anything, "x: Any\ny: dict[str, Any]", 2),
        (house.long_functions, "def f():\n" + "    pass\n" * 70, 1),
        (house.long_functions, "def f():\n" + "    pass\n" * 69, 0),
        (house.tuple_assignments, "a, b = 1, 2\nc, d = e", 1),
        (house.nested_comprehensions, "[[x for x in y] for y in z]\n[x for x in y]", 1),
        (house.lists_times_tests, "[1] * bool(x)\n[1] * (a == b)\n[1] * 3", 2),
        (house.vague_names, "one = 1\nfound = made\ndef f(asked): ...", 3),
        (house.long_lines, "x" * 91 + "\n" + "y" * 90, 1),
        (house.undocumented, "def f(): ...\ndef g():\n    'Says.'", 1),
    ],
)
def test_each_row_counts_what_it_says(count, text, expected):
    assert count(source(text)) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("io/formats/a.py", "Run(scan)\nGroundTruth.from_targets(rows)", 1),
        ("io/a.py", "cls.Run\nrun: Run = rows.run()\nDataset(run)", 0),
        ("match/a.py", "Run.from_frame(rows)", 0),
    ],
)
def test_a_file_of_io_that_makes_a_run_is_a_way_to_build_one(name, text, expected):
    assert house.builders(source(text, name)) == expected


def test_one_file_builds_every_run_and_ground_truth_that_is_read(monkeypatch):
    monkeypatch.chdir(ROOT)
    # Other folders count as nothing, which is tested above.
    read = house.read_source(house.SOURCE / "io")
    ways = [one.path.as_posix() for one in read if house.builders(one)]
    assert ways == ["src/calipers/io/build.py"]


def test_the_files_that_build_settings_may_read_keys():
    assert house.settings_by_key(source('settings["k"]', "settings.py")) == 0


def test_no_setting_is_read_by_a_string_below_the_edge(monkeypatch):
    monkeypatch.chdir(ROOT)
    counted = {one.path: house.settings_by_key(one) for one in house.read_source(house.SOURCE)}
    assert {path: number for path, number in counted.items() if number} == {}
