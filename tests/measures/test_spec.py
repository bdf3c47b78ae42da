"""Names of metrics: what is understood, how it is printed, and what is refused with what words."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.errors import InvalidInput, UnknownMetric
from calipers.measures import Definition, Metric, definitions, parse, parse_one
from calipers.measures.define import aliases
from calipers.measures.parameter import Parameter
from calipers.measures.spec import check_cutoff, find_name
from calipers.model.policy import LIKE, LIKE_PARAMETERS


def values(parameter: Parameter) -> st.SearchStrategy[float | str]:
    """Anything that may be written for a parameter."""
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    limits = parameter.limits
    return st.floats(
        max(limits.low, -1e308),
        min(limits.high, 1e308),
        exclude_min=not limits.included,
        exclude_max=not limits.included,
    )


PARTS = ("recall@10", "mrr", "map@5(denominator=min)", "ndcg@3(gain=exp)", "r_precision", "rel")


@st.composite
def metrics(draw) -> Metric:
    """Any metric that can be written, with any values of its parameters."""
    definition: Definition = draw(st.sampled_from(list(definitions().values())))
    ks: st.SearchStrategy[int | None] = st.integers(1, 999_999_999)
    if definition.cutoff == "none":
        ks = st.none()
    if definition.cutoff == "optional":
        ks = st.none() | ks
    given_ones: dict[str, float | str] = {}
    if definition.takes_parts:
        parts = draw(st.sets(st.sampled_from(PARTS), min_size=1))
        weights = st.floats(1e-9, 1e9)
        given_ones = {part: draw(weights) for part in sorted(parts)}
    for name, parameter in definition.parameters.items():
        value = draw(st.none() | values(parameter))
        if value is not None and value != parameter.default:
            given_ones[name] = value
    return Metric(definition.name, draw(ks), tuple(sorted(given_ones.items())))


@given(metrics())
def test_the_printed_name_parses_back(metric: Metric) -> None:
    assert parse(str(metric)) == (metric,)
    assert parse_one(str(metric)) == metric


SPELLINGS = {
    "P_5": "precision@5",
    "P@5": "precision@5",
    "recall_10": "recall@10",
    "R@10": "recall@10",
    "ndcg_cut_10": "ndcg@10",
    "ndcg_cut.10": "ndcg@10",
    "nDCG@10": "ndcg@10",
    "recip_rank": "mrr",
    "relative_P_5": "capped_recall@5",
    "unj_10": "unjudged@10",
    "Hole@10": "unjudged@10",
    "st_recall@20": "recall@20",
    "alpha_nDCG@20": "alpha_ndcg@20",
    "NERR@10": "nerr@10",
    "RBP(p=0.9)@10": "rbp@10(p=0.9)",
    "RR@10": "mrr@10",
    "MRR@10": "mrr@10",
    "success_5": "hit_rate@5",
    "hit@5": "hit_rate@5",
    "hit-rate@5": "hit_rate@5",
    "AP": "map",
    "map_cut_100": "map@100",
    "Rprec": "r_precision",
    " ndcg @ 10 ( gain = exp ) ": "ndcg@10(gain=exp)",
    "ndcg(gain=exp)@10": "ndcg@10(gain=exp)",
    "ndcg@10(gain=linear)": "ndcg@10",
    "ndcg@10()": "ndcg@10",
    "ndcg@all": "ndcg",
    "rbp(p=0.80)": "rbp",
    "rbp(p=.5)": "rbp(p=0.5)",
    "f@5(rel=2.0,beta=2)": "f@5(beta=2,rel=2)",
    "recall@010": "recall@10",
    "SET_F": "set_F",
    "set_f(beta=2)": "set_F(beta=2)",
    "11PT_avg": "11pt_avg",
    "iprec_at_recall_0.50": "iprec_at_recall_0.50",
    "score(R@10=0.7, recip_rank=.3)": "score(mrr=0.3,recall@10=0.7)",
    "score@10(recall=7,mrr=3)": "score@10(mrr=3,recall=7)",
    "score(recall=7,mrr=3)@10": "score@10(mrr=3,recall=7)",
    "score(ndcg@5(gain=exp,)=1,recall@5(rel=2)=1)": "score(ndcg@5(gain=exp)=1,recall@5(rel=2)=1)",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_of_other_tools(spelling: str) -> None:
    assert str(parse_one(spelling)) == SPELLINGS[spelling]


def test_every_other_name_leads_to_its_metric() -> None:
    for other, name in aliases().items():
        assert {metric.name for metric in parse([other], ks=[3])} == {name}
        assert [metric.name for metric in parse([other.upper()], ks=[3])][:1] == [name]


LISTS: dict[str, tuple[dict[str, Any], str]] = {
    "recall@1,3, 5,mrr,P_5": ({}, "recall@1 recall@3 recall@5 mrr precision@5"),
    "P_5,10,ndcg_cut.5,10,mrr": ({}, "precision@5 precision@10 ndcg@5 ndcg@10 mrr"),
    "recall@1,3(rel=2)": ({}, "recall@1(rel=2) recall@3(rel=2)"),
    "recall@5,R@5,recall_5": ({}, "recall@5"),
    "recall,mrr,ndcg@3,bpref": (
        {"ks": [1, 5]},
        "recall@1 recall@5 mrr@1 mrr@5 ndcg@3 bpref",
    ),
    "ndcg@all": ({"ks": [1]}, "ndcg"),
    "recall@5,11pt_avg,P_5,11pt_avg": ({}, "recall@5 11pt_avg precision@5"),
    "iprec_at_recall(rel=2)": (
        {"ks": [1]},
        " ".join(f"iprec_at_recall_{tenth / 10:.2f}(rel=2)" for tenth in range(11)),
    ),
    "score(recall@10=1,mrr=1),mrr": ({}, "score(mrr=1,recall@10=1) mrr"),
    "score(recall=1,mrr=1),score(recall@10=2,mrr=1)": (
        {"ks": [1, 5]},
        "score@1(mrr=1,recall=1) score@5(mrr=1,recall=1) score(mrr=1,recall@10=2)",
    ),
    "rbp,rbp_resid,rbp(p=0.5),rbp(p=0.8),map": (
        {"like": "trec_eval"},
        "rbp(highest=query,p=0.9) rbp_residual(all_judged=zero,p=0.9) "
        "rbp(highest=query,p=0.5) rbp(highest=query) map",
    ),
}
"""Cut-offs written once for several, given for all, and what trec_eval means by a name."""


@pytest.mark.parametrize("asked", LISTS)
def test_what_is_asked_for_in_one_text(asked: str) -> None:
    settings, names = LISTS[asked]
    assert [str(metric) for metric in parse(asked, **settings)] == names.split()


DID_YOU_MEAN = {
    "recal@5": "recall",
    "mmr": "mrr",
    "NDCG_cutt_10": "ndcg_cut",
}


@pytest.mark.parametrize("name", DID_YOU_MEAN)
def test_an_unknown_name_gets_a_suggestion(name: str) -> None:
    with pytest.raises(UnknownMetric) as caught:
        parse(name)
    assert f"Did you mean {DID_YOU_MEAN[name]}?" in str(caught.value)
    assert "`calipers metrics --all` lists them" in str(caught.value)


def test_a_name_like_nothing_gets_no_suggestion() -> None:
    with pytest.raises(UnknownMetric) as caught:
        parse("zzzzzz")
    assert "'zzzzzz'" in str(caught.value)
    assert "Did you mean" not in str(caught.value)


REFUSED = {
    "recall": "recall needs a cut-off and has none; write recall@10, or give -k",
    "recall@": "cut-off k is 'empty'",
    "recall@0": "cut-off k is '0'; k must be a whole number from 1",
    "recall@ten": "cut-off k is 'ten'",
    "recall@1,ten": "cut-off k is 'ten'",
    "recall@٣": "cut-off k is '٣'",
    "recall@" + "9" * 5000: "cut-off k is '9999999999",
    "recall@1000000000": "from 1 to 999999999",
    "bpref@5": "bpref takes no cut-off and is written with @5; write bpref",
    "r_precision_5": "r_precision takes no cut-off",
    "recall@all": "cut-off k is 'all'",
    "recall@5(rel=0)": "rel in recall(rel=…) is '0'; it can be a number above 0",
    "recall@5(rel=inf)": "a number above 0",
    "recall@5(rel=two)": "is 'two'",
    "f@5(beta=0)": "beta in f(beta=…) is '0'; it can be a number above 0",
    "rbp(p=1)": "p in rbp(p=…) is '1'; it can be a number between 0 and 1",
    "err(gmax=0)": "gmax in err(gmax=…) is '0'",
    "ndcg@5(gain=log)": "gain in ndcg(gain=…) is 'log'; it can be linear or exp",
    "map@5(denominator=k)": "it can be all or min",
    "ndcg@5(gian=exp)": "these parameters, as name=value: gain. Did you mean gain?",
    "ndcg@5(exp)": "has 'exp' in its parentheses",
    "judged@5(rel=2)": "these parameters, as name=value: none",
    "f@5(beta=2,beta=3)": "gives beta twice",
    "recall@5(rel=2": "cannot be read; write name@k(parameter=value)",
    "recall 5": "cannot be read",
    "@5": "cannot be read",
    "score": "has no parts; write metrics with weights, such as score(recall@10=0.7,mrr=0.3)",
    "score()": "has no parts",
    "score(rel=2)": "has no parts",
    "score(recall=1)": "recall needs a cut-off and has none",
    "score(recall@5)": "metrics with weights above 0, as metric=weight",
    "score(recall@5=0)": "metrics with weights above 0",
    "score(recall@5=-1)": "metrics with weights above 0",
    "score(recall@5=inf)": "metrics with weights above 0",
    "score(recall@5=1e308,mrr=1e308)": "Weights go from 1e-9 to 1e9",
    "score(recall@5=1e-320,mrr=1)": "Weights go from 1e-9 to 1e9",
    "score(mrr=1,RR=2)": "gives mrr twice",
    "score(iprec_at_recall=1)": "which stands for 11",
    "score(tokens@5=1)": "more of it must be better",
    "score(fp@5=1)": "more of it must be better",
    "score(dcg@5=1)": "must lie between 0 and 1",
    "score(score(mrr=1)=1)": "must lie between 0 and 1",
    "score(recal@5=1)": "Did you mean recall?",
}


@pytest.mark.parametrize("name", ["gm_map", "infAP", "Rprec_mult", "set_map", "G", "prefs_simp"])
def test_a_measure_that_only_trec_eval_has_gets_no_other_quantity(name: str) -> None:
    with pytest.raises(UnknownMetric) as caught:
        parse(name)
    assert f"{name!r} is a measure of trec_eval that Calipers does not have." in str(caught.value)
    assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize("name", ["iprec_at_recall_0.05", "iprec_at_recall_2", "iprec-at-recall_x"])
def test_a_level_that_the_curve_does_not_have_names_those_it_has(name: str) -> None:
    with pytest.raises(UnknownMetric, match="its eleven levels are iprec_at_recall") as caught:
        parse(name)
    assert "Did you mean" not in str(caught.value)


def test_the_parts_of_a_score() -> None:
    [metric] = parse("score@5(recall=3,mrr@2=1)")
    assert [(str(part), weight) for part, weight in metric.with_rel(2).parts] == [
        ("mrr@2(rel=2)", 1.0),
        ("recall@5(rel=2)", 3.0),
    ]
    assert (metric.cutoffs, parse_one("mrr").cutoffs) == ((2, 5), ())
    assert find_name("score@5(recall=3,mrr@2=1)", [str(metric.with_rel(2))])


@pytest.mark.parametrize("name", REFUSED, ids=lambda name: name[:20])
def test_what_cannot_be_read_is_refused_with_a_sentence(name: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(REFUSED[name])):
        parse([name])


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "ten", "", None, "1_0", "+1", [1]])
def test_a_cutoff_is_a_whole_number_above_zero(value: object) -> None:
    with pytest.raises(InvalidInput, match="cut-off k is"):
        check_cutoff(value)


def test_one_metric_means_one() -> None:
    with pytest.raises(InvalidInput, match=r"One metric is expected.*stands for 2"):
        parse_one("recall@1,5")


def test_a_metric_is_named_by_text() -> None:
    with pytest.raises(InvalidInput, match="A metric is given as 5; write its name"):
        parse([5])  # type: ignore[list-item]


def test_a_metric_value_is_taken_as_it_is() -> None:
    metric = parse_one("recall@5(rel=2)")
    assert parse(metric) == parse([metric]) == (metric,)


def test_a_threshold_is_added_where_there_is_none() -> None:
    assert str(parse_one("recall@5").with_rel(2)) == "recall@5(rel=2)"
    assert str(parse_one("recall@5(rel=3)").with_rel(2)) == "recall@5(rel=3)"
    assert str(parse_one("ndcg@5").with_rel(2)) == "ndcg@5"
    assert str(parse_one("recall@5").with_rel(None)) == "recall@5"


def test_every_parameter_of_another_tool_exists() -> None:
    assert LIKE_PARAMETERS.keys() == LIKE.keys()
    for of_metrics in LIKE_PARAMETERS.values():
        for name, parameters in of_metrics.items():
            assert parameters.keys() <= definitions()[name].parameters.keys()


@given(metrics())
def test_a_metric_is_found_under_every_spelling(metric: Metric) -> None:
    stem, rest = metric.name, str(metric).removeprefix(metric.name)
    names = ["score", str(metric), "first_rank(rel=17)"]
    for spelling in (stem, *definitions()[stem].aliases):
        assert find_name(spelling.upper() + rest, names) == str(metric)


@pytest.mark.parametrize(
    ("asked", "names", "found"),
    [
        ("P_5", ["precision@5", "mrr"], "precision@5"),
        ("P_5", ["precision@10"], None),
        ("recall@5", ["recall@5(rel=2)", "recall@5(rel=3)"], None),
        ("recall@5", ["recall@5(rel=2)", "recall@5"], "recall@5"),
        ("rbp", ["rbp(p=0.9)"], "rbp(p=0.9)"),
        ("score", ["score"], "score"),
        ("nonsense", ["score"], None),
    ],
)
def test_what_is_asked_for_is_found_or_not(asked: str, names: list[str], found: str | None) -> None:
    assert find_name(asked, names) == found
