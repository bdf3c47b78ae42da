import msgspec
import pytest

from calipers import compare
from calipers.errors import InvalidInput
from tests.systems import records


@pytest.fixture(scope="module")
def comparison():
    systems = {"old": records([3, 2, None, 5, 4, 2, 7]), "new": records([1, 1, 4, 2, 1, 1, 8])}
    return compare(systems, metrics="mrr,recall@5")


def test_per_query_has_every_value_and_difference(comparison):
    table = comparison.per_query
    assert table.columns == ["query", "text", "metric", "old", "new", "new - old"]
    assert table.height == 14
    row = table.filter(query="q1", metric="mrr").row(0, named=True)
    assert (row["old"], row["new"], row["new - old"]) == (0.5, 1.0, 0.5)


def test_the_plain_form_is_json_and_names_the_queries(comparison):
    result = comparison.to_dict(examples=1)
    again = msgspec.json.decode(msgspec.json.encode(result))
    assert again["systems"] == ["old", "new"]
    assert [d["metric"] for d in again["differences"]] == ["mrr", "recall@5"]
    first = again["differences"][0]
    assert [one["query"] for one in first["largest_wins"]] == ["q4"]
    assert [one["query"] for one in first["largest_losses"]] == ["q6"]
    assert again["visibility"]["n"] == 7


def test_names_that_do_not_exist_are_refused(comparison):
    with pytest.raises(InvalidInput, match=r"no system 'nwe'.*Did you mean new\?"):
        comparison.difference("nwe", "mrr")
    with pytest.raises(InvalidInput, match=r"no metric 'recal@5'.*Did you mean recall@5\?"):
        comparison.mean("new", "recal@5")
    with pytest.raises(InvalidInput, match="'old' is the baseline"):
        comparison.difference("old", "mrr")


def test_values_are_read_only(comparison):
    with pytest.raises(ValueError, match="read-only"):
        comparison.values["old"][0, 0] = 1.0
