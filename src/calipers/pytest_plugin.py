"""A pytest fixture that checks a retriever against conditions and a baseline.

    def test_retrieval(calipers_eval):
        calipers_eval("evals.json").require("recall@10 >= 0.85")

pytest loads this module at its start whenever Calipers is installed, so nothing of
Calipers is imported here before the fixture is used.
"""

import warnings
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from calipers.model.matched import Matched
    from calipers.model.scores import Scores


class Measured:
    """Checks on one result. Files are read and matched once for all of them."""

    def __init__(self, pair: "Matched") -> None:
        self._pair = pair

    def scores(
        self, metrics: "str | Iterable[str] | None" = None, **settings: Any
    ) -> "Scores":
        """The scores, for your own assertions."""
        import calipers

        return calipers.evaluate(self._pair, metrics=metrics, **settings)

    def require(self, *conditions: str, **settings: object) -> "Measured":
        """Fail the test unless every condition holds, such as ``"recall@10 >= 0.85"``."""
        __tracebackhide__ = True
        self._judge(require=conditions, **settings)
        return self

    def not_worse_than(self, baseline: object, **settings: object) -> "Measured":
        """Fail the test if a requested metric is worse than in a baseline file.

        ``settings`` are those of ``calipers.gate``: metrics, allow, only_shown, must, by
        … No clear difference is a warning of pytest.
        """
        __tracebackhide__ = True
        self._judge(baseline=baseline, **settings)
        return self

    def _judge(self, **settings: Any) -> None:
        __tracebackhide__ = True
        from calipers.errors import CalipersError
        from calipers.present.terminal import as_text, first_line_in_python
        from calipers.questions.gate.settings import gate

        try:
            verdict = gate(self._pair, **settings)
        except CalipersError as error:
            # pytest shows the line of the test then, not our internals.
            raise error.with_traceback(None) from None
        if verdict.stops:
            raise AssertionError(as_text(verdict.document(), explain=True))
        if verdict.standing != "passed":
            warnings.warn(first_line_in_python(verdict.document()), stacklevel=3)


@pytest.fixture(scope="session")
def calipers_eval() -> "Callable[..., Measured]":
    """Measure what a retriever returned, and require something of it.

    Call it with a file that holds results and ground truth, or with ``ground_truth=`` and
    ``run=`` (paths, mappings, records or tables); then ``.require("recall@10 >= 0.85")``
    or ``.not_worse_than("main.json")``. Further arguments are those of
    ``calipers.evaluate``: rel, match, missing, ties …
    """

    def evaluate(data: Any = None, **settings: Any) -> Measured:
        __tracebackhide__ = True
        from calipers.errors import CalipersError
        from calipers.questions.evaluate.settings import read

        try:
            return Measured(read(data, **settings))
        except CalipersError as error:
            raise error.with_traceback(None) from None

    return evaluate
