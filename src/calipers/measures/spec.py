"""A metric as a value: its printed name is its identity and parses back."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from calipers.errors import InvalidInput, UnknownMetric
from calipers.measures.define import (
    Definition,
    aliases,
    definitions,
    find_definition,
    metric,
)
from calipers.measures.parameter import Between, Parameter, Value, show_number
from calipers.measures.rank import CURVE, LEVELS
from calipers.model.arrays import Floats
from calipers.model.matched import Matches
from calipers.model.policy import LIKE_PARAMETERS, check_rel
from calipers.words import did_you_mean

ONLY_TREC_EVAL = frozenset(
    {
        *("g", "bing", "rndcg", "ndcg_rel", "rprec_mult", "infap", "gm_map", "gm_bpref"),
        *("num_q", "num_nonrel_judged_ret", "runid", "relstring", "utility", "yaap"),
        *("set_map", "set_relative_p"),
    }
)
"""Measures of trec_eval that are not here, in small letters; a similar name is another
quantity."""

Given = tuple[tuple[str, Value], ...]
"""Parameters with their values, sorted by name."""

_FORM = re.compile(
    r"\s*([^@()\s]+?)\s*(?:@\s*([^()]*?)\s*)?(?:\((.*)\)\s*(?:@\s*([^()]+?)\s*)?)?"
)
_STARTS_WITH_DIGITS = re.compile(r"\s*11pt", re.IGNORECASE)
"""A metric whose name begins as a cut-off does."""
_TRAILING_CUTOFF = re.compile(r"(.+?)[_.]([0-9]+(?:,[0-9]+)*)")

WEIGHTS = Between(1e-9, 1e9, included=True)
"""The weights of a score, whose sum is then neither infinite nor 0."""


@dataclass(frozen=True, order=True)
class Metric:
    """One metric with its cut-off and parameters, such as ``ndcg@10(gain=exp)``.

    >>> from calipers.measures import parse_one
    >>> str(parse_one("nDCG@10(gain=exp)")), str(parse_one("P_5")), str(parse_one("recip_rank"))
    ('ndcg@10(gain=exp)', 'precision@5', 'mrr')
    """

    name: str
    k: int | None = None
    parameters: Given = ()
    """Sorted by name; a parameter that has its default is left out."""

    @property
    def definition(self) -> Definition:
        """The one place where this metric is defined."""
        known = find_definition((self.name,))
        if known is None:
            raise KeyError(self.name)
        return known[1]

    @property
    def stem(self) -> str:
        """The name without the cut-off, as in ``ndcg(gain=exp)``."""
        words = ",".join(f"{name}={_show(value)}" for name, value in self.parameters)
        return self.name + (f"({words})" if words else "")

    def __str__(self) -> str:
        cutoff = "" if self.k is None else f"@{self.k}"
        return self.name + cutoff + self.stem.removeprefix(self.name)

    @property
    def parts(self) -> tuple[tuple["Metric", float], ...]:
        """The metrics that a score is made of, each with its weight; none for other metrics."""
        if not self.definition.takes_parts:
            return ()
        ks = None if self.k is None else (self.k,)
        weights = [(name, weight) for name, weight in self.parameters if name != "rel"]
        return tuple(
            (parse((name,), ks)[0].with_rel(self.rel), float(weight))
            for name, weight in weights
        )

    @property
    def cutoffs(self) -> tuple[int, ...]:
        """Its cut-off, or those of its parts; none where it looks at everything."""
        parts = tuple(part.k for part, _ in self.parts) or (self.k,)
        return tuple(k for k in parts if k is not None)

    @property
    def rel(self) -> float | None:
        """Its own relevance threshold, if it has one."""
        threshold = dict(self.parameters).get("rel")
        return None if threshold is None else float(threshold)

    def with_rel(self, rel: float | None) -> "Metric":
        """This metric with a relevance threshold, where it takes one and has none of its own."""
        own = dict(self.parameters)
        check_rel(rel)
        takes_it = self.definition.takes_parts or "rel" in self.definition.parameters
        if rel is None or not takes_it or "rel" in own:
            return self
        return Metric(
            self.name, self.k, tuple(sorted({**own, "rel": float(rel)}.items()))
        )


def parse(
    names: str | Metric | Iterable[str | Metric],
    ks: Sequence[int] | None = None,
    like: str | None = None,
) -> tuple[Metric, ...]:
    """Metrics from their names, each once, in the order given.

    ``recall@1,5`` stands for two; a metric that takes a cut-off and is given none gets
    each of ``ks``. ``like`` names a tool whose parameters are the defaults.

    >>> [str(m) for m in parse(["recall@1,5", "mrr"])]
    ['recall@1', 'recall@5', 'mrr']
    >>> [str(m) for m in parse("rbp,rbp(p=0.8),rbp(p=0.5)", like="trec_eval")]
    ['rbp(highest=query,p=0.9)', 'rbp(highest=query)', 'rbp(highest=query,p=0.5)']
    """
    texts = split(names) if isinstance(names, str) else names
    if isinstance(texts, Metric):
        return (texts,)
    metrics: dict[Metric, None] = {}
    for text in texts:
        several = (text,) if isinstance(text, Metric) else _expand(text, ks, like)
        metrics.update(dict.fromkeys(several))
    return tuple(metrics)


def parse_one(name: str) -> Metric:
    """Parse one metric; several cut-offs are an error."""
    several = parse([name])
    if len(several) != 1:
        raise InvalidInput(
            f"One metric is expected here and {name!r} stands for {len(several)}."
        )
    return several[0]


def find_name(written: str, names: Iterable[str]) -> str | None:
    """The printed name that a name in any spelling means; None where there is none.

    Exactly that metric, or else the only one with all of its parameters and more, such as
    a relevance threshold that was set for all metrics.

    >>> find_name("P_5", ["precision@5", "mrr"]), find_name("AP", ["map(rel=2)", "mrr"])
    ('precision@5', 'map(rel=2)')
    """
    names = list(names)
    if written in names:
        return written
    try:
        wanted = parse_one(written)
    except InvalidInput:
        return None
    if str(wanted) in names:
        return str(wanted)
    having_more = [name for name in names if _has_all_of(name, wanted)]
    return having_more[0] if len(having_more) == 1 else None


def _has_all_of(name: str, wanted: Metric) -> bool:
    try:
        metric = parse_one(name)
    except InvalidInput:  # of a plug-in that is not installed here
        return False
    same = (metric.name, metric.k) == (wanted.name, wanted.k)
    return same and set(wanted.parameters) <= set(metric.parameters)


def split(text: str) -> list[str]:
    """``recall@1,5,map(rel=2,denominator=min)`` as its metrics: no split before a digit.

    >>> split("recall@1,5,map(rel=2,denominator=min),mrr")
    ['recall@1,5', 'map(rel=2,denominator=min)', 'mrr']
    """
    return split_at_commas(text, _goes_on)


def split_at_commas(
    text: str, goes_on: Callable[[str, str], bool] | None = None
) -> list[str]:
    """The pieces between commas outside of parentheses, but for those that do not separate.

    >>> split_at_commas("ndcg@10(gain=exp,rel=2)=0.5, mrr=0.5")
    ['ndcg@10(gain=exp,rel=2)=0.5', 'mrr=0.5']
    """
    pieces: list[str] = []
    depth = 0
    start = 0
    for i, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character != "," or depth:
            continue
        if goes_on is None or not goes_on(text[start:i], text[i + 1 :]):
            pieces.append(text[start:i])
            start = i + 1
    pieces.append(text[start:])
    return [piece.strip() for piece in pieces if piece.strip()]


def _goes_on(before: str, after: str) -> bool:
    """Whether a comma separates two cut-offs of one metric."""
    if _STARTS_WITH_DIGITS.match(after):
        return False
    return bool(
        re.match(r"\s*\.?[0-9]", after) and re.search(r"@|[_.][0-9][0-9,.]*$", before)
    )


def check_cutoff(value: Any) -> int:
    """The cut-off as a whole number above 0, or an error."""
    text = str(value).strip()
    is_number = not isinstance(value, bool) and re.fullmatch(r"0*[0-9]{1,9}", text)
    if not is_number or int(text) < 1:
        raise InvalidInput(
            f"The cut-off k is {text[:40] or 'empty'!r}; k must be a whole number from 1 "
            "to 999999999, such as 10 (several: 1,5,10)."
        )
    return int(text)


def _expand(text: str, ks: Sequence[int] | None, like: str | None) -> list[Metric]:
    if not isinstance(text, str):
        raise InvalidInput(
            f"A metric is given as {text!r}; write its name, such as 'recall@10'."
        )
    form = _FORM.fullmatch(text)
    if not form:
        raise InvalidInput(
            f"The metric {text!r} cannot be read; write name@k(parameter=value), "
            "such as ndcg@10(gain=exp)."
        )
    word, cutoffs, words, late_cutoffs = form.groups()
    cutoffs = cutoffs if cutoffs is not None else late_cutoffs
    if word.lower() == CURVE and cutoffs is None:
        inside = "" if words is None else f"({words})"
        levels = [_expand(f"{CURVE}_{level}{inside}", None, like) for level in LEVELS]
        return [metric for several in levels for metric in several]
    definition, word_cutoff = _definition(word)
    cutoffs = cutoffs if cutoffs is not None else word_cutoff
    theirs = LIKE_PARAMETERS.get(like or "", {}).get(definition.name, {})
    if definition.takes_parts:
        return _scores(definition, cutoffs, ks, _parts(words or "", text, like))
    parameters = _parameters(definition, words or "", text, theirs)
    return [
        Metric(definition.name, k, parameters) for k in _cutoffs(definition, cutoffs, ks)
    ]


def _definition(word: str) -> tuple[Definition, str | None]:
    """The definition that a word names, and the cut-off that other tools put into the word."""
    whole = word.lower().replace("-", "_")
    cutoff_of: dict[str, str | None] = {whole: None}
    if trailing := _TRAILING_CUTOFF.fullmatch(whole):
        cutoff_of[trailing[1]] = trailing[2]
    if (registered := find_definition(tuple(cutoff_of))) is not None:
        name, definition = registered
        return definition, cutoff_of[name]
    if any(name in ONLY_TREC_EVAL or name.startswith("prefs_") for name in cutoff_of):
        raise UnknownMetric(
            f"{word!r} is a measure of trec_eval that Calipers does not have. "
            "`calipers metrics --all` lists those it has."
        )
    if whole.startswith("iprec_at_recall_"):
        raise UnknownMetric(
            f"{word!r} is no level of the curve; its eleven levels are iprec_at_recall_0.00, "
            "_0.10 and so on to _1.00, and iprec_at_recall is all of them."
        )
    known = [*definitions(), *aliases()]
    raise UnknownMetric(
        f"There is no metric called {word!r}.{did_you_mean([*cutoff_of][-1], known)} "
        "`calipers metrics --all` lists them."
    )


def _cutoffs(
    definition: Definition, cutoffs: str | None, ks: Sequence[int] | None
) -> list[int | None]:
    if cutoffs is not None and definition.cutoff == "none":
        raise InvalidInput(
            f"The metric {definition.name} takes no cut-off and is written with "
            f"@{cutoffs}; write {definition.name}."
        )
    if cutoffs == "all" and definition.cutoff == "optional":
        return [None]
    if cutoffs is not None:
        return [check_cutoff(word) for word in cutoffs.split(",")]
    if definition.cutoff != "none" and ks:
        return [check_cutoff(k) for k in ks]
    if definition.cutoff == "required":
        raise InvalidInput(
            f"The metric {definition.name} needs a cut-off and has none; "
            f"write {definition.name}@10, or give -k 1,5,10 (k=[1, 5, 10] in Python)."
        )
    return [None]


def _parameters(
    definition: Definition, words: str, text: str, theirs: Mapping[str, Value]
) -> Given:
    values: dict[str, Value] = {}
    for word in filter(None, (word.strip() for word in words.split(","))):
        name, equals, value = (part.strip() for part in word.partition("="))
        parameter = definition.parameters.get(name)
        if parameter is None or not equals:
            allowed = ", ".join(definition.parameters) or "none"
            raise InvalidInput(
                f"The metric {text!r} has {word!r} in its parentheses; {definition.name} takes "
                f"these parameters, as name=value: {allowed}."
                f"{did_you_mean(name, definition.parameters)}"
            )
        if name in values:
            raise InvalidInput(f"The metric {text!r} gives {name} twice; give it once.")
        values[name] = _value(definition, parameter, value)
    kept = {
        n: v
        for n, v in {**theirs, **values}.items()
        if v != definition.parameters[n].default
    }
    return tuple(sorted(kept.items()))


def _scores(
    definition: Definition, cutoffs: str | None, ks: Sequence[int] | None, parts: Given
) -> list[Metric]:
    """The score at each cut-off; parts with a cut-off of their own say where it looks."""
    own = [name for name, _ in parts if name != "rel" and "@" in name]
    every = _cutoffs(definition, cutoffs, None if own else ks)
    scores = [Metric(definition.name, k, parts) for k in every]
    for whole in scores:
        _ = whole.parts  # a part that needs a cut-off and has none is refused
    return scores


def _parts(words: str, text: str, like: str | None) -> Given:
    """The parts of a score with their weights, each by the name that it prints."""
    parts: dict[str, Value] = {}
    for word in split_at_commas(words):
        name, equals, value = (part.strip() for part in word.rpartition("="))
        weight = Parameter("", None, limits=WEIGHTS).read(value) if equals else None
        if weight is None:
            raise InvalidInput(
                f"The metric {text!r:.120} has {word!r:.80} in its parentheses; a score "
                "is made of metrics with weights above 0, as metric=weight: "
                "score(recall@10=0.7,mrr=0.3). Weights go from 1e-9 to 1e9."
            )
        part = "rel" if name == "rel" else _part(name, text, like)
        if part in parts:
            raise InvalidInput(f"The metric {text!r} gives {part} twice; give it once.")
        parts[part] = weight
    if not parts.keys() - {"rel"}:
        raise InvalidInput(
            f"The metric {text!r} has no parts; write metrics with weights, such as "
            "score(recall@10=0.7,mrr=0.3)."
        )
    return tuple(sorted(parts.items()))


def _part(name: str, text: str, like: str | None) -> str:
    """The printed name of a part, without a cut-off where it has none of its own."""
    at_one = parse((name,), (1,), like)
    at_two = parse((name,), (2,), like)
    if len(at_one) != 1:
        raise InvalidInput(
            f"The metric {text!r} has {name!r} as a part, which stands for "
            f"{len(at_one)}; give each a weight of its own."
        )
    [part] = at_one
    definition = part.definition
    is_share = definition.bounds[0] == 0 and definition.bounds[1] == 1
    if definition.takes_parts or definition.better != "higher" or not is_share:
        raise InvalidInput(
            f"The metric {text!r} has {name!r} as a part; a part must lie between 0 and "
            "1, and more of it must be better, as of recall@10, ndcg@10 and mrr."
        )
    return str(part) if at_one == at_two else part.stem


def _value(definition: Definition, parameter: Parameter, text: str) -> Value:
    value = parameter.read(text)
    if value is None:
        raise InvalidInput(
            f"{parameter.name} in {definition.name}({parameter.name}=…) is {text!r}; "
            f"it can be {parameter.allowed}."
        )
    return value


def _show(value: Value) -> str:
    return value if isinstance(value, str) else show_number(value)


class Parts:
    """No view of its own: each part has the view of its metric."""

    @classmethod
    def of(cls, _: Matches) -> Self:
        """Nothing: the values of the parts are computed as for any metric."""
        return cls()


@metric(better="higher", takes_parts=True)
def score(parts: Parts, k: int | None = None) -> Floats:
    """The weighted mean of several metrics, such as recall@10=0.7,mrr=0.3, per query.

    Weights are above 0 and are divided by their sum. Undefined where a part is. A part
    without a cut-off takes that of the score, as in score@10(recall=0.7,mrr=0.3). Every
    part lies between 0 and 1, and more of it is better.
    """
    raise NotImplementedError("computed from its parts")
