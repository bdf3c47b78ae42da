"""What a colleague says who looks at the same queries: the commands must say it too."""

import json

import pytest

from tests.command import calipers_command


def written(folder, name, found):
    """A run in which each query has its one target first, or not at all."""
    path = folder / f"{name}.json"
    path.write_text(
        json.dumps(
            [
                {
                    "id": f"q{at:02d}",
                    "query": f"question {at}",
                    "ground_truth": {"target": 1},
                    "retrieved": [{"id": "target" if hit else "other"}],
                }
                for at, hit in enumerate(found)
            ]
        ),
        encoding="utf-8",
    )
    return path


def hits(won, lost, tied):
    """Old and new hits: the tied ones are found by both."""
    return [0] * won + [1] * (lost + tied), [1] * won + [0] * lost + [1] * tied


@pytest.fixture
def answer(tmp_path):
    """What `compare` answers for queries won, lost and tied."""

    def ask(won, lost, tied):
        old, new = hits(won, lost, tied)
        files = [written(tmp_path, "old", old), written(tmp_path, "new", new)]
        printed = calipers_command("compare", *files, "-m", "recall@1")
        assert printed.code == 0, printed.err
        as_json = json.loads(calipers_command("compare", *files, "-m", "recall@1", "--json").out)
        return printed.out.splitlines()[0], as_json["differences"][0]

    return ask


@pytest.mark.parametrize("won", [8, 9, 10, 11])
def test_one_more_query_that_is_won_says_more(answer, won):
    line, found = answer(won, 0, 12 - won)
    assert line == "new is better than old in recall@1."
    assert found["p_value"] == pytest.approx(2 / 2**won)
    assert found["interval"]["low"] > 0


@pytest.mark.parametrize("counts", [(0, 7, 1), (0, 13, 3), (0, 6, 40)])
def test_queries_that_are_only_lost_are_heard(answer, counts):
    line, found = answer(*counts)
    assert line == "new is worse than old in recall@1."
    assert found["interval"]["high"] < 0


@pytest.mark.parametrize("counts", [(3, 0, 1), (0, 3, 9), (1, 0, 11), (6, 5, 1)])
def test_a_few_queries_show_nothing(answer, counts):
    line, found = answer(*counts)
    assert line == "new: no difference from old was shown in recall@1."
    assert found["interval"]["low"] < 0 < found["interval"]["high"]
