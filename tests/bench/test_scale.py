"""What is measured at scale can be measured: a small input goes through every case."""

import pytest

from bench.scale import cases, make
from tests.command import calipers_command


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("scale")
    make(made, 1_000, 50, 2)
    return made


@pytest.mark.parametrize("name", ["grouped", "mixed-500MB", "save", "gate", "compare", "changes"])
def test_a_case_runs(name, folder, tmp_path):
    known = cases(folder, tmp_path)
    done = calipers_command(*known[name])
    assert done.code == 0, done.err


def test_the_run_in_any_order_and_size_of_blocks_is_the_same_run(folder, tmp_path):
    known = cases(folder, tmp_path)
    names = ("grouped", "grouped-large", "mixed", "mixed-large")
    answers = {calipers_command(*known[name]).out for name in names}
    assert len(answers) == 1
