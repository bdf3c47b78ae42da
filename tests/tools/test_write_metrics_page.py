from pathlib import Path

import pytest

from calipers.measures import definitions
from tools import write_metrics_page


def test_the_page_of_the_site_says_more_of_each() -> None:
    text = write_metrics_page.full_page()
    for definition in definitions().values():
        assert f"\n## {definition.name}\n" in text
        for alias in definition.aliases:
            assert f"`{alias}`" in text
    assert "Divided by k even when fewer results came back" in text


def test_the_committed_page_is_current() -> None:
    page = Path(__file__).parents[2] / write_metrics_page.PAGE
    assert page.read_text(encoding="utf-8") == write_metrics_page.page()


def test_check_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_metrics_page.main(["--check"]) == 1
    assert not write_metrics_page.PAGE.exists()
    assert write_metrics_page.main([]) == 0
    assert write_metrics_page.main(["--check"]) == 0
    assert "out of date" in capsys.readouterr().out
