"""Rankings beside the page, against rows put together one by one."""

import json

import polars as pl
import pytest

import calipers
from calipers.present.html import rankings
from calipers.present.html.rankings import MISS, RESULT, ranking_lines
from tests.reports import hostile_records, records


def naive(report, queries):
    for query in queries:
        systems = {}
        for one in report.systems:
            names = one.head.queries["query"].to_list()
            code = names.index(query) if query in names else None
            retrieved = one.rankings.filter(pl.col("query") == code).to_dicts()
            missed = one.misses.table.filter(pl.col("query") == query).to_dicts()
            systems[one.name] = {
                "retrieved": [_known(row, RESULT) for row in retrieved],
                "missed": [_known(row, MISS) for row in missed],
            }
        yield {"query": query, "systems": systems}


def _known(row, fields):
    return {name: row[name] for name in fields if row[name] is not None}


def lines(report, queries):
    written = b"".join(ranking_lines(report, queries))
    return [json.loads(line) for line in written.splitlines()]


@pytest.mark.parametrize("made", [records(), hostile_records()])
def test_every_line_holds_what_is_known(made, monkeypatch):
    monkeypatch.setattr(rankings, "AT_ONCE", 5)
    report = calipers.report(made, name='a "name"\n{}', nothing_in_common="zero")
    queries = report.scores.queries["query"].reverse()
    assert lines(report, queries) == list(naive(report, queries))


def test_every_system_is_there_also_where_it_has_nothing():
    full = records()
    few = [{**one, "retrieved": []} for one in full[:3]] + full[3:]
    report = calipers.report(systems={"full": full, "few": few})
    queries = pl.Series(["q1", "q2", "q9"])
    found = lines(report, queries)
    assert found == list(naive(report, queries))
    assert found[0]["systems"]["few"]["retrieved"] == []


def test_of_no_queries_there_are_no_lines():
    assert lines(calipers.report(records()), pl.Series([], dtype=pl.String)) == []
