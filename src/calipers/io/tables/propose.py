"""Propose a mapping of columns: found from profiles, tried on the head of the file, then shown.

Whoever reads raises ``Unclear`` with the mappings that may settle it. Each is read as if the user
had said it; what asks further questions is extended by their answers, and what cannot be read is
never shown. A line comes with a look at what it would mean, so that a mapping that exchanges
results and targets is seen.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from calipers.errors import LOOK, CalipersError, InvalidInput, Unclear, is_command_line
from calipers.io.files.probe import Probe
from calipers.io.tables.columns import (
    GRADES,
    IDENTITIES,
    IGNORE,
    IGNORED,
    TWO_LINES,
    Columns,
    Pairs,
    numbered_groups,
    renaming,
    say,
)
from calipers.io.tables.grades import grades_of_words
from calipers.io.tables.profile import Profile, Profiles
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset, Role
from calipers.model.run import Run
from calipers.names import (
    HARMLESS,
    LAST_STAGE,
    NO_GRADES,
    WANTED_WORDS,
    is_distance,
    possible_meaning,
)

Read = Callable[[Probe, Role], Dataset]
"""What reads a file, in whatever form it is."""
MOST_TRIALS = 40
"""Mappings that are tried before nothing is proposed."""
MOST_SHOWN = 3
_DEEPEST = 5
"""Pairs of one mapping beyond which no further question is answered by trial."""
_IDS = frozenset({"id", "ids", "nr", "no", "number", "nummer"})
"""Words of names whose numbers may be ids."""
_OWN = frozenset({"id", "_id", "tags", "latency_ms", "error", "stages"})
"""Fields of our records that are no part of them."""
_LOOKED_BESIDE = 10_000
"""Results of the file beside that are compared."""
_LOOKED_AT = 3
"""Ids that are shown of the targets and of the results of a query."""


@dataclass(frozen=True)
class Offer:
    """A mapping that could be read, and what it gives."""

    pairs: Pairs
    dataset: Dataset

    @property
    def line(self) -> str:
        """The mapping as it is typed."""
        return say(*self.pairs)


def settled(unclear: Unclear, probe: Probe, role: Role, read: Read) -> InvalidInput:
    """The error for unclear data: the lines that could be read, each with what it means."""
    offers = tried(unclear, probe, role, read)
    if not offers:
        return InvalidInput(str(unclear))
    if len(offers) > 1:
        return InvalidInput(f"Say which is meant: {unclear.why}.{looks_at(offers)}")
    sentence = _with_settings(f"Say {offers[0].line}; {unclear.why}.", *offers[0].pairs)
    return InvalidInput(sentence + looks_at(offers))


def _with_settings(sentence: str, *pairs: tuple[str, str]) -> str:
    """The sentence, and the same mapping for the settings file where two lines have room."""
    if not is_command_line():
        return sentence
    more = f" Or in the settings: {in_settings(*pairs)}."
    return sentence + more if len(sentence) + len(more) <= TWO_LINES else sentence


def in_settings(*pairs: tuple[str, str]) -> str:
    """The same for the settings file.

    >>> in_settings(("grade", "OK?"), ("ignore", "author"))
    '[columns] grade = "OK?", ignore = ["author"]'
    """
    named = [f'{ours} = "{theirs}"' for ours, theirs in pairs if ours != IGNORE]
    ignored = ", ".join(f'"{theirs}"' for ours, theirs in pairs if ours == IGNORE)
    return "[columns] " + ", ".join(
        [*named, *([f"ignore = [{ignored}]"] if ignored else [])]
    )


def proposed(unclear: Unclear, probe: Probe, role: Role, read: Read) -> str:
    """The lines that could be read, and below them their looks; empty if there is none."""
    offers = tried(unclear, probe, role, read)
    lines = ", or ".join(offer.line for offer in offers)
    return lines + looks_at(offers, named=False) if offers else ""


def tried(unclear: Unclear, probe: Probe, role: Role, read: Read) -> list[Offer]:
    """The mappings with which ``read`` reads the head of a file, the likelier first.

    What is read must have something in common with the file beside it.
    """
    head = probe.head()
    if head is None:
        return []
    waiting: list[Pairs] = list(unclear.options)
    seen: set[frozenset[tuple[str, str]]] = set()
    offers: list[Offer] = []
    near: list[Offer] = []
    for _ in range(MOST_TRIALS):
        if not waiting or len(offers) >= MOST_SHOWN:
            break
        pairs = waiting.pop(0)
        columns = probe.columns_said.with_more(pairs)
        if columns is None or frozenset(pairs) in seen:
            continue
        seen.add(frozenset(pairs))
        try:
            dataset = read(head.saying(columns), role)
            if not _is_whole(dataset, role) or _is_known(dataset, offers):
                continue
            common = _in_common(dataset, columns, role)
            if common == "nothing":
                waiting += _with_names_beside(pairs, probe, columns)
            else:
                (near if common == "nearly" else offers).append(Offer(pairs, dataset))
        except Unclear as further:
            if len(pairs) < _DEEPEST:
                # What is asked next is answered at once, so that one line is enough.
                answers = [(*pairs, *_new(more, pairs)) for more in further.options]
                waiting[:0] = [answer for answer in answers if len(answer) > len(pairs)]
        except CalipersError:
            continue
    # Ids that nearly meet are asked about once the columns are known.
    return offers or near[:1]


def _new(more: Pairs, pairs: Pairs) -> Pairs:
    """The pairs that are not among those said already."""
    return tuple(pair for pair in more if pair not in pairs)


def _is_whole(dataset: Dataset, role: Role) -> bool:
    """Whether a trial gave what the role asks for, and its two parts have something in common."""
    truth = dataset.ground_truth
    run = dataset.run
    if (truth is None and role != "run") or (run is None and role != "ground_truth"):
        return False
    return run is None or bool(run.frame.height) or run.queries is not None


Common = Literal["something", "nearly", "nothing"]


def _in_common(dataset: Dataset, columns: Columns, role: Role) -> Common:
    """Whether targets and results meet, in a trial or with the file beside it."""
    truth = dataset.ground_truth
    run = dataset.run
    if role != "both":
        if role not in columns.beside:
            return "something"
        fresh = columns.fresh()
        try:
            other = columns.beside[role](fresh)
        except CalipersError:
            return "something"  # it is read, and refused, by itself
        finally:
            columns.seen.update(fresh.seen)
        truth = truth if role == "ground_truth" else other.ground_truth
        run = run if role == "run" else other.run
    first = None if run is None else next(iter(run.scan()), None)
    if truth is None or first is None or not first.height:
        return "something"
    asked = first["query"].head(_LOOKED_BESIDE).implode()
    queries = truth.queries
    known = queries["query"].is_in(asked) | queries["text"].is_in(asked).fill_null(False)
    return _meet(truth, first) if known.any() else "nothing"


def _with_names_beside(pairs: Pairs, probe: Probe, columns: Columns) -> list[Pairs]:
    """The pairs with a second name for the item, as it is called in the file beside."""
    named = dict(pairs)
    if "item" not in named:
        return []
    own = frozenset().union(*probe.row_keys.values())
    beside = [
        name for names in columns.seen.values() for name in names if name not in own
    ]
    return [
        tuple(
            (ours, f"{theirs},{name}" if ours == "item" else theirs)
            for ours, theirs in pairs
        )
        for name in dict.fromkeys(beside)
        if "," not in name and renaming([name]).get(name) in (None, "document")
    ]


def _meet(truth: GroundTruth, results: pl.DataFrame) -> Common:
    """Whether targets and results have an id in common; quotes need texts to stand in."""
    targets = truth.targets["item"].drop_nulls().unique()
    if not len(targets):
        return (
            "something"
            if "text" in results.columns or "quote" not in truth.kinds
            else "nothing"
        )
    if "item" not in results.columns:
        return "nothing"
    items = results["item"].drop_nulls().head(_LOOKED_BESIDE).unique()
    if targets.is_in(items.implode()).any():
        return "something"
    from calipers.match.near_ids import likely_map

    some = likely_map(targets.head(200).to_list(), items.head(200).to_list())
    return "nothing" if some is None else "nearly"


def _is_known(dataset: Dataset, offers: list[Offer]) -> bool:
    """Whether another mapping means the same."""
    return any(_meaning(dataset) == _meaning(offer.dataset) for offer in offers)


def _meaning(dataset: Dataset) -> tuple[str, str]:
    truth = dataset.ground_truth
    run = dataset.run
    return (
        "" if truth is None else truth.fingerprint,
        "" if run is None else str(run.frame.select(_named(run.frame)).rows()),
    )


def _named(frame: pl.DataFrame) -> list[str]:
    """The columns that say what was returned, in which order."""
    return [
        name for name in ("query", "item", "text", "document") if name in frame.columns
    ]


def looks_at(offers: Sequence[Offer], *, named: bool = True) -> str:
    """What each mapping would mean for one query, a line each; ``named``, with the mapping.

    Where several mappings are offered it is a query for which they differ.
    """
    queries = _queries(offers[0].dataset)
    rows = [[_look(offer.dataset, query) for query in queries] for offer in offers]
    chosen = next(
        (n for n in range(len(queries)) if len({row[n] for row in rows}) == len(rows)),
        0,
    )
    looks = [row[chosen] if row else "" for row in rows]
    if len(offers) == 1 or not named:
        return "".join(f"{LOOK}{look}" for look in looks if look)
    lines = [offer.line for offer in offers]
    width = max(map(len, lines))
    shown = zip(lines, looks, strict=True)
    return "".join(f"{LOOK}{line:{width}}   {look}".rstrip() for line, look in shown)


def look_at(dataset: Dataset) -> str:
    """What was read, for its first query that says something; empty if none does."""
    looks = (_look(dataset, query) for query in _queries(dataset))
    return next(filter(None, looks), "")


def _queries(dataset: Dataset) -> list[str]:
    """The first queries of a dataset."""
    truth = dataset.ground_truth
    run = dataset.run
    if truth is not None:
        return truth.queries["query"].head(20).to_list()
    return (
        []
        if run is None
        else run.frame["query"].unique(maintain_order=True).head(20).to_list()
    )


def _look(dataset: Dataset, query: str) -> str:
    """What a query should find and what it returned: ``q1 "How …": should find a; returned b``."""
    own = _queries(dataset)
    query = query if query in own or not own else own[0]
    parts = []
    if dataset.ground_truth is not None:
        wanted = _wanted(dataset.ground_truth, query)
        parts.append(
            f"should find {_listed(wanted)}" if wanted else "should find nothing"
        )
    if dataset.run is not None:
        returned = _returned(dataset.run, query)
        parts.append(f"returned {_listed(returned)}" if returned else "returned nothing")
    return f"{_called(dataset.ground_truth, query)}: {'; '.join(parts)}"


def _called(truth: GroundTruth | None, query: str) -> str:
    """The name of a query, and its text where that is another."""
    texts: Iterable[str | None] = (
        [] if truth is None else truth.queries.filter(pl.col("query") == query)["text"]
    )
    text = next((text for text in texts if text and text != query), None)
    if text is None:
        return _short(query, quoted=" " in query or query.endswith("?"))
    return f"{_short(query)} {_short(text, quoted=True)}"


def _wanted(truth: GroundTruth, query: str) -> list[str]:
    rows = truth.targets.filter((pl.col("query") == query) & (pl.col("grade") > 0))
    named = ("item", "quote", "document")
    graded = not (rows["grade"] == 1).all()
    shown = []
    for row in rows.iter_rows(named=True):
        called = next((str(row[name]) for name in named if row[name] is not None), "")
        shown.append(f"{called} ({row['grade']:g})" if graded else called)
    return shown


def _returned(run: Run, query: str) -> list[str]:
    rows = run.frame.filter(pl.col("query") == query)
    named = [name for name in ("item", "text", "document") if name in rows.columns]
    return [
        next((str(row[name]) for name in named if row[name] is not None), "")
        for row in rows.iter_rows(named=True)
    ]


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(
        _short(value, quoted=len(value.split()) > 2) for value in values[:_LOOKED_AT]
    )
    return f"{shown}, …" if len(values) > _LOOKED_AT else shown


def _short(text: str, *, quoted: bool = False) -> str:
    """A text on one line, cut after a few words."""
    line = " ".join(text.split())
    cut = f"{line[:29].rstrip()}…" if len(line) > 30 else line
    return f'"{cut}"' if quoted else cut


# --- candidates: which columns may be meant, by their profiles -----------------------------------


def nothing_fits(name: str, profiles: Profiles, lacking: str, role: Role) -> Unclear:
    """The error for a table without a column for the query or the item."""
    listed = ", ".join(_columns(profiles)) or "no name"
    usual = (
        "question or query_id"
        if lacking == "query"
        else "chunk_id (ids) or quote (texts)"
    )
    return Unclear(
        f"{name} has no column for the {lacking}; found {listed:.60}",
        *mappings(profiles, {lacking}, role),
        otherwise=f"Add a column {usual}, or give another file",
    )


def missing_part(
    profiles: Profiles, role: Role, *, has_truth: bool, has_results: bool
) -> tuple[Pairs, ...]:
    """The mappings that may give a part that is lacking for a role."""
    lacking = {"ground_truth"} if not has_truth and role != "run" else set[str]()
    if not has_results and role != "ground_truth":
        lacking.add("retrieved")
    return tuple(mappings(profiles, lacking, role))


def mappings(profiles: Profiles, lacking: set[str], role: Role) -> Iterator[Pairs]:
    """Mappings of columns of unknown name to the fields that are lacking, the likelier first."""
    known = {*renaming(_columns(profiles)).values()}
    free = _free(profiles, lacking)
    unknown = {one.name for one in free}
    every = numbered_groups(_columns(profiles)).values()
    in_groups = {name for group in every for name in group}
    numbered = [group for group in every if unknown.issuperset(group)]
    single = [one for one in free if one.name not in in_groups]
    starts: list[Pairs] = [()]
    if "query" in lacking:
        starts = [(("query", question.name),) for question in _questions(single)]
    whole = bool(lacking & {"query", "item"})
    for start in starts:
        used = {theirs for _, theirs in start}
        rest = [one for one in single if one.name not in used]
        groups = [",".join(group) for group in numbered]
        if whole and not known & {*IDENTITIES}:
            yield from _with_targets(start, rest, groups, role, known)
        elif "query" in lacking:
            yield from _with_lists(start, rest, groups, role, known)
        else:
            yield from _with_part(lacking, rest, groups, known, profiles)


def _with_targets(
    start: Pairs, rest: list[Profile], groups: list[str], role: Role, known: set[str]
) -> Iterator[Pairs]:
    """A start with targets or results, and both where the role asks for both."""
    if "query_text" not in known and "query" in known:
        # A question beside its id: results may name it by its text.
        for asked in [one for one in rest if one.asks][:1]:
            others = [one for one in rest if one is not asked]
            with_text: Pairs = (*start, ("query_text", asked.name))
            yield from _with_targets(
                with_text, others, groups, role, {*known, "query_text"}
            )
    items = [*groups, *(item.name for item in _items(rest))]
    by_name = {one.name: one for one in rest}
    for item in items:
        field = "item"
        if item in by_name and by_name[item].kind == "texts":
            field = "text" if role == "run" else "quote"
        ids = by_name[item].ids if item in by_name else frozenset[str]()
        mapping: Pairs = (*start, (field, item))
        others = [one for one in rest if one.name != item]
        if role == "run":
            yield from _in_order(mapping, others, known)
            continue
        if role == "both":
            wide = [
                returned_list
                for returned_list in _returned_lists(others)
                if not ids or ids & returned_list.ids
            ]
            yield from ((*mapping, ("retrieved", one.name)) for one in wide)
            yield from (
                (*mapping, ("retrieved", group)) for group in groups if group != item
            )
            for judged in _judging(others):
                left = [other for other in others if other is not judged]
                yield from _in_order((*mapping, ("grade", judged.name)), left, known)
            continue
        graded = [(*mapping, ("grade", one.name)) for one in _judging(others)]
        yield from (*graded, mapping)


def _with_lists(
    start: Pairs, rest: list[Profile], groups: list[str], role: Role, known: set[str]
) -> Iterator[Pairs]:
    """A start for a table whose targets or results have a known name."""
    if role == "both" and "retrieved" not in known:
        yield from (
            (*start, ("retrieved", returned_list.name))
            for returned_list in _returned_lists(rest)
        )
        yield from ((*start, ("retrieved", group)) for group in groups)
    if role == "both" and "retrieved" in known and not known & {"item", "quote"}:
        yield from ((*start, ("item", item.name)) for item in _items(rest))
    if role != "run" and "grade" not in known and "retrieved" not in known:
        yield from ((*start, ("grade", one.name)) for one in _judging(rest))
    yield start


def _with_part(
    lacking: set[str],
    rest: list[Profile],
    groups: list[str],
    known: set[str],
    every: Profiles,
) -> Iterator[Pairs]:
    """The part that is lacking: a list, or what judges or orders the rows."""
    targets = [*_target_columns(rest, groups)] if "ground_truth" in lacking else []
    results = [*_result_columns(rest, groups)] if "retrieved" in lacking else []
    if "ground_truth" not in lacking:
        yield from ((pair,) for pair in results)
        if "grade" in known:
            yield from _in_order((), rest, known)
        return
    if "retrieved" in lacking and "item" in known:
        yield from judged_rows(rest, known)
        return
    if "retrieved" in lacking:
        both = ((a, b) for a in targets for b in results if a[1] != b[1])
        yield from sorted(
            both, key=lambda pair: _count(every, pair[0]) > _count(every, pair[1])
        )
        return
    if "retrieved" not in known:
        # One result in each row: what judges it stands beside it.
        yield from ((("grade", one.name),) for one in _judging(rest))
    yield from ((pair,) for pair in targets)


def judged_rows(rest: list[Profile], known: set[str]) -> Iterator[Pairs]:
    """A column that judges the rows and one that orders them."""
    for judging in _judging(rest):
        others = [one for one in rest if one is not judging]
        yield from _in_order((("grade", judging.name),), others, known)


def _count(profiles: Profiles, pair: tuple[str, str]) -> int:
    """How many ids a column holds; targets are fewer than results."""
    return sum(profiles[name].count for name in pair[1].split(",") if name in profiles)


def _target_columns(rest: list[Profile], groups: list[str]) -> Iterator[tuple[str, str]]:
    """The columns that may list targets."""
    for item in _items(rest):
        yield ("quote" if item.kind == "texts" else "ground_truth", item.name)
    yield from (("ground_truth", group) for group in groups)


def _result_columns(rest: list[Profile], groups: list[str]) -> Iterator[tuple[str, str]]:
    """The columns that may list results."""
    yield from (
        ("retrieved", returned_list.name) for returned_list in _returned_lists(rest)
    )
    yield from (("retrieved", group) for group in groups)


def _in_order(mapping: Pairs, rest: list[Profile], known: set[str]) -> Iterator[Pairs]:
    """A mapping with what may order the results; without, the rows are in order."""
    if known & {"score", "rank", "retrieved"}:
        yield mapping
        return
    for one in (one for one in rest if one.may_order):
        yield from ((*mapping, pair) for (pair,) in orders(one))
    yield mapping


def orders(profile: Profile) -> list[Pairs]:
    """What a column of numbers may be to results, the likelier first."""
    called = profile.name
    by_score: list[Pairs] = [(("score", called),), (("distance", called),)]
    if is_distance(called):
        by_score.reverse()
    if not profile.may_rank:
        return by_score
    return [(("rank", called),), *by_score]


def _questions(free: list[Profile]) -> list[Profile]:
    """The columns that may be the question, the likelier first."""

    def unlikely(profile: Profile) -> tuple[bool, bool, bool]:
        return (
            possible_meaning(profile.name) != "query",
            not profile.asks,
            profile.kind != "texts",
        )

    may = [one for one in free if one.kind in ("texts", "words", "places", "numbers")]
    return sorted(
        (one for one in may if one.different > 1 or len(one.cells) == 1), key=unlikely
    )[:4]


def _items(rest: list[Profile]) -> list[Profile]:
    """The columns that may be targets or single results, the likelier first."""

    def unlikely(profile: Profile) -> tuple[bool, bool, bool, bool, bool, int]:
        meant = possible_meaning(profile.name)
        return (
            not profile.words & WANTED_WORDS,
            meant not in ("item", "quote"),
            bool(profile.words & HARMLESS),
            profile.kind == "texts",
            profile.kind == "numbers",
            # There are fewer targets than results.
            profile.count,
        )

    may = [
        one
        for one in rest
        if one.kind not in ("nothing", "judgements", "dates", "objects")
    ]
    may = [
        one for one in may if one.kind != "numbers" or not one.words & NO_GRADES - _IDS
    ]
    return sorted(may, key=unlikely)[:6]


def _returned_lists(rest: list[Profile]) -> list[Profile]:
    """The columns that may list results, the likelier first."""

    def unlikely(profile: Profile) -> tuple[bool, bool, int]:
        hinted = possible_meaning(profile.name) == "retrieved"
        return not profile.words & LAST_STAGE, not hinted, -profile.count

    may = [one for one in rest if one.kind in ("lists", "words", "places", "numbers")]
    return sorted(may, key=unlikely)[:4]


def _judging(rest: list[Profile]) -> list[Profile]:
    """The columns that may judge, the likelier first."""
    may = [one for one in rest if one.may_grade or (one.may_tell_apart and one.varies)]
    return sorted(may, key=unlikely_to_judge)[:3]


def unlikely_to_judge(profile: Profile) -> tuple[bool, bool, bool, int]:
    """Sorts columns that may judge: by a word of judgement, and few values that count nothing."""
    counts = profile.different > 2 and profile.may_rank
    return (
        not profile.judges_by_name,
        profile.kind != "judgements",
        counts,
        profile.different,
    )


def as_cell(value: Any) -> str:
    """A value of a record as it would stand in a cell."""
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def profiles_of_records(records: Sequence[Mapping[str, Any]]) -> Profiles:
    """The profiles of the fields of records."""
    names = [*dict.fromkeys(str(key) for record in records for key in record)]
    cells = {name: [as_cell(record.get(name)) for record in records] for name in names}
    return Profiles(pl.DataFrame(cells, schema=dict.fromkeys(names, pl.String())))


def _columns(profiles: Iterable[str]) -> list[str]:
    return [
        profile
        for profile in profiles
        if profile.strip() and not profile.endswith(IGNORED)
    ]


def _free(profiles: Profiles, lacking: set[str]) -> list[Profile]:
    """The columns of unknown name, but for those of our own records."""
    listed = _columns(profiles)
    own = _OWN - {"id", "_id"} if "item" in lacking else _OWN
    known = {*renaming(listed), *own}
    return [
        profiles[one]
        for one in listed
        if one not in known and not one.startswith(("tag.", "__"))
    ]


def words_to_grade(column: str, cells: Iterable[str]) -> tuple[Pairs, ...]:
    """The mappings for words in a column of grades: a grade for each, or none at all."""
    grades = grades_of_words(cells)
    by_word: tuple[Pairs, ...] = () if grades is None else (((GRADES, grades),),)
    return (*by_word, ((IGNORE, column),))
