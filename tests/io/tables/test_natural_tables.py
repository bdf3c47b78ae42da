"""Tables as people make them: the right number, or a sentence; never a wrong one.

``CALIPERS_NATURAL_TABLES=5000`` draws so many of them.
"""

import collections
import os

import pytest

from calipers import evaluate
from calipers.errors import CalipersError
from calipers.io.load import load
from calipers.names import ROW, plain_name
from tests.io.tables import natural_tables
from tests.io.tables.natural_tables import draw, numbers, results

PORTIONS = 2
EACH = int(os.environ.get("CALIPERS_NATURAL_TABLES", "500")) // PORTIONS


def understood(path, case):
    """What we read, under the questions of the author, whether we name them by id or by text."""
    truth = load(path, "ground_truth").ground_truth
    named = {
        query: case.ids.get(query, query) if text is None else text.strip()
        for query, text in truth.queries.select("query", "text").iter_rows()
    }
    found: dict[str, dict[str | None, float]] = {name: {} for name in named.values()}
    by = "quote" if case.quotes else "item"
    for query, item, grade in truth.targets.select("query", by, "grade").iter_rows():
        found[named[query]][item if item is None else item.strip()] = grade
    return found


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_a_table_gives_the_number_that_is_meant_or_a_sentence(portion, tmp_path):
    path = tmp_path / "table.csv"
    outcomes: collections.Counter[str] = collections.Counter()
    for seed in range(portion * EACH, (portion + 1) * EACH):
        case = draw(seed)
        path.write_bytes(case.content)
        try:
            found = understood(path, case)
        except CalipersError:
            outcomes["refused"] += 1
            continue
        outcomes["read"] += 1
        ranked = results(case.means)
        assert numbers(found, ranked) == pytest.approx(numbers(case.means, ranked)), (
            seed,
            case.odd,
            case.content.decode(errors="replace"),
        )
    # A reader that refuses everything is never wrong either.
    assert outcomes["read"] > 0.6 * EACH, outcomes


@pytest.mark.parametrize("seed", range(0, 10_000, 1000))
def test_the_command_gives_the_same_number(seed, tmp_path):
    case = draw(seed)
    ranked = results(case.means)
    if case.quotes or not any(grade > 0 for one in case.means.values() for grade in one.values()):
        pytest.skip("nothing to find by id")
    path = tmp_path / "table.csv"
    path.write_bytes(case.content)
    try:
        scores = evaluate(ranked, ground_truth=path, metrics="precision@2,recall@2,ndcg@3")
    except CalipersError:
        return
    found = [scores[name].mean for name in ("precision@2", "recall@2", "ndcg@3")]
    assert found == pytest.approx(list(numbers(case.means, ranked)))


def test_some_headers_are_ones_that_the_reader_does_not_know():
    known = {name for names in ROW.values() for name in names}
    unknown = (
        *natural_tables.UNKNOWN_QUERY,
        *natural_tables.UNKNOWN_ITEM,
        *natural_tables.UNKNOWN_GRADE,
    )
    strangers = [one for one in unknown if plain_name(one) not in known]
    assert len(strangers) > 0.8 * len(unknown)
