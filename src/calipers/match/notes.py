"""Notes about how two sides were matched, and the error where they have nothing in common."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import cast

import numpy as np
import polars as pl

from calipers.errors import NoCommonIds
from calipers.match.id_hashes import Named, none_alike
from calipers.match.near_ids import (
    can_map,
    likely_map,
    likely_maps,
    map_option,
    near_ids,
)
from calipers.model.arrays import Ints, as_series
from calipers.model.fact import Fact, named, sentence
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import EXAMPLES, FAILED, MISSING, Matches, Tally, with_status
from calipers.model.matching import IdMap, Kind
from calipers.model.run import SAMPLE, FirstResults, Run
from calipers.shell import join_words
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
    truth: GroundTruth,
    matches: Matches,
    some: FirstResults | None,
    column: str | None,
    said: str | None = None,
) -> list[str]:
    """A note where a missed target is named nearly like a result of its query.

    ``some`` are the first results; ``column`` has their names, None where there are none. ``said``
    is the map of ids that both sides have gone through. The map that is proposed was tried.
    """
    if some is None or column is None or column not in some.columns:
        return []
    rows = _missed(truth, matches)
    if not rows.size:
        return []
    queries, names = some.lists("query", column)
    number = {query: at for at, query in enumerate(dict.fromkeys(queries))}
    missed = _missed_of(truth, rows, number, column)
    came = _numbered(queries, names, number)
    if none_alike(missed, came):
        return []
    wanted = missed.ids()
    returned = came.ids()
    near = near_ids(wanted, returned)
    if not near:
        return []
    every = truth.targets[column].drop_nulls().unique().to_list()
    distinct = list(dict.fromkeys(came.name))
    usable = (row for row in near if can_map(every, distinct, row.how))
    chosen = next(usable, None)
    shown = near[0] if chosen is None else chosen
    target = shown.target
    result = shown.result
    pairs = wanted.name[int(target[0])], returned.name[int(result[0])]
    # Only the first results were compared, so there may be more.
    at_least = "At least " if len(queries) >= SAMPLE else ""
    return [
        sentence(
            f"{at_least}{{it.count:target|targets}} not found, and a result of the "
            "same query is called nearly so: {result.text} for {target.text}. {how.text}",
            it=Fact(about="count", count=target.size, text="near ids"),
            result=named(f"{pairs[1]!r:.60}"),
            target=named(f"{pairs[0]!r:.60}"),
            how=named(differ_in(shown.how, said, mapped=chosen is not None)),
        )
    ]


def _numbered(
    queries: Sequence[str], names: Sequence[str | None], number: Mapping[str, int]
) -> Named:
    """Names, each with the number of its query; those without a name are left out."""
    by_query = list(map(number.__getitem__, queries))
    if all(names):
        return Named(by_query, cast(list[str], names))
    known = [at for at, name in enumerate(names) if name]
    return Named([by_query[at] for at in known], [cast(str, names[at]) for at in known])


def _missed_of(
    truth: GroundTruth, rows: Ints, number: Mapping[str, int], column: str
) -> Named:
    """The names of these missed targets, as far as they belong to the numbered queries."""
    # Few queries are in the sample, so few of the targets are compared.
    if truth.is_listed and column == "item":
        names = truth.names
        seen = np.array([name in number for name in names], dtype=np.bool_)
        rows = rows[seen[truth.target_query[rows]]]
        queries = [names[code] for code in truth.target_query[rows].tolist()]
        return _numbered(queries, [truth.ids[row] for row in rows.tolist()], number)
    seen = truth.queries["query"].is_in(list(number)).to_numpy()
    rows = rows[seen[truth.target_query[rows]]]
    targets = truth.targets[as_series(rows)]
    return _numbered(targets["query"].to_list(), targets[column].to_list(), number)


def nearly_asked(truth: GroundTruth, tally: Tally) -> list[str]:
    """A note where unknown queries of the run are named nearly like those that it lacks."""
    if not tally.unknown_examples:
        return []
    lacking = (
        truth.queries["query"].filter(with_status(tally.status, MISSING)).head(SAMPLE)
    )
    rule = likely_rule(tally.unknown_examples, lacking.to_list(), mapped=False)
    if rule is None:
        return []
    return [
        sentence(
            "Some queries seem to be named in two ways, so they count as missing. {rule.text}",
            rule=named(rule),
        )
    ]


def may_be_swapped(truth: GroundTruth, some: FirstResults | None) -> list[str]:
    """A note where grades look like scores, and the run has no scores or some like grades."""
    grades = truth.grades[:SAMPLE]
    if some is None or not grades.size:
        return []
    broken = np.count_nonzero(grades != np.rint(grades))
    # Grades that are means of several judges are fractions too, but few distinct ones.
    if broken <= grades.size / 2 or len({*grades.tolist()}) <= grades.size / 2:
        return []
    scores = some.frame.get_column("score", default=pl.Series([], dtype=pl.Float64)).head(
        SAMPLE
    )
    scores = scores.drop_nulls()
    if not (scores.is_between(0, 5) & (scores == scores.round(0))).all():
        return []
    look = f"scores like grades ({scores[0]:g})" if len(scores) else "no scores"
    return [
        sentence(
            "The grades look like scores ({grade.text}) and the run has {look.text}: check that "
            "run and ground truth are not exchanged.",
            grade=named(f"{grades[0]:g}"),
            look=named(look),
        )
    ]


def made_queries(truth: GroundTruth) -> pl.Series | None:
    """Which queries `init FOLDER` made from documents; None where no query can be."""
    if "source" not in truth.tags:
        return None
    # Few sets have such a tag, so most commands never load this.
    from calipers.model.labels import MACHINE, MADE_FROM, MADE_TAGS

    if not all(name in truth.tags for name in MADE_TAGS):
        return None
    source, *places = (truth.tags[name].cast(pl.String) for name in MADE_TAGS)
    is_made = source.is_in(MADE_FROM) | source.str.starts_with(MACHINE)
    for place in places:
        is_made &= place.is_not_null()
    return is_made.fill_null(value=False)


def made_from_documents(truth: GroundTruth) -> list[str]:
    """A note where most questions were made from documents: their number is a smoke test."""
    is_made = made_queries(truth)
    if is_made is None:
        return []
    from calipers.model.labels import MACHINE

    source = truth.tags["source"].cast(pl.String)
    is_models = source.str.starts_with(MACHINE)
    made = int(is_made.sum())
    if not made or 2 * made <= len(source):
        return []
    if made < len(source):
        return [
            sentence(
                "A smoke test: {it.count} of {it.of} questions were made from documents.",
                it=Fact(about="count", count=made, of=len(source), text="made"),
            )
        ]
    if is_models.any():
        return [
            "A smoke test: a model wrote these questions from the documents (calipers init)."
        ]
    return [
        "A smoke test: these questions were made from the documents' own words (calipers init)."
    ]


MOST = 100_000
"""How many distinct ids of a run are compared with the ground truth to find the reason."""
_SAMPLE = 200
"""How many ids of one side are searched for ids of the other at their beginning."""


def check_in_common(
    kind: Kind,
    ground_truth: GroundTruth,
    run: Run,
    tally: Tally,
    said: str | None = None,
) -> None:
    """Refuse a run with nothing in common with the ground truth, instead of scoring 0 everywhere.

    Targets of other queries count as ids in common, and so do documents where targets are spans:
    then the names are right, and the retriever found nothing. ``said`` is the map of ids that both
    sides have gone through.
    """
    if not ground_truth.targets.height or not tally.sample_queries:
        return
    # The results of a query that failed do not count, and yet they came.
    if not tally.retrieved.any() and not with_status(tally.status, FAILED).any():
        raise _other_queries(ground_truth, list(tally.sample_queries))
    if kind == "quote":
        _check_common_texts(ground_truth, run)
    elif kind == "span":
        _check_common_names("document", "document", ground_truth, run, said)
    else:
        _check_common_names("item", "item id", ground_truth, run, said)


def _check_common_texts(ground_truth: GroundTruth, run: Run) -> None:
    """Refuse quotes where no result of any query holds a part of any.

    Results from a document of the ground truth are enough, where both sides name documents.
    """
    # Imported here: only needed where nothing was found at all.
    from calipers.match.locate import SeedFinder

    documents = ground_truth.targets["document"].drop_nulls()
    quotes = ground_truth.targets["quote"].to_list()
    columns = [name for frame in islice(run.scan(), 1) for name in frame.columns]
    # They were taken as texts because no result has such an id, and yet may look like ids.
    like_ids = not any(character.isspace() for quote in quotes for character in quote)
    whole = like_ids and "item" in columns
    parts = SeedFinder(
        tuple({part: None for quote in quotes for part in _parts(quote, whole)})
    )
    ours: dict[str, None] = {}
    for frame in run.scan():
        there = frame["text"].drop_nulls().unique(maintain_order=True)
        held = parts.find([normalise(text) for text in there])
        if _shares(frame, "document", documents) or next(held, None) is not None:
            return
        _collect(ours, frame["item"] if whole else there)
    if like_ids and not whole:
        raise without_ids(columns, quotes)
    if whole:
        raise _error("id", ours, quotes, likely_reason(list(ours), quotes))
    if (ids := _ids_of(run, columns)) and likely_maps(ids[:_SAMPLE], quotes[:_SAMPLE]):
        # Taken as texts, and yet they are nearly the ids beside the texts.
        raise _error("id", ids, quotes, likely_reason(ids, quotes))
    reason = _OTHER_TEXTS
    if _differ_in_case(ours, quotes):
        reason += _IN_ANY_CASE
    raise _error("text", ours, quotes, reason)


def _ids_of(run: Run, columns: Collection[str]) -> list[str]:
    """The ids of the first results; none where they have none."""
    if "item" not in columns:
        return []
    frame = next(iter(run.scan()))
    return frame["item"].drop_nulls().head(MOST).unique(maintain_order=True).to_list()


def _differ_in_case(texts: Iterable[str], quotes: Iterable[str]) -> bool:
    """Whether a quote stands in one of the first texts but for its case."""
    some = [normalise(text, ignore_case=True) for text in islice(texts, _SAMPLE)]
    wanted = [normalise(quote, ignore_case=True) for quote in islice(quotes, _SAMPLE)]
    return any(quote in text for quote in wanted for text in some)


def without_ids(
    columns: Collection[str], wanted: list[str], *, may_be_texts: bool = False
) -> NoCommonIds:
    """The error for results with texts and no ids, and targets that look like ids."""
    read = ", ".join(name for name in columns if name not in ("query", "rank"))
    advice = (
        "Say which key is the id: with --column item=NAME for a file, with --id '$.NAME' where a "
        "retriever is asked (`calipers retrieve`)."
    )
    if may_be_texts:
        advice += " --match quote looks for them inside the texts."
    return NoCommonIds(
        f"The results carry no id, only {read}, and the ground truth has ids such as "
        f"{_show(wanted)}",
        advice,
    )


_OTHER_TEXTS = (
    "No part of a quote stands in a result, of whatever query: check that both sides come from the "
    "same documents."
)
_IN_ANY_CASE = ' --match "quote(case=ignore)" does not look at upper and lower case.'
PART = 16
"""Characters that two texts do not have in common by chance."""


def _parts(quote: str, whole: bool) -> Iterator[str]:
    """Parts of a quote to search for in texts, or the whole of it."""
    text = normalise(quote)
    size = len(text) if whole else min(PART, (len(text) + 1) // 2)
    if size:
        yield from (text[at : at + size] for at in range(0, len(text) - size + 1, size))


def _collect(names: dict[str, None], column: pl.Series) -> None:
    """Add names of a run, up to a limit."""
    if len(names) < MOST:
        names.update(dict.fromkeys(column.drop_nulls().unique(maintain_order=True)))


def _other_queries(ground_truth: GroundTruth, ours: list[str]) -> NoCommonIds:
    theirs = ground_truth.queries["query"].to_list()
    texts = ground_truth.queries["text"].drop_nulls().head(EXAMPLES).to_list()
    reason = likely_reason(ours, theirs, mapped=False)
    if set(ours) & set(texts):
        reason = (
            "The run names queries by their text and the ground truth by an id; use the ids in "
            "both."
        )
    return _error("query id", ours, theirs, reason, of="query")


def _check_common_names(
    column: str, what: str, ground_truth: GroundTruth, run: Run, said: str | None
) -> None:
    """Refuse names with none in common; reads the run again, only where nothing was found."""
    wanted = ground_truth.targets[column].drop_nulls().unique(maintain_order=True)
    ours: dict[str, None] = {}
    for frame in run.scan():
        if _shares(frame, column, wanted):
            return
        _collect(ours, frame[column])
    theirs = wanted.to_list()
    reason = likely_reason(list(ours), theirs, said)
    raise _error(what, ours, theirs, reason, of=column)


def _shares(frame: pl.DataFrame, column: str, wanted: pl.Series) -> bool:
    return column in frame.columns and bool(frame[column].is_in(wanted.implode()).any())


def _error(
    what: str,
    ours: Iterable[str],
    theirs: Iterable[str],
    reason: str,
    of: str = "item",
) -> NoCommonIds:
    return NoCommonIds(
        f"The run and the ground truth have no {what} in common: the run has "
        f"{_show(ours)}; the ground truth has {_show(theirs)}",
        reason,
        of,
    )


def _show(names: Iterable[str]) -> str:
    shown = islice(names, EXAMPLES)
    return ", ".join(repr(one if len(one) <= 60 else one[:57] + "…") for one in shown)


def likely_reason(
    ours: Sequence[str],
    theirs: Sequence[str],
    said: str | None = None,
    *,
    mapped: bool = True,
) -> str:
    """What probably differs between two sets of ids, and what to do.

    ``mapped`` says whether ``--map-ids`` could help, ``said`` what it says already.

    >>> print(likely_reason(["docs/a.md"], ["docs/a"]))
    They differ in the extension of a file name: give --map-ids extension, or write them alike in
    both.
    """
    sides = (("run", ours, theirs), ("ground truth", theirs, ours))
    return (
        likely_rule(ours, theirs, said, mapped=mapped)
        or next((_NUMBERS.format(one) for one, *ids in sides if _are_numbers(*ids)), None)
        or next((_CHUNKS.format(one) for one, *ids in sides if _are_chunks(*ids)), None)
        or "Check that both come from the same corpus and the same way of making ids."
    )


def likely_rule(
    ours: Sequence[str],
    theirs: Sequence[str],
    said: str | None = None,
    *,
    mapped: bool = True,
) -> str | None:
    """The rule that makes some of the ids equal, and what to do; None where there is none.

    >>> likely_rule(["q01", "q02"], ["q1", "q2"], mapped=False)
    'They differ in leading zeros: write them alike in both.'
    """
    how = likely_map(ours, theirs) if mapped else None
    if how is not None:
        return differ_in(how, said)
    untried = next(iter(likely_maps(ours, theirs)), None)
    if untried is not None and mapped and _are_chunks(ours, theirs):
        # Taken off, the numbers of chunks would make several results one.
        return None
    return None if untried is None else differ_in(untried, mapped=False)


def differ_in(how: IdMap, said: str | None = None, *, mapped: bool = True) -> str:
    """In what ids differ that become equal by these rules, and what to do.

    ``said`` is what ``--map-ids`` says already.

    >>> print(differ_in(IdMap(("docs/",), ("extension",))))
    They differ in the prefix 'docs/' and in the extension of a file name: give --map-ids
    prefix=docs/,extension, or write them alike in both.
    """
    rules = [rule for rule in how.rules if rule != "slash" or len(how.rules) == 1]
    words = [f"the prefix {prefix!r}" for prefix in how.prefixes]
    words += [f"the suffix {suffix!r}" for suffix in how.suffixes]
    words += [_WORDS[rule] for rule in rules]
    option = map_option(how.after(said)) if mapped else None
    use = "" if option is None else f"give --map-ids {join_words([option])}, or "
    *before, last = words
    listed = f"{', in '.join(before)} and in {last}" if before else last
    return f"They differ in {listed}: {use}write them alike in both."


def _are_numbers(ids: Sequence[str], others: Sequence[str]) -> bool:
    """Whether all ids of one side alone are numbers."""
    one, other = (
        all(re.fullmatch(r"[+-]?\d+(\.\d+)?", name) for name in s) for s in (ids, others)
    )
    return one and not other


def _are_chunks(ids: Sequence[str], others: Sequence[str]) -> bool:
    """Whether an id begins with one of the other side, up to a sign."""
    whole = set(others) - {""}
    return any(
        one[: sign.start()] in whole
        for one in ids[:_SAMPLE]
        for sign in re.finditer(r"[^A-Za-z0-9]", one)
    )


_WORDS = {
    "width": "white space, in characters that cannot be seen, or in the form of their Unicode",
    "scheme": "the scheme of an address",
    "query": "what stands after '?' or '#'",
    "percent": "'%20' and the like",
    "slash": "a slash at the end",
    "basename": "the folders of a path",
    "extension": "the extension of a file name",
    "decimal": "a trailing '.0' (whole numbers that became decimals on the way)",
    "zeros": "leading zeros",
    "case": "upper and lower case",
    "signs": "signs such as hyphens, slashes and quotation marks",
}
"""What ids differ in that a rule makes equal: all advice about ids is from here."""
_NUMBERS = (
    "The ids of the {} are all numbers and those of the other side are not: one of them may be a "
    "row number or come from another corpus."
)
_CHUNKS = (
    "The ids of the {} look like chunk ids and the other side's like document ids; use the same "
    "level in both."
)
