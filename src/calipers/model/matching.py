"""How a run is matched with a ground truth: everything that a caller may ask for, in one value."""

import re
from collections.abc import Callable
from dataclasses import field, fields
from functools import cached_property
from typing import Literal, get_args

from calipers.errors import InvalidInput, check_number
from calipers.frozen import dataclass
from calipers.model.policy import Policy, check_rel
from calipers.text import normalise
from calipers.words import did_you_mean

Kind = Literal["id", "quote", "span"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LEAST: dict[Kind, float] = {"id": 1.0, "quote": 1.0, "span": 0.9}
"""The share of a target that is enough unless ``min`` is given. Spans leave room for the
white space that many chunkers strip between two chunks."""
PARAMETERS: dict[Kind, tuple[str, ...]] = {
    "id": (),
    "quote": ("min", "case"),
    "span": ("min",),
}

Level = Literal["evidence", "chunk", "page", "document"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class MatchRule:
    """One way of recognising targets; printed as it is written."""

    kind: Kind
    least: float
    ignore_case: bool = False

    def __str__(self) -> str:
        words = []
        if self.ignore_case:
            words.append("case=ignore")
        if self.least != LEAST[self.kind] or self.kind == "span":
            words.append(f"min={self.least:g}")
        return self.kind + (f"({','.join(words)})" if words else "")


def parse_matching(text: str) -> MatchRule:
    """Parse a rule such as ``quote(min=0.8)``.

    >>> parse_matching("quote(min=0.8)")
    MatchRule(kind='quote', least=0.8, ignore_case=False)
    >>> str(parse_matching(" span ")), str(parse_matching("quote(min=1)"))
    ('span(min=0.9)', 'quote')
    """
    form = (
        re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
        if isinstance(text, str)
        else None
    )
    if not form:
        raise InvalidInput(
            f"The matching {text!r} cannot be read; write id, quote or span, with "
            "parameters in parentheses, such as quote(min=0.8)."
        )
    kind = next((known for known in KINDS if known == form[1]), None)
    if kind is None:
        raise InvalidInput(
            f"There is no matching called {form[1]!r}; it can be {', '.join(KINDS)}."
            f"{did_you_mean(form[1], KINDS)}"
        )
    parameters: dict[str, str] = {}
    for word in filter(None, (word.strip() for word in (form[2] or "").split(","))):
        name, equals, value = (part.strip() for part in word.partition("="))
        if name not in PARAMETERS[kind] or not equals or name in parameters:
            allowed = ", ".join(PARAMETERS[kind]) or "none"
            raise InvalidInput(
                f"The matching {text!r} has {word!r} in its parentheses; {kind} takes these "
                f"parameters, each once and as name=value: {allowed}."
                f"{did_you_mean(name, PARAMETERS[kind])}"
            )
        parameters[name] = value
    if (case := parameters.get("case")) not in (None, "keep", "ignore"):
        raise InvalidInput(
            f"case in quote(case=…) is {case!r}; it can be keep or ignore."
        )
    return MatchRule(kind, _least(parameters.get("min"), kind), case == "ignore")


def _least(text: str | None, kind: Kind) -> float:
    if text is None:
        return LEAST[kind]
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value <= 1:
        raise InvalidInput(
            f"min in {kind}(min=…) is {text!r}; it is the share of a target that must be "
            "held, above 0 and at most 1, such as 0.8."
        )
    return value


def check_level(name: str | None) -> Level:
    """The level of that name; evidence where none is given.

    >>> check_level(None)
    'evidence'
    """
    for level in LEVELS:
        if name in (level, None):
            return level
    raise InvalidInput(
        f"There is no level {name!r} here; one level is expected: {', '.join(LEVELS)}."
        f"{did_you_mean(str(name), LEVELS)}"
    )


@dataclass(frozen=True)
class IdMap:
    """What is removed from an id, and whether its case counts; printed as it is written."""

    prefixes: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    """Which of ``ID_RULES`` hold, in their order."""
    suffixes: tuple[str, ...] = ()

    def __str__(self) -> str:
        prefixes = (f"prefix={prefix}" for prefix in self.prefixes)
        suffixes = (f"suffix={suffix}" for suffix in self.suffixes)
        return ",".join([*prefixes, *suffixes, *self.rules])

    def after(self, said: str | None) -> "IdMap":
        """These rules together with those that the user says already, which come before them.

        >>> str(IdMap(("en/",), ("case",)).after("prefix=docs/"))
        'prefix=docs/en/,prefix=docs/,prefix=en/,case'
        """
        if not said:
            return self
        before = parse_id_map(said)
        both = [first + then for first in before.prefixes for then in self.prefixes]
        prefixes = dict.fromkeys([*both, *before.prefixes, *self.prefixes])
        ends = [then + first for first in before.suffixes for then in self.suffixes]
        suffixes = dict.fromkeys([*ends, *before.suffixes, *self.suffixes])
        rules = (rule for rule in ID_RULES if rule in (*before.rules, *self.rules))
        return IdMap(tuple(prefixes), tuple(rules), tuple(suffixes))

    def of(self, name: str) -> str:
        """The id as it is compared.

        >>> IdMap(prefixes=("docs/",), rules=("extension", "case")).of("docs/GIL.md")
        'gil'
        >>> IdMap(suffixes=("-v2",)).of("c1-v2")
        'c1'
        """
        for prefix in self.prefixes:
            if name.startswith(prefix) and name != prefix:
                name = name.removeprefix(prefix)
                break
        for suffix in self.suffixes:
            if name.endswith(suffix) and name != suffix:
                name = name.removesuffix(suffix)
                break
        for rule in self.rules:
            name = ID_RULES[rule](name) or name
        return name


def without_extension(name: str) -> str:
    """An id without what looks like the extension of a file name.

    >>> without_extension("docs/a.tar.gz"), without_extension("v1.2"), without_extension(".env")
    ('docs/a.tar', 'v1.2', '.env')
    """
    stem, point, extension = name.rpartition(".")
    is_one = point and extension.isalnum() and not extension.isdigit()
    return stem if is_one and stem and not stem.endswith("/") else name


def without_zeros(name: str) -> str:
    """An id whose numbers have no leading zeros.

    >>> without_zeros("q007-01"), without_zeros("1.05"), without_zeros("a0")
    ('q7-1', '1.05', 'a0')
    """
    return re.sub(r"(?<![\d.])0+(?=\d)", "", name)


UUID = (
    r"\W*([0-9A-Fa-f]{8})[-_]([0-9A-Fa-f]{4})[-_]([0-9A-Fa-f]{4})[-_]([0-9A-Fa-f]{4})[-_]"
    r"([0-9A-Fa-f]{12})\W*"
)
"""A UUID in its five groups, perhaps in braces."""


def without_signs(name: str) -> str:
    """An id without punctuation and white space; between two digits any sign is a hyphen.

    The hyphens of a UUID go, too, as it is often written without them.

    >>> without_signs("c-1"), without_signs("c_1"), without_signs("2024.03"), without_signs("203")
    ('c1', 'c1', '2024-03', '203')
    >>> without_signs("{00112233-4455-6677-8899-aabbccddeeff}")
    '00112233445566778899aabbccddeeff'
    """
    if (uuid := re.fullmatch(UUID, name)) is not None:
        return "".join(uuid.groups())
    return re.sub(r"[\W_]+", _sign, name)


def _sign(signs: re.Match[str]) -> str:
    """What stands for some signs: a hyphen between digits, nothing elsewhere."""
    name, start, end = signs.string, *signs.span()
    return (
        "-" if name[start - 1 : start].isdigit() and name[end : end + 1].isdigit() else ""
    )


def without_percent(name: str) -> str:
    """An id with ``%20`` and the like written out.

    >>> without_percent("a%20b"), without_percent("100%")
    ('a b', '100%')
    """
    if "%" not in name:
        return name
    from urllib.parse import unquote  # rarely needed, and slow to import

    return unquote(name)


ID_RULES: dict[str, Callable[[str], str]] = {
    "width": normalise,
    "scheme": lambda name: re.sub(r"^[A-Za-z][\w+.-]*://", "", name),
    "query": lambda name: re.split(r"[?#]", name)[0],
    "percent": without_percent,
    "slash": lambda name: name.rstrip("/"),
    "basename": lambda name: re.split(r"[/\\]", name.rstrip("/"))[-1],
    "extension": without_extension,
    "decimal": lambda name: re.sub(r"^(\d+)\.0+$", r"\1", name),
    "zeros": without_zeros,
    "case": str.casefold,
    "signs": without_signs,
}
"""What to ignore in an id, by name, in the order in which it is removed."""
RULE_WORDS = (
    "width (white space, full-width letters, characters that cannot be seen), scheme "
    "(https://), query (?page=2), percent (%20), slash (at the end), basename (without "
    "folders), extension (.md), decimal (.0), zeros (007), case and signs (c-1)"
)


DROPPING = ("query", "basename", "extension")
"""Two ids that both lose such a part must lose the same one: a.md is not a.txt."""


def inverted(
    names: dict[str, str], how: IdMap, side: str, before: dict[str, str] | None = None
) -> dict[str, str]:
    """A map from new to old ids; an error where two different old ids become the same.

    One id in two spellings is no such case: where a prefix stands before some occurrences of an
    id, or zeros do, making them one is what was asked for.
    """
    written = IdMap((), tuple(rule for rule in how.rules if rule not in DROPPING))
    found = {} if before is None else before
    for old, new in names.items():
        other = found.setdefault(new, old)
        if other == old:
            continue
        plain = written.of(old)
        other_plain = written.of(other)
        if plain not in (new, other_plain) and other_plain != new:
            raise InvalidInput(
                f"The ids {other!r} and {old!r} of the {side} both become {new!r}, and nobody "
                "could tell which is meant; take less off the ids."
            )
        if other_plain == new:
            found[new] = old
    return found


def parse_id_map(text: str) -> IdMap:
    """Parse a map such as ``prefix=docs/,extension,case``.

    >>> parse_id_map("case, extension, prefix=chunk-")
    IdMap(prefixes=('chunk-',), rules=('extension', 'case'), suffixes=())
    """
    affixes: dict[str, list[str]] = {"prefix": [], "suffix": []}
    names: set[str] = set()
    for word in filter(None, (word.strip() for word in str(text).split(","))):
        name, equals, value = word.partition("=")
        name = name.strip()
        if (name not in ID_RULES and name not in affixes) or (name in affixes) != bool(
            value
        ):
            raise InvalidInput(
                f"The map of ids {text!r} has {word!r}; it can be prefix=TEXT or "
                f"suffix=TEXT (taken off where an id begins or ends with it), {RULE_WORDS}, "
                f"with commas between them.{did_you_mean(name, (*affixes, *ID_RULES))}"
            )
        names.add(name)
        if equals:
            affixes[name].append(value)
    if not names:
        raise InvalidInput(
            f"The map of ids {text!r} is empty; write prefix=TEXT, suffix=TEXT, "
            f"{', '.join(ID_RULES)}, or several with commas between them."
        )
    rules = tuple(rule for rule in ID_RULES if rule in names)
    prefixes, suffixes = (tuple(dict.fromkeys(texts)) for texts in affixes.values())
    return IdMap(prefixes, rules, suffixes)


@dataclass(frozen=True, kw_only=True)
class Matching:
    """How a run is matched with a ground truth; settings that make no sense are refused at once.

    >>> Matching(match="quote(min=0.8)").rule.least
    0.8
    """

    rel: float | None = None
    """The grade from which a target is relevant; None: above 0."""
    corpus_size: int | None = None
    """Items in the corpus, for metrics that count true negatives."""
    level: str | None = None
    """evidence (several chunks together may hold a target), chunk (one must hold it
    alone), page or document; None: the data decide."""
    map_ids: str | None = None
    """What to ignore in ids, such as ``prefix=docs/,extension,case``."""
    match: str | None = None
    """id, quote or span, perhaps with parameters; None: the data decide."""
    like: str | None = None
    """The tool whose policies were asked for; metrics then take its parameters, too."""
    policy: Policy = field(default_factory=Policy)
    further: tuple[tuple[str, object], ...] = ()
    """Further settings of reading, which results record with the rest."""

    def __post_init__(self) -> None:
        check_rel(self.rel)
        if self.corpus_size is not None:
            check_number("The size of the corpus", self.corpus_size, whole=True, least=1)
        check_level(self.level)
        if self.match is not None:
            parse_matching(self.match)
        if self.map_ids is not None:
            parse_id_map(self.map_ids)

    @cached_property
    def rule(self) -> MatchRule:
        """How targets are recognised, once that is decided."""
        return parse_matching(self.match or "id")

    @property
    def at_documents(self) -> bool:
        """Whether both sides are rolled up to documents or pages, and these matched by id."""
        return self.level in ("page", "document")

    def to_settings(self) -> dict[str, object]:
        """The settings of the matching, as results record and fingerprint them.

        Policies are recorded separately, and a tool by its policies and parameters.
        """
        recorded: dict[str, object] = {}
        for member in fields(self):
            value = getattr(self, member.name)
            if member.name in ("like", "policy", "further"):
                continue
            if value is not None or member.name in _ALWAYS:
                recorded["matched_at" if member.name == "level" else member.name] = value
        return (
            recorded
            | ({"match": "document"} if self.at_documents else {})
            | dict(self.further)
        )


_ALWAYS = ("rel", "corpus_size")
