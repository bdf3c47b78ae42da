"""What may be asked here, declared once: names, types and defaults."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from calipers.operation import Setting, operation
from calipers.questions.reading import Files, Store

if TYPE_CHECKING:
    from calipers.questions.compare.unlabelled import Diff


class DiffSettings(Files, total=False):
    """What `diff` takes."""

    k: Annotated[
        int, Setting("How many results of each query to compare.", "-k", default=10, file="k")
    ]
    p: Annotated[
        float,
        Setting(
            "How much the top counts in the rank-biased overlap: lower counts it more.",
            "--persistence -p",
            default=0.9,
        ),
    ]
    by: Annotated[
        str | Collection[str],
        Setting(
            "Also by slices of the queries: language, question_word, form, length, auto, or a "
            "tag of the file given with -g; may be given several times.",
            default=(),
            metavar="TAG",
            several=True,
        ),
    ]
    ground_truth: Annotated[
        Any,
        Setting(
            "Questions with their tags and texts, and what is judged already.",
            "-g",
            "FILE",
            file="ground-truth",
            path=True,
        ),
    ]
    seed: Annotated[int, Setting("The seed that shuffles the rows to label.", default=0, least=0)]
    store: Store


@operation(page="compare", command="compare")
def diff(
    old: Annotated[Any, Setting("", argument="OLD")],
    new: Annotated[Any, Setting("", argument="NEW")],
    **settings: Unpack[DiffSettings],
) -> "Diff":
    """Compare the first k results of two runs; no ground truth is needed.

    ``old`` and ``new`` are runs in any shape that ``read`` takes. Each query gets its rank-biased
    overlap with persistence ``p``, the overlap of the first k, Kendall's tau over the results that
    both have, and what is new and what is lost. ``write`` of what comes back makes a file to label
    of exactly the new results.

    >>> found = diff({"q": ["a", "b", "c"]}, {"q": ["a", "c", "d"]})
    >>> [moved.item for moved in found.queries[0].new], round(found.mean("overlap"), 2)
    (['d'], 0.67)
    """
    from calipers.io.load import load
    from calipers.io.tables.columns import Columns
    from calipers.questions.compare.unlabelled import diff_runs
    from calipers.questions.systems import named_run

    said = Columns.of(settings["columns"])
    given = (
        None
        if settings["ground_truth"] is None
        else load(settings["ground_truth"], "ground_truth", None, said)
    )
    before = named_run(old, "old", settings["store"], said, settings["memory"], settings["temp"])
    after = named_run(new, "new", settings["store"], said, settings["memory"], settings["temp"])
    said.check_used()
    return diff_runs(
        before,
        after,
        k=settings["k"],
        p=settings["p"],
        by=[settings["by"]] if isinstance(settings["by"], str) else list(settings["by"]),
        truth=None if given is None else given.ground_truth,
        seed=settings["seed"],
    )
