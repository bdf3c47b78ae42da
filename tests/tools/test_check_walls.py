import ast
from pathlib import Path

import pytest

from tools import check_walls
from tools.check_walls import (
    base_libraries,
    check,
    imports_of,
    read_modules,
    slow_imports,
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
        ("measures/rank.py", "import numpy\nfrom ..model import run"),
        ("checks/ids.py", "from calipers.io import trec"),
        ("functions.py", "import math\nfrom calipers.text import normalise"),
        ("cli/eval.py", "import click\nfrom calipers import operations, present"),
        ("cli/eval.py", "from . import shared\nfrom .shared import table"),
        ("pytest_plugin.py", "import pytest\nfrom calipers.operations import evaluate"),
        ("match/by_quote.py", "def fuzzy():\n    import rapidfuzz"),
        ("match/by_quote.py", "if TYPE_CHECKING:\n    import rapidfuzz"),
        ("__init__.py", "if TYPE_CHECKING:\n    from calipers.operations import evaluate"),
        ("__main__.py", "from calipers.cli import main"),
    ],
)
def test_allowed_imports_pass(tmp_path, name, source):
    assert problems(tmp_path, {name: source}) == []


@pytest.mark.parametrize(
    ("name", "source", "sentence"),
    [
        ("model/run.py", "import calipers.operations", "model may not import operations"),
        ("io/trec.py", "from ..questions.gate import x", "io may not import questions"),
        ("io/__init__.py", "from ..questions import gate", "io may not import questions"),
        ("io/trec.py", "from ..labels import desk, draft", "io may not import labels"),
        (
            "operations.py",
            "def f():\n    from calipers import web",
            "operations may not import web",
        ),
        ("io/a.py", "if TYPE_CHECKING:\n    import calipers.cli", "io may not import cli"),
        ("measures/rank.py", "from calipers.match import by_id", "measures may not import match"),
        ("measures/rank.py", "def f():\n    import polars as pl", "measures may not import polars"),
        ("operations.py", "import click", "click, which belongs to cli alone"),
        ("web/page.py", "from calipers.cli import eval", "a face never imports another face"),
        ("functions.py", "import numpy", "only the standard library, not numpy"),
        ("text.py", "from calipers.model import run", "text may import only the standard"),
        ("match/by_quote.py", "import rapidfuzz.fuzz", "rapidfuzz is optional"),
        ("match/by_quote.py", "try:\n    import rapidfuzz\nexcept E: ...", "rapidfuzz is optional"),
        ("cellar.py", "", "cellar has no place in LAYERS"),
        ("io/trec.py", "import_module(name)", "loads a module by a string"),
        ("io/trec.py", "x = 1\n" * 601, "601 lines, 600 allowed"),
    ],
)
def test_broken_walls_are_named(tmp_path, name, source, sentence):
    (found,) = problems(tmp_path, {name: source})
    assert found.startswith(name)
    assert sentence in found


def test_the_line_of_the_import_is_given(tmp_path):
    (found,) = problems(tmp_path, {"model/run.py": "\n\nimport calipers.cli\n"})
    assert found.startswith("model/run.py:3: ")


@pytest.mark.parametrize(
    ("files", "circle"),
    [
        (
            {"io/a.py": "from calipers.io import b", "io/b.py": "from calipers.io.a import x"},
            "a circle of imports: calipers.io.a → calipers.io.b → calipers.io.a",
        ),
        (
            {"io/a.py": "def f():\n    from . import b", "io/b.py": "from .a import x"},
            "a circle of imports: calipers.io.a → calipers.io.b → calipers.io.a",
        ),
        (
            {"io/a.py": "if TYPE_CHECKING:\n    from .b import B", "io/b.py": "from .a import x"},
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
    ids=["modules", "deferred", "types", "rooms", "questions"],
)
def test_circles_are_drawn(tmp_path, files, circle):
    assert problems(tmp_path, files) == [circle]


def test_a_question_may_build_on_another(tmp_path):
    files = {
        "questions/gate/rule.py": "from calipers.questions.compare.rule import compare",
        "questions/gate/show.py": "from . import result\nfrom ..compare.show import table",
        "questions/gate/result.py": "",
        "questions/compare/rule.py": "",
        "questions/compare/show.py": "",
    }
    assert problems(tmp_path, files) == []


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


def test_imports_in_the_else_of_type_checking_are_loaded():
    tree = ast.parse("if TYPE_CHECKING:\n    import a\nelse:\n    import b")
    assert [(found.name, found.at_load) for found in imports_of(tree, "calipers.web")] == [
        ("a", False),
        ("b", True),
    ]


def test_base_libraries_come_from_the_project_file(tmp_path):
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text('[project]\ndependencies = ["SQLAlchemy>=2.0", "some-name", "x[y]>1"]')
    assert base_libraries(pyproject) == {"sqlalchemy", "some_name", "x"}


@pytest.mark.parametrize(("source", "loaded"), [("import numpy", ["numpy"]), ("import json", [])])
def test_slow_imports_are_seen_in_a_fresh_interpreter(tmp_path, source, loaded):
    (tmp_path / "calipers").mkdir()
    (tmp_path / "calipers" / "__init__.py").write_text(source)
    assert slow_imports(tmp_path) == loaded
