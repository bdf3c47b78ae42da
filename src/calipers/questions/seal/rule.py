"""Choose the queries to seal, and write the open part, the sealed part and the ledger."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
import polars as pl

from calipers.errors import CalipersError, InvalidInput, check_number
from calipers.frozen import dataclass
from calipers.io.files.write import check_place, whole_file
from calipers.io.formats.ours import Ours
from calipers.io.load import SEAL, load
from calipers.io.records.entries import Remarks
from calipers.io.tables.columns import Columns
from calipers.model.arrays import Bools, Ints
from calipers.model.document import Document, Note
from calipers.model.fact import Fact, Sentence, joined, named, sentence
from calipers.model.fingerprint import fingerprint_rows, fingerprint_settings
from calipers.model.ground_truth import GroundTruth
from calipers.model.matched import Dataset
from calipers.model.result import Plain, ShowsItself, moment
from calipers.model.slicing import clusters_of
from calipers.questions.seal.ledger import (
    Seal,
    SealedPart,
    ledger_beside,
    per_look,
    read_ledger,
)
from calipers.shell import join_words
from calipers.statistics.queries_needed import fewest_queries, visible_difference
from calipers.version import __version__
from calipers.words import plural

PARTS = ("open", "sealed", "ledger")


@dataclass(frozen=True, repr=False)
class Sealed(Plain, ShowsItself):
    """What was sealed, its files, and its budget of looks."""

    shown_by: ClassVar[str] = "calipers.questions.seal.rule"
    dict_keys: ClassVar[str] = "files open sealed looks cluster whole confirms"

    files: Mapping[str, str]
    """Paths by the names open, sealed and ledger."""
    open: SealedPart
    sealed: SealedPart
    looks: int
    cluster: str | None
    whole: str | None
    """The file that still contains all queries; None if they came from memory."""
    confirms: float | None
    """About the smallest gain in hit rate that one look confirms with 80% power, if one
    query in ten changes by chance; None where even the largest would often be missed."""
    with_target: int
    """The sealed queries that have a target; no mean holds the others."""


def seal_queries(
    ground_truth: object,
    *,
    share: float,
    cluster: str | None,
    looks: int,
    output: str | os.PathLike[str] | None,
    columns: object,
) -> Sealed:
    """Split a ground truth by clusters, and write both parts with their ledger."""
    check_number("The share to seal", share, above=0, below=1, such_as=0.4)
    check_number("The number of looks", looks, whole=True, least=1)
    column_names = Columns.of(columns)
    truth = load(ground_truth, "ground_truth", column_names).ground_truth
    places = _places(ground_truth, output)
    column_names.check_used()
    if truth is None or not truth.n_queries:
        raise InvalidInput(
            "There is no ground truth to seal; name a file that holds one."
        )
    _check_new(truth, places)
    units = _units(truth, cluster)
    mask = choose(units, share)
    answerable = _answerable(truth)
    sealed = len(np.unique(units[mask & answerable]))
    what = "queries" if answerable.all() else "queries with a target"
    units_in_all = len(np.unique(units[answerable]))
    _check_enough(sealed, units_in_all, "clusters" if cluster else what, per_look(looks))
    parts = {"open": truth.only(pl.Series(~mask)), "sealed": truth.only(pl.Series(mask))}
    about = {
        name: SealedPart(part.n_queries, content(part)) for name, part in parts.items()
    }
    header = Seal(
        seal=fingerprint_settings([content(truth), about["sealed"].fingerprint])[:16],
        made=moment(datetime.now(UTC)),
        calipers=__version__,
        looks=looks,
        cluster=cluster,
        sealed=about["sealed"],
        queries=tuple(_marks(parts["sealed"])),
    )
    _write(places, parts, header)
    # The smallest gain that this many units confirm, if one in ten changes by chance.
    gain = visible_difference(_BY_CHANCE, sealed, alpha=per_look(looks)).difference
    return Sealed(
        {part: str(path) for part, path in places.items()},
        **about,
        looks=looks,
        cluster=cluster,
        whole=str(ground_truth) if isinstance(ground_truth, str | os.PathLike) else None,
        confirms=gain if gain <= 1.0 else None,
        with_target=int((mask & answerable).sum()),
    )


def _answerable(truth: GroundTruth) -> Bools:
    """Which queries have a target; where only returned rows were judged, all count."""
    if truth.only_returned:
        return np.ones(truth.n_queries, dtype=np.bool_)
    relevant = truth.targets.filter(pl.col("grade") > 0)["query"].unique()
    return truth.queries["query"].is_in(relevant.implode()).to_numpy()


_BY_CHANCE = [1.0] * 5 + [-1.0] * 5 + [0.0] * 90


def _places(value: Any, output: str | os.PathLike[str] | None) -> dict[str, Path]:
    """The paths of the three files, the ledger beside the source; none may exist already."""
    is_file = isinstance(value, str | os.PathLike) and Path(value).exists()
    source = Path(value) if is_file else Path()
    source = source if source.name else source.resolve()
    own = source.name.partition(".")[0] or source.name
    if output is not None:
        stem = Path(output)
        if not stem.name:
            raise InvalidInput(
                f"The output {stem} is a folder; add a name, such as {stem}/gt."
            )
    elif is_file:
        stem = source.with_name(own)
    else:
        raise InvalidInput(
            "A ground truth that is no file says nothing of where to write its parts; "
            "say it with output (-o)."
        )
    places = {part: stem.with_name(f"{stem.name}.{part}.jsonl") for part in PARTS}
    if is_file:
        # The budget belongs to the queries: the ledger stays beside them, wherever the
        # parts go. It has their name, so that `confirm` finds it where all are in one
        # folder.
        places["ledger"] = source.with_name(f"{stem.name}.ledger.jsonl")
    for path in places.values():
        check_place(path)
        if path.exists():
            raise InvalidInput(
                f"{path} is there already; queries are sealed once, as their looks would "
                "be forgotten. Seal queries that nobody has sealed."
            )
    return places


def _check_new(truth: GroundTruth, places: Mapping[str, Path]) -> None:
    """Reject queries that a ledger nearby already covers: a second budget would undo the first."""
    marks = set(_marks(truth))
    for folder in dict.fromkeys(path.parent for path in places.values()):
        for path in sorted(folder.glob("*.ledger.jsonl")):
            try:
                known = read_ledger(path)
            except CalipersError:
                continue  # not ours, or damaged: `confirm` reports that
            again = len(marks & set(known.seal.queries))
            if again:
                raise InvalidInput(
                    f"{plural(again, 'query is', 'queries are')} sealed already, with "
                    f"{plural(known.left, 'look')} left in {path}; ask those (`calipers "
                    "confirm OLD NEW`), or seal queries that nobody has sealed."
                )


def _marks(truth: GroundTruth) -> list[str]:
    """A fingerprint of each query without its text, as anybody may read the ledger."""
    return [
        hashlib.sha256(text.encode()).hexdigest()[:16]
        for text in truth.queries.select(_PLAIN).to_series()
    ]


_PLAIN = (
    pl.coalesce(pl.col("text"), pl.col("query"))
    .str.to_lowercase()
    .str.replace_all(r"\s+", " ")
    .str.strip_chars()
)


def _units(truth: GroundTruth, cluster: str | None) -> Ints:
    """The unit of each query: its cluster, or else the queries with the same text."""
    clusters = clusters_of(truth.tags, cluster, truth.n_queries)
    if clusters is None:
        clusters = (
            truth.queries.select(_PLAIN)
            .to_series()
            .rank("dense")
            .to_numpy()
            .astype(np.int64)
        )
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)


def choose(units: Ints, share: float, seed: int = 0) -> Bools:
    """Choose which queries are sealed: whole units in random order, until their share is reached.

    >>> int(choose(np.arange(10), 0.4).sum())
    4
    """
    sizes = np.bincount(units)
    order = np.random.default_rng(seed).permutation(len(sizes))
    ends = np.cumsum(sizes[order])
    chosen = np.zeros(len(sizes), dtype=np.bool_)
    # A unit is sealed where most of it lies within the share.
    chosen[order] = ends - sizes[order] / 2 < share * len(units)
    is_chosen: Bools = chosen[units]
    return is_chosen


def _check_enough(sealed: int, units: int, what: str, level: float) -> None:
    """Require enough sealed units that a gain in all of them could be confirmed."""
    fewest = fewest_queries(level)
    if sealed < fewest or sealed == units:
        raise InvalidInput(
            f"{sealed} of {units} {what} would be sealed, which can confirm nothing; at "
            f"least {fewest} are needed beside some that stay open. Give more {what}, "
            "another share or fewer looks."
        )


def content(truth: GroundTruth) -> str:
    """A fingerprint of questions, targets and tags, to detect edits."""
    tags = {name: truth.tags[name] for name in sorted(truth.tags) if name != SEAL}
    known = truth.queries.select(
        "query", text=pl.coalesce(pl.col("text"), pl.col("query"))
    ).with_columns(
        values.cast(pl.String).alias(f"tag.{name}") for name, values in tags.items()
    )
    return fingerprint_settings(
        [truth.fingerprint, fingerprint_rows(known, known.columns)]
    )


def _write(
    places: Mapping[str, Path], parts: Mapping[str, GroundTruth], header: Seal
) -> None:
    """Write all three files or none: a sealed part is useless without its ledger."""
    sealed = parts["sealed"]
    seal = pl.Series([header.seal] * sealed.n_queries, dtype=pl.String)
    marked = replace(sealed, tags={**sealed.tags, SEAL: seal})
    try:
        for name, truth in (("sealed", marked), ("open", parts["open"])):
            form = Ours()
            form.write(
                form.outputs[0], [Dataset(ground_truth=truth)], places[name], Remarks()
            )
        with whole_file(places["ledger"]) as file:
            file.write(msgspec.json.encode(header) + b"\n")
    except (CalipersError, OSError, KeyboardInterrupt):
        for path in places.values():
            path.unlink(missing_ok=True)
        raise


def document(sealed: Sealed) -> Document:
    """The number of queries, what they can confirm, and what each file is for."""
    whole = sealed.open.queries + sealed.sealed.queries
    files = sealed.files
    ledger = sealed.files["ledger"]
    beside = ledger == str(ledger_beside(Path(files["sealed"])))
    count = Fact(
        about="count",
        count=sealed.sealed.queries,
        of=whole,
        value=sealed.sealed.queries / whole,
        text="sealed",
    )
    looks = Fact(about="setting", count=sealed.looks, value=per_look(sealed.looks))
    words = ["calipers", "confirm", "OLD", "NEW", "--sealed", files["sealed"]]
    ask = join_words(words if beside else [*words, "--ledger", ledger])
    return Document(
        sentence(
            "Sealed {it.count} of {it.of:query|queries} ({it.value:.0%}); "
            "{open.count:stays|stay} open.",
            it=count,
            open=Fact(about="count", count=sealed.open.queries, text="open"),
        ),
        notes=[
            Note("input", _confirms(sealed)),
            Note(
                "input",
                sentence(
                    "{it.count:look|looks} at an error of {it.value:.2g%} each, all "
                    "written to {ledger.text}: keep it.",
                    it=looks,
                    ledger=named(ledger),
                ),
            ),
            Note("next", f"Then ask: `{ask}`"),
        ],
    )


def _confirms(sealed: Sealed) -> Sentence:
    """What the sealed queries can confirm, and what to do with the two other files."""
    with_target = sealed.with_target < sealed.sealed.queries
    count = Fact(about="count", count=sealed.with_target, text="with a target")
    which = " with a target" if with_target else ""
    gain = sentence("only a gain in nearly all of them")
    if sealed.confirms is not None:
        smallest = Fact(about="detects", metric="recall@10", value=sealed.confirms)
        gain = sentence("a gain of about {it.value:.1g} in {it.metric}", it=smallest)
    return joined(
        sentence(
            "{it.count:sealed query|sealed queries}{which} {verb} {gain}.",
            it=count,
            which=which,
            verb="confirms" if sealed.with_target == 1 else "confirm",
            gain=gain,
        ),
        sentence("Tune on {it.text}.", it=named(sealed.files["open"])),
        sealed.whole
        and sentence("Put {it.text} away: it holds every query.", it=named(sealed.whole)),
    )
