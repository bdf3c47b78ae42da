"""What a grid file may say, and what becomes of it."""

import pytest

from calipers.errors import InvalidInput
from calipers.questions.grid.file import read_grid
from calipers.questions.grid.settings import grid
from tests.command import refused
from tests.questions.grid.grids import TWO, log, write


def test_the_product_of_retrievers_parameters_and_k(folder):
    path = write(
        folder,
        """
        [grid]
        k = [1, 5]
        output = "runs"
        [grid.params]
        size = [1, 2]
        [grid.retrievers.a]
        make = "finders:make"
        params.right = 3
        [grid.retrievers.b]
        search = "finders.py:plain"
        k = 4
        params = {right = 5, size = 1}
    """,
    )
    with pytest.raises(InvalidInput, match=r"plain.*takes no parameter 'size'"):
        grid(path)
    assert "takes no parameter 'size'" in refused("grid", path, "--dry-run")
    path.write_text(path.read_text().replace(", size = 1", ""))
    path.write_text(
        path.read_text()
        .replace("finders.py:plain", "finders.py:make")
        .replace("search =", "make =")
    )
    planned = read_grid(path)
    assert [one.name for one in planned.combinations] == [
        "a size=1 k=1",
        "a size=1 k=5",
        "a size=2 k=1",
        "a size=2 k=5",
        "b size=1",
        "b size=2",
    ]
    assert [one.k for one in planned.combinations] == [1, 5, 1, 5, 4, 4]
    assert planned.combinations[4].params == {"size": 1, "right": 5}
    assert not (folder / "runs").exists()


def test_baseline_by_name_or_by_its_only_combination(folder):
    path = write(
        folder,
        TWO
        + """
    [grid.retrievers.other]
    make = "finders:make"
    params.right = 7
    """,
    )
    for name in ("other", "some right=11"):
        assert read_grid(path, name).baseline == name
    for name, sentence in (
        ("some", "stands for 2 combinations"),
        ("othr", r"\(--against\).*other\?"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            grid(path, baseline=name)
    path.write_text(path.read_text().replace("[grid]", '[grid]\nbaseline = "other"', 1))
    found = grid(path, metrics="mrr").comparison
    assert (found.baseline, found.metrics[0].name) == ("other", "mrr")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"has no \[grid\]"),
        ("[grid]\nk = 5", "names no retriever"),
        ("[grid]\nretriever = 1", r"'grid\.retriever'.*Did you mean retrievers"),
        ("[grid.retrievers.a]\nmakes = 'x'", r"'grid\.retrievers\.a\.makes'.*Did you mean make"),
        ("[grid.retrievers.a]\nk = 3", "neither 'make' and 'search'"),
        ("[grid.retrievers.a]\nmake = 'x'\nsearch = 'y'", "both 'make' and 'search'"),
        ("[grid.retrievers.a]\nmake = 3", "must be a text"),
        ("[grid.retrievers]\na = 'x'", r"must be a table \[grid\.retrievers\.a\]"),
        (
            "[grid.retrievers.a]\nmake = 'finders:make'\nparams = 3",
            "must be a mapping",
        ),
        ("[grid.retrievers.a]\nmake = 'finders:make'\nparams.right = []", "at least one value"),
        ("[grid.retrievers.a]\nmake = 'finders:make'\nparams.right = 1", "one combination"),
        ("[grid.retrievers.a]\nmake = 'finders:make'\nparams.right = [1, 1]", "two combinations"),
        ("[grid]\nk = 0\n[grid.retrievers.a]\nmake = 'finders:make'", "k = 0 in"),
        ("[grid]\nk = []\n[grid.retrievers.a]\nmake = 'finders:make'", r"grid\.k = \[\]; give it"),
        ("[grid.retrievers.a]\nmake = 'finders:make'\nparams.righ = [1, 2]", "takes right, size"),
        ("[grid.retrievers.a]\nmake = 'finders:mak'\nparams.right = [1, 2]", "Did you mean make"),
        ("[grid.retrievers.a]\nmake = 'nowhere_x:f'\nparams.right = [1, 2]", "no module 'now"),
        ("[grid.retrievers.a]\nmake = 'finders:not_callable'\nk = [1, 2]", "is a int; 'make'"),
        ("grid = 3", r"must be a table \[grid\]"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_is_asked(folder, text, sentence):
    path = write(folder, "")
    path.write_text(path.read_text() + text)
    with pytest.raises(InvalidInput, match=sentence):
        grid(path)
    assert "ask" not in log(folder)


def test_a_ground_truth_is_needed_and_other_questions_may_be_asked(folder):
    path = write(folder, TWO.replace("[grid]", '[grid]\n    questions = "others.json"', 1))
    (folder / "others.json").write_text('["question 1", "question 2"]')
    assert len(read_grid(path).questions) == 2
    path.write_text(path.read_text().replace('ground-truth = "questions.jsonl"', ""))
    with pytest.raises(InvalidInput, match="names no ground truth"):
        grid(path)
    assert "ask" not in log(folder)


def test_the_nearest_file_is_found(folder, monkeypatch):
    write(folder, TWO)
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    assert len(read_grid(None).combinations) == 2
    empty = folder.parent / "nothing here"
    empty.mkdir()
    monkeypatch.chdir(empty)
    with pytest.raises(InvalidInput, match=r"There is no calipers.toml"):
        read_grid(None)
