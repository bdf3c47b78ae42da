"""What happens in the cases a metric's formula does not decide, named and recorded."""

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, Self

from calipers.errors import InvalidInput
from calipers.model.choices import CHOICES, LIKE
from calipers.suggest import did_you_mean

Missing = Literal["zero", "exclude", "error"]
Unanswerable = Literal["exclude", "zero", "error"]
Duplicates = Literal["first", "error"]
Unknown = Literal["ignore", "error"]
Failed = Literal["zero", "exclude", "error"]
Ties = Literal["trec", "input", "error"]
NothingInCommon = Literal["error", "zero"]


@dataclass(frozen=True, kw_only=True)
class Policy:
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
    nothing_in_common: NothingInCommon = "error"
    """A run and a ground truth that have no id, document or text in common."""

    def __post_init__(self) -> None:
        for field in fields(self):
            allowed = CHOICES[field.name]
            value = getattr(self, field.name)
            if value is None and field.name == "ties":
                continue
            if value not in allowed:
                raise InvalidInput(
                    f"The policy {field.name}={value!r} does not exist; "
                    f"{field.name} can be {', '.join(allowed)}."
                )

    @classmethod
    def like(cls, tool: str) -> Self:
        """The policies under which the numbers equal those of another tool."""
        if tool not in LIKE:
            raise InvalidInput(
                f"Calipers cannot imitate {tool!r}; it knows {', '.join(LIKE)}."
                f"{did_you_mean(tool, LIKE)}"
            )
        return cls(**LIKE[tool])

    def with_changes(self, **changes: Any) -> Self:
        """A copy in which the given choices, where not None, replace these."""
        unknown = set(changes) - set(CHOICES)
        if unknown:
            name = sorted(unknown)[0]
            raise InvalidInput(
                f"There is no policy called {name!r}; the policies are {', '.join(CHOICES)}."
                f"{did_you_mean(name, CHOICES)}"
            )
        return replace(self, **{name: value for name, value in changes.items() if value})

    def to_dict(self) -> dict[str, str | None]:
        """The choices by name, for the record in a result."""
        return asdict(self)
