"""The failure modes of a retriever: one row each, with the thresholds that decide.

Every number here is a starting point chosen by hand, not a law; each can be overridden by its
name, such as ``too_wide.recall``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from calipers.questions.diagnose import symptoms
from calipers.questions.diagnose.evidence import Evidence
from calipers.questions.diagnose.symptoms import Symptom

Check = Callable[[Evidence, Mapping[str, float]], Symptom | str | None]
"""What was seen; None where nothing is wrong; a sentence where it cannot be checked."""


@dataclass(frozen=True)
class Rule:
    """One failure mode: how it is called, when it holds, what decides."""

    name: str
    title: str
    holds_when: str
    thresholds: Mapping[str, float]
    check: Check


RULES: tuple[Rule, ...] = (
    Rule(
        "too_selective",
        "too selective",
        "at least {precision} of what is shown holds a target, and recall is at most {recall}",
        {"precision": 0.6, "recall": 0.5},
        symptoms.too_selective,
    ),
    Rule(
        "finds_little",
        "finds too little",
        "recall is at most {recall}, and less than {precision} of what is shown holds a target",
        {"precision": 0.6, "recall": 0.5},
        symptoms.finds_little,
    ),
    Rule(
        "too_wide",
        "too wide",
        "recall is at least {recall}, and at most {precision} of what is shown holds a target",
        {"precision": 0.3, "recall": 0.8},
        symptoms.too_wide,
    ),
    Rule(
        "ordered_badly",
        "ordered badly",
        "the same results in the best order would have an ndcg higher by at least {gain}",
        {"gain": 0.15},
        symptoms.ordered_badly,
    ),
    Rule(
        "buried_in_the_middle",
        "buried in the middle",
        "the middle third of the list holds more of the hits than chance would put there, by at "
        "least {excess}",
        {"excess": 0.15},
        symptoms.buried_in_the_middle,
    ),
    Rule(
        "wrong_chunk",
        "right document, wrong chunk",
        "for at least {share} of the missed targets, another chunk of their document is shown",
        {"share": 0.3},
        symptoms.wrong_chunk,
    ),
    Rule(
        "duplicates",
        "duplicates crowd the list",
        "at least {share} of what is shown repeats an earlier result",
        {"share": 0.1},
        symptoms.duplicates,
    ),
    Rule(
        "k_too_small",
        "k too small for this ground truth",
        "even a perfect ranking would have a recall of at most {recall}",
        {"recall": 0.9},
        symptoms.k_too_small,
    ),
    Rule(
        "k_too_large",
        "k too large for this ground truth",
        "even a perfect ranking would have a precision of at most {precision}",
        {"precision": 0.2},
        symptoms.k_too_large,
    ),
    Rule(
        "thin_ground_truth",
        "ground truth too thin",
        "at least {single} of the queries have a single label, or (matched by id) at most "
        "{judged} of what is shown was ever judged",
        {"single": 0.8, "judged": 0.2},
        symptoms.thin_ground_truth,
    ),
    Rule(
        "slice_collapses",
        "a slice collapses while the mean looks fine",
        "recall is at least {mean}, and a slice of at least {queries} queries is significantly "
        "below the rest, by at least {gap}",
        {"mean": 0.5, "gap": 0.2, "queries": 5},
        symptoms.slice_collapses,
    ),
)
"""Looked at in this order; every rule that holds is reported."""
