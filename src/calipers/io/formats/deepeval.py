"""deepeval: goldens and test cases, in the spelling of its files or of its interface."""

import re
from collections.abc import Sequence

import msgspec

from calipers.io.format import EachRow
from calipers.io.records.records import At, Record, Result, Target, each
from calipers.io.tables.cells import decoded_text
from calipers.names import words_in

BETWEEN = "|"
"""What divides the texts of one list in its CSV and JSON lines."""
WITH_SOURCE = re.compile(r"deepeval_source=(.*?),deepeval_context=(.*)", re.DOTALL)
"""How its files write a retrieved text with the place it came from."""


class DeepEvalSource(msgspec.Struct):
    """A retrieved text with the place it came from."""

    context: str
    source: str | None = None


class Case(msgspec.Struct):
    """A golden or a test case; ``context`` is what should be found.

    Lists are texts in its CSV and JSON lines, with a bar between two of them.
    """

    input: str
    context: list[str] | str | None = None
    retrieval_context: list[str | DeepEvalSource] | str | None = None
    camel_context: list[str | DeepEvalSource] | str | None = msgspec.field(
        default=None, name="retrievalContext"
    )


OWN = words_in(
    "retrieval_context retrievalContext actual_output actualOutput expected_output expectedOutput"
)


def _listed(
    given: Sequence[str | DeepEvalSource] | str | None,
) -> Sequence[str | DeepEvalSource] | None:
    """The texts of a list, also where a table holds it as JSON, or joined as deepeval joins.

    >>> _listed("one|two"), _listed('["one|two"]')
    (['one', 'two'], ['one|two'])
    """
    if not isinstance(given, str):
        return given
    if given.startswith("["):
        try:
            return msgspec.convert(decoded_text(given), list[str | DeepEvalSource])
        except msgspec.ValidationError:
            # A text that begins with a bracket, such as a footnote.
            pass
    return given.split(BETWEEN) if given else []


def _result(one: str | DeepEvalSource) -> Result:
    if not isinstance(one, str):
        return Result(text=one.context, document=one.source)
    marked = WITH_SOURCE.fullmatch(one)
    return Result(text=marked[2], document=marked[1]) if marked else Result(text=one)


class DeepEval(EachRow):
    """Goldens and test cases."""

    name = "deepeval"
    title = "deepeval goldens or test cases"
    row = Case
    example = '{"input": …, "context": […], "retrieval_context": […]}'
    results_field = "retrieval_context"
    truth_field = "context"
    known_by = (*({name} for name in OWN), {"input", "context"})
    merges_equal = True

    def record(self, row: Case, _: At) -> Record:
        """A row as a record."""
        found = row.camel_context if row.retrieval_context is None else row.retrieval_context
        truth = each(lambda one: Target(quote=_result(one).text), _listed(row.context))
        return Record(row.input, retrieved=each(_result, _listed(found)), ground_truth=truth)
