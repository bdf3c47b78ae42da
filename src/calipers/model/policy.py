"""What happens in the cases a metric's formula does not decide, named and recorded."""

from dataclasses import fields, replace
from reprlib import repr as short
from typing import Any, Literal, Self, get_args

from calipers.errors import InvalidInput, check_number
from calipers.frozen import dataclass
from calipers.model.result import Plain
from calipers.words import did_you_mean

Missing = Literal["zero", "exclude", "error"]
Unanswerable = Literal["exclude", "zero", "error"]
Duplicates = Literal["first", "error"]
Unknown = Literal["ignore", "error"]
Failed = Literal["zero", "exclude", "error"]
Ties = Literal["trec", "input", "error"]
NothingInCommon = Literal["error", "zero"]
Calls = Literal["concat", "last"]

CHOICES: dict[str, tuple[str, ...]] = {
    "missing": get_args(Missing),
    "unanswerable": get_args(Unanswerable),
    "duplicates": get_args(Duplicates),
    "unknown": get_args(Unknown),
    "errors": get_args(Failed),
    "ties": get_args(Ties),
    "nothing_in_common": get_args(NothingInCommon),
    "calls": get_args(Calls),
}
"""The allowed values of each policy."""

LIKE: dict[str, dict[str, Any]] = {
    "trec_eval": {
        "unanswerable": "zero",
        "ties": "trec",
        "nothing_in_common": "zero",
        "missing": "exclude",
    },
}
"""The policies under which the numbers equal those of another tool.

trec_eval means version 10, which compares scores as doubles; its option -c is
missing="zero".
"""

LIKE_PARAMETERS: dict[str, dict[str, dict[str, float | str]]] = {
    "trec_eval": {
        "rbp": {"p": 0.9, "highest": "query"},
        "rbp_residual": {"p": 0.9, "all_judged": "zero"},
    },
}
"""By tool and metric, the default parameters that differ from ours."""


@dataclass(frozen=True, kw_only=True)
class Policy(Plain):
    """One choice per doubtful case. The defaults never flatter a retriever.

    >>> Policy(missing="exclude").missing
    'exclude'
    """

    missing: Missing = "zero"
    """A query of the ground truth that the run does not have."""
    unanswerable: Unanswerable = "exclude"
    """A query for which nothing relevant exists."""
    duplicates: Duplicates = "first"
    """The same item twice for one query."""
    unknown: Unknown = "ignore"
    """A query of the run that the ground truth does not have."""
    errors: Failed = "zero"
    """A query on which the retriever failed."""
    ties: Ties | None = None
    """Order among equal scores; None takes the custom of the run's format."""
    calls: Calls = "concat"
    """A query for which the retriever was called several times."""
    nothing_in_common: NothingInCommon = "error"
    """A run and a ground truth that have no id, document or text in common."""

    def __post_init__(self) -> None:
        for field in fields(self):
            allowed = CHOICES[field.name]
            value = getattr(self, field.name)
            if value is None and field.name == "ties":
                continue
            # A value that is no text may refuse even to be compared.
            if not isinstance(value, str) or value not in allowed:
                raise InvalidInput(
                    f"The policy {field.name}={short(value)} does not exist; "
                    f"{field.name} can be {', '.join(allowed)}."
                )

    @classmethod
    def like(cls, tool: str) -> Self:
        """The policies under which the numbers equal those of another tool."""
        if not isinstance(tool, str) or tool not in LIKE:
            raise InvalidInput(
                f"Calipers cannot imitate {short(tool)}; it knows {', '.join(LIKE)}."
                f"{did_you_mean(tool, LIKE) if isinstance(tool, str) else ''}"
            )
        return cls(**LIKE[tool])

    def with_changes(self, **changes: Any) -> Self:
        """A copy in which the given choices, where not None, replace these."""
        return replace(self, **{name: value for name, value in changes.items() if value})


def check_rel(rel: float | None) -> None:
    """Refuse a grade from which nothing, or everything, would be relevant."""
    if rel is not None:
        check_number("The grade from which a target is relevant (rel)", rel, above=0)
