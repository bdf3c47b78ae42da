"""KILT: pages of Wikipedia that an answer comes from, judgements and predictions alike."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from calipers.errors import InvalidInput
from calipers.io.files.probe import Probe
from calipers.io.format import Format, read_records
from calipers.io.formats.ours import Ours
from calipers.io.records.fields import first_records
from calipers.model.fact import Fact, sentence
from calipers.model.matched import Dataset, Role
from calipers.names import words_in


class Kilt(Format):
    """Records whose outputs name their provenance: targets, or the results of a system."""

    name = "kilt"
    title = "records of KILT"
    example = '{"id": …, "input": …, "output": [{"provenance": [{"wikipedia_id": …}]}]}'

    def detect(self, probe: Probe) -> bool:
        """Whether an output of the first record has a provenance."""
        if not any(keys >= {"input", "output"} for keys in probe.row_keys.values()):
            return False
        records = first_records(probe).values()
        return any(_provenances(record.get("output")) for record in records)

    def read(self, probe: Probe, role: Role) -> Dataset:
        """The pages of each record, as results or as targets by the role."""
        if role == "both":
            raise InvalidInput(
                f"{probe.name} holds {self.title}, which are judgements or predictions; give the "
                "two separately (--ground-truth and --run)."
            )
        part = "retrieved" if role == "run" else "ground_truth"
        several: list[str] = []
        raw = probe.records()

        def rows() -> Iterator[dict[str, object]]:
            for record in raw.plain():
                sets = _provenances(record.get("output"))
                if len({*map(frozenset, sets)}) > 1:
                    several.append(str(record.get("id")))
                pages = dict.fromkeys(page for pages in sets for page in pages)
                yield {
                    "id": record.get("id"),
                    "query": record.get("input"),
                    part: [*pages],
                }

        read = replace(raw, items=rows())
        notes = _on_several(several) if role == "ground_truth" else ()
        return replace(read_records(Ours(), probe, read, notes), kind=self.title)


def _on_several(several: list[str]) -> Iterator[str]:
    """The note on records whose answers have pages of their own, once all are read."""
    if several:
        yield sentence(
            "The answers of {it.count:record name|records name} different pages: all of them are "
            "targets, while KILT's own script takes the best answer.",
            it=Fact(about="count", count=len(several), text="several answers"),
        )


_PAGE = words_in("wikipedia_id wikipedia_title title")
"""What names a page, the surest first."""


def _provenances(output: object) -> list[list[str]]:
    """The pages of each answer that names any.

    >>> _provenances([{"answer": "yes"}, {"provenance": [{"wikipedia_id": "7"}]}])
    [['7']]
    """
    answers = output if isinstance(output, list) else []
    listed = (one.get("provenance") for one in answers if isinstance(one, Mapping))
    sets = [
        [_page(page) for page in pages if isinstance(page, Mapping)]
        for pages in listed
        if isinstance(pages, list)
    ]
    named = [[page for page in pages if page is not None] for pages in sets]
    return [pages for pages in named if pages]


def _page(page: Mapping[str, object]) -> str | None:
    """The id of a page, or its title."""
    named = (page[name] for name in _PAGE if page.get(name) is not None)
    return next(map(str, named), None)
