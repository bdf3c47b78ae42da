"""calipers metrics: everything about every metric, from the one place that defines it."""

from calipers.measures import definitions
from calipers.questions.metrics import COMMON, metrics
from tests.command import calipers_command, refused


def test_the_usual_ones_are_listed_and_where_the_rest_is() -> None:
    printed = calipers_command("metrics", columns=500).out
    assert definitions().keys() >= COMMON
    assert [one["name"] for one in metrics()] == [one for one in definitions() if one in COMMON]
    assert printed.startswith("15 metrics")
    assert "calipers metrics --all lists the others" in printed
    assert "--all" not in calipers_command("metrics", "--all").out
    assert "--all" not in calipers_command("metrics", "ndcg").out


def test_everything_is_known_of_every_metric() -> None:
    printed = calipers_command("metrics", "--all", "--explain", columns=500)
    assert printed.code == 0
    for definition in definitions().values():
        assert definition.grammar in printed.out
        assert definition.summary in printed.out
        for parameter in definition.parameters.values():
            assert f"{parameter.name}: {parameter.allowed}" in printed.out
        if definition.aliases:
            assert f"Also called {', '.join(definition.aliases)}." in printed.out


def test_one_metric_by_any_name() -> None:
    assert calipers_command("metrics", "ndcg_cut_10").out == calipers_command("metrics", "ndcg").out
    assert "recall@k" in calipers_command("metrics", "R@5").out
    assert "Did you mean recall?" in refused("metrics", "recal")
