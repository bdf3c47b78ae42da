"""Notes about how two sides were matched, and the error where they have nothing in common."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import polars as pl

from calipers.errors import NoCommonIds
from calipers.model.arrays import Ints, as_series
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import EXAMPLES, FAILED, MISSING, Matches, Tally, with_status
from calipers.model.matching import ID_RULES, IdMap, Kind, without_extension
from calipers.model.run import SAMPLE, FirstResults, Run
from calipers.text import normalise


def _missed(truth: GroundTruth, matches: Matches) -> Ints:
    """The rows of relevant targets that were not found."""
    found = np.zeros(int(matches.target_unit.max(initial=-1)) + 1, dtype=np.bool_)
    found[matches.target_unit[matches.edge_target]] = True
    missed = ~found[matches.target_unit] & matches.relevant()
    if truth.is_grouped:
        return np.flatnonzero(missed)
    return np.argsort(truth.target_query, kind="stable")[missed]


def nearly_found(
    truth: GroundTruth, matches: Matches, some: FirstResults | None, column: str | None
) -> list[str]:
    """A note where a missed target is named nearly like a result of its query.

    ``some`` are the first results; ``column`` has their names, None where there are none.
    """
    if some is None or column is None or column not in some.columns:
        return []
    results = some.rows("query", column)
    wanted = _missed_of(truth, matches, {query for query, _ in results}, column)
    pairs = nearly_alike(wanted, results)
    if not pairs:
        return []
    named = [wanted[one][1] for one, _ in pairs]
    called = [results[other][1] for _, other in pairs]
    n = len({wanted[one] for one, _ in pairs})
    return [
        f"{n} {'target' if n == 1 else 'targets'} not found, and a result of the same query is "
        f"called nearly so: {called[0]!r:.60} for {named[0]!r:.60}. {likely_reason(called, named)}"
    ]


def _missed_of(
    truth: GroundTruth, matches: Matches, queries: set[str], column: str
) -> list[tuple[str, str]]:
    """Query and name of the missed relevant targets of these queries."""
    rows = _missed(truth, matches)
    if truth.is_listed and column == "item":
        names, ids, codes = truth.names, truth.ids, truth.target_query[rows].tolist()
        asked = zip(codes, rows.tolist(), strict=True)
        return [(names[code], ids[row]) for code, row in asked if names[code] in queries]
    # Few queries are in the sample, so few of the targets are compared.
    seen = truth.queries["query"].is_in(list(queries)).to_numpy()
    rows = rows[seen[truth.target_query[rows]]]
    return truth.targets[as_series(rows)].select("query", column).rows()


def nearly_asked(truth: GroundTruth, tally: Tally) -> list[str]:
    """A note where unknown queries of the run are named nearly like those that it lacks."""
    if not tally.unknown_examples:
        return []
    lacking = truth.queries["query"].filter(with_status(tally.status, MISSING)).head(SAMPLE)
    rule = likely_rule(tally.unknown_examples, lacking.to_list(), mapped=False)
    if rule is None:
        return []
    return [f"Some queries seem to be named in two ways, so they count as missing. {rule}"]


def may_be_swapped(truth: GroundTruth, some: FirstResults | None) -> list[str]:
    """A note where grades look like scores, and the run has no scores or some like grades."""
    grades = truth.grades[:SAMPLE]
    if some is None or not grades.size:
        return []
    broken = np.count_nonzero(grades != np.rint(grades))
    # Grades that are means of several judges are fractions too, but few distinct ones.
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


# Two spellings of one name.

_EXTENSION = re.compile(r"(?<=[^/])\.[0-9]*[a-z][0-9a-z]*$")
_UNSEEN = "[\\s\u00ad\u200b-\u200f\u2060\ufeff]+"

Named = Sequence[tuple[str, str | None]]
"""Queries with names."""


def nearly_alike(wanted: Named, called: Named) -> list[tuple[int, int]]:
    """The pairs, by number, of names for one query that differ only in spelling.

    That is case, white space, invisible characters, leading zeros, and a path or an extension that
    one of the two lacks.

    >>> nearly_alike([("q", "Gil")], [("q", "docs/gi"), ("q", "docs/gil.md"), ("p", "gil")])
    [(0, 1)]
    """
    numbers: dict[str, list[int]] = {query: [] for query, _ in wanted}
    for number, (query, name) in enumerate(called if wanted else ()):
        if query in numbers and name:
            numbers[query].append(number)
    together = {
        query: _plain("\0".join(("", *(called[one][1] or "" for one in some), "")))
        for query, some in numbers.items()
    }
    found = []
    for number, (query, name) in enumerate(wanted):
        ours = _Spelling(name or "")
        # Zeros or a path may precede it, an extension may follow: most names have no such part.
        parts = (f"{one}{ours.stem}{two}" for one in "\0/0" for two in "\0.")
        if ours.stem and any(part in together[query] for part in parts):
            several = ((other, called[other][1] or "") for other in numbers[query])
            found += [(number, one) for one, text in several if text != name and ours.is_of(text)]
    return found


class _Spelling:
    """A name as it is compared: plain, without extension, without path, and without both."""

    def __init__(self, name: str) -> None:
        self.plain = _plain(name).removesuffix(".0").lstrip("0")
        self.path = _EXTENSION.sub("", self.plain)
        self.file = self.plain.rpartition("/")[2]
        self.stem = _EXTENSION.sub("", self.file)

    def is_of(self, name: str) -> bool:
        """Whether the other name is a spelling of the same."""
        other = _Spelling(name)
        if self.stem != other.stem:
            return False
        # Two different paths or extensions do not match; but one side may leave either out.
        no_path = self.plain == self.file or other.plain == other.file
        no_extension = self.plain == self.path or other.plain == other.path
        return (self.path == other.path or no_path) and (self.file == other.file or no_extension)


def _plain(name: str) -> str:
    """The name in lower case, without what cannot be seen."""
    if name.isascii() and name.split() == [name]:
        return name.lower()
    return re.sub(_UNSEEN, "", unicodedata.normalize("NFC", name).lower())


MOST = 100_000
"""How many distinct ids of a run are compared with the ground truth to find the reason."""
_SAMPLE = 200
"""How many ids of one side are searched for parts from the other."""


def check_in_common(kind: Kind, ground_truth: GroundTruth, run: Run, tally: Tally) -> None:
    """Refuse a run with nothing in common with the ground truth, instead of scoring 0 everywhere.

    Targets of other queries count as ids in common, and so do documents where targets are spans:
    then the names are right, and the retriever found nothing.
    """
    if not ground_truth.targets.height or not tally.sample_queries:
        return
    # The results of a query that failed do not count, and yet they came.
    if not tally.retrieved.any() and not with_status(tally.status, FAILED).any():
        raise NoCommonIds(_other_queries(ground_truth, list(tally.sample_queries)))
    if kind == "quote":
        _check_common_texts(ground_truth, run)
    elif kind == "span":
        _check_common_names("document", "document", ground_truth, run)
    else:
        _check_common_names("item", "item id", ground_truth, run)


def _check_common_texts(ground_truth: GroundTruth, run: Run) -> None:
    """Refuse quotes where no result of any query holds a part of any.

    Results from a document of the ground truth are enough, where both sides name documents.
    """
    documents = ground_truth.targets["document"].drop_nulls()
    quotes = ground_truth.targets["quote"].to_list()
    # They were taken as texts because no result has such an id, and yet may look like ids.
    words = not any(character.isspace() for quote in quotes for character in quote)
    columns = [name for frame in islice(run.scan(), 1) for name in frame.columns]
    has_ids = "item" in columns
    no_ids = words and not has_ids
    words = words and has_ids
    parts, folded = _Parts(quotes, whole=words), _Parts(quotes, whole=words, ignore_case=True)
    ids: dict[str, None] = {}
    texts: dict[str, None] = {}
    for frame in run.scan():
        there = frame["text"].drop_nulls().unique(maintain_order=True)
        if _shares(frame, "document", documents) or parts.any_in(there):
            return
        if "item" in frame.columns and len(ids) < MOST:
            ids.update(dict.fromkeys(frame["item"].drop_nulls().unique(maintain_order=True)))
        if folded.any_in(there):
            raise NoCommonIds(_sentence("text", there.to_list(), quotes, _CASE))
        texts.update(dict.fromkeys(there.head(EXAMPLES)))
    if words:
        reason = likely_reason(list(ids), quotes)
        raise NoCommonIds(_sentence("id", list(islice(ids, EXAMPLES)), quotes, reason))
    if no_ids:
        raise NoCommonIds(_without_ids(run, columns, quotes))
    raise NoCommonIds(_sentence("text", list(texts), quotes, _OTHER_TEXTS))


def _without_ids(run: Run, columns: Sequence[str], wanted: list[str]) -> str:
    read = ", ".join(name for name in columns if name not in ("query", "rank"))
    seen = f"; keys seen: {', '.join(run.fields)[:200]}" if run.fields else f", only {read}"
    return (
        f"The results carry no id{seen}. The ground truth has ids such as {_show(wanted)}; say "
        "which key is the id: with --column item=NAME for a file, with --id '$.NAME' where a "
        "retriever is asked (`calipers retrieve`)."
    )


_CASE = 'They differ in upper and lower case; --match "quote(case=ignore)" does not look at it.'
_OTHER_TEXTS = (
    "No part of a quote stands in a result, of whatever query: check that both sides come from the "
    "same documents."
)
PART = 16
"""Characters that two texts do not have in common by chance."""


class _Parts:
    """Parts of quotes to search for in texts, or only the whole quotes."""

    def __init__(self, quotes: list[str], *, whole: bool, ignore_case: bool = False) -> None:
        # Imported here: only needed where nothing was found at all.
        from calipers.match.locate import SeedFinder

        self._ignore_case = ignore_case
        found: dict[str, None] = {}
        for quote in quotes:
            text = normalise(quote, ignore_case=ignore_case)
            size = len(text) if whole else min(PART, (len(text) + 1) // 2)
            starts = range(0, len(text) - size + 1, max(size, 1))
            found.update(dict.fromkeys(text[at : at + size] for at in starts))
        self._parts = SeedFinder(tuple(filter(None, found)))

    def any_in(self, texts: pl.Series) -> bool:
        plain = [normalise(text, ignore_case=self._ignore_case) for text in texts]
        return next(self._parts.find(plain), None) is not None


def _other_queries(ground_truth: GroundTruth, ours: list[str]) -> str:
    theirs = ground_truth.queries["query"].to_list()
    texts = ground_truth.queries["text"].drop_nulls().head(EXAMPLES).to_list()
    reason = likely_reason(ours, theirs, mapped=False)
    if set(ours) & set(texts):
        reason = (
            "The run names queries by their text and the ground truth by an id; use the ids in "
            "both."
        )
    return _sentence("query id", ours, theirs, reason)


def _check_common_names(column: str, what: str, ground_truth: GroundTruth, run: Run) -> None:
    """Refuse names with none in common; reads the run again, only where nothing was found."""
    wanted = ground_truth.targets[column].drop_nulls().unique(maintain_order=True)
    ours: dict[str, None] = {}
    for frame in run.scan():
        if _shares(frame, column, wanted):
            return
        if len(ours) < MOST:
            ours.update(dict.fromkeys(frame[column].drop_nulls().unique(maintain_order=True)))
    theirs = wanted.to_list()
    reason = likely_reason(list(ours), theirs)
    raise NoCommonIds(_sentence(what, list(islice(ours, EXAMPLES)), theirs, reason))


def _shares(frame: pl.DataFrame, column: str, wanted: pl.Series) -> bool:
    return column in frame.columns and bool(frame[column].is_in(wanted.implode()).any())


def _sentence(what: str, ours: list[str], theirs: list[str], reason: str) -> str:
    return (
        f"The run and the ground truth have no {what} in common: the run has "
        f"{_show(ours)}; the ground truth has {_show(theirs)}. {reason}"
    )


def _show(names: list[str]) -> str:
    shown = names[:EXAMPLES]
    return ", ".join(repr(one if len(one) <= 60 else one[:57] + "…") for one in shown)


@dataclass(frozen=True)
class _Difference:
    """One way in which the ids of two sides differ: how to detect it, and what to do about it."""

    advice: str
    """A sentence, or what differs for the usual sentence; {} is what ``seen`` found."""
    seen: Callable[[Sequence[str], Sequence[str]], str | None]
    """Looks for it in the ids of the run and of the ground truth; None where it is not there."""
    map_ids: str | None = None
    """What ``--map-ids`` takes to make such ids equal."""
    is_rule: bool = True
    """Whether it makes some ids equal; else it is only a likely reason."""

    def to_do(self, found: str, *, mapped: bool) -> str:
        """The advice as a sentence; ``mapped``: --map-ids could help."""
        if not self.is_rule:
            return self.advice.format(found)
        rule = (self.map_ids or "").format(found) if "," not in found else ""
        hint = f"give --map-ids {rule}, or " if mapped and rule else ""
        return f"They differ in {self.advice.format(repr(found))}: {hint}write them alike in both."


def likely_reason(ours: Sequence[str], theirs: Sequence[str], *, mapped: bool = True) -> str:
    """What probably differs between two sets of ids, and what to do.

    ``mapped`` says whether ``--map-ids`` could help.

    >>> print(likely_reason(["docs/a.md"], ["docs/a"]))
    They differ in the extension of a file name: give --map-ids extension, or write them alike in
    both.
    """
    return (
        _first_seen(_DIFFERENCES, ours, theirs, mapped=mapped)
        or "Check that both come from the same corpus and the same way of making ids."
    )


def likely_rule(ours: Sequence[str], theirs: Sequence[str], *, mapped: bool = True) -> str | None:
    """The rule that makes some of the ids equal, and what to do; None where there is none.

    >>> likely_rule(["q01", "q02"], ["q1", "q2"])
    'They differ in leading zeros: write them alike in both.'
    """
    rules = [one for one in _DIFFERENCES if one.is_rule]
    return _first_seen(rules, ours, theirs, mapped=mapped)


def _first_seen(
    differences: Iterable[_Difference], ours: Sequence[str], theirs: Sequence[str], *, mapped: bool
) -> str | None:
    for one in differences:
        if (found := one.seen(ours, theirs)) is not None:
            return one.to_do(found, mapped=mapped)
    return None


_Seen = Callable[[Sequence[str], Sequence[str]], str | None]


def _equal_after(fold: Callable[[str], str]) -> _Seen:
    """Whether some ids are equal once both sides are folded."""

    def seen(ours: Sequence[str], theirs: Sequence[str]) -> str | None:
        return "" if {fold(one) for one in ours} & {fold(one) for one in theirs} - {""} else None

    return seen


def _prefix_of_one(fold: Callable[[str], str] = str) -> _Seen:
    """The prefix that the ids of either side have before those of the other."""

    def seen(ours: Sequence[str], theirs: Sequence[str]) -> str | None:
        one, other = ([fold(name) for name in side] for side in (ours, theirs))
        return _prefix(one, other) or _prefix(other, one)

    return seen


def _prefix(longer: Sequence[str], shorter: Sequence[str]) -> str | None:
    """The prefix of an id of one side whose rest is an id of the other."""
    whole = set(shorter)
    # It ends at punctuation or, failing that, before digits: part of a word is no prefix.
    for border in (r"[^\W_]*[\W_]+", r"[^\W\d_]+(?=\d)"):
        for one in longer[:_SAMPLE]:
            ends = (found.end() for found in re.finditer(border, one))
            prefix = next((one[:end] for end in ends if one[end:] in whole), None)
            if prefix:
                return prefix
    return None


def _numbers_on_one_side(ours: Sequence[str], theirs: Sequence[str]) -> str | None:
    numeric = [
        all(re.fullmatch(r"[+-]?\d+(\.\d+)?", one) for one in side) for side in (ours, theirs)
    ]
    return None if numeric[0] == numeric[1] else "run" if numeric[0] else "ground truth"


def _chunks_on_one_side(ours: Sequence[str], theirs: Sequence[str]) -> str | None:
    for chunks, documents, side in ((ours, theirs, "run"), (theirs, ours, "ground truth")):
        whole = set(documents)
        begun = (
            one[: sign.start()]
            for one in chunks[:_SAMPLE]
            for sign in re.finditer(r"[^A-Za-z0-9]", one)
        )
        if any(one in whole for one in begun if one):
            return side
    return None


_DIFFERENCES = (
    _Difference("upper and lower case", _equal_after(str.casefold), "case"),
    _Difference("white space", _equal_after(lambda text: re.sub(r"\s+", "", text))),
    _Difference(
        "characters that cannot be seen, or in the form of their Unicode", _equal_after(normalise)
    ),
    _Difference(
        "a trailing '.0' (whole numbers that became decimals on the way)",
        _equal_after(ID_RULES["decimal"]),
        "decimal",
    ),
    _Difference(
        "leading zeros", _equal_after(lambda text: re.sub(r"(?<![\d.])0+(?=\d)", "", text))
    ),
    _Difference("type: quoted on one side", _equal_after(lambda text: text.strip("'\""))),
    _Difference("a slash at the end", _equal_after(ID_RULES["slash"]), "slash"),
    *(
        _Difference(f"the {what} of an address", _equal_after(IdMap((), rules).of), ",".join(rules))
        for what, rules in (
            ("scheme", ("scheme",)),
            ("scheme, and the slash at the end,", ("scheme", "slash")),
            ("query string", ("query",)),
            ("query string, and the slash at the end,", ("query", "slash")),
        )
    ),
    _Difference("slashes and backslashes", _equal_after(lambda text: text.replace("\\", "/"))),
    _Difference("the extension of a file name", _equal_after(without_extension), "extension"),
    _Difference(
        "the extension of a file name, and in upper and lower case",
        _equal_after(lambda text: without_extension(text).casefold()),
        "extension,case",
    ),
    _Difference("the prefix {}", _prefix_of_one(), "prefix={}"),
    _Difference("the folders of a path", _equal_after(ID_RULES["basename"]), "basename"),
    _Difference(
        "the prefix {} and in the extension of a file name",
        _prefix_of_one(without_extension),
        "prefix={},extension",
    ),
    _Difference(
        "The ids of the {} are all numbers and those of the other side are not: one of them may be "
        "a row number or come from another corpus.",
        _numbers_on_one_side,
        is_rule=False,
    ),
    _Difference(
        "The ids of the {} look like chunk ids and the other side's like document ids; use the "
        "same level in both.",
        _chunks_on_one_side,
        is_rule=False,
    ),
)
"""How ids with nothing in common may differ, the most certain first: all advice about ids is from
here. A new one is one entry."""
