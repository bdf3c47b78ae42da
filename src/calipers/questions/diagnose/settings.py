"""Operations and their settings: names, types and defaults."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.operation import Setting, Settings, operation
from calipers.questions.misses.settings import Candidates
from calipers.questions.reading import Cluster, Confidence, Data, Price, Reading, Searched

if TYPE_CHECKING:
    from calipers.questions.diagnose.result import Diagnosis


def _cutoff(text: str) -> int:
    from calipers.measures.spec import check_cutoff

    return check_cutoff(text)


@dataclass(frozen=True, kw_only=True)
class DiagnoseSettings(Settings):
    """What `diagnose` takes."""

    reading: Reading = Reading()

    k: Annotated[
        int | None,
        Setting(
            "How many of the first results to look at. [default: 10, or the longest list]",
            "-k",
            "K",
            read=_cutoff,
            file="k",
        ),
    ] = None
    corpus: Searched = None
    candidates: Candidates = None
    price: Price = None
    confidence: Confidence = 0.95
    cluster: Cluster = None


@operation(page="diagnose", command="diagnose")
def diagnose(data: Data = None, *, settings: DiagnoseSettings) -> "Diagnosis":
    """Try every known cure on the recorded run, and say where each target was lost.

    ``data`` is a pair, or anything that ``read`` takes. A cure changes the run on paper: its order,
    its repetitions, how ids are written. Its gain is tested, query by query. ``corpus`` and
    ``candidates`` say more about what was not returned, as in ``misses``.

    >>> records = [
    ...     {"query": f"q{i}", "retrieved": [f"x{i}", f"y{i}", f"a{i}"], "ground_truth": [f"a{i}"]}
    ...     for i in range(30)
    ... ]
    >>> diagnose(records).sentence
    'The lists are in reverse order: turned round, ndcg@3 is 1.000, not 0.500.'
    """
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns
    from calipers.questions.diagnose.rule import diagnose_pair
    from calipers.questions.inputs import below, matched

    reading = settings.reading
    columns = Columns.of(reading.matching.files.columns)
    if columns:
        # One object for all files: what none of them has is refused at the end.
        files = replace(reading.matching.files, columns=columns)
        reading = replace(reading, matching=replace(reading.matching, files=files))
    pair = matched(data, reading, again=True, looks=below(settings.k))
    before = (
        None if settings.candidates is None else load(settings.candidates, "run", columns)
    )
    if settings.candidates is not None:
        columns.check_used()
    return diagnose_pair(
        pair,
        k=settings.k,
        confidence=settings.confidence,
        cluster=settings.cluster,
        corpus=settings.corpus,
        candidates=before,
        price=settings.price,
    )
