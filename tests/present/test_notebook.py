"""What somebody sees and does in a notebook: errors, prompts, results kept for later."""

import copy
import pickle

import pytest

import calipers
from calipers.errors import InvalidInput
from tests.present.results import MAKERS, made
from tests.reports import records

OPEN = {"PoolSession"}
"""What is connected to a database, and so cannot be kept."""


@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind not in OPEN])
def test_a_result_can_be_pickled_and_copied(kind):
    result = made(kind)
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert type(other) is type(result)
        assert str(other) == str(result)
        assert other.explain() == result.explain()
        assert other._repr_html_() == result._repr_html_()
        if hasattr(result, "to_dict"):
            assert other.to_dict() == result.to_dict()


def test_what_was_matched_can_be_measured_after_it_was_kept():
    pair = pickle.loads(pickle.dumps(calipers.read(records())))
    assert calipers.evaluate(pair).to_dict() == calipers.evaluate(records()).to_dict()
    report = pickle.loads(pickle.dumps(calipers.report(records())))
    assert report.to_html() == calipers.report(records()).to_html()


def test_a_plot_is_the_chart_that_a_notebook_draws():
    sweep = calipers.sweep(records())
    plot = sweep.plot()
    assert repr(plot) == f"<Plot: {sweep.document().sentence}>"
    assert plot._repr_html_().startswith("<svg")
    assert plot._repr_html_() in sweep._repr_html_()
    with pytest.raises(InvalidInput, match="There is no chart of a Verdict"):
        calipers.gate(records(), require=["recall@10 >= 0.1"]).plot()


CELL = """import calipers

def measure(path):
    return calipers.evaluate(path)

measure({given})
"""


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("'nowhere.jsonl'", "nowhere.jsonl"),
        ("[{'query': 'q'}]", "neither results nor"),
        ("3", "data is a int"),
    ],
)
def test_an_error_in_a_notebook_is_its_sentence_and_the_users_line(given, sentence):
    shells = pytest.importorskip(
        "IPython.core.interactiveshell", reason="notebooks run with IPython"
    )
    from IPython.utils.capture import capture_output

    with capture_output() as seen:
        ran = shells.InteractiveShell().run_cell(CELL.format(given=given))
    assert isinstance(ran.error_in_exec, InvalidInput)
    said = seen.stdout.strip().splitlines()
    assert said[0] == f"{type(ran.error_in_exec).__name__}: {ran.error_in_exec}"
    assert sentence in said[0]
    assert said[1:] == ["", "line 4:  return calipers.evaluate(path)"]
