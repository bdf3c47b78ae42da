"""The fixture in tests of its own, and its absence from tests that do not use it."""

import json
import subprocess
import sys

import pytest

# pytester takes back what a run inside this process imports, and numpy cannot be loaded twice.
import calipers.operations
import calipers.questions.gate.document  # noqa: F401

pytest_plugins = ["pytester"]

RECORDS = [
    {
        "id": f"q{n}",
        "query": f"question {n}",
        "retrieved": ["a", "b"] if n < 5 else ["b", "a"],
        "ground_truth": ["a"],
        "tags": {"type": "even" if n % 2 == 0 else "odd"},
    }
    for n in range(10)
]


@pytest.fixture
def project(pytester):
    pytester.makefile(".json", evals=json.dumps(RECORDS))
    return pytester


def test_what_holds_passes_and_what_does_not_is_explained(project):
    project.makepyfile(
        """
        def test_good(calipers_eval):
            calipers_eval("evals.json").require("recall@2 >= 0.9").require("mrr > 0.7")

        def test_bad(calipers_eval):
            calipers_eval("evals.json").require("recall@2 >= 0.9", "mrr >= 0.9 for type=odd")
        """
    )
    result = project.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            '>*calipers_eval("evals.json").require("recall@2 >= 0.9", "mrr >= 0.9 for type=odd")',
            "E*mrr for type=odd is 0.700 on * queries; at least 0.9 is required.",
            'E*Worst: "question 5", "question 7", "question 9".',
        ]
    )
    assert "calipers/questions" not in result.stdout.str()


def test_a_baseline(project):
    better = [{**one, "retrieved": ["a", "b"]} for one in RECORDS]
    project.makefile(".json", better=json.dumps(better))
    project.makepyfile(
        """
        import calipers

        def test_not_worse(calipers_eval, tmp_path):
            calipers.gate_save("better.json", to=tmp_path / "main.json", metrics="mrr")
            calipers_eval("better.json").not_worse_than(tmp_path / "main.json", metrics="mrr")
            calipers_eval("evals.json").not_worse_than(tmp_path / "main.json")
        """
    )
    result = project.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*✗ Failed: mrr fell from 1.000 to 0.750; 5 of 10 queries worse, none better.",
            "E*0.500 (it was 1.000)  q8: question 8",
            'E*Lost most: "question 5", "question 6", "question 7".',
        ]
    )


def test_mistakes_fail_with_one_sentence(project):
    project.makepyfile(
        """
        def test_metric(calipers_eval):
            calipers_eval("evals.json").require("recal@2 >= 0.9")

        def test_file(calipers_eval):
            calipers_eval("nowhere.json").require("mrr >= 0.9")
        """
    )
    result = project.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ["E*There is no metric called 'recal'. Did you mean recall?*", "E*no file nowhere.json*"]
    )
    assert "calipers/metrics" not in result.stdout.str()


def test_scores_for_assertions_of_ones_own(project):
    project.makepyfile(
        """
        def test_scores(calipers_eval):
            scores = calipers_eval("evals.json").scores("recall,first_rank", k=1)
            assert list(scores) == ["recall@1", "first_rank"]
            assert scores["first_rank"].mean == 1.5
            in_memory = calipers_eval(ground_truth={"q": ["a"]}, run={"q": ["a"]})
            in_memory.require("mrr >= 1")
            live = calipers_eval({"who is it": ["a"]}, retriever=lambda query, k: ["a", "b"])
            live.require("recall@2 >= 1")
        """
    )
    project.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_a_real_pytest_finds_the_fixture_and_loads_nothing_without_it(project):
    project.makepyfile(
        test_without="""
        import sys

        def test_nothing_is_loaded():
            loaded = [name for name in sys.modules if name.split(".")[0] == "calipers"]
            assert sorted(loaded) == ["calipers", "calipers.pytest_plugin"]
            assert "polars" not in sys.modules
            assert "numpy" not in sys.modules
        """
    )
    project.makepyfile(
        test_with="""
        def test_retrieval(calipers_eval):
            calipers_eval("evals.json").require("recall@2 >= 0.9")
        """
    )
    # hypothesis loads libraries of its own; only Calipers is looked at here.
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
    for name in ("test_without.py", "test_with.py"):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, name],
            cwd=project.path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 passed" in done.stdout
