"""Fields of our records: other usual names, and unknown keys.

A record may hold further fields. A key of a target that may be its grade is refused: ignored
silently, it gives wrong numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import Any, NamedTuple, TypeGuard, get_type_hints

import polars as pl

from calipers.errors import InvalidInput, SumRow, Unclear
from calipers.io.files.probe import Probe
from calipers.io.records.documents import (
    ITEM_IDS,
    SCALARS,
    BadDocument,
    IncompleteAnswer,
    from_metadata,
    is_document,
    is_id,
    is_number,
    number_in,
    read_document,
    results_in,
)
from calipers.io.records.json_files import MOST_COLUMNS, first_object, opened
from calipers.io.records.rankings import refuse_second_order
from calipers.io.records.schema import At, JsonResult, JsonTarget
from calipers.io.tables.cells import Splitter, looks_like_texts
from calipers.io.tables.columns import (
    IGNORE,
    may_be_the_grade,
    say,
    with_tags,
    words_as_grades,
)
from calipers.io.tables.grades import grade_of
from calipers.io.tables.usual_names import numbered_groups, renaming
from calipers.model.fact import commanded
from calipers.model.matched import Role
from calipers.names import (
    EMPTY,
    JUDGED,
    METADATA,
    NEGATIVES,
    QUOTE,
    RESULT,
    ROW,
    WRAPPED,
    plain_name,
    possible_meaning,
    total_in,
    words_in,
)

_FIELDS: dict[type, dict[str, object]] = {
    kind: get_type_hints(kind) for kind in (JsonResult, JsonTarget)
}
_TARGET, _RESULT = (frozenset(_FIELDS[kind]) for kind in (JsonTarget, JsonResult))
_IDS = (*RESULT["id"], *ITEM_IDS)
_ALIASES = frozenset({*ITEM_IDS, *WRAPPED, *METADATA, *ROW["rank"]}).union(
    *RESULT.values()
)
_PLAIN = (*SCALARS, Mapping)
_NAMES: dict[type, dict[str, tuple[str, ...]]] = {
    JsonResult: {"rank": ROW["rank"]},
    JsonTarget: {
        "grade": (*ROW["grade"], "score"),
        "id": _IDS,
        "quote": (*QUOTE, *RESULT["text"]),
        "document": RESULT["document"],
        "page": RESULT["page"],
        "metadata": METADATA,
    },
}
"""Our fields of a part of a record, each with its other usual names, the first one first."""


class _Keys(NamedTuple):
    """What the keys of an object can mean; the same for all objects with these keys."""

    named: Mapping[str, tuple[str, ...]]
    """Our fields, each with the keys that may hold it."""
    unknown: tuple[str, ...]
    ours: tuple[str, ...]
    """The keys that are our fields."""
    simple: bool
    """Whether no other key can be another name for a field."""


@lru_cache(maxsize=1024)
def _keys(kind: type, keys: tuple[str, ...]) -> _Keys:
    fields = _FIELDS[kind]
    # Results are read as documents, by other names; people write those of targets in any style.
    style = plain_name if kind is JsonTarget else str
    plain = {style(str(key)): key for key in reversed(keys)}
    named = {
        ours: tuple(plain[name] for name in names if name in plain)
        for ours, names in _NAMES[kind].items()
    }
    known = {*fields, *(name for names in named.values() for name in names)}
    return _Keys(
        named,
        tuple(key for key in keys if key not in known and style(str(key)) not in fields),
        tuple(key for key in keys if key in fields),
        not any(key not in fields and _is_alias(key) for key in keys),
    )


def _is_alias(key: str) -> bool:
    """Whether a key of a result is another name of a field, in any style."""
    return key in _ALIASES or plain_name(str(key)) in _ALIASES


def first_records(probe: Probe) -> dict[str | None, Mapping[str, object]]:
    """The first record of a file, and of each list in it by key, decoded."""
    if (
        probe.look is None
        or probe.table is not None
        or len(probe.look.first) > MOST_COLUMNS
    ):
        return {}
    first = probe.look.first
    raw = {
        key: first if key is None else first_object(first[key]) for key in probe.row_keys
    }
    return {
        key: {
            str(name): opened(one) for name, one in islice(record.items(), MOST_COLUMNS)
        }
        for key, record in raw.items()
    }


def names_of_parts(first: Mapping[str, object], role: Role) -> dict[str, str]:
    """The names of the results and targets in a record, if they are not ours.

    >>> names_of_parts({"question": "Who?", "expected_ids": ["a"], "retrieved": ["a"]}, "both")
    {'ground_truth': 'expected_ids'}
    """
    keys = list(first)
    called = _called(first)
    if "query" not in called and "retrieved" not in first:
        return {}
    names: dict[str, str] = {}
    if "retrieved" not in first and "retrieved" in called:
        names["retrieved"] = called["retrieved"]
    # A run needs no ground truth; a file without results was given in the wrong place.
    is_run = role == "run" and ("retrieved" in first or bool(names))
    in_rows = "grade" in called and not isinstance(first[called["grade"]], list)
    if is_run or "ground_truth" in first or in_rows or "quote" in called:
        return names
    groups = numbered_groups(keys)
    meant = (one[0] for stem, one in groups.items() if possible_meaning(stem) == "item")
    item = called.get("item") or next(meant, "")
    pool_items = next(
        (",".join(group) for group in groups.values() if item in group), item
    )
    return {**names, "ground_truth": pool_items} if pool_items else names


def holds_objects(probe: Probe) -> bool:
    """Whether records hold objects or nested lists under other usual names for our parts."""
    return any(map(has_objects, first_records(probe).values()))


def has_objects(first: Mapping[str, object]) -> bool:
    """Like ``holds_objects``, for one record."""
    called = _called(first)
    if "query" not in called:
        return False
    parts = (first[called[ours]] for ours in ("retrieved", "item") if ours in called)
    held = (
        one
        for part in parts
        for one in (part if isinstance(part, list | tuple) else [part])
    )
    return any(isinstance(one, Mapping | list) for one in held)


_MINED = ("pos", "neg")
"""The fields in which training sets list what should be found and what should not."""


def _called(first: Mapping[str, object]) -> dict[str, str]:
    """Our field names, each with its name in a record."""
    called = {ours: theirs for theirs, ours in renaming(list(first)).items()}
    if "item" not in called and all(isinstance(first.get(n), list) for n in _MINED):
        called["item"] = _MINED[0]
    judged = next(
        (one for one in JUDGED if isinstance(first.get(one), list | Mapping)), None
    )
    return {**called, "item": judged} if judged and "item" not in called else called


def notes_on_names(names: Mapping[str, str], left: Iterable[str]) -> list[str]:
    """Notes on how other names were read, and on unread fields that might matter.

    >>> notes_on_names({"ground_truth": "gold"}, ["gold", "also_acceptable", "author"])
    ['targets ← gold.', 'Not read: also_acceptable.']
    """
    called = {"retrieved": "results", "ground_truth": "targets"}
    renamed = [
        f"{called[ours]} ← {theirs}"
        for ours, theirs in names.items()
        if called[ours] != theirs
    ]
    known = {word for theirs in names.values() for word in theirs.split(",")}
    left = [
        one
        for one in sorted(left)
        if one not in known and MATTERS & {*one.lower().split("_")}
    ]
    return [
        *([commanded("{it.text}.", ", ".join(renamed))] if renamed else ()),
        *([commanded("Not read: {it.text}.", ", ".join(left))] if left else ()),
    ]


MATTERS = frozenset(
    {"acceptable", "alternative", "alternatives", "optional", "relevant", "latency"}
)


def resolve_record(record: Mapping[str, object], at: At) -> dict[str, object]:
    """Rename the fields of a record to ours, at any depth.

    A key of a target that may be its grade is refused.
    """
    _refuse_misspelt("excluded", map(str, record), at)
    made = with_tags(dict(record))
    if isinstance(made.get("tags"), list | str):
        made.pop("tags")  # keywords without names cannot slice
    named = any(made.get(name) is not None for name in ("query", "question", "text"))
    if not named or isinstance(made.get("query"), Mapping | list):
        from calipers.io.records.layout import with_question  # few records need it

        made = with_question(made)
    total = total_in(made.get("query", made.get("question")))
    for part in ("ground_truth", "retrieved"):
        if isinstance(made.get(part), int | float) and total is not None:
            raise SumRow("the records", at(), total)  # how many, below the lists
        if isinstance(made.get(part), str | int) and not isinstance(made[part], bool):
            made[part] = _in_one(made[part], part, at)
    if made.get("ground_truth") is None and (judged := judged_results(made)):
        made["ground_truth"] = judged
    if "retrieved" in made:
        made["retrieved"] = _results(made["retrieved"], _inside(at, ".retrieved"))
    if isinstance(made.get("stages"), Mapping):
        made["stages"] = {
            name: _results(one, _inside(at, f".stages.{name}"))
            for name, one in made["stages"].items()
        }
    _add_negatives(made, at)
    if isinstance(made.get("ground_truth"), Mapping):
        made["ground_truth"] = _graded(made["ground_truth"], _inside(at, ".ground_truth"))
    for part in ("ground_truth", "forbidden", "excluded"):
        if isinstance(made.get(part), list | tuple):
            made[part] = _targets(made[part], _inside(at, f".{part}"))
    return made


_JUDGE_RESULTS = frozenset(
    words_in(
        "relevant is_relevant grade judgement judgment rating relevance_grade has_answer "
        "relevance_label relevance_level"
    )
)
"""Keys of a result that judge it; its "relevance" and "label" may be a score."""


def judged_results(record: Mapping[str, object]) -> list[dict[str, Any]]:
    """The targets of a record whose results carry their own judgement; none if none does.

    >>> judged_results({"retrieved": [{"id": "a", "relevant": True}, {"id": "b"}]})
    [{'id': 'a', 'grade': 1.0}]
    """
    results = record.get("retrieved")
    if not isinstance(results, list):
        return []
    targets: list[dict[str, Any]] = []
    for result in results:
        if not isinstance(result, Mapping):
            return []
        key = next(filter(partial(_judges, result), result), None)
        if key is None or result[key] is None:
            continue
        grade = grade_of(result[key])
        if grade is None or grade != round(grade):
            return []  # a number of a retriever, or no judgement at all
        try:
            name = read_document(result).id
        except BadDocument:
            return []
        if name is None:
            return []
        targets.append({"id": name, "grade": grade})
    return targets


def _judges(result: Mapping[str, object], key: str) -> bool:
    """Whether a field of a result judges it: by its name, or yes or no of its relevance."""
    name = plain_name(str(key))
    return name in _JUDGE_RESULTS or (
        name == "relevance" and isinstance(result[key], bool)
    )


def _add_negatives(record: dict[str, object], at: At) -> None:
    """Merge lists of irrelevant items into the targets; a list of their grades is refused."""
    truth = record.get("ground_truth")
    if not isinstance(truth, list | Mapping):
        return
    lists = {key: values for key, values in record.items() if isinstance(values, list)}
    plain = {plain_name(str(key)): key for key in lists}
    if lists.keys() - {"retrieved", "ground_truth"}:
        from calipers.io.records.parallel import with_parallel_grades

        truth = record["ground_truth"] = with_parallel_grades(record, truth, at)
    listed = truth
    if isinstance(truth, list) and any(name in plain for name in _FOUND_BY_SCORE):
        # What a miner of negatives found has its scores, which are no grades.
        record["ground_truth"] = listed = list(map(_without_scores, truth))
    if isinstance(truth, Mapping):
        listed = [{"id": item, "grade": grade} for item, grade in truth.items()]
    for key in (plain[name] for name in NEGATIVES if name in plain):
        plainly = bool(listed) and all(map(is_id, listed))
        listed = [*listed, *(_not_relevant(one, plainly) for one in lists[key])]
        record["ground_truth"] = listed


_FOUND_BY_SCORE = ("negative_ctxs", "hard_negative_ctxs")


def _without_scores(target: object) -> object:
    """A passage of DPR without the scores by which it was found."""
    if not isinstance(target, Mapping):
        return target
    return {
        key: value for key, value in target.items() if key not in ("score", "title_score")
    }


def _not_relevant(target: object, plainly: bool) -> dict[str, object]:
    """A target with the grade 0; an id where the relevant ones are ``plainly`` ids."""
    if isinstance(target, Mapping):
        plain = _without_scores(target)
        return {**plain, "grade": 0} if isinstance(plain, Mapping) else {"grade": 0}
    is_text = not plainly and looks_like_texts([target])
    return {"quote" if is_text else "id": target, "grade": 0}


def _graded(grades: Mapping[str, object], at: At) -> dict[str, object]:
    """Grades by id; items without a grade were not judged."""
    return {
        item: _grade(one, "grade", _inside(at, f"[{item!r}]"))
        for item, one in grades.items()
        if one is not None
    }


def _grade(value: object, called: str, at: At) -> float:
    """The grade of a target; refused if it is neither a number nor a word for yes or no."""
    grade = grade_of(value)
    if grade is None:
        raise InvalidInput(
            f"The {called} of a target is {value!r:.60} at {at()}; a grade is a number, or yes or "
            f"no. {words_as_grades(called)}"
        )
    return grade


def _in_one(value: object, part: str, at: At) -> list[object]:
    """Split a single text as a table cell is split; a sentence stays one text."""
    if part == "ground_truth" and str(value).strip().lower() in EMPTY:
        return [NOTHING]
    listed = str(value).lstrip().startswith(("[", "(", "{", "array("))
    if not listed and looks_like_texts([value]):
        return [{"quote" if part == "ground_truth" else "text": value}]
    return [*Splitter(part).split(value, _inside(at, f".{part}"))]


NOTHING = "—"
"""A target that says that nothing should be found; hardly an id."""


def _inside(at: At, step: str) -> At:
    return lambda: f"{at()}{step}"


def _results(given: object, at: At) -> Any:
    """Results in any shape that a retriever may return; ids, and scores by id, as they are."""
    if given is None or (
        isinstance(given, Mapping) and all(map(is_number, given.values()))
    ):
        return given
    try:
        listed = results_in(given)
    except BadDocument as error:
        found = f": {given!r:.60}" if not isinstance(error, IncompleteAnswer) else ""
        raise InvalidInput(f"The answer at {at()}{found} {error}.") from None
    made = list(listed)
    refuse_second_order(made, at)
    for i, one in enumerate(made):
        if isinstance(one, Mapping) and _is_plain(one):
            if isinstance(one.get("score"), str):
                made[i] = {**one, "score": number_in(one["score"])}
        elif isinstance(one, Mapping):
            made[i] = _result(one, _inside(at, f"[{i}]"))
        elif isinstance(one, list | tuple) or not isinstance(one, _PLAIN):
            made[i] = _document(one, _inside(at, f"[{i}]"))
    return made


def _is_plain(one: Mapping[str, object]) -> bool:
    """Whether a result has our fields alone, each as we write it."""
    return one.keys() <= _RESULT and not isinstance(one.get("document"), Mapping)


def _result(one: Mapping[str, object], at: At) -> dict[str, object]:
    """A result with further fields; what has our own name is checked as it is written."""
    keys = _keys(JsonResult, tuple(one))
    own = {name: value for name in keys.ours if (value := one[name]) is not None}
    if isinstance(own.get("score"), str):
        own["score"] = number_in(own["score"])
    for name in keys.named["rank"] if "rank" not in own else ():
        own["rank"] = one[name]
    if keys.simple and not isinstance(own.get("document"), Mapping):
        if own.keys() & {"id", "text", "document"}:
            return own
        raise _nameless(one, at)
    own = {
        name: value
        for name, value in own.items()
        if not isinstance(value, Mapping | list)
    }
    return {**_document(one, at), **own}


def _document(one: object, at: At) -> dict[str, object]:
    """A document of any shape."""
    try:
        row = read_document(one)
    except BadDocument as error:
        if "neither" in str(error):
            raise _nameless(one, at) from None
        raise InvalidInput(f"A result {error} at {at()}.") from None
    return {
        name: value for name in _RESULT if (value := getattr(row, name, None)) is not None
    }


def _nameless(result: object, at: At, what: str = "result") -> Unclear:
    """The error for a result or target without an id, with the keys that may hold it."""
    values = result if isinstance(result, Mapping) else {}
    from calipers.io.records.parts import ids_inside

    named = [path for path, _ in ids_inside(values)]
    likely = sorted(named, key=lambda key: possible_meaning(key) != "item")
    return Unclear(
        f"a {what} has neither an id nor a text at {at()}",
        *((("item", key),) for key in likely),
        otherwise=f"Give it one, or name its id with {say(('item', 'NAME'))}",
    )


def _take(
    made: dict[str, object], ours: str, given: Mapping[str, object], keys: Iterable[str]
) -> None:
    """Fill our field with the first text or number under ``keys``."""
    for key in keys if made.get(ours) is None else ():
        value = given[key]
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            made[ours] = value
            return


def _targets(listed: Sequence[object], at: At) -> list[object]:
    made = list(listed)
    unknown: dict[str, list[object]] = {}
    for i, one in enumerate(listed):
        if isinstance(one, Mapping):
            if not one.keys() <= _TARGET or isinstance(one.get("grade"), str | bool):
                made[i] = _target(one, _inside(at, f"[{i}]"))
                for key in _keys(JsonTarget, tuple(one)).unknown:
                    if key == _OBJECT_ID:
                        continue
                    unknown.setdefault(str(key), []).append(one[key])
        elif is_document(one):
            found = _document(one, _inside(at, f"[{i}]"))
            made[i] = {"id": found.get("id"), "quote": found.get("text")}
        elif _is_graded_pair(one):
            made[i] = {"id": one[0], "grade": one[1]}
    _refuse_misspelt("group", unknown, at)
    for key, values in unknown.items():
        _refuse_possible_grade(key, values, at)
    return made


def may_hold_id(target: Mapping[str, object]) -> bool:
    """Whether a field of an object may be its id."""
    from calipers.io.records.parts import ids_inside

    return next(ids_inside(target), None) is not None


_OBJECT_ID = "$oid"
"""The key of an id, as MongoDB exports it."""


def _is_graded_pair(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a target is an id and its grade in a list, as results are with their scores."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        return False
    return isinstance(value[0], str) and is_number(value[1])


def _target(target: Mapping[str, object], at: At) -> dict[str, object]:
    """A target with its fields under our names."""
    named = _keys(JsonTarget, tuple(target)).named
    ours = {name: value for name, value in target.items() if name in _TARGET}
    called = next((key for key in named["grade"] if target[key] is not None), None)
    if called is not None:
        ours["grade"] = _grade(target[called], called, at)
    _take(ours, "id", target, named["id"])
    if all(ours.get(name) is None for name in ("id", "quote", "document")):
        _take(ours, "quote", target, named["quote"])
        for inner in (target[name] for name in named["metadata"]):
            if isinstance(inner, Mapping):
                # A document as a library serialises it: its text and its source.
                ours["document"] = from_metadata(inner).document
        is_span = ours.get("start") is not None or ours.get("page") is not None
        if is_span or ours.get("quote") is None:
            _take(ours, "document" if is_span else "id", target, named["document"])
        if isinstance(object_id := target.get(_OBJECT_ID), str):
            ours["id"] = object_id
        if not ours.keys() & {"id", "quote", "document", "page"} and may_hold_id(target):
            raise _nameless(target, at, "target")
    return ours


def _refuse_misspelt(field: str, keys: Iterable[str], at: At) -> None:
    """Refuse a key that is nearly a field which changes numbers and which nobody would miss."""
    for key in keys:
        if _is_near(key, field):
            raise Unclear(
                "unread, it would change the numbers",
                ((IGNORE, key),),
                otherwise=f"Rename {key!r:.60} at {at()} if it is meant as {field!r}",
            )


@lru_cache(maxsize=1024)
def _is_near(key: str, field: str) -> bool:
    # Imported late: most records have no key that is not known.
    from difflib import SequenceMatcher

    return key != field and SequenceMatcher(None, key.lower(), field).ratio() >= 0.8


def _refuse_possible_grade(key: str, values: list[object], at: At) -> None:
    """Refuse a key of targets that may be their grade."""
    plain = [
        value
        for value in values
        if value is not None and not isinstance(value, Mapping | list)
    ]
    if not plain:
        return
    from calipers.io.tables.profile import Profile

    cells = Profile(key, pl.Series(key, list(map(str, plain)), dtype=pl.String))
    if cells.may_grade or cells.may_tell_apart:
        raise may_be_the_grade(key, plain[0], at())
