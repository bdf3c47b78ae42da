import polars as pl
import pytest

from calipers.errors import InvalidInput
from calipers.questions.tokens import count_tokens, load_tokenizer

TEXTS = pl.DataFrame({"text": ["four", "five and more", "four", ""], "tokens": [7, 8, 9, 0]})


def counted(results, tokenizer=None):
    return {source: counts.tolist() for source, counts in count_tokens(results, tokenizer)}


def test_tokens_of_the_data_go_before_an_estimate():
    assert next(iter(counted(TEXTS).items())) == ("data", [7, 8, 9, 0])


def test_an_estimate_takes_a_quarter_of_the_characters_rounded_up():
    assert counted(TEXTS.select("text")) == {"estimate": [1, 4, 1, 0]}


def test_a_tokenizer_that_is_named_goes_first_and_sees_each_text_once():
    seen = []

    def tokenizer(text):
        seen.append(text)
        return text.split()

    assert counted(TEXTS, tokenizer) == {"tokenizer": [1, 3, 1, 0]}
    assert seen == ["four", "five and more", ""]


def test_a_gap_in_the_tokens_falls_back_to_the_texts_or_to_nothing():
    gap = TEXTS.with_columns(tokens=pl.Series([1, None, 3, 4]))
    assert list(counted(gap)) == ["estimate"]
    assert counted(gap.select("tokens")) == {}
    assert counted(pl.DataFrame({"item": ["a"]})) == {}


def test_a_tokenizer_may_give_the_number_itself():
    assert counted(TEXTS, len) == {"tokenizer": [4, 13, 4, 0]}


@pytest.mark.parametrize("answer", ["four", -1, 1.5, None, True])
def test_a_tokenizer_that_gives_no_tokens_is_refused(answer):
    with pytest.raises(InvalidInput, match="for the text 'four'; it must give a list of tokens"):
        counted(TEXTS, lambda _: answer)


def test_a_tokenizer_is_found_by_its_import_path(tmp_path, monkeypatch):
    (tmp_path / "own_words.py").write_text("class Words:\n    count = staticmethod(len)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    assert load_tokenizer("own_words:Words.count")("abc") == 3


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tokens", "write package.module:function"),
        (":f", "write package.module:function"),
        ("no_such_package:f", "No module named 'no_such_package'"),
        ("math:nothing", "math has no 'nothing'"),
        ("math:pi", "is no function but a float"),
    ],
)
def test_what_cannot_be_loaded_is_said(name, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        load_tokenizer(name)
