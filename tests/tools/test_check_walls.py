from pathlib import Path

import pytest

from tools.check_walls import base_libraries, check, imports_of, slow_imports

BASE = frozenset({"polars", "numpy", "click"})


def problems(folder: Path, files: dict[str, str]) -> list[str]:
    package = folder / "calipers"
    for name, source in files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return [line.removeprefix(f"{package}/") for line in check(package, BASE)]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("model/run.py", "import polars\nfrom calipers.errors import InvalidInput"),
        ("measures/rank.py", "import numpy\nfrom ..model import run"),
        ("checks/ids.py", "from calipers.io import trec"),
        ("functions.py", "import math\nfrom calipers.text import normalise"),
        ("cli/eval.py", "import click\nfrom calipers import api, present"),
        ("cli/eval.py", "from . import shared\nfrom .shared import table"),
        ("pytest_plugin.py", "import pytest\nfrom calipers.api import evaluate"),
        ("match/by_quote.py", "def fuzzy():\n    import rapidfuzz"),
        ("match/by_quote.py", "if TYPE_CHECKING:\n    import rapidfuzz"),
        ("__init__.py", "if TYPE_CHECKING:\n    from calipers.api import evaluate"),
        ("__main__.py", "from calipers.cli import main"),
    ],
)
def test_allowed_imports_pass(tmp_path, name, source):
    assert problems(tmp_path, {name: source}) == []


@pytest.mark.parametrize(
    ("name", "source", "sentence"),
    [
        ("model/run.py", "import calipers.api", "model may not import api"),
        ("io/trec.py", "from ..analyse.paired import x", "io may not import analyse"),
        ("io/__init__.py", "from ..analyse import paired", "io may not import analyse"),
        ("api.py", "def f():\n    from calipers import present", "api may not import present"),
        ("measures/rank.py", "from calipers.match import by_id", "measures may not import match"),
        ("measures/rank.py", "def f():\n    import polars as pl", "measures may not import polars"),
        ("api.py", "import click", "click, which belongs to cli alone"),
        ("web/page.py", "from calipers.cli import eval", "a face never imports another face"),
        ("functions.py", "import numpy", "only the standard library, not numpy"),
        ("text.py", "from calipers.model import run", "text may import only the standard"),
        ("match/by_quote.py", "import rapidfuzz.fuzz", "rapidfuzz is optional"),
        ("match/by_quote.py", "try:\n    import rapidfuzz\nexcept E: ...", "rapidfuzz is optional"),
        ("cellar.py", "", "cellar has no place in LAYERS"),
    ],
)
def test_broken_walls_are_named(tmp_path, name, source, sentence):
    (found,) = problems(tmp_path, {name: source})
    assert found.startswith(name)
    assert sentence in found


def test_the_line_of_the_import_is_given(tmp_path):
    (found,) = problems(tmp_path, {"model/run.py": "\n\nimport calipers.cli\n"})
    assert found.startswith("model/run.py:3: ")


def test_imports_in_the_else_of_type_checking_are_loaded():
    source = "if TYPE_CHECKING:\n    import a\nelse:\n    import b"
    assert [(found.name, found.at_load) for found in imports_of(source, "calipers.api")] == [
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
