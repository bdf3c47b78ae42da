from pathlib import Path

import pytest

from tools import check_walls
from tools.check_walls import (
    base_libraries,
    check,
    read_modules,
    stale_entries,
)

BASE = frozenset({"polars", "numpy", "click"})


def built(folder: Path, files: dict[str, str]) -> list[check_walls.Module]:
    package = folder / "calipers"
    for name, source in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return list(read_modules(package))


def problems(folder: Path, files: dict[str, str]) -> list[str]:
    package = folder / "calipers"
    return [line.removeprefix(f"{package}/") for line in check(built(folder, files), BASE)]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("model/run.py", "import polars\nfrom calipers.errors import InvalidInput"),
        ("functions.py", "import math\nfrom calipers.text import normalise"),
        ("match/by_quote.py", "def fuzzy():\n    import rapidfuzz"),
        ("match/by_quote.py", "if TYPE_CHECKING:\n    import rapidfuzz"),
        ("__init__.py", "if TYPE_CHECKING:\n    from calipers.operations import evaluate"),
    ],
)
def test_allowed_imports_pass(tmp_path, name, source):
    assert problems(tmp_path, {name: source}) == []


@pytest.mark.parametrize(
    ("name", "source", "sentence"),
    [
        ("model/run.py", "import calipers.operations", "model may not import operations"),
        ("io/trec.py", "from ..questions.gate import x", "io may not import questions"),
        ("io/a.py", "if TYPE_CHECKING:\n    import calipers.cli", "io may not import cli"),
        ("measures/rank.py", "from calipers.match import by_id", "measures may not import match"),
        ("measures/rank.py", "def f():\n    import polars as pl", "measures may not import polars"),
        ("operations.py", "import click", "click, which belongs to cli alone"),
        ("web/page.py", "from calipers.cli import eval", "a face never imports another face"),
        ("functions.py", "import numpy", "only the standard library, not numpy"),
        ("text.py", "from calipers.model import run", "text may import only the standard"),
        ("match/by_quote.py", "import rapidfuzz.fuzz", "rapidfuzz is optional"),
        ("cellar.py", "", "cellar has no place in LAYERS"),
        ("io/trec.py", "import_module(name)", "loads a module by a string"),
        ("io/trec.py", "x = 1\n" * 601, "601 lines, 600 allowed"),
    ],
)
def test_broken_walls_are_named(tmp_path, name, source, sentence):
    (found,) = problems(tmp_path, {name: source})
    assert found.startswith(name)
    assert sentence in found


@pytest.mark.parametrize(
    ("files", "circle"),
    [
        (
            {"io/a.py": "from calipers.io import b", "io/b.py": "from calipers.io.a import x"},
            "a circle of imports: calipers.io.a → calipers.io.b → calipers.io.a",
        ),
        (
            {
                "io/a.py": "import calipers.match.a",
                "io/b.py": "",
                "match/a.py": "",
                "match/b.py": "import calipers.io.b",
            },
            "a circle of rooms: calipers.io → calipers.match → calipers.io",
        ),
        (
            {
                "questions/gate/rule.py": "from calipers.questions.sweep.rule import x",
                "questions/sweep/rule.py": "",
                "questions/sweep/show.py": "def f():\n    from ..gate.result import Verdict",
                "questions/gate/result.py": "",
            },
            "a circle of rooms: calipers.questions.gate → calipers.questions.sweep → "
            "calipers.questions.gate",
        ),
    ],
    ids=["modules", "rooms", "questions"],
)
def test_circles_are_drawn(tmp_path, files, circle):
    assert problems(tmp_path, files) == [circle]


def test_a_folder_of_more_than_thirty_modules_is_named(tmp_path):
    names = [f"io/m{number}.py" for number in range(30)]
    assert problems(tmp_path, dict.fromkeys(["io/__init__.py", *names], "")) == []
    (found,) = problems(tmp_path, {"io/one_more.py": ""})
    assert found == "io: 31 modules, 30 allowed; make it two folders"


def test_a_way_up_is_for_one_module_when_it_is_asked_and_never_for_a_circle(tmp_path, monkeypatch):
    monkeypatch.setattr(check_walls, "WAYS_UP", {("calipers.io.a", "calipers.live"): "a reason"})
    deferred = "def f():\n    from calipers.live.b import x"
    assert problems(tmp_path, {"io/a.py": deferred}) == []
    (at_load,) = problems(tmp_path, {"io/a.py": deferred.removeprefix("def f():\n    ")})
    assert "io may not import live" in at_load
    (other,) = problems(tmp_path, {"io/a.py": "", "io/b.py": deferred})
    assert "io may not import live" in other
    back = {"io/a.py": deferred, "io/b.py": "", "live/b.py": "import calipers.io.a"}
    (circle,) = problems(tmp_path, back)
    assert circle == "a circle of imports: calipers.io.a → calipers.live.b → calipers.io.a"


def test_entries_that_nothing_answers_to_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(check_walls, "LAYERS", (frozenset({"io", "cellar"}),))
    monkeypatch.setattr(check_walls, "BY_STRING", {"calipers.io.a": "", "calipers.io.b": ""})
    ways = {("calipers.io.a", f"calipers.{name}"): "a reason" for name in ("b", "c", "d", "e")}
    monkeypatch.setattr(check_walls, "WAYS_UP", ways)
    source = "def f():\n    import calipers.b, calipers.c\n    import_module('x')"
    found = list(stale_entries(built(tmp_path, {"io/a.py": source, "io/b.py": ""})))
    assert found == [
        "LAYERS names cellar, which is not there; take it out",
        "BY_STRING names calipers.io.b, which loads nothing by a string; take it out",
        "WAYS_UP lets calipers.io.a import calipers.d, which it does not; take it out",
        "WAYS_UP lets calipers.io.a import calipers.e, which it does not; take it out",
        "WAYS_UP has 4 entries, 3 allowed",
    ]


def test_base_libraries_come_from_the_project_file(tmp_path):
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text('[project]\ndependencies = ["SQLAlchemy>=2.0", "some-name", "x[y]>1"]')
    assert base_libraries(pyproject) == {"sqlalchemy", "some_name", "x"}
