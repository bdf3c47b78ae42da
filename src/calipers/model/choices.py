"""The words a policy can be, apart from the policy itself so that help text loads nothing."""

from typing import Any

CHOICES: dict[str, tuple[str, ...]] = {
    "missing": ("zero", "exclude", "error"),
    "unanswerable": ("exclude", "zero", "error"),
    "duplicates": ("first", "error"),
    "unknown": ("ignore", "error"),
    "errors": ("zero", "exclude", "error"),
    "ties": ("trec", "trec-9", "input", "error"),
    "nothing_in_common": ("error", "zero"),
}

_TREC_EVAL = {"unanswerable": "zero", "ties": "trec", "nothing_in_common": "zero"}

LIKE: dict[str, dict[str, Any]] = {
    "trec_eval": {**_TREC_EVAL, "missing": "exclude"},
    "trec_eval-c": {**_TREC_EVAL, "missing": "zero"},
    "trec_eval-9": {**_TREC_EVAL, "missing": "exclude", "ties": "trec-9"},
}
"""The policies under which the numbers equal those of another tool.

trec_eval means version 10, which compares scores as doubles; version 9 rounds them to single
precision first, so that more of them are equal.
"""

_RBP: dict[str, dict[str, Any]] = {"rbp": {"p": 0.9}, "rbp_residual": {"p": 0.9}}
_LEVELS = ("iprec_at_recall", "eleven_point_average")
_NEAREST: dict[str, dict[str, Any]] = {one: {"needed": "nearest"} for one in _LEVELS}
_BEFORE: dict[str, dict[str, Any]] = {one: {"needed": "trec-9"} for one in _LEVELS}

LIKE_PARAMETERS: dict[str, dict[str, dict[str, Any]]] = {
    "trec_eval": {**_RBP, **_NEAREST},
    "trec_eval-c": {**_RBP, **_NEAREST},
    "trec_eval-9": {**_RBP, **_BEFORE},
}
"""By tool and metric, the parameters that it takes where none are given and that are not ours."""
