"""What a reader of the numbers must know about how the two sides were matched."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import polars as pl

from calipers.model.arrays import Ints, as_series
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import EXAMPLES, Matches
from calipers.model.run import SAMPLE, FirstResults


def all_differ(truth: GroundTruth, matches: Matches, some: FirstResults | None) -> bool:
    """Whether lists that are at hand show that no result is called nearly as a missed target."""
    if some is None or some.listed is None or not truth.is_listed:
        return False
    queries, names, ids = some.listed["query"], truth.names, truth.ids
    few, rows = {*queries}, _missed(truth, matches)
    asked = zip(truth.target_query[rows].tolist(), rows.tolist(), strict=True)
    wanted = [(names[code], ids[row]) for code, row in asked if names[code] in few]
    return not may_be_alike(wanted, zip(queries, some.listed["item"], strict=True))


def _missed(truth: GroundTruth, matches: Matches) -> Ints:
    """The rows of relevant targets that were not found."""
    found = np.zeros(int(matches.target_unit.max(initial=-1)) + 1, dtype=np.bool_)
    found[matches.target_unit[matches.edge_target]] = True
    missed = ~found[matches.target_unit] & matches.relevant()
    if truth.is_grouped:
        return np.flatnonzero(missed)
    return np.argsort(truth.target_query, kind="stable")[missed]


def missed_targets(truth: GroundTruth, matches: Matches, named: pl.DataFrame) -> pl.DataFrame:
    """Query and name of the relevant targets that were not found, of queries of some results."""
    rows = _missed(truth, matches)
    if rows.size:
        # Few queries are in the sample, so few of the targets are looked at.
        seen = truth.queries["query"].is_in(named["query"].implode()).to_numpy()
        rows = rows[seen[truth.target_query[rows]]]
    column = named.columns[1]
    taken = truth.targets[as_series(rows)]
    return pl.DataFrame({"query": taken["query"], "wanted": taken[column]})


def nearly_found(missed: pl.DataFrame, named: pl.DataFrame) -> list[str]:
    """A note where a target that was not found has nearly the name of a result of its query."""
    if not missed.height:
        return []
    results = pl.DataFrame({"query": named["query"], "called": named[named.columns[1]]})
    pairs = nearly_alike(missed, "wanted", results, "called", on=["query"])
    if not pairs.height:
        return []
    from calipers.match.no_common_ids import likely_reason

    one, n = pairs.row(0, named=True), pairs.select("query", "wanted").n_unique()
    return [
        f"{n} {'target' if n == 1 else 'targets'} not found, and a result of the same query is "
        f"called nearly so: {one['called']!r:.60} for {one['wanted']!r:.60}. "
        f"{likely_reason(pairs['called'].to_list(), pairs['wanted'].to_list())}"
    ]


def nearly_asked(unknown: Sequence[str], missing: Callable[[], pl.Series]) -> list[str]:
    """A note where queries that only the run has are nearly those that it lacks."""
    lacking = missing().head(SAMPLE).to_list() if unknown else []
    if not lacking:
        return []
    from calipers.match.no_common_ids import likely_rule

    rule = likely_rule(unknown, lacking, mapped=False)
    if rule is None:
        return []
    return [f"Some queries seem to be named in two ways, so they count as missing. {rule}"]


def may_be_swapped(truth: GroundTruth, some: FirstResults | None) -> list[str]:
    """A note where the grades look like scores, and the run has none or what looks like grades."""
    grades = truth.grades[:SAMPLE]
    if some is None or not grades.size:
        return []
    broken = np.count_nonzero(grades != np.rint(grades))
    # Grades that are means of several judges are broken numbers too, but few different ones.
    if broken <= grades.size / 2 or len({*grades.tolist()}) <= grades.size / 2:
        return []
    scores = some.frame.get_column("score", default=pl.Series([], dtype=pl.Float64)).head(SAMPLE)
    scores = scores.drop_nulls()
    if not (scores.is_between(0, 5) & (scores == scores.round(0))).all():
        return []
    look = f"scores like grades ({scores[0]:g})" if len(scores) else "no scores"
    return [
        f"The grades look like scores ({grades[0]:g}) and the run has {look}: check that run and "
        "ground truth are not exchanged."
    ]


def imitation_notes(ground_truth: GroundTruth, like: str | None) -> tuple[str, ...]:
    """A note about grades that the other tool would read as other numbers.

    >>> import polars as pl
    >>> truth = GroundTruth.from_targets(pl.DataFrame({"query": ["q"], "grade": [0.5]}))
    >>> len(imitation_notes(truth, "trec_eval")), len(imitation_notes(truth, None))
    (1, 0)
    """
    if like is None or not like.startswith("trec_eval"):
        return ()
    grade = ground_truth.targets["grade"]
    fractional = grade.filter(grade != grade.round(0))
    if fractional.is_empty():
        return ()
    shown = [f"{one:g}" for one in fractional.unique(maintain_order=True).head(EXAMPLES + 1)]
    named = ", ".join(shown[:EXAMPLES]) + (", …" if len(shown) > EXAMPLES else "")
    grades = "1 grade is" if len(fractional) == 1 else f"{len(fractional):,} grades are"
    return (
        f"{grades} not whole ({named}): trec_eval cuts off what stands behind the point, and "
        "Calipers does not, so that the numbers of these queries can differ.",
    )


# Two names for one thing: what differs in nothing but how it is written.

_EXTENSION = r"([^/])\.[0-9]*[a-z][0-9a-z]*$"
_UNSEEN = "[\\s\u00ad\u200b-\u200f\u2060\ufeff]+"


def nearly_alike(
    one: pl.DataFrame, name: str, other: pl.DataFrame, called: str, on: list[str]
) -> pl.DataFrame:
    """The pairs of rows whose names differ, but in nothing that is likely to be meant.

    That is case, white space, what cannot be seen, leading zeros, and a path or an extension that
    one of the two lacks.

    >>> one, other = pl.DataFrame({"a": ["Gil"]}), pl.DataFrame({"b": ["docs/gil.md", "docs/gi"]})
    >>> nearly_alike(one, "a", other, "b", on=[])["b"].to_list()
    ['docs/gil.md']
    """
    pairs = _with_keys(one, name).join(
        _with_keys(other, called), on=[*on, "stem"], how="inner", suffix="2"
    )
    # Two whole paths are two, and so are two extensions; but one side may leave either out.
    paths, files = pl.col("path") == pl.col("path2"), pl.col("file") == pl.col("file2")
    no_path = (pl.col("plain") == pl.col("file")) | (pl.col("plain2") == pl.col("file2"))
    no_extension = (pl.col("plain") == pl.col("path")) | (pl.col("plain2") == pl.col("path2"))
    alike = (paths | no_path) & (files | no_extension)
    return pairs.filter((pl.col(name) != pl.col(called)) & alike)


def may_be_alike(
    asked: Iterable[tuple[str, str | None]], results: Iterable[tuple[str, str | None]]
) -> bool:
    """Whether `nearly_alike` can find a wanted name in what results are called; mostly not.

    Both are queries with names.
    """
    asked = list(asked)
    named: dict[str, list[str]] = {query: [] for query, _ in asked}
    for query, name in results if asked else ():
        if query in named:
            named[query].append(name or "")
    together = {query: _plain("\0".join(("", *names, ""))) for query, names in named.items()}
    for query, wanted in asked:
        file = _plain(wanted or "").removesuffix(".0").lstrip("0").rpartition("/")[2]
        stem = re.sub(_EXTENSION, r"\1", file)
        names = together[query]
        # In front of it can stand zeros or a path, behind it an extension.
        if stem and any(f"{one}{stem}{two}" in names for one in "\0/0" for two in "\0."):
            return True
    return False


def _plain(name: str) -> str:
    """As `_with_keys` has it, of one text."""
    if name.isascii() and name.split() == [name]:
        return name.lower()
    return re.sub(_UNSEEN, "", unicodedata.normalize("NFC", name).lower())


def _with_keys(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """The names as they are compared: plain, without extension, without path, and without both."""
    plain = pl.col(name).str.normalize("NFC").str.to_lowercase().str.replace_all(_UNSEEN, "")
    return (
        frame.with_columns(plain=plain.str.strip_suffix(".0").str.strip_chars_start("0"))
        .with_columns(
            path=pl.col("plain").str.replace(_EXTENSION, "${1}"),
            file=pl.col("plain").str.replace(r"^.*/", ""),
        )
        .with_columns(stem=pl.col("file").str.replace(_EXTENSION, "${1}"))
        .filter(pl.col("stem") != "")
    )
