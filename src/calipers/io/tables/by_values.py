"""Columns whose meaning is settled by their values, where their names alone would mislead."""

from calipers.io.tables.profile import SOME, Profile, Profiles, profiles_of
from calipers.io.tables.scan import InputTable, cell_texts
from calipers.io.tables.usual_names import renaming
from calipers.model.matched import Role
from calipers.names import QUERY_ID, plain_name, possible_meaning, says_expected


def with_grades_by_values(
    table: InputTable, names: dict[str, str], role: Role
) -> dict[str, str]:
    """Use a column called a score as the grade, where it says yes or no."""
    score = next((theirs for theirs, ours in names.items() if ours == "score"), None)
    if score is None or role == "run" or "grade" in names.values():
        return names
    if "score" in table.said.named:
        return names
    cells = Profile(score, table.rows([score], most=SOME)[score])
    return {**names, score: "grade"} if cells.kind == "judgements" else names


def with_single_results(table: InputTable, names: dict[str, str]) -> dict[str, str]:
    """Use a column of results as single ones, where each row has one with a rank or a grade."""
    fields = {ours: theirs for theirs, ours in names.items()}
    if "retrieved" not in fields or {"item", "quote"} & fields.keys():
        return names
    if not {"rank", "score", "grade"} & fields.keys():
        return names
    if {"retrieved", "ground_truth"} & {*table.said.named}:
        return names
    asked = fields["query"]
    returned = fields["retrieved"]
    sample = table.rows([*dict.fromkeys((asked, returned))], most=SOME)
    cells = Profiles(sample, asked)[returned]
    single = cells.kind in ("words", "places", "numbers") and cells.changes
    return {**names, returned: "item"} if single else names


def with_texts(
    table: InputTable, left: list[str], names: dict[str, str], role: Role
) -> dict[str, str]:
    """Use a column of questions as the texts of the queries, which another column numbers."""
    ours = {meaning: theirs for theirs, meaning in names.items()}
    asked = ours["query"]
    if role == "run" or "query_text" in ours or plain_name(asked) not in QUERY_ID:
        return names
    profiles = profiles_of(table, asked) if left else {}
    may = [
        profiles[one]
        for one in left
        if profiles[one].asks
        or (profiles[one].kind == "texts" and possible_meaning(one) == "query")
    ]
    if len(may) != 1:
        return names
    pairs = table.rows(cell_texts(asked, may[0].name)).drop_nulls().unique()
    if not pairs.height or any(column.is_duplicated().any() for column in pairs):
        return names
    return {**names, may[0].name: "query_text"}


def holds_ids_beside(table: InputTable, left: list[str]) -> bool:
    """Whether a column of unknown name more likely holds the targets than a text does."""
    if any(says_expected(one) for one in left):
        return True
    names = renaming(table.names())
    asked = next((theirs for theirs, ours in names.items() if ours == "query"), None)
    profiles = profiles_of(table, asked) if left else {}
    return any(
        profiles[one].kind in ("lists", "places")
        or (profiles[one].kind == "words" and _differs_in_each_row(profiles[one]))
        for one in left
        if one.strip()
    )


def _differs_in_each_row(column: Profile) -> bool:
    """Whether no question with several rows has a value twice, as with the ids of results."""
    if column.queries is None or not column.changes:
        return False
    return (
        not column.column.rename("value")
        .to_frame()
        .with_columns(query=column.queries)
        .drop_nulls()
        .is_duplicated()
        .any()
    )
