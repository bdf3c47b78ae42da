"""Map table columns to fields as the user says, and say a mapping so that it can be pasted."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any

from calipers.errors import InvalidInput, Unclear, is_command_line
from calipers.frozen import dataclass
from calipers.io.tables.usual_names import IGNORED, either_name, is_ignored, renaming
from calipers.model.ground_truth import TARGET_SCHEMA
from calipers.model.matched import Dataset, Role
from calipers.model.run import RUN_SCHEMA
from calipers.names import ROW, plain_name
from calipers.words import did_you_mean

FIELDS = (
    "query",
    "query_id",
    "query_text",
    *(n for n in TARGET_SCHEMA if n != "query"),
    *(n for n in RUN_SCHEMA if n not in TARGET_SCHEMA),
    "retrieved",
    "ground_truth",
    "distance",
)
"""Fields that a column can be mapped to."""
SHEET = "sheet"
GRADES = "grades"
"""Settings given beside columns: the sheet to read, and the grade of each word."""
IGNORE = "ignore"
"""Pseudo-field for columns that should not be read."""
Pairs = tuple[tuple[str, str], ...]
"""Fields, each with the column that is meant."""
MAP_IDS = "map_ids"
"""Setting given beside columns: how ids of two files are compared."""
TAG = "tag."
"""Prefix of tag columns, here and in the scores per query."""
TAG_FIELD = "tag"
"""Pseudo-field for columns that hold a tag of the queries."""
_DEEPEST = 8
"""How many objects and lists inside one another are searched for a path."""
TWO_LINES = 193
"""Characters of an error, so that it fits into two lines of 100 behind the word."""
SEVERAL = ("item", "quote", "retrieved", "ground_truth")
"""Fields that may span several columns of a table, merged into one list."""
_GRADES = frozenset({*ROW["grade"], "score"})


class SaidGrades(dict[str, float]):
    """The user's grades by word, and whether a file has one of these words."""

    met = False

    def of(self, values: Iterable[Any]) -> list[float | None]:
        """The grade that was said for each value; None where nothing was said."""
        found = [self.get(_spelling(value)) for value in values]
        self.met = self.met or any(one is not None for one in found)
        return found


@dataclass(frozen=True, eq=False)
class Columns:
    """The user's column mapping: our field names, each with its name in files.

    A field may have several names (``URL,url``), a pattern (``Chunk *``) or a path
    (``metadata.source``). It applies to every file with that column; a column that no file has is
    refused at the end.
    """

    named: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    """Columns that the user excludes."""
    tags: tuple[str, ...] = ()
    """Columns that hold a tag of the queries."""
    perhaps: tuple[str, ...] = ()
    """Tags that stand in a column of that name where a file has it: weights, slices."""
    seen: dict[str, list[str]] = field(default_factory=dict)
    """The columns of every file read so far."""
    sheet: str | None = None
    """The sheet to read from a file with several."""
    sheets: dict[str, list[str]] = field(default_factory=dict)
    """The sheets of every spreadsheet read so far."""
    grades: SaidGrades = field(default_factory=SaidGrades)
    """The grade of each word in a column of grades."""
    map_ids: str | None = None
    """How the user says that ids are compared; empty if nothing is said, None where it cannot."""
    beside: dict[Role, Callable[["Columns"], Dataset]] = field(default_factory=dict)
    """What reads the other of two files, by the role of the one that is read."""
    needs_all: Callable[[], Sequence[str]] = tuple
    """The metrics asked for that need judgements of what was not returned, too."""

    def fresh(self) -> "Columns":
        """The same mapping, to read another file with it."""
        return replace(
            self, seen={}, sheets={}, grades=SaidGrades(self.grades), beside={}
        )

    def __bool__(self) -> bool:
        said = self.named or self.ignored or self.tags or self.perhaps or self.grades
        return bool(said) or self.sheet is not None

    @classmethod
    def of(cls, given: Any) -> "Columns":
        """From ``{"item": "expected_ids"}`` or texts such as ``item=expected_ids``."""
        if isinstance(given, Columns):
            return given
        if isinstance(given, str):
            given = [given]
        if given is None:
            given = ()
        if not isinstance(given, Mapping | list | tuple | set | frozenset):
            raise InvalidInput(
                f"The columns are given as a {type(given).__name__}; give a mapping such as "
                '{"item": "expected_ids"}, or texts such as "item=expected_ids".'
            )
        pairs = given.items() if isinstance(given, Mapping) else map(_pair, given)
        named: dict[str, str] = {}
        apart: dict[str, list[str]] = {IGNORE: [], TAG_FIELD: []}
        grades = SaidGrades()
        sheet: str | None = None
        for ours, theirs in pairs:
            if ours == SHEET and sheet is None and isinstance(theirs, str) and theirs:
                sheet = theirs
                continue
            if ours == GRADES:
                grades.update(_grades(theirs))
                continue
            if ours not in (*FIELDS, SHEET, *apart):
                raise InvalidInput(
                    f"A column cannot be named as {ours!r}; it can be {', '.join(FIELDS)}, "
                    f"{TAG_FIELD} where it is a tag of the queries, or {IGNORE} where it is not to "
                    f"be read.{did_you_mean(str(ours), (*FIELDS, *apart))}"
                )
            names = (
                [*theirs]
                if isinstance(theirs, list | tuple | set | frozenset)
                else [theirs]
            )
            if not names or not all(isinstance(name, str) and name for name in names):
                raise InvalidInput(
                    f"The column for {ours} is {theirs!r}; write the name it has in the file, such "
                    f"as {ours}=NAME."
                )
            if ours in apart:
                apart[ours] += names
                continue
            listed = ",".join(names)
            if listed in named.values() and named.get(ours) != listed:
                raise InvalidInput(
                    f"{ours}={listed} is said beside another field for the same column; name "
                    "each column once."
                )
            # Said again, it is what the field is called in another file.
            named[str(ours)] = either_name(named.get(ours), listed)
        ignored, tags = map(tuple, apart.values())
        return cls(named, ignored, tags, sheet=sheet, grades=grades)

    def with_tags(self, names: Iterable[str]) -> "Columns":
        """The same, where a column of such a name holds a tag in every file that has it."""
        return replace(self, perhaps=(*self.perhaps, *names))

    def mapping_ids(self, how: str | None) -> "Columns":
        """The same for a command that compares ids, in the way that the user says."""
        return replace(self, map_ids=how or "")

    def measuring(self, needs_all: Callable[[], Sequence[str]]) -> "Columns":
        """The same for a command that measures; trials ask which metrics need all judgements."""
        return replace(self, needs_all=needs_all)

    def with_more(self, pairs: Iterable[tuple[str, str]]) -> "Columns | None":
        """The same and further columns; None where a field or column would be said twice."""
        try:
            more = Columns.of([f"{ours}={theirs}" for ours, theirs in pairs])
        except InvalidInput:
            return None
        both = {
            ours: either_name(self.named.get(ours), theirs)
            for ours, theirs in more.named.items()
        }
        fields = {**self.named, **both}.values()
        every = [name for names in fields for name in names.split(",")]
        every += [*self.ignored, *more.ignored]
        if len({*every}) < len(every):
            return None
        return replace(
            self,
            named={**self.named, **both},
            ignored=(*self.ignored, *more.ignored),
            tags=(*self.tags, *more.tags),
            seen={},
            sheets={},
            grades=SaidGrades({**self.grades, **more.grades}),
        )

    def columns_for(self, columns: Iterable[str], name: str) -> dict[str, list[str]]:
        """Our fields, each with the columns of one file that the user maps to it."""
        listed = list(columns)
        self.seen[name] = listed
        found = {ours: _matching(said, listed) for ours, said in self.named.items()}
        paired = judged_together(found)
        for ours, theirs in found.items():
            if len(theirs) > 1 and ours not in SEVERAL and ours not in paired:
                raise InvalidInput(
                    f"{name} has two columns for the {ours}: {theirs[0]!r} and {theirs[1]!r}; name "
                    "the one that counts."
                )
        return {ours: theirs for ours, theirs in found.items() if theirs}

    def rename(self, columns: Iterable[str], name: str) -> dict[str, str]:
        """New names for the columns of one file, so that mapped columns get our names.

        Of several columns for one field the first gets its name.
        """
        listed = list(columns)
        chosen = self.columns_for(listed, name)
        found = {theirs[0]: ours for ours, theirs in chosen.items()}
        ignored = {one for said in self.ignored for one in _matching(said, listed)}
        # A column that is called like a field, in any style, is not what the user says it is.
        taken = {
            one: f"{one}{IGNORED}"
            for one in listed
            if one in ignored or (plain_name(one) in chosen and not one.endswith(IGNORED))
        }
        tags = {one for said in self.tags for one in _matching(said, listed)}
        if self.perhaps:
            # What is sliced by may be called like a field: that remains what it is.
            fields = renaming(listed)
            asked = {one for said in self.perhaps for one in _matching(said, listed)}
            tags |= {tag for tag in asked if tag not in fields}
        taken |= {tag: f"tag.{tag}" for tag in tags if f"tag.{tag}" not in listed}
        return {**{old: new for old, new in taken.items() if old not in found}, **found}

    def renamed(self, row: Mapping[str, Any], name: str) -> dict[str, Any]:
        """A record with its fields, and those of its results, renamed to ours."""
        names = self.rename(row, name)
        made: dict[str, Any] = {names.get(key, key): value for key, value in row.items()}
        merged = self.columns_for(row, name)
        paired = [merged.pop(ours) for ours in judged_together(merged)]
        for ours, theirs in merged.items():
            if len(theirs) > 1:
                for other in theirs[1:]:
                    made.pop(other, None)
                made[ours] = [one for key in theirs for one in _as_list(row[key])]
        if paired:
            made = {
                key: value for key, value in made.items() if key not in ("item", "grade")
            }
            made |= _judged(row, *paired)
        for ours, said in self.named.items():
            value = at_path(row, said) if ours not in made or "." in said else None
            if value is not None:
                self.seen[name].append(said)
                made[ours] = value
        for tag in self.tags:
            value = at_path(row, tag) if "." in tag and tag not in row else None
            if value is not None:
                self.seen[name].append(tag)
                made[f"{TAG}{tag}"] = value
        made = with_tags(made)
        for part in ("retrieved", "ground_truth"):
            if isinstance(made.get(part), list):
                made[part] = [self._inside(one, part, name) for one in made[part]]
        if any(ours not in made for ours in self.named):
            made = {
                key: value
                if key in ("retrieved", "ground_truth") and isinstance(value, list)
                else self._deeper(value, name)
                for key, value in made.items()
            }
        for ours, key in (("rank", "rank"), ("score", "score"), ("distance", "score")):
            if ours in self.named and isinstance(made.get("retrieved"), list):
                falls = ours == "score"
                made["retrieved"] = _in_order(made["retrieved"], key, falls=falls)
        made = {key: value for key, value in made.items() if not is_ignored(key)}
        return self._with_grades(made) if self.grades else made

    def _with_grades(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record with the user's words for grades as numbers."""

        def number(value: Any) -> Any:
            [said] = self.grades.of([value])
            return value if said is None else said

        def graded(one: Any) -> Any:
            if not isinstance(one, Mapping):
                return one
            return {
                key: number(value) if plain_name(str(key)) in _GRADES else value
                for key, value in one.items()
            }

        made = dict(record)
        if isinstance(truth := made.get("ground_truth"), Mapping):
            made["ground_truth"] = {item: number(grade) for item, grade in truth.items()}
        for part in ("ground_truth", "retrieved"):
            if isinstance(listed := made.get(part), list):
                made[part] = [graded(one) for one in listed]
        return made

    def _inside(self, one: Any, part: str, name: str) -> Any:
        """A result or target in a record, with its fields renamed to ours."""
        if not isinstance(one, Mapping):
            return one
        schema = RUN_SCHEMA if part == "retrieved" else TARGET_SCHEMA
        made = dict(one)
        for ours, said in self.named.items():
            called = "id" if ours == "item" else "score" if ours == "distance" else ours
            if ours not in (*schema, "distance", "grade") or ours == "query":
                continue
            key = next(iter(_matching(said, list(one))), None)
            value = at_path(one, said) if key is None else made.pop(key)
            if value is not None:
                self.seen[name] += [] if said in self.seen[name] else [said]
                made[called] = value
        for said in self.ignored:
            for key in _matching(said, list(made)):
                self.seen[name] += [] if said in self.seen[name] else [said]
                del made[key]
        return made

    def _deeper(self, value: Any, name: str, depth: int = 0) -> Any:
        """A value in which the objects of every list have the names that the user says.

        So a path into a result is found wherever a tool keeps its list of results.
        """
        if depth > _DEEPEST:
            return value
        if isinstance(value, Mapping):
            return {
                key: self._deeper(held, name, depth + 1) for key, held in value.items()
            }
        if not isinstance(value, list):
            return value
        inside = [self._inside(one, "retrieved", name) for one in value]
        return [
            self._deeper(one, name, depth + 1) if one == old else one
            for one, old in zip(inside, value, strict=True)
        ]

    def check_used(self) -> None:
        """Refuse a column, a sheet or a grade that no file has."""
        if self.sheet and self.sheets and self.sheet not in chain(*self.sheets.values()):
            raise self.no_such_sheet()
        if self.grades and not self.grades.met:
            raise InvalidInput(
                f"Leave --grades out, or name what stands in a column of grades: none is "
                f"{', '.join(self.grades):.60}, or the ground truth is no table and no records."
            )
        for ours, theirs in self._absent():
            listed = "; ".join(f"{n} has {', '.join(c)}" for n, c in self.seen.items())
            raise InvalidInput(
                f"There is no column {theirs!r} to "
                f"{ours if ours == IGNORE else f'take as {ours}'}: {listed[:400]}."
                f"{did_you_mean(theirs, self._every())}"
            )

    def said_in_vain(self) -> str:
        """Text to add to an error where the file lacks a column that the user named."""
        return (
            "".join(
                f" No column there is called {theirs!r} ({say((ours, theirs))})."
                f"{did_you_mean(theirs, self._every())}"
                for ours, theirs in self._absent()
            )
            + self.other_sheets()
        )

    def no_such_sheet(self) -> InvalidInput:
        """The error for a sheet that no file has."""
        listed = "; ".join(
            f"{file} has {', '.join(names)}" for file, names in self.sheets.items()
        )
        known = [name for names in self.sheets.values() for name in names]
        return InvalidInput(
            f"There is no sheet {self.sheet!r}: {listed[:400]}."
            f"{did_you_mean(str(self.sheet), known)}"
        )

    def other_sheets(self) -> str:
        """A hint at other sheets, where the one that was read is not the table."""
        if self.sheet is not None:
            return ""
        return "".join(
            f" {file} was read from its first sheet, {names[0]!r}; --sheet takes another: "
            f"{', '.join(names[1:])[:200]}."
            for file, names in self.sheets.items()
            if len(names) > 1
        )

    def _absent(self) -> list[tuple[str, str]]:
        said = [*self.named.items(), *((IGNORE, one) for one in self.ignored)]
        said += [(TAG_FIELD, tag) for tag in self.tags]
        every = self._every()
        return [pair for pair in said if self.seen and not _matching(pair[1], every)]

    def _every(self) -> list[str]:
        return [column for columns in self.seen.values() for column in columns]


def judged_together(named: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The field of results, and that of grades, with a column of grades for each of results.

    >>> judged_together({"retrieved": ["doc_1", "doc_2"], "grade": ["rel_1", "rel_2"]})
    ('retrieved', 'grade')
    """
    grades = named.get("grade", ())
    for ours in ("retrieved", "item"):
        if len(grades) == len(named.get(ours, ())) > 1:
            return ours, "grade"
    return ()


def _judged(
    record: Mapping[str, object], results: Sequence[str], grades: Sequence[str]
) -> dict[str, object]:
    """The results of a record and their judgements, each in a field of its own.

    >>> _judged({"hit1": "a", "hit2": "b", "ok1": 1, "ok2": ""}, ["hit1", "hit2"], ["ok1", "ok2"])
    {'retrieved': ['a', 'b'], 'ground_truth': {'a': 1}}
    """
    fields = zip(results, grades, strict=True)
    pairs = [(record.get(item), record.get(grade)) for item, grade in fields]
    pairs = [pair for pair in pairs if pair[0] not in (None, "")]
    judged = {str(item): grade for item, grade in pairs if grade not in (None, "")}
    return {"retrieved": [item for item, _ in pairs], "ground_truth": judged}


def _in_order(results: list[Any], field: str, *, falls: bool) -> list[Any]:
    """The results in the order of a field that the user names, where each has a number there."""
    values = [row.get(field) if isinstance(row, Mapping) else None for row in results]
    if not all(isinstance(value, int | float) for value in values):
        return results
    return sorted(results, key=lambda row: float(row[field]), reverse=falls)


def with_tags(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose columns ``tag.NAME`` are the tags of a record.

    >>> with_tags({"query": "q", "tag.asked": 3, "tag.kind": None})
    {'query': 'q', 'tags': {'asked': 3}}
    """
    tags = [key for key in row if str(key).startswith(TAG)]
    if not tags:
        return row
    own = {key.removeprefix(TAG): row[key] for key in tags if row[key] is not None}
    given = row.get("tags")
    rest = {key: value for key, value in row.items() if key not in tags}
    return {**rest, "tags": {**own, **(given if isinstance(given, Mapping) else {})}}


def tag_text(value: str | int | float | bool | None) -> str | None:
    """The value of a tag as a text; true and false as in JSON."""
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _matching(said: str, columns: list[str]) -> list[str]:
    """The columns that match a name, one of several names, or a pattern.

    >>> _matching("URL,url", ["url"]), _matching("Chunk *", ["Chunk 1", "Chunk 2"])
    (['url'], ['Chunk 1', 'Chunk 2'])
    """
    if said in columns:
        return [said]
    parts = [part.strip() for part in said.split(",")]
    if not any("*" in part for part in parts):
        return [part for part in parts if part in columns]
    return [
        column for column in columns if any(fnmatchcase(column, part) for part in parts)
    ]


def at_path(row: Mapping[str, Any], said: str) -> Any:
    """The value at a path such as ``metadata.source``, or None."""
    for path in said.split(","):
        value: Any = row
        for step in path.strip().split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is not None and "." in path:
            return value
    return None


def _as_list(value: Any) -> list[Any]:
    listed = list(value) if isinstance(value, list | tuple) else [value]
    return [one for one in listed if one not in (None, "")]


def _grades(given: Any) -> dict[str, float]:
    """Grades by word, from ``good=1,bad=0`` or a mapping.

    >>> _grades("good=1, so la la=0.5")
    {'good': 1.0, 'so la la': 0.5}
    >>> _grades({2: 3})
    {'2': 3.0}
    """
    listed = (
        given
        if isinstance(given, str)
        else ",".join(f"{k}={v}" for k, v in given.items())
    )
    found: dict[str, float] = {}
    for part in filter(str.strip, listed.split(",")):
        word, equals, number = part.rpartition("=")
        try:
            found[_spelling(word)] = float(number)
        except ValueError:
            equals = ""
        if not equals or not word.strip():
            raise InvalidInput(
                f"The grades cannot be read: found {part.strip()!r}; write each word with its "
                "grade, such as --grades good=1,bad=0."
            )
    return found


def _spelling(value: Any) -> str:
    """A value as --grades names it: 2, 2.0 and "2" are the same.

    >>> _spelling(" Good "), _spelling(2), _spelling("2.0"), _spelling(True)
    ('good', '2', '2', 'true')
    """
    text = str(value).strip().lower()
    try:
        return f"{float(text):.15g}"
    except ValueError:
        return text


def say(*pairs: tuple[str, str]) -> str:
    """A column mapping, ready to paste: options on the command line, ``columns=`` in Python.

    >>> say(("grade", "OK?"), ("ignore", "author"))
    'columns={"grade": "OK?", "ignore": "author"}'
    >>> from calipers.errors import command_line
    >>> with command_line():
    ...     say(("grade", "OK?"), ("ignore", "author"), ("distance", "L2"))
    "--column 'grade=OK?' --column ignore=author --distance L2"
    >>> say(("item", "docs"), ("map_ids", "prefix=docs/"))
    'columns={"item": "docs"}, map_ids="prefix=docs/"'
    """
    if not is_command_line():
        maps = [f', map_ids="{theirs}"' for ours, theirs in pairs if ours == MAP_IDS]
        columns = [pair for pair in pairs if pair[0] != MAP_IDS]
        return "".join((f"columns={_as_mapping(columns)}", *maps))
    from calipers.shell import join_words

    words: list[str] = []
    for ours, theirs in pairs:
        if ours in (GRADES, "distance", MAP_IDS):
            words += [f"--{ours.replace('_', '-')}", theirs]
        else:
            words += ["--column", f"{ours}={theirs}"]
    return join_words(words)


def _as_mapping(pairs: Sequence[tuple[str, str]]) -> str:
    """The pairs as a dictionary, a name that is given several times as a list."""
    found: dict[str, list[str]] = {}
    for ours, theirs in pairs:
        found.setdefault(ours, []).append(theirs)
    shown = {
        ours: json.dumps(theirs[0] if len(theirs) == 1 else theirs, ensure_ascii=False)
        for ours, theirs in found.items()
    }
    return "{" + ", ".join(f'"{ours}": {theirs}' for ours, theirs in shown.items()) + "}"


def words_as_grades(column: str) -> str:
    """What to do about a grade that is neither a number nor yes or no."""
    option = "--grades" if is_command_line() else 'columns={"grades": …}'
    return f"Give each word a number with {option}; if it is no grade, {say((IGNORE, column))}."


def may_be_the_grade(
    column: str, value: Any, where: str, *others: str, likely: bool = True
) -> Unclear:
    """The error for an unknown field that may say which targets are relevant."""
    rest = tuple((IGNORE, other) for other in others)
    lines: list[Pairs] = [(("grade", column), *rest), ((IGNORE, column), *rest)]
    return Unclear(
        f"{column!r} of {where} is not understood (it holds {value!r:.40}), and may say which "
        "targets are relevant",
        *(lines if likely else reversed(lines)),
        otherwise="Name it as the grade and give each word a number (--grades)",
    )


def _pair(text: str) -> tuple[str, str]:
    ours, equals, theirs = str(text).partition("=")
    if not equals:
        raise InvalidInput(
            f"The column {text!r} cannot be read; write what it is and its name in the file, such "
            "as item=expected_ids."
        )
    return ours.strip(), theirs.strip()
