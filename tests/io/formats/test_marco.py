import pytest

from calipers.errors import InvalidInput
from calipers.io.load import load


def write(tmp_path, text):
    path = tmp_path / "data"
    path.write_text(text)
    return path


def ranking(path):
    """The items of a run in order; reading is lazy, so that an error may come only now."""
    run = load(path, "run").run
    assert run is not None
    return run.frame["item"].to_list()


@pytest.mark.parametrize("text", ["q1 d1 1\nq2 d2 1\n", "q1\td1\t1\nq1\td2\t2\n"])
def test_three_columns_that_could_be_ranks_or_grades(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.raises(
        InvalidInput, match=r"MS MARCO run .* or judgements .*--run or --ground-tru"
    ):
        load(path, "both")
    assert load(path, "run").run is not None
    assert load(path, "ground_truth").ground_truth is not None


def test_three_columns_that_say_what_they_are(tmp_path):
    ranks = "".join(f"q d{i} {i}\n" for i in range(1, 6))
    assert load(write(tmp_path, ranks), "both").run is not None
    assert load(write(tmp_path, "q a 0\nq b 1\n"), "both").ground_truth is not None
    assert load(write(tmp_path, "q a 1\nq b 1\n"), "both").ground_truth is not None


def test_ranks_decide_the_order_of_an_ms_marco_run(tmp_path):
    assert ranking(write(tmp_path, "q b 2\nq c 3\nq a 1\n")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q a 1\nq b 2\nq c 3\nq d\n", "data:4 has 2 columns; .* has 3: query item rank"),
        ("q a 1\nq b 2\nq c 3\nq d x\n", "data:4 has the rank 'x'"),
        ("q a x\n", "not known"),
    ],
)
def test_a_bad_line_of_three_columns(tmp_path, text, said):
    with pytest.raises(InvalidInput, match=said):
        ranking(write(tmp_path, text))
