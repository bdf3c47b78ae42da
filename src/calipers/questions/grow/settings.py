"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from calipers.frozen import dataclass
from calipers.operation import Setting, Settings, operation
from calipers.questions.reading import Data, Intervals, Reading, cutoff_list

if TYPE_CHECKING:
    from calipers.questions.grow.result import Growth


def number_list(text: str) -> list[float]:
    """The numbers of ``--times 2,4,10``."""
    from calipers.errors import InvalidInput

    try:
        return [float(word.rstrip("x×")) for word in text.split(",")]
    except ValueError:
        raise InvalidInput(
            f"{text!r} is no list of numbers; write it as 2,4,10."
        ) from None


def size_list(text: str) -> list[int]:
    """The sizes of ``--to 100000,500000``; digits may be grouped as in 500_000."""
    from calipers.errors import InvalidInput

    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise InvalidInput(
            f"{text!r} is no list of sizes; write whole numbers, such as 100000,500000."
        ) from None


@dataclass(frozen=True, kw_only=True)
class GrowSettings(Settings):
    """What `grow` takes."""

    reading: Reading = Reading()

    times: Annotated[
        float | Sequence[float] | None,
        Setting(
            "Sizes of the corpus, in times today's; below 1 for a part of it. [default: 2,4,10]",
            metavar="LIST",
            read=number_list,
            excludes=("to",),
        ),
    ] = None
    to: Annotated[
        int | Sequence[int] | None,
        Setting(
            "Sizes of the corpus, as numbers of documents; give --corpus-size too.",
            metavar="LIST",
            read=size_list,
        ),
    ] = None
    metrics: Annotated[
        str | Collection[str] | None,
        Setting(
            "Any of recall, hit_rate and mrr. [default: recall]",
            "-m",
            "LIST",
            file="metrics",
        ),
    ] = None
    k: Annotated[
        int | Sequence[int] | None,
        Setting("Cut-offs. [default: 5,10,20]", "-k", "LIST", read=cutoff_list, file="k"),
    ] = None
    by: Annotated[
        Sequence[str],
        Setting(
            "Also by slices of the queries: a tag, language, length, …; may be given several "
            "times.",
            metavar="TAG",
            several=True,
        ),
    ] = ()
    intervals: Intervals = Intervals()


@operation(page="grow", command="grow")
def grow(data: Data = None, *, settings: GrowSettings) -> "Growth":
    """How much is found when the corpus grows, or shrinks, from one recorded run.

    ``data`` is a pair, or anything that ``read`` takes. ``times`` are sizes of the corpus in
    multiples of the one that was searched, ``to`` numbers of documents beside its
    ``corpus_size``. A value that these queries and lists are not enough for has
    ``printed=False`` and a reason.

    >>> records = [
    ...     {"query": f"q{i}", "retrieved": [f"x{j}" for j in range(i % 7)] + ["a"] + ["y"] * 20,
    ...      "ground_truth": ["a"]}
    ...     for i in range(140)
    ... ]
    >>> found = grow(records, times=[2, 4], k=10)
    >>> [round(row.mean, 2) for row in found.growth], found.today[0].mean
    ([0.83, 0.3], 1.0)
    """
    from calipers.engines.scoring import cutoffs
    from calipers.measures import parse
    from calipers.questions.grow.rule import USUAL_KS, Asked, chosen_times, grow_pair
    from calipers.questions.inputs import matched, tags_of
    from calipers.questions.reading import DEPTH

    # The size decides no match here, and is known of other corpora than of ids alone.
    matching = replace(settings.reading.matching, corpus_size=None)
    ks = cutoffs(settings.k)
    pair = matched(
        data,
        replace(settings.reading, matching=matching),
        again=True,
        looks=max([*(ks or ()), DEPTH]),
        tags=(*tags_of(settings.intervals), *settings.by),
    )
    size = settings.reading.matching.corpus_size or pair.matching.corpus_size
    usual = [k for k in USUAL_KS if k <= pair.depth] or [max(pair.depth, 1)]
    asked = Asked(
        parse(settings.metrics or ("recall",), ks or usual, pair.matching.like),
        chosen_times(_several(settings.times), _several(settings.to), size),
        by=tuple(settings.by),
        corpus_size=size,
        confidence=settings.intervals.confidence,
        cluster=settings.intervals.cluster,
        weight_by=settings.intervals.weight_by,
    )
    return grow_pair(pair, asked)


def _several(value: "float | Sequence[float] | None") -> "list[float] | None":
    """One number or several, as a list."""
    if value is None:
        return None
    return list(value) if isinstance(value, Sequence) else [value]
