"""Which columns may be meant by a field that is lacking, by their profiles and names."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import polars as pl

from calipers.errors import Unclear
from calipers.io.tables.cells import looks_like_texts
from calipers.io.tables.columns import GRADES, IGNORE, Pairs
from calipers.io.tables.grades import grades_either_way
from calipers.io.tables.judged_columns import judged_columns, named_together
from calipers.io.tables.likely import (
    likely_items,
    likely_judgements,
    likely_lists,
    likely_questions,
    likely_results,
    likely_targets,
    may_be_ids,
    may_be_result,
    says_no,
)
from calipers.io.tables.profile import FEW, Profile, Profiles
from calipers.io.tables.usual_names import IDENTITIES, IGNORED, numbered_groups, renaming
from calipers.model.matched import Role
from calipers.names import (
    HARMLESS,
    NO_GRADES,
    YES_OR_NO,
    is_distance,
    plain_name,
    says_expected,
)
from calipers.words import first_names

_WEAK = frozenset({"document", "text"})
"""Fields beside which another column may hold the ids."""
_OWN = frozenset({"id", "_id", "tags", "latency_ms", "error", "stages"})
"""Fields of our records that are no part of them."""


def nothing_fits(name: str, profiles: Profiles, lacking: str, role: Role) -> Unclear:
    """The error for a table without a column for the query or the item."""
    listed = first_names(_columns(profiles)) or "no name"
    if lacking == "item" and (items := _matrix(profiles)):
        named = first_names([item.name for item in items])
        return Unclear(
            f"{name} has a column of grades for each of {named}",
            otherwise="Write one row for each question and item, with the columns question, "
            "chunk_id and grade",
        )
    usual = (
        "question or query_id"
        if lacking == "query"
        else "chunk_id (ids) or quote (texts)"
    )
    return Unclear(
        f"{name} has no column for the {lacking}; found {listed}",
        *mappings(profiles, {lacking}, role),
        otherwise=f"Add a column {usual}, or give another file",
    )


_FEWEST_IN_MATRIX = 3
"""Columns from which on grades alone are a matrix of questions and items."""


def _matrix(profiles: Profiles) -> list[Profile]:
    """The columns of a table with one for each item, which grade it for each question."""
    free = _free(profiles, {"item"})
    judging = [one for one in free if one.kind in ("numbers", "judgements")]
    if len(judging) < max(_FEWEST_IN_MATRIX, len(free)):
        return []
    values = {cell for one in judging for cell in one.cells}
    says_no = "0" in values or any(one.kind == "judgements" for one in judging)
    counts = any(one.words & NO_GRADES for one in judging)
    return judging if says_no and len(values) <= FEW and not counts else []


def missing_part(
    profiles: Profiles, role: Role, *, has_truth: bool, has_results: bool
) -> tuple[Pairs, ...]:
    """The mappings that may give a part that is lacking for a role."""
    lacking = {"ground_truth"} if not has_truth and role != "run" else set[str]()
    if not has_results and role != "ground_truth":
        lacking.add("retrieved")
    lists = tuple(mappings(profiles, lacking, role))
    if has_truth or has_results or role == "ground_truth":
        return lists
    # One result or target in each row, which may be called "id".
    listed = (one for one in lists if not _is_one_of_several(one, profiles))
    return (*listed, *mappings(profiles, {"item"}, role))


def _is_one_of_several(pairs: Pairs, profiles: Profiles) -> bool:
    """Whether results are said to be in one column, and each row of a question holds one."""
    theirs = pairs[0][1]
    if len(pairs) > 1 or theirs not in profiles.frame.columns:
        return False
    return profiles[theirs].changes and profiles[theirs].kind != "lists"


def mappings(profiles: Profiles, lacking: set[str], role: Role) -> Iterator[Pairs]:
    """Mappings of columns of unknown name to the fields that are lacking, the likelier first."""
    names = _with_judging(profiles, renaming(_columns(profiles)))
    if "query" in lacking and "item" not in names.values():
        lacking = {*lacking, "item"}
    known = _with_single_results(profiles, names)
    free = _free(profiles, lacking)
    if role == "ground_truth" and "grade" not in known:
        # What is called a score may be the grade, where nothing else is.
        scores = [profiles[theirs] for theirs, ours in names.items() if ours == "score"]
        free += [score for score in scores if score.is_scale]
    if "item" in lacking:
        free += [profiles[theirs] for theirs, ours in names.items() if ours == "document"]
    unknown = {one.name for one in free}
    every = [
        group
        for group in numbered_groups(_columns(profiles)).values()
        # Columns with a list each are rankings of their own: stage1, stage2.
        if not all(profiles[name].kind == "lists" for name in group)
    ]
    in_groups = {name for group in every for name in group}
    numbered = [group for group in every if unknown.issuperset(group)]
    single = [one for one in free if one.name not in in_groups]
    numbered = [group for group in numbered if _may_hold_ids(group, profiles)]
    # A list is no single result, and columns that were merged into one have no name to say.
    single_names = {
        theirs: ours
        for theirs, ours in names.items()
        if ours != "retrieved" or profiles[theirs].kind != "lists"
    }
    starts: list[Pairs] = [()]
    if "query" in lacking:
        starts = [(("query", question.name),) for question in likely_questions(single)]
        if judged_columns(profiles.frame) is not None:
            yield from starts
        elif judged := judged_columns(profiles.frame, by_name=False):
            results = named_together(judged.results, _columns(profiles))
            grades = named_together(judged.judgements, _columns(profiles))
            both: Pairs = (("retrieved", results), ("grade", grades))
            yield from ((*start, *both) for start in starts)
    whole = bool(lacking & {"query", "item"})
    for start in starts:
        used = {theirs for _, theirs in start}
        within = Profiles(profiles.frame, start[0][1]) if start else profiles
        rest = [within[one.name] for one in single if one.name not in used]
        groups = [",".join(group) for group in numbered]
        yield from _beside_known(start, within, rest, single_names, known, role)
        if whole and not known & {*IDENTITIES} - _WEAK:
            yield from _with_targets(start, rest, groups, role, known)
            if known & _WEAK:
                yield from _with_lists(start, rest, groups, role, known)
        elif "query" in lacking:
            yield from _with_lists(start, rest, groups, role, known)
        else:
            yield from _with_part(lacking, rest, groups, known, profiles)


def _beside_known(
    start: Pairs,
    profiles: Profiles,
    rest: list[Profile],
    names: Mapping[str, str],
    known: set[str],
    role: Role,
) -> Iterator[Pairs]:
    """A start with the column that is called expected, beside ids of a usual name: results."""
    item = next((theirs for theirs, ours in names.items() if ours == "item"), None)
    if role != "both":
        return
    returned = next(
        (theirs for theirs, ours in names.items() if ours == "retrieved"), None
    )
    if returned is not None and item is None:
        # One result in each row; what should be found stands beside it.
        results = next((one for one in rest if one.name == returned), None)
        for targets in [one for one in likely_items(rest) if says_expected(one.name)][:1]:
            pair: Pairs = (*start, ("item", targets.name), ("retrieved", returned))
            others = [one for one in rest if one not in (targets, results)]
            yield from _in_order(pair, others, known - {"retrieved"})
        return
    if item is None or "retrieved" in known or says_expected(item):
        return
    expected = [one for one in rest if says_expected(one.name)]
    expected = expected or [one for one in rest if _stays_beside(one, profiles[item])]
    for targets in expected[:1]:
        both: Pairs = (*start, ("item", targets.name), ("retrieved", item))
        yield from _in_order(both, [one for one in rest if one is not targets], known)


def _stays_beside(targets: Profile, results: Profile) -> bool:
    """Whether a column has the same id in all rows of a question, one of those that change."""
    same = targets.has_several_rows and not targets.varies
    return same and targets.kind in _SINGLE and bool(targets.ids & results.ids)


_SINGLE = ("words", "places", "numbers")


def _with_judging(profiles: Profiles, names: Mapping[str, str]) -> dict[str, str]:
    """The known columns, where ``relevant`` is a grade if it says yes or no."""
    return {
        theirs: "grade"
        if ours == "item"
        and plain_name(theirs) in YES_OR_NO
        and says_no(profiles[theirs])
        else ours
        for theirs, ours in names.items()
    }


def _with_single_results(profiles: Profiles, names: Mapping[str, str]) -> set[str]:
    """The known fields, where results with one in each row are items."""
    known = {*names.values()}
    returned = next((profiles[one] for one in names if names[one] == "retrieved"), None)
    graded = known & {"rank", "score", "grade"} and not known & {"item", "quote"}
    if returned is None or not graded or returned.kind == "lists" or not returned.changes:
        return known
    return {*known - {"retrieved"}, "item"}


_MOST_STEPS = 4
"""Different numbers, 0 among them, that are grades and no ids."""


def _may_hold_ids(group: list[str], profiles: Profiles) -> bool:
    """Whether numbered columns may hold ids: these are no fractions, and no judgements."""
    cells = [profiles[name] for name in group if profiles[name].kind != "nothing"]
    values = {cell for one in cells for cell in one.cells}
    if "0" in values and len(values) <= _MOST_STEPS:
        return False
    return any(
        one.kind not in ("judgements", "dates")
        and (one.kind != "numbers" or one.is_whole)
        for one in cells
    )


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
    if role == "both" and "grade" not in known:
        for targets, results in chain(_beside_each_other(rest), _side_by_side(rest)):
            left = [one for one in rest if one not in (targets, results)]
            both: Pairs = (("item", targets.name), ("retrieved", results.name))
            yield from _in_order((*start, *both), left, known)
    by_name = {one.name: one for one in rest}
    items = [
        *groups,
        # A result differs in the rows of a question.
        *(
            one.name
            for one in (likely_results(rest) if role == "run" else likely_targets(rest))
        ),
    ]
    for item in items:
        ids = by_name[item].ids if item in by_name else frozenset[str]()
        mapping: Pairs = (*start, (_field_for(by_name.get(item), role), item))
        others = [one for one in rest if one.name != item]
        if role == "run":
            yield from _in_order(mapping, others, known)
            continue
        if role == "both":
            wide = [
                returned_list
                for returned_list in likely_lists(others)
                if not ids or ids & returned_list.ids
                if not (item in by_name and _stands_beside(returned_list, by_name[item]))
            ]
            yield from ((*mapping, ("retrieved", one.name)) for one in wide)
            yield from (
                (*mapping, ("retrieved", group)) for group in groups if group != item
            )
            if "grade" in known:
                yield from _in_order(mapping, others, known)
                continue
            if item in by_name and not may_be_result(by_name[item]):
                continue
            for judged in likely_judgements(others):
                if item in by_name and _names_ids(judged, by_name[item]):
                    continue
                left = [other for other in others if other is not judged]
                yield from _in_order((*mapping, ("grade", judged.name)), left, known)
            continue
        judging = likely_judgements(others)
        graded = [(*mapping, ("grade", one.name)) for one in judging if _is_graded(one)]
        other = [
            (*mapping, ("grade", one.name)) for one in judging if not _is_graded(one)
        ]
        yield from (*graded, mapping, *other)


def _field_for(column: Profile | None, role: Role) -> str:
    """The field that a column of results or targets holds; None is several columns."""
    if column is None:
        return "item"
    is_text = column.kind == "texts" and not column.words & {"id", "ids"}
    # Titles of three words are ids as well.
    if is_text and looks_like_texts(column.cells, sure=True):
        return "text" if role == "run" else "quote"
    return "retrieved" if role == "run" and column.kind == "lists" else "item"


def _beside_each_other(rest: list[Profile]) -> Iterator[tuple[Profile, Profile]]:
    """The columns of targets, the same in all rows of a question, each with one of results."""
    items = [
        one for one in likely_items(rest) if one.kind != "numbers" or may_be_ids(one)
    ]
    for targets in items:
        for results in items:
            if (
                targets.changes
                or results.kind == "lists"
                or not targets.ids & results.ids
            ):
                continue
            is_answer = targets.kind == "texts" and targets.words & HARMLESS
            if is_answer and not says_expected(targets.name):
                continue
            if _stands_beside(targets, results):
                yield targets, results


def _side_by_side(rest: list[Profile]) -> Iterator[tuple[Profile, Profile]]:
    """Columns that list the targets of a question in some of its rows, and its results in all."""
    single = [one for one in likely_items(rest) if one.kind not in ("lists", "texts")]
    single = [one for one in single if one.kind != "numbers" or may_be_ids(one)]
    for targets in single:
        for results in single:
            differ = targets.changes and results.changes
            if targets is results or not differ or not targets.ids & results.ids:
                continue
            named = says_expected(targets.name) and not says_expected(results.name)
            shorter = len(targets.cells) < len(results.cells)
            if named or (shorter and not says_expected(results.name)):
                yield targets, results


def _is_graded(column: Profile) -> bool:
    """Whether a column more likely judges than measures: no fractions such as 0.217."""
    return column.judges_by_name or column.kind != "numbers" or column.is_scale


def _names_ids(judged: Profile, item: Profile) -> bool:
    """Whether the numbers of a column are ids of another one, and no grades."""
    return (
        judged.kind == "numbers" and not judged.is_scale and bool(judged.ids & item.ids)
    )


def _stands_beside(column: Profile, results: Profile) -> bool:
    """Whether a column is not the results: the same in all rows of a question, and short.

    A list that is longer than the rows of its question holds the results, and the rows targets.
    """
    if column.has_several_rows and results.has_several_rows:
        questions = 1 if results.queries is None else results.queries.n_unique()
        rows = len(results.cells) / questions
        if results.varies and not column.changes:
            return column.count / len(column.cells) <= rows
        if column.varies and not results.changes:
            return results.count / len(results.cells) > rows
    return False


def _with_lists(
    start: Pairs, rest: list[Profile], groups: list[str], role: Role, known: set[str]
) -> Iterator[Pairs]:
    """A start for a table whose targets or results have a known name."""
    if role == "both" and "retrieved" not in known:
        yield from (
            (*start, ("retrieved", returned_list.name))
            for returned_list in likely_lists(rest)
        )
        yield from ((*start, ("retrieved", group)) for group in groups)
    if role == "both" and "retrieved" in known and not known & {"item", "quote"}:
        yield from ((*start, ("item", item.name)) for item in likely_items(rest))
    if role != "run" and "grade" not in known and "retrieved" not in known:
        yield from ((*start, ("grade", one.name)) for one in likely_judgements(rest))
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
    if "retrieved" in lacking and known & {"item", "document"}:
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
        yield from ((("grade", one.name),) for one in likely_judgements(rest))
    yield from ((pair,) for pair in targets)


def judged_rows(rest: list[Profile], known: set[str]) -> Iterator[Pairs]:
    """A column that judges the rows and one that orders them."""
    for judging in likely_judgements(rest):
        others = [one for one in rest if one is not judging]
        yield from _in_order((("grade", judging.name),), others, known)


def _count(profiles: Profiles, pair: tuple[str, str]) -> int:
    """How many ids a column holds; targets are fewer than results."""
    return sum(profiles[name].count for name in pair[1].split(",") if name in profiles)


def _target_columns(rest: list[Profile], groups: list[str]) -> Iterator[tuple[str, str]]:
    """The columns that may list targets."""
    for item in likely_items(rest):
        if says_no(item) and not says_expected(item.name):
            continue  # where 0 or "no" stands, too, it judges and names nothing
        yield ("quote" if item.kind == "texts" else "ground_truth", item.name)
    # Several columns are merged in a table, beside others that are.
    yield from (("item", group) for group in groups)


def _result_columns(rest: list[Profile], groups: list[str]) -> Iterator[tuple[str, str]]:
    """The columns that may list results."""
    yield from (("retrieved", returned_list.name) for returned_list in likely_lists(rest))
    yield from (("retrieved", group) for group in groups)


def _in_order(mapping: Pairs, rest: list[Profile], known: set[str]) -> Iterator[Pairs]:
    """A mapping with what may order the results; without, the rows are in order."""
    if known & {"score", "rank", "retrieved"}:
        yield mapping
        return
    # What is the same in all rows of a question orders nothing, and neither do row numbers.
    may = [one for one in rest if one.may_order and may_be_result(one)]
    may = [one for one in may if not one.numbers_table]
    ordering = sorted(may, key=_is_early)
    every = [orders(one) for one in ordering]
    # What each column most likely is comes before what one of them may be, too.
    likely = [(*mapping, pair) for (pair,), *_ in every]
    others = [(*mapping, pair) for _, *lines in every for (pair,) in lines]
    yield from (*likely, *others, mapping)


def _is_early(profile: Profile) -> bool:
    """Sorts columns of the last stage first: it is what users see."""
    return not profile.comes_last


def orders(profile: Profile) -> list[Pairs]:
    """What a column of numbers may be to results, the likelier first."""
    called = profile.name
    by_score: list[Pairs] = [(("score", called),), (("distance", called),)]
    if is_distance(called) or profile.rises:
        by_score.reverse()
    if not profile.may_rank:
        return by_score
    return [(("rank", called),), *by_score]


def as_cell(value: Any) -> str:
    """A value of a record as it would stand in a cell."""
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def profiles_of_records(records: Sequence[Mapping[str, Any]]) -> Profiles:
    """The profiles of the fields of records."""
    names = [*dict.fromkeys(str(key) for record in records for key in record)]
    cells = {name: [as_cell(record.get(name)) for record in records] for name in names}
    asked = next(
        (theirs for theirs, ours in renaming(names).items() if ours == "query"), None
    )
    return Profiles(pl.DataFrame(cells, schema=dict.fromkeys(names, pl.String())), asked)


def _columns(profiles: Iterable[str]) -> list[str]:
    return [
        profile
        for profile in profiles
        if profile.strip() and not profile.endswith(IGNORED)
    ]


def _free(profiles: Profiles, lacking: set[str]) -> list[Profile]:
    """The columns of unknown name, but for those of our own records."""
    listed = _columns(profiles)
    own = _OWN - {"id", "_id"} if lacking & {"item", "query"} else _OWN
    known = {*renaming(listed), *own}
    return [
        profiles[one]
        for one in listed
        if one not in known
        and not one.startswith(("tag.", "__"))
        and not _was_measured(profiles[one])
    ]


_METRIC = re.compile(r"(?i)[\w ]+@\d+|mrr|map|ndcg|f1|average_precision|reciprocal_rank")


def _was_measured(column: Profile) -> bool:
    """Whether a column holds the values of a metric, which name nothing and order nothing."""
    return bool(_METRIC.fullmatch(column.name.strip())) and column.kind == "numbers"


def words_to_grade(column: str, cells: Iterable[str]) -> tuple[Pairs, ...]:
    """The mappings for words in a column of grades: a grade for each, or none at all."""
    by_word = [((GRADES, grades),) for grades in grades_either_way(cells)]
    return (*by_word, ((IGNORE, column),))
