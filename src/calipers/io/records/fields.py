"""Fields of our records: other usual names, misspelt names, and unknown keys.

A record may hold further fields. A key that is nearly one of ours is refused as misspelt, and so is
a key of a target that may be its grade: ignored silently, either gives wrong numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache, partial
from itertools import islice
from typing import Any, get_type_hints

import msgspec

from calipers.errors import InvalidInput
from calipers.io.files.probe import Probe
from calipers.io.records.documents import BadDocument, from_metadata, is_document, read_document
from calipers.io.records.json_files import MOST_COLUMNS, first_object, opened
from calipers.io.records.records import At, Record, Result, Target
from calipers.io.tables.cells import Splitter, looks_like_texts
from calipers.io.tables.columns import IGNORE, numbered_groups, renaming, say
from calipers.io.tables.grades import NO_GRADES, grade_of
from calipers.model.matched import Role
from calipers.names import (
    HARMLESS,
    JUDGED,
    METADATA,
    NEGATIVES,
    PARALLEL,
    QUERY_TEXT,
    QUOTE,
    RESULT,
    ROW,
    WRAPPED,
    plain_name,
    possible_meaning,
)

NEAR = 0.85
"""Least similarity: ``retreived`` matches ``retrieved``, ``document_id`` not ``document``."""
_FIELDS: dict[type, dict[str, Any]] = {
    kind: get_type_hints(kind) for kind in (Record, Result, Target)
}
_TARGET, _RESULT = (frozenset(_FIELDS[kind]) for kind in (Target, Result))
_IDS = (*RESULT["id"], *ROW["item"][:10])
_GRADES = (*ROW["grade"], "score")
_TARGET_NAMES = frozenset(
    {*_TARGET, *_GRADES, *_IDS, *QUOTE, *RESULT["text"], *RESULT["document"], *RESULT["page"]}
)


def first_records(sight: Probe) -> dict[str | None, Mapping[str, Any]]:
    """The first record of a file, and of each list in it by key, decoded."""
    if sight.look is None or sight.table is not None or len(sight.look.first) > MOST_COLUMNS:
        return {}
    first = sight.look.first
    raw = {key: first if key is None else first_object(first[key]) for key in sight.row_keys}
    return {
        key: {str(name): opened(one) for name, one in islice(record.items(), MOST_COLUMNS)}
        for key, record in raw.items()
    }


def names_of_parts(first: Mapping[str, Any], role: Role) -> dict[str, str]:
    """The names of the results and targets in a record, if they are not ours.

    >>> names_of_parts({"question": "Who?", "expected_ids": ["a"], "retrieved": ["a"]}, "both")
    {'ground_truth': 'expected_ids'}
    """
    keys, called = list(first), _called(first)
    if "query" not in called and "retrieved" not in first:
        return {}
    names: dict[str, str] = {}
    if "retrieved" not in first and "retrieved" in called:
        names["retrieved"] = called["retrieved"]
    # A run needs no ground truth; a file without results was given in the wrong place.
    is_run = role == "run" and ("retrieved" in first or bool(names))
    if is_run or "ground_truth" in first or {"grade", "quote"} & called.keys():
        return names
    groups = numbered_groups(keys)
    meant = (one[0] for stem, one in groups.items() if possible_meaning(stem) == "item")
    item = called.get("item") or next(meant, "")
    found = next((",".join(one) for one in groups.values() if item in one), item)
    return {**names, "ground_truth": found} if found else names


def holds_objects(sight: Probe) -> bool:
    """Whether records hold objects or nested lists under other usual names for our parts."""
    return any(map(has_objects, first_records(sight).values()))


def has_objects(first: Mapping[str, Any]) -> bool:
    """Like ``holds_objects``, for one record."""
    called = _called(first)
    if "query" not in called:
        return False
    parts = (first[called[ours]] for ours in ("retrieved", "item") if ours in called)
    held = (one for part in parts for one in (part if isinstance(part, list | tuple) else [part]))
    return any(isinstance(one, Mapping | list) for one in held)


def _called(first: Mapping[str, Any]) -> dict[str, str]:
    """Our field names, each with its name in a record."""
    called = {ours: theirs for theirs, ours in renaming(list(first)).items()}
    judged = next((one for one in JUDGED if isinstance(first.get(one), list | Mapping)), None)
    return {**called, "item": judged} if judged and "item" not in called else called


def notes_on_names(names: Mapping[str, str], left: Iterable[str]) -> list[str]:
    """Notes on how other names were read, and on unread fields that might matter.

    >>> notes_on_names({"ground_truth": "gold"}, ["gold", "also_acceptable", "author"])
    ['targets ← gold.', 'Not read: also_acceptable.']
    """
    called = {"retrieved": "results", "ground_truth": "targets"}
    said = [", ".join(f"{called[ours]} ← {theirs}" for ours, theirs in names.items()) + "."]
    known = {one for theirs in names.values() for one in theirs.split(",")}
    left = [one for one in sorted(left) if one not in known and MATTERS & {*one.lower().split("_")}]
    return [*(said if names else ()), *([f"Not read: {', '.join(left)}."] if left else ())]


MATTERS = frozenset(
    {"acceptable", "alternative", "alternatives", "optional", "relevant", "latency"}
)


def other_names(ours: str) -> tuple[str, ...]:
    """Other usual names for a field of a result."""
    if ours == "id":
        return (*_IDS, *RESULT["document"], *WRAPPED)
    return {"text": RESULT["text"], "rank": ROW["rank"]}.get(ours, ())


def resolve_record(record: Mapping[str, Any], at: At) -> dict[str, Any]:
    """Rename the fields of a record to ours, at any depth.

    A field that is nearly one of ours is refused, and so is a key of a target that may be its
    grade.
    """
    _check_fields(record, Record, at)
    made = dict(record)
    if all(made.get(name) is None for name in ("query", "question", "text")):
        known = next((key for key in record if plain_name(str(key)) in QUERY_TEXT), None)
        if known is not None:
            made["query"] = made.pop(known)
    if isinstance(made.get("retrieved"), list | tuple):
        made["retrieved"] = _results(made["retrieved"], _inside(at, ".retrieved"))
    if isinstance(made.get("stages"), Mapping):
        made["stages"] = {
            name: _results(one, _inside(at, f".stages.{name}"))
            for name, one in made["stages"].items()
        }
    for part in ("ground_truth", "retrieved"):
        if isinstance(made.get(part), str | int) and not isinstance(made[part], bool):
            made[part] = _in_one(made[part], part, at)
    _add_judgements(made, at)
    if isinstance(made.get("ground_truth"), Mapping):
        made["ground_truth"] = _graded(made["ground_truth"], _inside(at, ".ground_truth"))
    for part in ("ground_truth", "forbidden", "excluded"):
        if isinstance(made.get(part), list | tuple):
            made[part] = _targets(made[part], _inside(at, f".{part}"))
    return made


def _add_judgements(made: dict[str, Any], at: At) -> None:
    """Merge separate lists of grades and of irrelevant items into the targets."""
    plain = {plain_name(str(key)): key for key in made}
    lists = {name: plain[name] for name in (*PARALLEL, *NEGATIVES) if name in plain}
    lists = {name: key for name, key in lists.items() if isinstance(made[key], list)}
    truth = made.get("ground_truth")
    for name, key in lists.items():
        values = made[key]
        if name in NEGATIVES and isinstance(truth, list | Mapping):
            listed = truth if isinstance(truth, list) else []
            if isinstance(truth, Mapping):
                listed = [{"id": item, "grade": grade} for item, grade in truth.items()]
            truth = made["ground_truth"] = [*listed, *(_not_relevant(one) for one in values)]
        elif name in PARALLEL and not any(isinstance(one, Mapping | list) for one in values):
            if not isinstance(truth, list) or len(truth) != len(values):
                about = f"{len(truth)} targets" if isinstance(truth, list) else "no list of targets"
                raise InvalidInput(
                    f"The field {key!r} lists {len(values)} values beside {about} at {at()}; give "
                    f"one grade for each target, or, if they are no grades, say "
                    f"{say((IGNORE, key))}."
                )
            truth = made["ground_truth"] = [
                {**(one if isinstance(one, Mapping) else {"id": one}), "grade": grade}
                for one, grade in zip(truth, values, strict=True)
            ]


def _not_relevant(one: Any) -> dict[str, Any]:
    if isinstance(one, Mapping):
        return {**one, "grade": 0}
    return {"quote" if looks_like_texts([one]) else "id": one, "grade": 0}


def _graded(grades: Mapping[str, Any], at: At) -> dict[str, Any]:
    """Grades by id; items without a grade were not judged."""
    made = {item: grade_of(one) for item, one in grades.items() if one is not None}
    for item, grade in made.items():
        if grade is None:
            raise InvalidInput(
                f"A grade is {grades[item]!r:.60} at {at()}[{item!r}]; a grade is a number, or yes "
                "or no. Say which grades its words are, such as --grades good=1,bad=0."
            )
    return made


def _in_one(value: Any, part: str, at: At) -> list[Any]:
    """Split a single text as a table cell is split; a sentence stays one text."""
    listed = str(value).lstrip().startswith(("[", "(", "{", "array("))
    if not listed and looks_like_texts([value]):
        return [{"quote" if part == "ground_truth" else "text": value}]
    return [*Splitter(part).split(value, _inside(at, f".{part}"))]


def _inside(at: At, step: str) -> At:
    return lambda: f"{at()}{step}"


def _results(listed: Any, at: At) -> Any:
    if not isinstance(listed, list | tuple):
        return listed
    made = list(listed)
    for i, one in enumerate(listed):
        if isinstance(one, list | tuple) or is_document(one):
            made[i] = _document(one, _inside(at, f"[{i}]"))
        elif isinstance(one, Mapping) and not one.keys() <= _RESULT:
            made[i] = _result(one, _inside(at, f"[{i}]"))
    return made


def _result(one: Mapping[str, Any], at: At) -> dict[str, Any]:
    _check_fields(one, Result, at)
    if any(isinstance(one.get(name), Mapping) for name in WRAPPED):
        return _document(one, at)
    made = dict(one)
    for ours, names in (("id", _IDS), ("text", RESULT["text"]), ("rank", ROW["rank"])):
        if made.get(ours) is None:
            _take(made, ours, one, names)
    if all(made.get(name) is None for name in ("id", "text", "document")):
        _take(made, "id", one, RESULT["document"])
        inner = any(isinstance(one.get(name), Mapping) for name in METADATA)
        return _document(one, at) if made.get("id") is None and inner else made
    return made


def _document(one: Any, at: At) -> dict[str, Any]:
    """Convert a result of any shape that a retriever may return."""
    try:
        row = read_document(one)
    except BadDocument as error:
        raise InvalidInput(f"A result {error} at {at()}.") from None
    return {name: value for name, value in msgspec.structs.asdict(row).items() if value is not None}


def _take(made: dict[str, Any], ours: str, given: Mapping[str, Any], names: Iterable[str]) -> None:
    """Copy the first text or number found under ``names`` to our name."""
    for name in names:
        value = given.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            made[ours] = value
            return


def _targets(listed: Sequence[Any], at: At) -> list[Any]:
    made = list(listed)
    unknown: dict[str, list[Any]] = {}
    for i, one in enumerate(listed):
        if isinstance(one, Mapping) and not one.keys() <= _TARGET:
            made[i] = _target(one, _inside(at, f"[{i}]"))
            for key, value in one.items():
                if plain_name(str(key)) not in _TARGET_NAMES:
                    unknown.setdefault(str(key), []).append(value)
        elif is_document(one):
            found = _document(one, _inside(at, f"[{i}]"))
            made[i] = {"id": found.get("id"), "quote": found.get("text")}
        elif isinstance(one, Mapping) and isinstance(one.get("grade"), str | bool):
            grade = grade_of(one["grade"])
            made[i] = {**one, "grade": one["grade"] if grade is None else grade}
    for key, values in unknown.items():
        _refuse_possible_grade(key, values, at)
    return made


def _target(one: Mapping[str, Any], at: At) -> dict[str, Any]:
    _check_fields(one, Target, at)
    plain = {plain_name(str(key)): value for key, value in reversed(list(one.items()))}
    made = dict(one)
    called = next((name for name in _GRADES if plain.get(name) is not None), None)
    if called is not None:
        made["grade"] = grade_of(plain[called])
        if made["grade"] is None:
            raise InvalidInput(
                f"The {called} of a target is {plain[called]!r:.60} at {at()}; a grade is a "
                "number, or yes or no. Say which grades its words are, such as --grades "
                f"good=1,bad=0; if it is no grade, {say((IGNORE, called))}."
            )
    if made.get("id") is None:
        _take(made, "id", plain, _IDS)
    if all(made.get(name) is None for name in ("id", "quote", "document")):
        _take(made, "quote", plain, (*QUOTE, *RESULT["text"]))
        for inner in (one[name] for name in METADATA if isinstance(one.get(name), Mapping)):
            # A document as a library serialises it: its text and its source.
            made["document"] = from_metadata(inner).document
        is_span = made.get("start") is not None or made.get("page") is not None
        if is_span or made.get("quote") is None:
            _take(made, "document" if is_span else "id", plain, RESULT["document"])
    return made


def _refuse_possible_grade(key: str, values: list[Any], at: At) -> None:
    """Refuse a key of targets that may be their grade."""
    words = set(plain_name(key).split("_"))
    if words & NO_GRADES:
        return
    known = [one for one in values if one is not None and not isinstance(one, Mapping | list)]
    short = [one for one in known if not isinstance(one, str) or len(one.split()) < 3]
    grades = [one for one in short if grade_of(one) is not None]
    differ = len({*map(str, short)}) > 1 and not words & HARMLESS
    if (known and len(grades) == len(known)) or differ:
        raise InvalidInput(
            f"The field {key!r} of targets is not understood, and it may say which are relevant "
            f"(it holds {short[0]!r:.40} at {at()}): without it every target counts as relevant. "
            f"If it is the grade, say {say(('grade', key))}; if it is not, {say((IGNORE, key))} "
            "(columns= in Python, [columns] in the settings)."
        )


def check_spelling(record: Any, place: str) -> None:
    """Refuse a record with a misspelt field, or with one in its results.

    >>> check_spelling({"query": "Who?", "retreived": ["c1"], "note": "mine"}, "evals.jsonl:3 $")
    Traceback (most recent call last):
    ...
    calipers.errors.InvalidInput: A field is misspelt at evals.jsonl:3 $: found 'retreived'. Did \
you mean 'retrieved'? Rename it; fields of your own may have any name that is not nearly one of \
Calipers'.
    """
    if not isinstance(record, Mapping):
        return
    _check_fields(record, Record, lambda: place)
    listed = record.get("retrieved")
    for i, one in enumerate(listed if isinstance(listed, list | tuple) else ()):
        if isinstance(one, Mapping):
            _check_fields(one, Result, partial(str, f"{place}.retrieved[{i}]"))


def _check_fields(given: Mapping[str, Any], kind: type, at: At) -> None:
    fields = _FIELDS[kind]
    lacking = [name for name in fields if given.get(name) is None]
    for key, value in given.items():
        if key in fields or value is None:
            continue
        meant = next((f for f in lacking if is_near(str(key), f) and _fits(value, fields[f])), None)
        if meant is not None:
            raise InvalidInput(
                f"A field is misspelt at {at()}: found {key!r:.60}. Did you mean {meant!r}? "
                "Rename it; fields of your own may have any name that is not nearly one of "
                "Calipers'."
            )


@lru_cache(maxsize=4096)
def is_near(key: str, name: str) -> bool:
    """Whether a key is a name in another style (groundTruth), or a likely typo of it."""
    squashed, wanted = (_squashed(one) for one in (key, name))
    if len(squashed) < 4 or _means_something_else(key, name):
        return False
    if sorted(squashed) == sorted(wanted):
        return True
    return SequenceMatcher(None, key, name).ratio() >= NEAR


def _means_something_else(key: str, name: str) -> bool:
    """Whether a key differs by its unit (``latency_us``), or is the plural of the name.

    ``ground_truths`` of other tools are answers in words; renamed, they would be read as ids.
    """
    unit, other = (one.lower().rpartition("_")[2] for one in (key, name))
    return (unit in UNITS and unit != other) or key.lower() == f"{name}s"


UNITS = frozenset({"s", "sec", "secs", "seconds", "ms", "us", "ns", "min", "minutes", "h"})


def _squashed(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _fits(value: Any, wanted: Any) -> bool:
    """Whether the value fits the type of the field: a ``retriever`` name is no ``retrieved``."""
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError:
        return False
    return True
