"""`grow` on pairs whose competitors are counted by hand."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
from calipers.errors import InvalidInput
from calipers.questions.grow._standing import first_of_each, standing_of_targets
from calipers.questions.grow.result import Growth
from calipers.questions.grow.rule import chosen_times
from calipers.statistics.growth import Standing
from tests.command import calipers_command

IDS = "abcdefgh"
DOCUMENTS = {one: f"doc{number // 2}" for number, one in enumerate(IDS)}


@st.composite
def records(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Some queries over eight chunks of four documents."""
    made = [record("anchor", ["a", "b"], ["a"])]
    for i in range(draw(st.integers(1, 5))):
        shown = draw(st.permutations(IDS))[: draw(st.integers(0, 8))]
        wanted = draw(st.sets(st.sampled_from(IDS), min_size=0, max_size=3))
        made.append(record(f"q{i}", list(shown), sorted(wanted)))
    return made


def record(query: str, shown: list[str], wanted: list[str], **more: Any) -> dict[str, Any]:
    return {"query": query, "retrieved": shown, "ground_truth": wanted, **more}


def rows_of(standing: Standing) -> list[tuple[int, ...]]:
    columns = (standing.query, standing.rank, standing.above, standing.beside, standing.listed)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


@given(records())
def test_competitors_are_those_that_a_loop_counts(made: list[dict[str, Any]]) -> None:
    expected = []
    for query, one in enumerate(made):
        shown, wanted = one["retrieved"], one["ground_truth"]
        for target in wanted:
            found = target in shown
            above = shown[: shown.index(target)] if found else shown
            beside = sum(result in wanted for result in above)
            rank = len(above) + 1 if found else 0
            expected.append((query, rank, len(above) - beside, beside, len(shown)))
    standing = standing_of_targets(calipers.read(made), None, deepest=10, thin=False)
    assert rows_of(standing) == sorted(expected)
    firsts = rows_of(first_of_each(standing))
    assert len(firsts) == len({row[0] for row in expected})
    for row in firsts:
        ranks = [one[1] for one in expected if one[0] == row[0] and one[1]]
        assert row[1] == min(ranks, default=0)


@given(records(), st.integers(1, 8))
def test_competing_documents_are_those_that_a_loop_counts(
    made: list[dict[str, Any]], deepest: int
) -> None:
    expected = []
    sizes: dict[int, int] = {}
    pieces: list[list[int]] = []
    for query, one in enumerate(made):
        shown, wanted = one["retrieved"], one["ground_truth"]
        own = {DOCUMENTS[target] for target in wanted}
        for target in wanted:
            found = target in shown
            above = shown[: shown.index(target)] if found else shown
            competing = [DOCUMENTS[result] for result in above if DOCUMENTS[result] not in own]
            rank = len(above) + 1 if found else 0
            beside = len(above) - len(competing)
            expected.append((query, rank, len(set(competing)), beside, len(shown)))
            pieces.append(sorted(competing.count(name) for name in set(competing)))
            near = [DOCUMENTS[result] for result in above[:deepest] if DOCUMENTS[result] not in own]
            for name in set(near):
                sizes[near.count(name)] = sizes.get(near.count(name), 0) + 1
    chunks = [
        {
            **one,
            "retrieved": [{"id": it, "document": DOCUMENTS[it]} for it in one["retrieved"]],
            "ground_truth": [{"id": it, "document": DOCUMENTS[it]} for it in one["ground_truth"]],
        }
        for one in made
    ]
    pair = calipers.read(chunks)
    standing = standing_of_targets(pair, None, deepest=deepest, thin=True)
    assert rows_of(standing) == sorted(expected)
    total = sum(sizes.values())
    shares = {size: number / total for size, number in sizes.items()}
    if total:
        assert {
            size: share for size, share in enumerate(standing.sizes.tolist(), 1) if share
        } == pytest.approx(shares)
    if standing.pieces is not None:
        parts = np.split(standing.pieces, np.cumsum(standing.above)[:-1])
        order = np.lexsort(
            (standing.listed, standing.beside, standing.above, standing.rank, standing.query)
        )
        by_loop = sorted(zip(expected, pieces, strict=True))
        got = sorted((rows_of_one(standing, at), sorted(parts[at].tolist())) for at in order)
        assert got == by_loop


def rows_of_one(standing: Standing, at: int) -> tuple[int, ...]:
    columns = (standing.query, standing.rank, standing.above, standing.beside, standing.listed)
    return tuple(int(column[at]) for column in columns)


def many(n: int, depth: int = 40, **more: Any) -> list[dict[str, Any]]:
    """Queries with one target at rank 1 to 12, or nowhere."""
    made = []
    for i in range(n):
        shown = [f"x{i}-{j}" for j in range(depth)]
        if i % 7:
            shown.insert((i * 5) % 12, "a")
        made.append(record(f"q{i}", shown[:depth], ["a"], **more))
    return made


def test_today_is_what_eval_says_and_growth_lowers_it() -> None:
    made = many(140)
    found = calipers.grow(made, times=[1, 2, 4], k=[5, 10])
    scores = calipers.evaluate(made, metrics="recall@5,10")
    assert [value.mean for value in found.today] == [
        scores["recall@5"].mean,
        scores["recall@10"].mean,
    ]
    assert [value.interval for value in found.today] == [
        scores["recall@5"].interval,
        scores["recall@10"].interval,
    ]
    assert found.at(1, "recall@10").mean == pytest.approx(scores["recall@10"].mean)
    for metric in ("recall@5", "recall@10"):
        means = [found.at(times, metric).mean for times in (1, 2, 4)]
        assert means == sorted(means, reverse=True)
    assert all(row.printed and row.low <= row.mean <= row.high for row in found.growth)


def reasons(found: Growth) -> dict[tuple[float, str], str | None]:
    return {(row.times, row.metric): row.reason for row in found.growth}


def test_what_is_not_sure_enough_says_what_it_needs() -> None:
    found = reasons(calipers.grow(many(140), times=[0.1, 10, 20], k=[3, 10, 60]))
    assert found[10, "recall@3"] == "needs k of 5 or more"
    assert found[20, "recall@10"] == "needs 200 queries"
    assert found[10, "recall@60"] == "needs lists of 60 results"
    assert (found[0.1, "recall@10"] or "").startswith("needs lists of about")
    wide = reasons(calipers.grow(many(40), times=[4], k=[10]))
    assert re.fullmatch(r"needs about \d+ queries", wide[4, "recall@10"] or "")


@pytest.mark.parametrize("n", [20, 25, 30, 36, 45, 60])
def test_a_larger_corpus_needs_no_fewer_queries(n: int) -> None:
    found = calipers.grow(many(n), times=[2, 3, 4, 6, 10], k=[5, 10, 20])
    for metric in ("recall@5", "recall@10", "recall@20"):
        rows = [row for row in found.growth if row.metric == metric and row.reason]
        needs = [re.search(r"needs (?:about )?([\d,]+) queries", row.reason or "") for row in rows]
        assert needs
        numbers = [int(need[1].replace(",", "")) for need in needs if need]
        assert numbers == sorted(numbers)


def test_a_range_that_narrows_as_less_is_found_is_explained() -> None:
    ranks = [2 + i % 12 for i in range(50)]
    made = [
        record(
            f"q{i}", [*(f"x{j}" for j in range(rank)), "a", *(f"y{j}" for j in range(25))], ["a"]
        )
        for i, rank in enumerate(ranks)
    ]
    found = calipers.grow(made, times=[2, 4], k=[10])
    assert [row.printed for row in found.growth] == [False, True]
    assert "Ranges wider than 0.2 are left out; that of a larger" in " ".join(str(found).split())
    assert "Ranges wider" not in str(calipers.grow(many(140), times=[2, 4], k=[10]))


def test_the_first_ranks_are_projected_to_twice_the_corpus_at_most() -> None:
    found = calipers.grow(many(140), times=[2, 3], metrics="mrr", k=[10])
    assert [row.printed for row in found.growth] == [True, False]
    assert found.growth[1].reason == "rests on the first ranks, which can be told up to 2×"


def test_what_is_needed_is_named_once() -> None:
    found = calipers.grow(many(140), times=[2, 10], k=[3, 10, 60])
    printed = " ".join(str(found).split())
    assert "; every size: recall@60 needs lists of 60 results." in printed
    mrr = " ".join(str(calipers.grow(many(140), times=[2, 3], metrics="mrr")).split())
    assert "3×: mrr@5, mrr@10 and mrr@20 rest on the first ranks" in mrr


def test_a_k_is_named_only_where_a_larger_one_helps() -> None:
    first = [record(f"q{i}", ["a", *(f"x{j}" for j in range(30))], ["a"]) for i in range(100)]
    assert calipers.grow(first, times=[10], k=[10]).needed_k is None
    assert calipers.grow(many(140), times=[2], k=[10], metrics="mrr").needed_k is None
    larger = calipers.grow(many(140), times=[2], k=[10]).needed_k
    assert larger is not None
    assert larger.k is not None
    assert larger.k > 10


def test_who_is_left_out_is_on_the_first_screen() -> None:
    unknown = [record(f"none {i}", ["x1", "x2"], []) for i in range(20)]
    printed = " ".join(str(calipers.grow(many(140) + unknown, times=[2])).split())
    assert "20 of 160 queries are left out of recall: nothing relevant is known" in printed


def test_below_twenty_queries_there_is_a_sentence() -> None:
    found = calipers.grow(many(19))
    assert found.growth == ()
    assert str(found).startswith("19 queries are too few to say how a larger corpus")


def test_less_than_the_whole_corpus_is_exact() -> None:
    made = many(70)
    found = calipers.grow(made, times=[0.5], k=[5])
    ranks = [one["retrieved"].index("a") + 1 for one in made if "a" in one["retrieved"]]
    from math import comb

    chances = [
        sum(comb(rank - 1, left) for left in range(min(4, rank - 1) + 1)) / 2 ** (rank - 1)
        for rank in ranks
    ]
    assert found.growth[0].mean == pytest.approx(sum(chances) / 70)
    assert found.growth[0].printed


def test_sizes_are_multiples_of_the_corpus() -> None:
    assert chosen_times(None, [30_000, 20_000], 10_000) == (2.0, 3.0)
    assert chosen_times(None, None, None) == (2.0, 4.0, 10.0)
    with pytest.raises(InvalidInput, match="give it with --corpus-size N"):
        chosen_times(None, [30_000], None)
    with pytest.raises(InvalidInput, match="above 0"):
        chosen_times([0], None, None)
    found = calipers.grow(many(60), to=[120], corpus_size=60, k=[10])
    assert (found.growth[0].times, found.corpus_size) == (2.0, 60)
    with pytest.raises(InvalidInput, match="times"):
        calipers.grow(many(60), to=[120], times=[2], corpus_size=60)


def test_other_metrics_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"How ndcg@10 would change .* hit_rate@k and mrr@k"):
        calipers.grow(many(60), metrics="ndcg@10")


def test_metrics_and_k_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("evals.json").write_text(json.dumps(many(60)))
    Path("calipers.toml").write_text('metrics = ["ndcg", "hit_rate"]\nk = [4, 9]\n')
    asked = ("grow", "evals.json", "--times", "2")
    plain = json.loads(calipers_command(*asked, "--json").out)
    assert [value["metric"] for value in plain["today"]] == ["hit_rate@4", "hit_rate@9"]
    assert "ndcg@4 and ndcg@9 do not follow" in " ".join(calipers_command(*asked).out.split())
    plain = json.loads(calipers_command(*asked, "-m", "recall", "-k", "7", "--json").out)
    assert [value["metric"] for value in plain["today"]] == ["recall@7"]


def test_what_a_slice_needs_is_printed() -> None:
    made = many(100)
    for number, row in enumerate(made):
        row["tags"] = {"type": "rare" if number < 5 else "some" if number < 30 else "many"}
    printed = " ".join(str(calipers.grow(made, times=[2, 4], k=[10], by=["type"])).split())
    assert "Slices: needs 20 queries (type rare)" in printed
    assert re.search(r"4× needs about \d+ queries \(type some\)", printed)


def test_the_hit_rate_follows_the_first_target() -> None:
    made = [
        record(f"q{i}", [f"x{j}" for j in range(i % 9)] + ["a", "b"] + ["y"] * 12, ["a", "b"])
        for i in range(100)
    ]
    found = calipers.grow(made, times=[2], metrics="recall,hit_rate", k=[10])
    recall, hits = found.growth
    assert recall.mean < hits.mean
    alone = [record(one["query"], one["retrieved"], ["a"]) for one in made]
    same = calipers.grow(alone, times=[2], metrics="recall", k=[10]).growth[0]
    assert hits.mean == pytest.approx(same.mean, abs=1e-9)


def test_undefined_and_unanswered_queries() -> None:
    made = [*many(70), record("nothing", ["x"], []), record("empty", [], ["a"])]
    found = calipers.grow(made, times=[2], k=[10])
    assert (found.queries, found.n) == (72, 71)
    zero = calipers.grow(made, times=[2], k=[10], unanswerable="zero")
    assert zero.n == 72
    assert zero.growth[0].mean == pytest.approx(found.growth[0].mean * 71 / 72)


def test_weights_and_slices() -> None:
    made = many(140)
    for number, one in enumerate(made):
        one["tags"] = {"type": "odd" if number % 2 else "even", "asked": 1 + number % 3}
    found = calipers.grow(made, times=[2], k=[10], by=["type"])
    assert [(part.value, part.queries) for part in found.slices] == [("even", 70), ("odd", 70)]
    odd = calipers.grow([one for one in made if one["tags"]["type"] == "odd"], times=[2], k=[10])
    assert found.slices[1].growth[0].mean == pytest.approx(odd.growth[0].mean, abs=1e-9)
    assert found.slices[1].today[0].mean == pytest.approx(odd.today[0].mean)
    weighted = calipers.grow(made, times=[1], k=[10], weight_by="asked")
    assert weighted.growth[0].mean == pytest.approx(weighted.today[0].mean)
    assert weighted.today[0].mean != calipers.grow(made, times=[1], k=[10]).today[0].mean


def test_quotes_have_a_corpus_of_any_size() -> None:
    made = [
        {
            "query": f"q{i}",
            "retrieved": [{"text": f"chunk {j} of {i}"} for j in range(i % 9)]
            + [{"text": f"the answer is {i} exactly"}],
            "ground_truth": [f"the answer is {i} exactly"],
        }
        for i in range(60)
    ]
    found = calipers.grow(made, to=[2_000], corpus_size=1_000, k=[9])
    assert found.today[0].mean == 1.0
    assert found.growth[0].mean < 1.0


def test_the_command_and_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("evals.json").write_text(json.dumps(many(140)))
    asked = ("grow", "evals.json", "--times", "2,10")
    printed = calipers_command(*asked, "-k", "5,10", "--html", "g.html")
    assert printed.code == 0
    assert "today; at ten times the corpus expect about 0." in printed.out
    assert "takes k of about" in printed.out
    page = Path("g.html").read_text()
    assert "<svg" in page
    assert "10×" in page
    plain = calipers_command(*asked, "--json")
    rows = json.loads(plain.out)["growth"]
    assert {"times", "metric", "mean", "low", "high", "printed"} <= rows[0].keys()
    assert calipers_command("grow", "evals.json", "--times", "two").code == 2
    assert calipers_command("grow", "evals.json", "--to", "x").code == 2


def test_rows_are_a_table() -> None:
    table = calipers.grow(many(60), times=[2], k=[10]).to_polars()
    assert isinstance(table, pl.DataFrame)
    assert table.columns == ["times", "metric", "mean", "low", "high", "printed", "reason"]


def test_queries_that_are_all_alike_leave_a_range() -> None:
    made = [
        record(f"q{i}", ["a", *(f"x{i}-{j}" for j in range(20))], ["a", f"b{i}"]) for i in range(30)
    ]
    [row] = calipers.grow(made, times=[2], k=[10]).growth
    assert row.mean == pytest.approx(0.5, abs=0.01)
    assert row.high - row.low > 0.1
