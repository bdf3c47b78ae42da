import polars as pl

from calipers.match.choose import with_ids_as_texts
from calipers.match.pair import peek
from calipers.model.run import Run


def counted(frames, reads):
    def scan():
        for frame in frames:
            reads.append(frame.height)
            yield frame

    return Run(scan)


def test_a_peek_reads_nothing_twice_and_the_run_can_be_read_again():
    reads: list[int] = []
    frames = [pl.DataFrame({"query": [q], "item": [q]}) for q in "abc"]
    first, run = peek(counted(frames, reads))
    assert first is not None
    assert first["item"].to_list() == ["a"]
    assert reads == [1]
    assert [f["item"][0] for f in run.scan()] == ["a", "b", "c"]
    assert reads == [1, 1, 1]
    assert [f["item"][0] for f in run.scan()] == ["a", "b", "c"]


def test_a_run_without_rows_has_no_first_frame():
    empty = pl.DataFrame(schema={"query": pl.String})
    first, run = peek(Run(lambda: iter((empty,))))
    assert first is None
    assert [frame.height for frame in run.scan()] == [0]


def test_ids_become_texts():
    run = with_ids_as_texts(Run.from_frame(pl.DataFrame({"query": ["q"], "item": ["a text"]})))
    assert next(run.scan()).to_dict(as_series=False) == {"query": ["q"], "text": ["a text"]}
