"""Ids that are mapped on what was read: the same matches and lists as matched anew."""

from dataclasses import replace

import numpy as np
import pytest

import calipers
from calipers.match.pair import match_pair
from calipers.model.matching import parse_id_map
from calipers.questions.diagnose import mapped_ids
from calipers.questions.diagnose.by_chance import ByChance
from calipers.questions.diagnose.lists import Lists
from calipers.questions.shown_results import over_contexts

OPTIONS = ("prefix=idx:", "case", "extension", "prefix=idx:,case", "basename,extension")


def records(rng: np.random.Generator) -> list[dict[str, object]]:
    """Few ids in several spellings, so that some meet, some twice, and some are mistaken."""
    every = ("{}", "{}", "idx:{}", "{}.md", "idx:{}.md", "a/{}", "b/{}")
    ways = every[: int(rng.integers(3, len(every) + 1))]

    def spelling() -> str:
        name = f"{'cC'[int(rng.random() < 0.2)]}{rng.integers(40)}"
        return str(rng.choice(ways)).format(name)

    return [
        {
            "query": f"q{query}",
            "retrieved": [spelling() for _ in range(int(rng.integers(12)))],
            "ground_truth": sorted({f"c{n}" for n in rng.integers(40, size=3)}),
        }
        for query in range(12)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_what_is_mapped_on_what_was_read_is_what_matching_anew_gives(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng([seed, 55])
    pair = calipers.read(records(rng), nothing_in_common="zero")
    recorded = Lists.joined([*over_contexts(pair, Lists.of)], pair.matches.n_queries)
    option = OPTIONS[seed % len(OPTIONS)]
    quick = mapped_ids.with_ids_mapped(pair, recorded, option)
    blocks = [*over_contexts(pair, lambda block: block)]
    held = mapped_ids.with_ids_mapped(pair, recorded, option, blocks)
    monkeypatch.setattr(mapped_ids, "_mapped_targets", lambda *_: None)
    anew = mapped_ids.with_ids_mapped(pair, recorded, option)
    assert (quick is None) == (held is None) == (anew is None)
    if quick is None or held is None or anew is None:
        return
    met = ByChance(pair).met(parse_id_map(option)).tolist()
    assert quick.met_by_chance is not None
    assert quick.met_by_chance.tolist() == met
    assert held.matches.edge_rank.tolist() == quick.matches.edge_rank.tolist()
    assert held.lists.same_id.tolist() == quick.lists.same_id.tolist()
    asked = match_pair(*pair.as_read, replace(pair.asked, map_ids=option))
    for name in ("edge_query", "edge_rank", "edge_target", "edge_overlap", "retrieved"):
        values = getattr(quick.matches, name)
        assert (values == getattr(anew.matches, name)).all()
        assert (values == getattr(asked.matches, name)).all()
    for name in ("query", "rank", "row", "same_id", "same_text", "name"):
        assert (getattr(quick.lists, name) == getattr(anew.lists, name)).all()
    assert quick.lists.tops.equals(anew.lists.tops)


def test_ids_that_order_equal_scores_are_matched_anew() -> None:
    pair = calipers.read(
        ground_truth={"q": ["a1", "b2"]},
        run={"q": {"x:a1": 1.0, "b2": 1.0, "c3": 0.5}},
    )
    recorded = Lists.joined([*over_contexts(pair, Lists.of)], 1)
    mapped = mapped_ids.with_ids_mapped(pair, recorded, "prefix=x:")
    assert mapped is not None
    asked = match_pair(*pair.as_read, replace(pair.asked, map_ids="prefix=x:"))
    assert mapped.matches.edge_rank.tolist() == asked.matches.edge_rank.tolist()
    assert mapped.matches.edge_target.tolist() == asked.matches.edge_target.tolist() == [1, 0]
