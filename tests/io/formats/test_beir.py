import shutil

import pytest

from calipers.errors import InvalidInput, UnreadableFile
from calipers.io.load import load
from tests.io.formats.expect import FIXTURES, targets, texts


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(FIXTURES / "beir", tmp_path / "beir")
    return tmp_path / "beir"


def test_the_folder_and_its_judgements_are_the_same(folder):
    assert targets(folder) == targets(folder / "qrels" / "test.tsv")
    assert texts(folder) == texts(folder / "qrels" / "test.tsv")


def test_the_same_header_over_a_run(tmp_path):
    path = tmp_path / "run.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nq1\td2\t0.5\nq1\td1\t0.75\n")
    run = load(path, "run").run
    assert run is not None
    assert run.frame["item"].to_list() == ["d1", "d2"]


def test_several_splits_ask_which(folder):
    shutil.copy(folder / "qrels" / "test.tsv", folder / "qrels" / "train.tsv")
    with pytest.raises(InvalidInput, match=r"several splits: test, train; .*qrels/test\.tsv"):
        load(folder, "both")


def test_no_split_at_all(folder):
    (folder / "qrels" / "test.tsv").unlink()
    with pytest.raises(UnreadableFile, match="has no judgements"):
        load(folder, "both")


@pytest.mark.parametrize(
    ("line", "said"),
    [('{"text": "x"}', r"queries\.jsonl:1 \$: no '_id'"), ("{oops", r"queries\.jsonl:1 is not")],
)
def test_a_bad_line_of_queries(folder, line, said):
    (folder / "queries.jsonl").write_text(line + "\n")
    with pytest.raises(InvalidInput, match=said):
        load(folder, "both")
