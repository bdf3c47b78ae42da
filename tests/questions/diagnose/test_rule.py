"""The first line, the cures, the leak, and that a cure keeps its promise."""

import html
import json
import re
from typing import Any

import numpy as np
import pytest

import calipers
from calipers import diagnose, evaluate
from calipers.errors import InvalidInput
from calipers.questions.diagnose.document import leak_line
from calipers.questions.diagnose.result import Leak
from simulations.diagnoses import CERTAIN, CERTAIN_CURES, LEAKS, healthy, record
from simulations.diagnoses import records as world
from tests.command import calipers_command
from tests.systems import records

LATE = [8] * 15 + [9] * 15


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("wrong chunk", "are missing, though another chunk of their document is there."),
        ("cut by chunks", "are returned only in part."),
    ],
)
def test_the_largest_leak_is_a_sentence(name, said):
    made = world(LEAKS[name].plant, 60, np.random.default_rng(7))
    assert re.fullmatch(rf"\d+% of the targets {said}", diagnose(made).sentence)


def test_queries_that_failed_are_no_slice_by_the_word_they_begin_with():
    made = [
        {
            "query": f"{'how' if n % 4 == 0 else 'what'} is {n}?",
            "retrieved": [f"t{n}"] if n % 4 else [],
            "ground_truth": [f"t{n}"],
            **({} if n % 4 else {"error": "TimeoutError"}),
        }
        for n in range(40)
    ]
    assert [cure.name for cure in diagnose(made).cures] == ["error"]


def test_the_numbers_are_those_of_an_evaluation():
    diagnosis = diagnose(records(LATE))
    scores = evaluate(records(LATE), metrics="recall@10,ndcg@10")
    by_name = {summary.metric: summary for summary in diagnosis.summaries}
    assert by_name["recall@10"] == scores["recall@10"]
    assert by_name["ndcg@10"] == scores["ndcg@10"]
    assert (diagnosis.k, diagnosis.n, diagnosis.queries) == (10, 30, 30)


def test_k_is_ten_or_the_longest_list():
    short = [{**record, "retrieved": record["retrieved"][:4]} for record in records([1] * 9)]
    assert diagnose(short).k == 4
    assert diagnose(short, k=7).k == 7
    with pytest.raises(InvalidInput, match="k must be a whole number"):
        diagnose(short, k=0)


def test_nothing_to_find_is_refused():
    made = [{"query": "q", "retrieved": ["a"], "ground_truth": {}}]
    with pytest.raises(InvalidInput, match="nothing to diagnose"):
        diagnose(made)


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ([6] * 10, "k = 6 holds all targets of all 10 queries."),
        ([6] * 24 + [9], "k = 6 holds all targets of 24 of 25 queries."),
    ],
)
def test_a_k_that_is_too_small_is_said_of_the_queries_that_are_there(sizes, told):
    made = [
        {
            "query": f"q{n}",
            "retrieved": [f"d{n}-{at}" for at in range(2)],
            "ground_truth": [f"d{n}-{at}" for at in range(size)],
        }
        for n, size in enumerate(sizes)
    ]
    diagnosis = diagnose(made, k=2)
    assert (diagnosis.named, diagnosis.next) == ("k_too_small", told)


def test_a_k_that_is_too_small_is_followed_by_the_one_that_finds_more():
    """Six targets could stand in six places; in these lists they are found in eight."""
    made = []
    for n in range(30):
        targets = [f"d{n}-{at}" for at in range(6)]
        shown = [*targets[:2], f"x{n}", f"y{n}", *targets[2:]]
        made.append({"query": f"q{n}", "retrieved": shown, "ground_truth": targets})
    diagnosis = diagnose(made, k=2)
    assert (diagnosis.named, diagnosis.next) == ("k_too_small", "Try it: `calipers eval -k 8`")


def drawn(name, n, *, good=True, seed=3):
    planted = {**CERTAIN, **LEAKS}[name]
    return world(planted.plant, n, np.random.default_rng(seed), good=good)


@pytest.mark.parametrize("name", [*CERTAIN, *LEAKS])
def test_a_planted_fault_is_named_first(name):
    planted = {**CERTAIN, **LEAKS}[name]
    assert diagnose(drawn(name, planted.from_queries)).named in planted.named
    if planted.in_random_order:
        assert diagnose(drawn(name, 30, good=False)).named in planted.named


@pytest.mark.parametrize("good", [True, False])
def test_a_healthy_retriever_is_advised_no_certain_cure(good):
    rng = np.random.default_rng(5)
    for n in (12, 30, 30, 120):
        assert diagnose(world(healthy, n, rng, good=good)).named not in CERTAIN_CURES


def ids(retrieved):
    return [one if isinstance(one, str) else one["id"] for one in retrieved]


def once(retrieved, key):
    """Results without those whose key was there before."""
    kept: dict[str, Any] = {}
    for one in retrieved:
        kept.setdefault(one if isinstance(one, str) else one[key], one)
    return list(kept.values())


BY_HAND = {
    "reversed": lambda found: found[::-1],
    "first ten reversed": lambda found: found[:10][::-1] + found[10:],
    "distances": lambda found: sorted(found, key=lambda one: one["score"]),
    "not sorted by score": lambda found: sorted(found, key=lambda one: -one["score"]),
    "ids repeated": lambda found: once(found, "id"),
    "texts repeated": lambda found: once(found, "text"),
    "hub": lambda found: [one for one in found if one != "cover page"],
}


@pytest.mark.parametrize("name", BY_HAND)
def test_the_cure_done_by_hand_gives_the_printed_number(name):
    made = drawn(name, 40)
    diagnosis = diagnose(made)
    cured = [{**one, "retrieved": ids(BY_HAND[name](one["retrieved"]))} for one in made]
    scores = evaluate(cured, metrics="recall@10,ndcg@10")
    for value in diagnosis.advised.values:
        assert value.after == pytest.approx(scores[value.metric].mean, abs=1e-12)
        assert value.before == pytest.approx(
            evaluate(made, metrics=value.metric)[value.metric].mean, abs=1e-12
        )


PASTED = [name for name, world in CERTAIN.items() if world.named <= {"ids", "sort_distances"}]


@pytest.mark.parametrize("name", PASTED)
def test_the_printed_command_gives_the_promised_number(name, tmp_path):
    path = tmp_path / "evals.jsonl"
    path.write_text("\n".join(map(json.dumps, drawn(name, 40))), encoding="utf-8")
    printed = calipers_command("diagnose", path, columns=200)
    promised = re.search(r"recall@10 is (\d\.\d+), not", printed.out)[1]
    line = next(line for line in printed.out.splitlines() if line.startswith("Try it: "))
    words = line.removeprefix("Try it: calipers ").split()
    assert words[0] == "eval"
    again = calipers_command(*words, "--json", columns=200)
    means = {one["metric"]: one["mean"] for one in json.loads(again.out)["summaries"]}
    assert f"{means['recall@10']:.3f}" == promised


def test_a_larger_k_gives_the_promised_number(tmp_path):
    path = tmp_path / "evals.jsonl"
    path.write_text("\n".join(map(json.dumps, drawn("late", 40))), encoding="utf-8")
    printed = calipers_command("diagnose", path, columns=200).out
    k, promised = re.search(r"k = (\d+) finds (\d+)%, k = 10 finds 0%", printed).groups()
    line = next(line for line in printed.splitlines() if line.startswith("Try it: "))
    again = calipers_command(*line.removeprefix("Try it: calipers ").split(), "--json")
    means = {one["metric"]: one["mean"] for one in json.loads(again.out)["summaries"]}
    assert f"{means[f'recall@{k}']:.0%}" == f"{promised}%"


TWICE = {
    ("prefix", "reversed"): {"ids", "reverse"},
    ("ids repeated", "reversed"): {"repeated_ids", "reverse"},
    ("prefix", "hub"): {"ids", "hub"},
}


@pytest.mark.parametrize("names", TWICE)
def test_of_two_faults_one_is_named_first_and_the_other_after_it(names):
    rng = np.random.default_rng(8)
    first, second = (CERTAIN[name].plant for name in names)

    def both(rng, asked):
        made = first(rng, asked)
        return second(rng, type(asked)(asked.number, asked.targets, made["retrieved"]))

    cures = diagnose(world(both, 60, rng)).cures
    assert {cure.name for cure in cures[:2]} == TWICE[names]
    assert cures[1].after == cures[0].name
    assert cures[1].title.startswith("then ")


def test_rules_for_ids_join():
    rng = np.random.default_rng(9)

    def both(rng, asked):
        ways = ("idx2:{}", "{}/", "{}")
        names = [ways[int(rng.integers(3))].format(name) for name in asked.results]
        return {"query": f"q{asked.number}", "retrieved": names, "ground_truth": asked.targets}

    made = world(both, 60, rng)
    first, second, *_ = diagnose(made).cures
    assert {first.option, second.option} >= {second.option}
    joined = second.option.removeprefix("--map-ids ")
    assert set(joined.split(",")) == {"prefix=idx2:", "slash"}
    mean = evaluate(made, metrics="recall@10", map_ids=joined)["recall@10"].mean
    assert second.values[0].after == pytest.approx(mean, abs=1e-12)


def test_a_rule_that_meets_other_queries_as_often_is_not_advised():
    """Ids that are alike by chance: every list has the other spelling of everything."""
    made = [
        {
            "query": f"q{i}",
            "retrieved": [f"c-{n}" for n in range(20)],
            "ground_truth": [f"c{i % 20}"] if i else ["c-3"],
        }
        for i in range(40)
    ]
    assert diagnose(made).named != "ids"


def wide(k=10, tokens=100):
    return [
        {
            "query": f"q{i}",
            "retrieved": [{"id": f"t{i}", "tokens": tokens}]
            + [{"id": f"x{n}", "tokens": tokens} for n in range(i, i + k - 1)],
            "ground_truth": [f"t{i}"],
        }
        for i in range(80)
    ]


def test_too_wide_says_what_a_smaller_k_saves():
    gap = diagnose(wide(), price=2.0).gap
    assert gap.startswith("Gap between precision and recall: precision is 0.100 and recall 1.000")
    assert "too wide; k = 1 keeps the recall and saves 90% of the tokens" in gap
    assert "(1.80 per 1,000 queries)" in gap


def test_where_more_is_missing_a_smaller_k_is_no_advice():
    """First recall: many targets are in no list, and a shorter list saves the wrong thing."""
    made = wide()
    for number, row in enumerate(made):
        if number % 5 < 2:
            row["ground_truth"] = [f"nowhere{number}"]
    diagnosis = diagnose(made)
    assert diagnosis.named == "not_returned"
    assert diagnosis.gap is None
    assert "smaller_k" not in {cure.name for cure in diagnosis.cures}


def test_each_share_of_the_leak_is_the_true_one_rounded():
    """Also where they sum to 99 or 101; what is not all is not called 100 %."""
    names = ("found", "below_k", "not_returned")
    for counts, said in (
        ((1, 1, 1), "33% found, 33% below_k, 33% not_returned"),
        ((25, 25, 16), "38% found, 38% below_k, 24% not_returned"),
        ((995, 2, 3), "over 99% found, under 1% below_k, under 1% not_returned"),
        ((0, 4, 0), "0% found, 100% below_k"),
        ((4, 0, 0), "100% found"),
    ):
        total = sum(counts)
        leaks = [
            Leak(name, name, count, count / total)
            for name, count in zip(names, counts, strict=True)
        ]
        assert leak_line(leaks) == f"Of what it should find: {said}."


def test_addresses_meet_without_their_prefix_and_query_string():
    def addressed(rng, asked):
        ways = ("https://docs.example.com/{}?v=2", "{}")
        names = [ways[int(rng.integers(2))].format(name) for name in asked.results]
        return {"query": f"q{asked.number}", "retrieved": names, "ground_truth": asked.targets}

    diagnosis = diagnose(world(addressed, 60, np.random.default_rng(4)))
    assert diagnosis.advised.option == "--map-ids prefix=https://docs.example.com/,query"


def test_too_selective_says_what_a_larger_k_finds():
    made = [
        {
            "query": f"q{i}",
            "retrieved": [f"t{i}-{n}" for n in range(8)],
            "ground_truth": [f"t{i}-{n}" for n in range(8)],
        }
        for i in range(40)
    ]
    diagnosis = diagnose(made, k=2)
    assert "so it is too selective; k = 8 finds 100%." in diagnosis.gap
    assert (
        "retrieve more"
        in diagnose([{**one, "retrieved": one["retrieved"][:2]} for one in made]).gap
    )


def test_candidates_and_a_corpus_say_more():
    made = [
        {"id": f"q{i}", "query": f"q {i}", "retrieved": ["x", "y"], "ground_truth": [f"t{i}"]}
        for i in range(30)
    ]
    made[0]["retrieved"] = ["t0"]
    before = {f"q{i}": ["z", f"t{i}"] for i in range(30)}
    assert diagnose(made, candidates=before).leak[1].name == "lost_by_reranker"
    corpus = [{"id": name, "text": name} for name in ("x", "y", "z", "t0")]
    assert diagnose(made, corpus=corpus).leak[1].name == "not_in_corpus"


def test_the_document_is_the_same_in_every_face(tmp_path):
    path = tmp_path / "evals.jsonl"
    path.write_text("\n".join(map(json.dumps, drawn("prefix", 30))), encoding="utf-8")
    diagnosis = diagnose(str(path))
    assert str(diagnosis).startswith("Ids differ in the prefix 'idx2:'")
    page = calipers.report(str(path)).to_html()
    assert html.escape(diagnosis.sentence) in page
    assert leak_line(diagnosis.leak) in page
    asked = json.loads(calipers_command("diagnose", path, "--json").out)
    assert asked["sentence"] == diagnosis.sentence
    assert asked["cures"][0]["option"] == "--map-ids prefix=idx2:"
    assert sum(leak["share"] for leak in asked["leak"]) == pytest.approx(1.0)


def test_hubs_one_behind_the_other_are_named_together():
    def three(rng, asked):
        return record(asked, ["cover", "imprint", "contents", *asked.results[:20]])

    made: list[Any] = world(three, 40, np.random.default_rng(9))
    diagnosis = diagnose(made)
    assert diagnosis.sentence.startswith("cover and 2 more stand first in 40 of 40 lists: without")
    assert diagnosis.cures[0].title == "without 3 hubs"


def test_a_hub_before_a_random_order_is_not_a_list_in_reverse():
    made = [
        {
            "query": f"q{n}",
            "retrieved": ["hub", *(f"a{n}" if n % 4 == at else f"x{n}-{at}" for at in range(4))],
            "ground_truth": [f"a{n}"],
        }
        for n in range(600)
    ]
    assert diagnose(made).named == "hub"


def few_respelled(few):
    """Thirty queries, half of which find their target; a few of these have another id."""
    return [
        {
            "query": f"q{n}",
            "retrieved": [f"old/a{n}" if n < few else f"a{n}" if n % 2 else f"y{n}", f"x{n}"],
            "ground_truth": [f"a{n}"],
        }
        for n in range(30)
    ]


def test_ids_that_differ_in_five_queries_are_named_without_a_claim_of_significance():
    """A gain of five queries may be chance; that the ids differ is none, and what it gives is a
    fact of these queries."""
    diagnosis = diagnose(few_respelled(5))
    assert diagnosis.sentence == (
        "Ids differ in the prefix 'old/': matched, recall@2 is 0.600, not 0.433."
    )
    row = diagnosis.advised
    assert (row.option, row.values[0].standing) == ("--map-ids prefix=old/", "no clear difference")
    facts = getattr(diagnosis.sentence, "facts", ())
    assert [fact.sure for fact in facts if fact.about == "difference"] == [False]
    assert "▲" not in str(diagnosis)


def test_ids_that_differ_in_two_queries_are_in_the_table():
    diagnosis = diagnose(few_respelled(2))
    assert diagnosis.named != "ids"
    [row] = [cure for cure in diagnosis.cures if cure.name == "ids"]
    assert (row.option, row.values[0].standing) == ("--map-ids prefix=old/", "no clear difference")


def test_ids_that_differ_are_there_under_another_id():
    made = few_respelled(8)
    [leak] = [leak for leak in diagnose(made).leak if leak.name == "another_id"]
    assert leak.means == "there under another id"


@pytest.mark.parametrize("level", [None, "document"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "twin",
    ["{}_de", "{}@2024", "old/{}", "{}.md", "0{}"],
    ids=["suffix", "year", "folder", "extension", "zeros"],
)
def test_pages_that_are_alike_are_not_called_one_page(seed, twin, level):
    """A page and its translation stand in one list: they are two, whichever was labelled."""
    rng = np.random.default_rng([seed, 94])
    made = []
    for n in range(120):
        pages = [str(one + 1) for one in rng.choice(2000, 8, replace=False)]
        shown = [name for page in pages for name in (page, twin.format(page))]
        kept = [name for name in shown if rng.random() < 0.6]
        returned: list[Any] = kept or shown
        target: Any = pages[0]
        if level is not None:
            # Each page in two chunks, of which the labelled one was cut again since.
            returned = [
                {"id": f"{page}#{at}", "document": page} for page in returned for at in (0, 1)
            ]
            target = {"id": f"{target}#9", "document": target}
        made.append({"query": f"q{n}", "retrieved": returned, "ground_truth": [target]})
    diagnosis = diagnose(made, level=level)
    assert diagnosis.named not in CERTAIN_CURES
    assert "ids" not in {cure.name for cure in diagnosis.cures}
    assert diagnosis.named == "another_id"
    assert diagnosis.sentence.endswith("are missing, though a result has nearly the same id.")
    [leak] = [leak for leak in diagnosis.leak if leak.name == "another_id"]
    assert leak.means == "missing beside a result of nearly the same id"
    assert "another id" not in str(diagnosis)
    assert "--map-ids" not in diagnosis.explain()


def test_ids_that_differ_below_k_alone_promise_the_number_at_the_end_of_the_lists(tmp_path):
    """The first line never says that recall would be what it is."""
    made: list[Any] = world(healthy, 60, np.random.default_rng(6), good=False)
    for row in made:
        below = [f"idx2:{name}" for name in row["retrieved"][10:]]
        row["retrieved"] = [*row["retrieved"][:10], *below]
    diagnosis = diagnose(made)
    row = diagnosis.advised
    assert (diagnosis.named, row.k, row.option) == ("ids", 30, "--map-ids prefix=idx2: -k 30")
    recorded = evaluate(made, metrics="recall@30")["recall@30"].mean
    mapped = evaluate(made, metrics="recall@30", map_ids="prefix=idx2:")["recall@30"].mean
    assert f"recall@30 is {mapped:.3f}, not {recorded:.3f}" in diagnosis.sentence
    path = tmp_path / "evals.jsonl"
    path.write_text("\n".join(map(json.dumps, made)))
    printed = calipers_command("diagnose", path, columns=400).out
    assert f"Try it: calipers eval {path} --map-ids prefix=idx2: -k 30" in printed


def ranked_from(draw, n=120):
    """Lists of thirty with one target each, at a drawn rank."""
    made = []
    for number in range(n):
        shown = [f"x{number}-{at}" for at in range(29)]
        shown.insert(draw() - 1, f"t{number}")
        made.append({"query": f"q{number}", "retrieved": shown, "ground_truth": [f"t{number}"]})
    return made


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("ranks", [(4, 10), (6, 10), (2, 6), (5, 15)], ids=str)
def test_targets_that_are_only_ranked_late_are_not_called_reversed(ranks, seed):
    rng = np.random.default_rng([seed, 95])
    made = ranked_from(lambda: int(rng.integers(ranks[0], ranks[1] + 1)))
    assert diagnose(made).named in ("best_order", "larger_k")


@pytest.mark.parametrize("depth", [3, 5, 10])
def test_the_first_that_are_reversed_are_named_with_their_number(depth):
    """By a reranker of five too, whose scores are sorted the wrong way round."""
    rng = np.random.default_rng([depth, 96])
    made = ranked_from(lambda: min(1 + int(rng.exponential(0.8)), 30))
    for row in made:
        row["retrieved"] = row["retrieved"][:depth][::-1] + row["retrieved"][depth:]
    diagnosis = diagnose(made, k=max(depth, 10) if depth > 3 else 3)
    assert diagnosis.named == "reverse_first"
    assert diagnosis.sentence.startswith(f"The first {depth} results are in reverse order")


@pytest.mark.parametrize("others", [3, 4, 8])
def test_targets_behind_the_results_of_another_are_not_called_reversed(others):
    """Many are at the last of the first five or ten, and few behind it, as in a reverse order."""
    rng = np.random.default_rng([others, 97])
    made = ranked_from(lambda: min(others + 1 + int(rng.exponential(0.9)), 30))
    assert diagnose(made).named == "best_order"


def test_the_first_five_are_named_in_sixty_queries():
    rng = np.random.default_rng(98)
    named = []
    for _ in range(6):
        made = ranked_from(lambda: min(1 + int(rng.exponential(1.5)), 30), 60)
        for row in made:
            row["retrieved"] = row["retrieved"][:5][::-1] + row["retrieved"][5:]
        named.append(diagnose(made).named)
    assert named.count("reverse_first") >= 5


def test_the_first_ten_reversed_are_named_though_a_hub_stood_before_them():
    rng = np.random.default_rng(99)
    made = ranked_from(lambda: min(1 + int(rng.exponential(1.5)), 28))
    for row in made:
        shown = ["cover", *row["retrieved"]]
        row["retrieved"] = shown[:10][::-1] + shown[10:]
    diagnosis = diagnose(made)
    assert [cure.name for cure in diagnosis.cures[:2]] == ["reverse_first", "hub"]


def repeated_texts_of(lost):
    """Thirty lists of texts that all stand twice; a copy is the target of the ``lost`` first."""
    made = []
    for number in range(30):
        names = [f"x{number}-{at}" for at in range(20)]
        names[5 if number % 8 == 7 else 10] = f"a{number}"
        texts = [{"id": name, "text": f"All about {name}."} for name in names]
        shown = [row for one in texts for row in (one, {**one, "id": f"copy of {one['id']}"})]
        target = f"copy of {names[0]}" if number < lost else f"a{number}"
        made.append({"query": f"q{number}", "retrieved": shown, "ground_truth": [target]})
    return made


def test_repetitions_are_named_as_the_fact_they_are_in_however_few_queries():
    """Three of thirty queries find their target without them, and none loses one."""
    diagnosis = diagnose(repeated_texts_of(0))
    row = diagnosis.advised
    assert (row.name, row.values[0].standing) == ("repeated_texts", "no clear difference")
    assert diagnosis.sentence == (
        "50% of the first 10 results repeat one above them: without these recall@10 is 0.100, "
        "not 0.000."
    )
    assert diagnose(repeated_texts_of(1)).advised is None


def test_two_lists_one_behind_the_other_are_not_called_reversed():
    def other_first(rng, asked):
        others = [f"z{number}" for number in rng.integers(9_000, size=10)]
        return record(asked, [*others, *asked.results[:10]])

    made: list[Any] = world(other_first, 40, np.random.default_rng(3))
    diagnosis = diagnose(made)
    assert diagnosis.named == "reverse"
    recall = diagnosis.cures[0].values[0]
    assert diagnosis.sentence == (
        "The best results stand last: with the last 10 first, recall@10 is "
        f"{recall.after:.3f}, not {recall.before:.3f}."
    )
    assert "another index" in diagnosis.next
    turned = [{**row, "retrieved": row["retrieved"][10:] + row["retrieved"][:10]} for row in made]
    assert evaluate(turned, metrics="recall@10")["recall@10"].mean == recall.after


def test_targets_cut_over_results_are_measured_as_if_each_were_in_one():
    """The first piece stands second, the other one fourth; a whole one behind changes nothing."""
    quote = "The account is closed by its office within thirty days of the notice"
    texts = ["All else.", f"Here: {quote[:30]}", "Nothing.", f"{quote[30:]}. So it is.", quote]
    made = [
        {"query": f"q{n}", "retrieved": [{"text": text} for text in texts], "ground_truth": [quote]}
        for n in range(12)
    ]
    diagnosis = diagnose(made)
    [row] = [cure for cure in diagnosis.cures if cure.name == "uncut"]
    one_piece = [{**one, "ground_truth": [quote[:30]]} for one in made]
    for value, other in zip(row.values, diagnose(one_piece).summaries[0::2], strict=False):
        assert (row.kind, value.metric) == ("at most", other.metric)
        assert value.after == pytest.approx(other.mean)
    whole = [{**one, "retrieved": one["retrieved"][::-1]} for one in made]
    assert "uncut" not in {cure.name for cure in diagnose(whole).tried}
    assert "uncut" not in {cure.name for cure in diagnose(made, match="quote(min=0.9)").tried}


def test_spans_cut_over_results_are_too():
    halves = [{"id": f"d{at}", "document": "d", "start": at, "end": at + 50} for at in (0, 50)]
    other = {"id": "e", "document": "e", "start": 0, "end": 50}
    target = {"document": "d", "start": 30, "end": 70}
    cut = [
        {"query": f"q{n}", "retrieved": [halves[0], other, halves[1]], "ground_truth": [target]}
        for n in range(12)
    ]
    diagnosis = diagnose(cut)
    assert diagnosis.named == "uncut"
    assert diagnosis.sentence == (
        "12 of 12 targets are cut over several results: ndcg@3 is 0.500, at most 1.000 with each "
        "in one."
    )
    # Turned round, the other half comes last: an order cannot mend it.
    assert [cure.gain for cure in diagnosis.tried if cure.name == "reverse"] == [0.0]
    alone = [{**one, "ground_truth": [{**target, "start": 10, "end": 50}]} for one in cut]
    assert "uncut" not in {cure.name for cure in diagnose(alone).tried}


def sliced(lost, inside, lost_others, others):
    """Queries of two kinds that find their target second, or not at all."""
    made = []
    for n in range(inside + others):
        is_lost = n < lost if n < inside else n - inside < lost_others
        made.append(
            {
                "query": f"question {n}",
                "retrieved": [
                    f"x{n}",
                    f"y{n}" if is_lost else f"t{n}",
                    *(f"z{n}-{at}" for at in range(8)),
                ],
                "ground_truth": [f"t{n}"],
                "tags": {"kind": "table" if n < inside else "prose"},
            }
        )
    return made


@pytest.mark.parametrize(
    ("counts", "is_clear"), [((4, 10, 3, 50), False), ((7, 14, 4, 60), True)], ids=str
)
def test_a_slice_is_named_where_it_is_clearly_below_the_rest(counts, is_clear):
    """`slices` marks both; the first of a diagnosis is surer, as a tag may mean nothing."""
    made = sliced(*counts)
    rows = calipers.slices(evaluate(made, metrics="recall@10"), by="kind").rows
    assert [row.standing for row in rows if row.value == "table"] == ["worse"]
    assert (diagnose(made).named == "slice") == is_clear


@pytest.mark.parametrize(
    ("at", "is_told"),
    [([1] * 50 + [2] * 20 + [None] * 50, False), ([1, 2, 3, 4, 5] * 14 + [None] * 50, True)],
)
def test_short_lists_are_to_be_longer_where_targets_stand_at_their_end(at, is_told):
    made = []
    for n, rank in enumerate(at):
        shown = [f"t{n}" if place == rank else f"x{n}-{place}" for place in range(1, 6)]
        made.append({"query": f"q{n}", "retrieved": shown, "ground_truth": [f"t{n}"]})
    diagnosis = diagnose(made)
    assert diagnosis.named == ("too_few_results" if is_told else "not_returned")
    assert ("only 5 per query: retrieve more" in diagnosis.sentence) == is_told
    assert ("give --corpus or --candidates to see why" in diagnosis.sentence) != is_told


def test_the_next_step_is_that_of_the_first_line(tmp_path):
    """Reversed and with a prefix: the option for the ids alone would not give the number."""
    made: list[Any] = world(CERTAIN["prefix"].plant, 40, np.random.default_rng(4))
    made = [{**row, "retrieved": row["retrieved"][::-1]} for row in made]
    diagnosis = diagnose(made)
    assert [cure.name for cure in diagnosis.cures[:2]] == ["reverse", "ids"]
    assert diagnosis.next.startswith("Sort the other way round")
    path = tmp_path / "evals.jsonl"
    path.write_text("\n".join(map(json.dumps, made)), encoding="utf-8")
    printed = calipers_command("diagnose", path, columns=80).out
    assert "--map-ids prefix=idx2:" in printed
    assert "\N{HORIZONTAL ELLIPSIS}" not in printed
    assert "called nearly so" not in printed
