"""A metric for DSPy: a plain function of (example, prediction, trace) that needs no library."""

from collections.abc import Callable
from typing import Any, Unpack

from calipers.errors import InvalidInput
from calipers.integrations.scorer import scorer
from calipers.questions.reading import MatchingSettings


def metric(
    name: str,
    *,
    retrieved: str = "passages",
    expected: str = "ground_truth",
    threshold: float | None = None,
    **matching: Unpack[MatchingSettings],
) -> Callable[..., float | bool]:
    """One metric for ``dspy.Evaluate`` and its optimisers.

    ``retrieved`` is the field of a prediction with the results, ``expected`` the field of an
    example with the ground truth. While an optimiser collects examples, DSPy needs a yes or no:
    the value must reach ``threshold`` (default: 1).

    >>> from types import SimpleNamespace as Fields
    >>> recall = metric("recall@5")
    >>> recall(Fields(ground_truth=["a", "b"]), Fields(passages=["x", "a"]))
    0.5
    """
    score = scorer(name, **matching)
    if len(score.names) != 1:
        raise InvalidInput(
            f"{name!r} stands for {len(score.names)} metrics and DSPy follows one; name one."
        )

    def calipers_metric(example: Any, prediction: Any, trace: Any = None) -> float | bool:
        wanted = _field(example, expected, "example")
        (value,) = score(_field(prediction, retrieved, "prediction"), wanted).values()
        if value is None:
            raise InvalidInput(
                f"{score.names[0]} is undefined for an example whose {expected!r} names nothing "
                "that should be found; leave such examples out."
            )
        return value if trace is None else value >= (1.0 if threshold is None else threshold)

    return calipers_metric


def _field(holder: Any, name: str, what: str) -> Any:
    value = getattr(holder, name, None)
    if value is None:
        raise InvalidInput(
            f"The {what} has no field {name!r}; name the field that it has: "
            f"metric(…, {'expected' if what == 'example' else 'retrieved'}=…)."
        )
    return value
