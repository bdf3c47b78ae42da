"""The words a policy can be, apart from the policy itself so that help text loads nothing."""

from typing import Any

CHOICES: dict[str, tuple[str, ...]] = {
    "missing": ("zero", "exclude", "error"),
    "unanswerable": ("exclude", "zero", "error"),
    "duplicates": ("first", "error"),
    "unknown": ("ignore", "error"),
    "errors": ("zero", "exclude", "error"),
    "ties": ("trec", "input", "error"),
    "nothing_in_common": ("error", "zero"),
}

LIKE: dict[str, dict[str, Any]] = {
    "trec_eval": {"missing": "exclude", "unanswerable": "zero", "ties": "trec"},
    "trec_eval-c": {"missing": "zero", "unanswerable": "zero", "ties": "trec"},
}
"""The policies under which the numbers equal those of another tool."""
