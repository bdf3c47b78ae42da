"""The level of matching: evidence, single chunks, pages or whole documents."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import polars as pl

from calipers.errors import InvalidInput
from calipers.match.spelled_ids import spelled
from calipers.model.fact import Fact, sentence
from calipers.model.ground_truth import (
    MARK,
    TARGET_SCHEMA,
    GroundTruth,
    are_pages,
    document_of,
)
from calipers.model.matching import IdMap, Level, inverted
from calipers.model.policy import Policy
from calipers.model.run import FirstResults, Run, changed_by, with_ranking_changed


class NoDocuments(InvalidInput):
    """The level of documents was asked for, and the documents are not known."""


def to_documents(
    ground_truth: GroundTruth, run: Run, policy: Policy
) -> tuple[GroundTruth, Run]:
    """Targets and results rolled up to their documents, to be matched by id.

    A document has the rank of its first chunk, and later documents move up. Targets in
    one document become one target, with the highest of their grades; alternatives stay
    alternatives. Results are rolled up as they are read: a large run need not fit into memory.
    """
    return _targets(ground_truth, run), rolled_up(run, policy)


def to_pages(
    ground_truth: GroundTruth, run: Run, policy: Policy
) -> tuple[GroundTruth, Run]:
    """The same for their pages, each of which is a document of its own."""
    named = document_of(pl.col("item")).is_not_null()
    pages = (
        pl.when(named).then("item").otherwise(pl.lit(None, pl.String)).alias("document")
    )
    truth = replace(ground_truth, targets=ground_truth.targets.with_columns(pages))
    by_page = paged(run)
    return _targets(truth, by_page, "page"), rolled_up(by_page, policy, "page")


def level_of_pages(
    truth: GroundTruth, first: FirstResults | None, run: Run
) -> tuple[Level, tuple[str, ...]]:
    """The page level where all targets are pages and results name theirs; else evidence."""
    some = truth.targets["item"][0]
    if not are_pages(truth.targets["item"]) or first is None:
        return "evidence", ()
    if "page" not in first.columns:
        wanted = truth.targets["item"].unique().implode()
        if any(
            frame["item"].is_in(wanted).any() for frame in run.scan() if "item" in frame
        ):
            return "evidence", ()
        raise InvalidInput(
            f"The ground truth names pages, such as {some!r}, and the results do not say their "
            f"page; found {', '.join(first.columns)}. Give every result its 'document' and its "
            "'page', or ask with --level document whether the documents were found."
        )
    notes = ["Matched by page: a page is found where any result comes from it."]
    pages = truth.targets["item"].str.extract(rf"{MARK}(.+)$")
    if (first.frame["page"] == "0").any() and not (pages == "0").any():
        notes.append(
            sentence(
                "Results have a page {it.low:g} and the ground truth has none: one side may "
                "count pages from {it.low:g} and the other from {it.high:g}, and then every page "
                "is the wrong one.",
                it=Fact(about="setting", low=0.0, high=1.0, text="first page"),
            )
        )
    return "page", tuple(notes)


NAMED_BY_DOCUMENT = (
    "Matched by document: the targets name documents, and a document is found where any "
    "result comes from it."
)


def targets_as_documents(truth: GroundTruth, run: Run) -> GroundTruth | None:
    """The targets as documents, where one of them is that of a result; else None."""
    if truth.kinds != {"item"}:
        return None
    named = truth.targets["item"].unique().implode()
    frames = (frame for frame in run.scan() if "document" in frame.columns)
    if not any(frame["document"].is_in(named).any() for frame in frames):
        return None
    targets = truth.targets.with_columns(document=pl.col("item"))
    return replace(truth, targets=targets, notes=(*truth.notes, NAMED_BY_DOCUMENT))


def paged(run: Run) -> Run:
    """The run whose results come from pages in place of documents."""

    def scan() -> Iterator[pl.DataFrame]:
        for frame in run.scan():
            if frame.height:
                _check_column(frame, "page")
            known = {"document", "page"} <= set(frame.columns)
            name = (
                pl.concat_str("document", pl.lit(MARK), "page") if known else pl.lit(None)
            )
            yield frame.with_columns(name.cast(pl.String).alias("document"))

    return replace(run, scan=changed_by(paged, run, scan))


def rolled_up(run: Run, policy: Policy, what: str = "document") -> Run:
    """The documents of a run in place of its chunks."""
    made = with_ranking_changed(run, policy.ties, partial(_documents, what=what))
    step = partial(rolled_up, policy=policy, what=what)
    return replace(made, scan=changed_by(step, run, made.scan), notes=())


def _documents(results: pl.DataFrame, what: str) -> pl.DataFrame:
    _check_column(results, what)
    unknown = results.filter(pl.col("document").is_null())
    if unknown.height:
        raise NoDocuments(
            f"The level of {what}s cannot be computed: a result of query "
            f"{unknown['query'][0]!r} has no {what}. {_GIVE[what]}"
        )
    return results.select("query", pl.col("document").alias("item")).unique(
        ["query", "item"], keep="first", maintain_order=True
    )


def _check_column(results: pl.DataFrame, what: str) -> None:
    lacking = [name for name in ("document", what) if name not in results.columns]
    if lacking:
        raise NoDocuments(
            f"The level of {what}s cannot be computed: the results do not say which {lacking[0]} "
            f"they come from; found {', '.join(results.columns)}. {_GIVE[what]}"
        )


_GIVE = {
    "document": "Give every result its 'document'.",
    "page": "Give every result its 'document' and its 'page'.",
}


def _known_documents(run: Run, items: pl.Series, what: str) -> pl.DataFrame:
    """The document of each of these ids, from any chunk of the run with that id."""
    found = [pl.DataFrame(schema={"item": pl.String, "document": pl.String})]
    wanted = items.unique().implode()
    for frame in run.scan():
        if frame.height:
            _check_column(frame, what)
        if not {"item", "document"} <= set(frame.columns):
            continue
        rows = frame.filter(
            pl.col("item").is_in(wanted) & pl.col("document").is_not_null()
        )
        found.append(rows.select("item", "document").unique("item", keep="first"))
    return pl.concat(found).unique("item", keep="first")


_GIVE_TARGETS = {
    "document": "Give every target its 'document' (`calipers convert --resolve` finds it).",
    "page": "Give every target its 'document' and its 'page'.",
}


def _targets(ground_truth: GroundTruth, run: Run, what: str = "document") -> GroundTruth:
    targets = ground_truth.targets
    if what == "document":
        in_name = document_of(pl.col("item"))
        targets = targets.with_columns(pl.coalesce("document", in_name).alias("document"))
    lacking = targets.filter(pl.col("document").is_null() & pl.col("item").is_not_null())
    if lacking.height:
        known = _known_documents(run, lacking["item"], what).rename(
            {"document": "__known"}
        )
        targets = (
            targets.join(known, on="item", how="left", maintain_order="left")
            .with_columns(pl.coalesce("document", "__known").alias("document"))
            .drop("__known")
        )
    unknown = targets.filter(pl.col("document").is_null())
    if unknown.height:
        raise NoDocuments(
            f"The level of {what}s cannot be computed: for {unknown.height} of {targets.height} "
            f"targets the {what} is not known, the first of query {unknown['query'][0]!r}. "
            f"{_GIVE_TARGETS[what]}"
        )
    rolled = targets.group_by("query", "document", "group", maintain_order=True).agg(
        pl.col("grade").max()
    )
    columns = [
        pl.col("document").alias("item")
        if name == "item"
        else pl.col(name)
        if name in ("query", "grade", "group")
        else pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in TARGET_SCHEMA.items()
    ]
    return replace(ground_truth, targets=rolled.select(columns), notes=())


_COLUMNS = ("item", "document")


def map_ids(ground_truth: GroundTruth, run: Run, how: IdMap) -> tuple[GroundTruth, Run]:
    """Both sides with their ids and document names normalised.

    Two ids of the ground truth that become the same are an error, and so are two ids of the run
    that become the id of one target: they would be ambiguous. Forbidden ids are
    mapped too, so that no leak hides behind another spelling.
    """
    targets = ground_truth.targets
    forbidden = ground_truth.forbidden
    meant = {}
    for column in _COLUMNS:
        names = _mapping(targets[column], how)
        closed = {} if forbidden is None else _mapping(forbidden[column], how)
        meant[column] = inverted({**names, **closed}, how, "ground truth")
        targets = _renamed(targets, column, names)
        forbidden = None if forbidden is None else _renamed(forbidden, column, closed)
    truth = GroundTruth.from_targets(
        targets, queries=ground_truth.queries, tags=ground_truth.tags
    )  # checked again, as alternatives may have become one
    renamed = replace(
        truth,
        repeated=ground_truth.repeated + truth.repeated,
        notes=ground_truth.notes,
        forbidden=forbidden,
        only_returned=ground_truth.only_returned,
    )
    return renamed, _mapped_run(
        run, how, {column: set(names) for column, names in meant.items()}
    )


def _mapped_run(run: Run, how: IdMap, wanted: dict[str, set[str]]) -> Run:
    seen: dict[str, dict[str, str]] = {column: {} for column in _COLUMNS}

    ours = {
        column: pl.Series(list(names), dtype=pl.String).implode()
        for column, names in wanted.items()
    }

    def mapped(frame: pl.DataFrame) -> pl.DataFrame:
        for column in _COLUMNS:
            if column in frame.columns:
                names = spelled(frame[column], how)
                # Only ids that are wanted must not be mistaken for one another.
                few = names.is_in(ours[column]).fill_null(False)
                old = frame[column].filter(few)
                pairs = dict(zip(old, names.filter(few), strict=True))
                inverted(pairs, how, "run", seen[column])
                frame = frame.with_columns(names.alias(column))
        return frame

    def stages() -> dict[str, Run]:
        return {
            name: _mapped_run(stage, how, wanted) for name, stage in run.stages.items()
        }

    # Rows on other machines are collected on this one.
    return replace(
        run, scan=lambda: map(mapped, run.scan()), stages=stages, stays=False, notes=()
    )


def _mapping(column: pl.Series, how: IdMap) -> dict[str, str]:
    """Each id of a column with the id that it becomes."""
    names = column.drop_nulls().unique(maintain_order=True)
    return dict(zip(names, spelled(names, how), strict=True))


def _renamed(frame: pl.DataFrame, column: str, names: dict[str, str]) -> pl.DataFrame:
    if not names:
        return frame
    return frame.with_columns(
        pl.col(column).replace_strict(
            list(names), list(names.values()), return_dtype=pl.String
        )
    )
