"""Propose a mapping of columns: each candidate is tried on the head of the file, then shown.

Whoever reads raises ``Unclear`` with the mappings that may settle it. Each is read as if the user
had said it; what asks further questions is extended by their answers, and what cannot be read is
never shown. A line comes with a look at what it would mean, so that a mapping that exchanges
results and targets is seen.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from calipers.errors import (
    LOOK,
    CalipersError,
    InvalidInput,
    Settled,
    SumRow,
    Unclear,
    is_command_line,
)
from calipers.frozen import dataclass
from calipers.io.files.probe import Probe
from calipers.io.records.json_files import is_list_of_objects
from calipers.io.tables.cells import looks_like_texts
from calipers.io.tables.columns import (
    FIELDS,
    GRADES,
    IGNORE,
    MAP_IDS,
    TWO_LINES,
    Columns,
    Pairs,
    say,
)
from calipers.io.tables.look import look_at, look_for, queries_of
from calipers.io.tables.meeting import in_common
from calipers.io.tables.usual_names import IGNORED, either_name, renaming
from calipers.model.matched import Dataset, Role
from calipers.names import HARMLESS, NO_GRADES, plain_name
from calipers.words import first_names

Read = Callable[[Probe, Role], Dataset]
"""What reads a file, in whatever format it is."""
MOST_TRIALS = 40
"""Mappings that are tried before nothing is proposed."""
MOST_SHOWN = 3
_MOST_LEVELS = 100
"""The highest grade that people give."""
_SOME = 3
"""Records whose fields are looked at."""
_DEEPEST = 8
"""Pairs of one mapping beyond which no further question is answered by trial."""
_IDS = frozenset({"id", "ids"})
"""Words that may be in the name of the item."""


@dataclass(frozen=True)
class Offer:
    """A mapping that could be read, and what it gives."""

    pairs: Pairs
    dataset: Dataset
    map_ids: str | None = None
    """How ids have to be compared so that some are in common; None if they are as they stand."""
    other: Dataset | None = None
    """What it gives of the file beside."""
    lacks: Sequence[str] = ()
    """The metrics asked for that it cannot give, as only what was returned was judged."""
    refused: str = ""
    """Why the file beside is refused, whatever is said of this one."""

    @property
    def said(self) -> Pairs:
        """The mapping, and how ids are compared where that must be said."""
        maps = () if self.map_ids is None else ((MAP_IDS, self.map_ids),)
        return (*self.pairs, *maps)

    @property
    def line(self) -> str:
        """The mapping as it is typed."""
        return say(*self.said)


def settled(unclear: Unclear, probe: Probe, role: Role, read: Read) -> InvalidInput:
    """The error for unclear data: the lines that could be read, each with what it means."""
    offers = tried(unclear, probe, role, read)
    if not offers:
        alone = _one_part(probe, read) if role == "both" else ""
        if not alone:
            return InvalidInput(str(unclear))
        return InvalidInput(f"Give what it lacks in a second file: {unclear.why}.{alone}")
    if offers[0].refused:
        return InvalidInput(offers[0].refused)
    answers = [offer.pairs for offer in offers]
    if len(offers) > 1:
        return Settled(f"Say which is meant: {unclear.why}.{looks_at(offers)}", *answers)
    only_ignores = all(ours == IGNORE for ours, _ in offers[0].said)
    if only_ignores and unclear.otherwise is not None:
        advice = f"{unclear.otherwise}, or say {offers[0].line}: {unclear.why}."
        return Settled(advice + looks_at(offers), *answers)
    sentence = _with_settings(f"Say {offers[0].line}; {unclear.why}.", *offers[0].said)
    return Settled(sentence + looks_at(offers), *answers)


def _one_part(probe: Probe, read: Read) -> str:
    """The lines for a file that holds one part alone; empty if it may hold both.

    A column that is left over may be the other part, so nothing is said then.
    """
    offers: dict[Role, Offer] = {}
    for part in _BESIDE:
        head = probe.head()
        try:
            if head is not None:
                read(head, part)
        except Unclear as unclear:
            alone = [
                offer
                for offer in tried(unclear, probe, part, read)
                if _says_all(offer.pairs, probe)
            ]
            graded = [offer for offer in alone if GRADES in dict(offer.pairs)]
            # Words that may be graded either way are no sign of what a file holds.
            sure = (
                alone if len(graded) < 2 else [one for one in alone if one not in graded]
            )
            offers |= {part: sure[0]} if sure else {}
        except CalipersError:
            continue
    ordered = {"rank", "score", "distance", "retrieved"}
    if "run" in offers and ordered & dict(offers["run"].pairs).keys():
        offers.pop("ground_truth", None)
    if not offers:
        return ""
    name = probe.name if probe.given is None else "FILE"
    lines = [
        f"{_BESIDE[part].format(name)} {offer.line}"
        if is_command_line()
        else f"{_BESIDE_IN_PYTHON[part]}, {offer.line}"
        for part, offer in offers.items()
    ]
    looks = [look_at(offer.dataset) for offer in offers.values()]
    width = max(map(len, lines))
    shown = zip(lines, looks, strict=True)
    return "".join(f"{LOOK}{line:{width}}   {look}".rstrip() for line, look in shown)


_BESIDE: dict[Role, str] = {
    "run": "--run {} --ground-truth OTHER",
    "ground_truth": "--ground-truth {} --run OTHER",
}
"""How a file is given that holds one part, with another that holds the other."""
_BESIDE_IN_PYTHON: dict[Role, str] = {
    "run": "run=…, ground_truth=other",
    "ground_truth": "ground_truth=…, run=other",
}


def _says_all(pairs: Pairs, probe: Probe) -> bool:
    """Whether a mapping leaves no column over that may hold the other part."""
    named = [theirs.split(",") for ours, theirs in pairs if ours != IGNORE]
    said = {name for names in named for name in names}
    columns = frozenset().union(*probe.row_keys.values())
    return all(
        name in said or {*plain_name(name).split("_")} & (HARMLESS | NO_GRADES)
        for name in columns
    )


def _with_settings(sentence: str, *pairs: tuple[str, str]) -> str:
    """The sentence, and the same mapping for the settings file where two lines have room."""
    if not is_command_line() or MAP_IDS in dict(pairs):
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


def with_proposal(
    dataset: Dataset, asking: Unclear, probe: Probe, role: Role, read: Read
) -> Dataset:
    """A dataset that lacks a part, with the lines that could be read, each with its look."""
    offers = tried(asking, probe, role, read)
    lines = ", or ".join(offer.line for offer in offers)
    looks = looks_at(offers, named=False) if offers else ""
    answers = tuple(offer.pairs for offer in offers)
    return replace(dataset, proposal=lines + looks, answers=answers, unclear=None)


def tried(unclear: Unclear, probe: Probe, role: Role, read: Read) -> list[Offer]:
    """The mappings with which ``read`` reads the head of a file, the likelier first.

    What is read must have something in common with the file beside it.
    """
    head = probe.head()
    if head is None:
        return []
    offers = _readable(list(unclear.options), head, probe, role, read)
    from calipers.io.records.parts import exchanges, mappings_of_records

    likely = [offer for offer in offers if not exchanges(offer.pairs)]
    records = _records_in(head.given)
    if likely or not records:
        return likely or offers
    # Names say too little: any list in the records may be meant.
    further = mappings_of_records(records, probe.columns_said, role)
    return _readable(list(further), head, probe, role, read) or offers


def _records_in(value: object) -> Sequence[object]:
    """The records of a value: a list of them, or the only one in an object."""
    if isinstance(value, list | tuple):
        return value
    lists = list(value.values()) if isinstance(value, Mapping) else []
    lists = [held for held in lists if is_list_of_objects(held)]
    return lists[0] if len(lists) == 1 else ()


def _readable(
    waiting: list[Pairs], head: Probe, probe: Probe, role: Role, read: Read
) -> list[Offer]:
    """The mappings with which ``read`` reads the head of a file, the likelier first."""
    seen: set[frozenset[tuple[str, str]]] = set()
    offers: list[Offer] = []
    near: list[Offer] = []
    alone: list[Offer] = []
    partial: list[Offer] = []
    listed = frozenset().union(*probe.row_keys.values())
    own = listed
    for _ in range(MOST_TRIALS):
        if not waiting or len(offers) >= MOST_SHOWN:
            break
        pairs = _as_one(waiting.pop(0), probe.columns_said)
        columns = probe.columns_said.with_more(pairs)
        if columns is None or frozenset(pairs) in seen:
            continue
        seen.add(frozenset(pairs))
        if _names_ours(pairs, own):
            continue
        try:
            dataset = read(head.saying(columns), role)
            if not _is_whole(dataset, role):
                waiting[:0] = _answers(pairs, dataset.unclear)
                continue
            # Where it only says what a grade is, the file itself has no results.
            says_parts = {ours for ours, _ in pairs} - {"grade", IGNORE}
            if says_parts and (_says_nothing(dataset) or _cannot_be_meant(dataset)):
                continue
            if lacks := _metrics_beyond(dataset, columns):
                partial.append(Offer(pairs, dataset, lacks=lacks))
                continue
            common = in_common(dataset, columns, role, probe.columns_said)
            if common.kind == "nothing":
                waiting += _with_names_beside(pairs, probe, columns)
                waiting += _with_other_ids(pairs, head)
            elif common.kind == "nearly":
                near.append(Offer(pairs, dataset, common.map_ids))
            elif common.kind == "unread":
                own = own.union(*columns.seen.values())
                # What the file beside asks is answered by the same line.
                answers = [
                    _as_one((*_but_for(pairs, more, listed), *more), probe.columns_said)
                    for more in common.answers
                ]
                waiting[:0] = [answer for answer in answers if answer != pairs]
                alone.append(Offer(pairs, dataset))
            elif common.kind == "alone":
                alone.append(Offer(pairs, dataset, refused=common.refused))
            elif not _is_known(dataset, offers, common.other):
                offers.append(Offer(pairs, dataset, other=common.other))
        except Unclear as further:
            waiting[:0] = _answers(pairs, further)
        except SumRow:
            raise  # no mapping can make a question of it
        except (CalipersError, pl.exceptions.DuplicateError):
            continue  # also where a file has a column of that name already
    offers = [one for one in offers if not any(_repeats(one, other) for other in offers)]
    offers = sorted(offers, key=_has_fewer_results) or near[:1] or partial[:1]
    return offers or alone[:MOST_SHOWN]


def _says_nothing(dataset: Dataset) -> bool:
    """Whether nothing was returned in a trial that reads both, or nothing should be found."""
    truth = dataset.ground_truth
    run = dataset.run
    if truth is None or run is None:
        return False
    is_wanted = truth.only_returned or (truth.targets["grade"] > 0).any()
    return not run.frame.height or not is_wanted


def _cannot_be_meant(dataset: Dataset) -> bool:
    """Whether each query has one result again and again, or a quote is empty."""
    if (
        dataset.ground_truth is not None
        and "quote" in dataset.ground_truth.targets.columns
    ):
        quotes = dataset.ground_truth.targets["quote"]
        if quotes.dtype == pl.String and (quotes.str.strip_chars() == "").any():
            return True
    if dataset.run is None or "item" not in dataset.run.frame.columns:
        return False
    each = dataset.run.frame.group_by("query").agg(
        rows=pl.len(), different=pl.col("item").n_unique()
    )
    several = each.filter(pl.col("rows") > 1)
    return several.height > 1 and bool((several["different"] == 1).all())


def _metrics_beyond(dataset: Dataset, columns: Columns) -> Sequence[str]:
    """The metrics asked for that cannot be measured, if only what was returned was judged."""
    truth = dataset.ground_truth
    return columns.needs_all() if truth is not None and truth.only_returned else ()


def _names_ours(pairs: Pairs, own: frozenset[str]) -> bool:
    """Whether pairs name a column as a trial before called it, and not as the file does."""
    named = {name for _, theirs in pairs for name in theirs.split(",")}
    return any(name in FIELDS or name.endswith(IGNORED) for name in named - own)


def _but_for(pairs: Pairs, more: Pairs, own: frozenset[str]) -> Pairs:
    """The pairs without the fields that both files have under the name in ``more``."""
    shared = {ours for ours, theirs in more if theirs in own and ours != IGNORE}
    return tuple(pair for pair in pairs if pair[0] not in shared)


def _repeats(offer: Offer, other: Offer) -> bool:
    """Whether the judgements of an offer say only which results are the targets of another."""
    judged = offer.dataset.ground_truth
    whole = other.dataset.ground_truth
    run = offer.dataset.run
    if judged is None or whole is None or run is None or not judged.only_returned:
        return False
    if whole.only_returned or not run.has("item"):
        return False
    if len(judged.targets) and judged.targets["grade"].max() > _MOST_LEVELS:  # type: ignore[operator]
        return True  # these are ids
    if {*judged.queries["query"]} != {*whole.queries["query"]}:
        return True  # what should be found is taken for the question
    pair = ["query", "item"]
    targets = {*whole.targets.filter(pl.col("grade") > 0).select(pair).iter_rows()}
    relevant = {*judged.targets.filter(pl.col("grade") > 0).select(pair).iter_rows()}
    return relevant == targets & {*run.frame.select(pair).iter_rows()}


def _has_fewer_results(offer: Offer) -> bool:
    """Whether an offer reads fewer results than targets, as one does that exchanges the two."""
    truth = offer.dataset.ground_truth
    run = offer.dataset.run
    if truth is None or run is None:
        return False
    return run.frame.height < truth.targets.filter(pl.col("grade") > 0).height


def _as_one(pairs: Pairs, said: Columns) -> Pairs:
    """The pairs with one for each field, whose column may have another name in each file."""
    named = dict[str, str]()
    apart: list[tuple[str, str]] = []
    for ours, theirs in pairs:
        if ours in (IGNORE, GRADES, MAP_IDS):
            apart.append((ours, theirs))
        else:
            named[ours] = either_name(named.get(ours, said.named.get(ours)), theirs)
    return (*named.items(), *apart)


def _answers(pairs: Pairs, further: Unclear | None) -> list[Pairs]:
    """The pairs with what is asked next answered at once, so that one line is enough."""
    if further is None or len(pairs) >= _DEEPEST:
        return []
    fresh = [[pair for pair in more if pair not in pairs] for more in further.options]
    return [(*pairs, *more) for more in fresh if more]


def _is_whole(dataset: Dataset, role: Role) -> bool:
    """Whether a trial gave what the role asks for, and its two parts have something in common."""
    truth = dataset.ground_truth
    run = dataset.run
    if (truth is None and role != "run") or (run is None and role != "ground_truth"):
        return False
    return run is None or bool(run.frame.height) or run.queries is not None


def _with_names_beside(pairs: Pairs, probe: Probe, columns: Columns) -> list[Pairs]:
    """The pairs with a second name for the item, as it is called in the file beside."""
    named = dict(pairs)
    if "item" not in named:
        return []
    own = frozenset().union(*probe.row_keys.values())
    said = {name for names in columns.named.values() for name in names.split(",")}
    beside = [
        name
        for names in columns.seen.values()
        for name in names
        if name not in own | said
        and not {*plain_name(name).split("_")} & NO_GRADES - _IDS
    ]
    extended: list[Pairs] = []
    for name in dict.fromkeys(beside):
        is_question = name.endswith("?") or looks_like_texts([name])  # of a mapping
        if is_question or "," in name:
            continue
        if renaming([name]).get(name) in (None, "document"):
            both = (
                (ours, f"{theirs},{name}" if ours == "item" else theirs)
                for ours, theirs in pairs
            )
            extended.append(tuple(both))
    return extended


def _with_other_ids(pairs: Pairs, head: Probe) -> list[Pairs]:
    """The pairs with each field that may hold the ids of results in records."""
    records = _records_in(head.given)
    if "item" in dict(pairs) or not records:
        return []
    from calipers.io.records.parts import paths_of_ids

    paths = paths_of_ids(records[:_SOME])
    return [(*pairs, ("item", path)) for path in paths]


def _is_known(dataset: Dataset, offers: list[Offer], other: Dataset | None) -> bool:
    """Whether another mapping means the same, in the file beside as well."""
    meaning = _meaning(dataset), other and _meaning(other)
    return any(
        meaning == (_meaning(offer.dataset), offer.other and _meaning(offer.other))
        for offer in offers
    )


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


def _then_measure(lacks: Sequence[str]) -> str:
    """What to measure with a line that gives judgements of what was returned alone."""
    if not lacks:
        return ""
    option = "--judged complete" if is_command_line() else 'judged="complete"'
    return (
        f"Then measure precision, hit_rate or mrr, or add {option} if nothing else is relevant: "
        f"{first_names(lacks)} cannot be measured, as only what was returned was judged."
    )


def looks_at(offers: Sequence[Offer], *, named: bool = True) -> str:
    """What each mapping would mean for one query, a line each; ``named``, with the mapping.

    Where several mappings are offered it is a query for which they differ.
    """
    queries = queries_of(offers[0].dataset)
    rows = [[look_for(offer.dataset, query) for query in queries] for offer in offers]
    chosen = next(
        (n for n in range(len(queries)) if len({row[n] for row in rows}) == len(rows)),
        0,
    )
    looks = [row[chosen] if row else "" for row in rows]
    if len(offers) == 1 or not named:
        then = _then_measure(offers[0].lacks)
        return "".join(f"{LOOK}{look}" for look in (*looks, then) if look)
    lines = [offer.line for offer in offers]
    width = max(map(len, lines))
    shown = zip(lines, looks, strict=True)
    return "".join(f"{LOOK}{line:{width}}   {look}".rstrip() for line, look in shown)
