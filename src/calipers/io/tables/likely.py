"""Sort the columns of unknown name by how likely they hold what is lacking."""

from calipers.io.tables.profile import Profile
from calipers.names import (
    HARMLESS,
    LAST_STAGE,
    NO_GRADES,
    REMARKS,
    ROW_ID,
    STAGES,
    possible_meaning,
    says_expected,
)

_IDS = frozenset({"id", "ids", "nr", "no", "number", "nummer"})
"""Words of names whose numbers may be ids."""
_NAMED = frozenset({"id", "ids"})
"""Words of names whose numbers are ids, whatever else the name says: ``page_id``."""


def _names_its_ids(column: Profile) -> bool:
    """Whether a name says of what its numbers are the ids, as ``id`` alone does not."""
    is_bare = column.name.strip().lower() in ROW_ID
    return bool(column.words & _NAMED) and not is_bare


def says_no(column: Profile) -> bool:
    """Whether cells are words of judgement, or steps of a scale from 0 on."""
    return column.kind == "judgements" or (column.is_scale and "0" in column.cells)


def may_be_result(column: Profile) -> bool:
    """Whether a column is not the same in all rows of each question."""
    return column.changes or not column.has_several_rows


def likely_questions(free: list[Profile]) -> list[Profile]:
    """The columns that may be the question, the likelier first."""

    def unlikely(profile: Profile) -> tuple[bool, bool, bool]:
        return (
            possible_meaning(profile.name) != "query",
            not profile.asks,
            profile.kind != "texts",
        )

    may = [one for one in free if one.kind in ("texts", "words", "places", "numbers")]
    may = [one for one in may if not says_expected(one.name)] or may
    return sorted(
        (one for one in may if one.asks or _tells_apart(one)),
        key=unlikely,
    )[:4]


_NEGATIVE = frozenset({"neg", "negs", "negative", "negatives", "distractor"})
"""Words in names of columns with what should not be found."""


def likely_items(rest: list[Profile]) -> list[Profile]:
    """The columns that may be targets or single results, the likelier first."""

    def unlikely(profile: Profile) -> tuple[bool | int, ...]:
        meant = possible_meaning(profile.name)
        expected = says_expected(profile.name) and not says_no(profile)
        returned = meant == "retrieved" or bool(profile.words & (STAGES | LAST_STAGE))
        counts = profile.kind == "numbers" and (
            not profile.is_whole
            or says_no(profile)
            or (profile.may_rank and profile.has_several_rows)
            or (profile.numbers_table and not _names_its_ids(profile))
        )
        return (
            not expected,
            counts or (profile.is_of_query and bool(profile.words & HARMLESS)),
            returned and not expected,
            meant not in ("item", "quote", "retrieved"),
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
        one
        for one in may
        if one.kind != "numbers" or one.words & _NAMED or not one.words & NO_GRADES - _IDS
    ]
    may = [one for one in may if not one.words & _NEGATIVE]
    # The same word in every row names nothing that could be found.
    others = [one for one in may if one.kind != "numbers"]
    may = [one for one in may if _tells_apart(one)] or others
    return sorted(may, key=unlikely)[:6]


def likely_results(rest: list[Profile]) -> list[Profile]:
    """The columns that may be single results: those that are called so, and remarks last."""

    def unlikely(profile: Profile) -> tuple[bool, bool]:
        is_remark = profile.words <= HARMLESS | REMARKS
        return is_remark, possible_meaning(profile.name) != "retrieved"

    return sorted(filter(may_be_result, likely_items(rest)), key=unlikely)


def likely_targets(rest: list[Profile]) -> list[Profile]:
    """The columns that may be targets; where one is called so, no list of results is another."""
    every = likely_items(rest)
    may = [one for one in every if one.kind != "numbers" or may_be_ids(one)] or every
    if not any(says_expected(one.name) for one in may):
        return may
    return [
        one
        for one in may
        if says_expected(one.name) or not one.words & (STAGES | LAST_STAGE)
    ]


def _tells_apart(profile: Profile) -> bool:
    """Whether a column has two different values, or one row."""
    return profile.different > 1 or len(profile.cells) == 1


def likely_lists(rest: list[Profile]) -> list[Profile]:
    """The columns that may list results, the likelier first."""

    def unlikely(profile: Profile) -> tuple[bool, bool, int]:
        hinted = possible_meaning(profile.name) == "retrieved"
        is_last = profile.comes_last or "hybrid" in profile.words
        return not is_last, not hinted, -profile.count

    may = [one for one in rest if one.kind in ("lists", "words", "places", "numbers")]
    may = [one for one in may if not says_expected(one.name)]
    may = [one for one in may if one.kind != "numbers" or may_be_ids(one)]
    return sorted(may, key=unlikely)[:4]


def may_be_ids(numbers: Profile) -> bool:
    """Whether numbers may be ids of results: they differ, and count neither rows nor ranks."""
    counts = numbers.numbers_table or (numbers.may_rank and numbers.has_several_rows)
    return _tells_apart(numbers) and (not counts or _names_its_ids(numbers))


def likely_judgements(rest: list[Profile]) -> list[Profile]:
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
