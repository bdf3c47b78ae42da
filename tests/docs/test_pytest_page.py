"""The page on pytest shows the message of a test that fails as it is."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")


def test_the_message_of_a_failed_test_is_the_one_shown(calipers_eval):
    shown = [line[2:].strip() for line in PAGE.splitlines() if line.startswith("E ")]
    with pytest.raises(AssertionError) as failed:
        calipers_eval(ROOT / "examples" / "python_questions.json").require("recall@10 >= 0.85")
    said = [line.strip() for line in str(failed.value).splitlines()]
    assert [f"AssertionError: {said[0]}", *said[1:]] == shown
