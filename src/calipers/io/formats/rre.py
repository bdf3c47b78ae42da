"""Rated Ranking Evaluator: topics, groups of queries, and the gains of documents."""

from collections.abc import Iterator

import msgspec

from calipers.errors import InvalidInput
from calipers.io.format import PathPlace, WholeFormat
from calipers.io.records.records import Id, Record, Target

Tags = dict[str, str | int | float | bool | None]


class Gain(msgspec.Struct):
    """What one document is worth."""

    gain: float = 1.0


Documents = dict[str, Gain | list[Id]]
"""Gains by document, or documents by gain."""


class RreQuery(msgspec.Struct):
    """One wording of a question."""

    placeholders: dict[str, str | int | float | bool | None]
    relevant_documents: Documents | None = None


class Group(msgspec.Struct):
    """Wordings that share their relevant documents."""

    queries: list[RreQuery]
    name: str | None = None
    relevant_documents: Documents | None = None


class Topic(msgspec.Struct):
    """Groups about one need."""

    query_groups: list[Group] = []
    description: str | None = None


class Rated(msgspec.Struct):
    """The ratings file; topics and groups may be left out."""

    topics: list[Topic] = []
    query_groups: list[Group] = []
    queries: list[RreQuery] = []


def _group(group: Group, path: str, tags: Tags) -> Iterator[tuple[str, Record]]:
    for k, asked in enumerate(group.queries):
        yield _asked(asked, group.relevant_documents, f"{path}.queries[{k}]", tags)


def _asked(asked: RreQuery, shared: Documents | None, path: str, tags: Tags) -> tuple[str, Record]:
    documents = asked.relevant_documents if shared is None else shared
    if documents is None:
        raise InvalidInput(
            f"A required field is missing at {path}: no 'relevant_documents', neither here nor "
            "in the group; add it (an empty object where nothing is relevant)."
        )
    known: Tags = {name: value for name, value in tags.items() if value is not None}
    record = Record(_wording(asked, path), ground_truth=_targets(documents, path), tags=known)
    return path, record


def _wording(asked: RreQuery, path: str) -> str:
    """The placeholder ``$query``, or all of them where there is none of that name."""
    if "$query" in asked.placeholders:
        return str(asked.placeholders["$query"])
    if not asked.placeholders:
        raise InvalidInput(
            f'A query has no wording at {path}.placeholders: found none; give {{"$query": …}}.'
        )
    return " ".join(str(value) for value in asked.placeholders.values())


def _targets(documents: Documents, path: str) -> list[Id | Target]:
    targets: list[Id | Target] = []
    for key, value in documents.items():
        if isinstance(value, Gain):
            targets.append(Target(id=key, grade=value.gain))
            continue
        try:
            grade = float(key)
        except ValueError:
            raise InvalidInput(
                f"A gain is {key!r} at {path}.relevant_documents; where documents are listed "
                "under their gain, the gain is a number."
            ) from None
        targets += [Target(id=one, grade=grade) for one in value]
    return targets


class Rre(WholeFormat):
    """Ratings by topic and group."""

    name = "rre"
    title = "ratings of the Rated Ranking Evaluator"
    whole = Rated
    example = (
        '{"topics": [{"query_groups": [{"queries": [{"placeholders": {"$query": …}}], '
        '"relevant_documents": {"doc": {"gain": 3}}}]}]}'
    )
    truth_field = "relevant_documents"
    known_by = ({"topics"}, {"id_field", "query_groups"}, {"id_field", "queries"})

    def records(self, whole: Rated, place: PathPlace) -> Iterator[tuple[str, Record]]:
        """Every wording of a question, with the documents of its group."""
        for i, topic in enumerate(whole.topics):
            for j, group in enumerate(topic.query_groups):
                tags: Tags = {"topic": topic.description, "query_group": group.name}
                yield from _group(group, place(f"$.topics[{i}].query_groups[{j}]"), tags)
        for j, group in enumerate(whole.query_groups):
            yield from _group(group, place(f"$.query_groups[{j}]"), {"query_group": group.name})
        for k, asked in enumerate(whole.queries):
            yield _asked(asked, None, place(f"$.queries[{k}]"), {})
