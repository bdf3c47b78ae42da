from tools.check_lengths import too_long


def test_only_files_past_the_limit_are_named(tmp_path):
    (tmp_path / "room").mkdir()
    (tmp_path / "at_limit.py").write_text("x = 1\n" * 3)
    (tmp_path / "room" / "past_limit.py").write_text("x = 1\n" * 4)
    (tmp_path / "room" / "long_table.csv").write_text("1\n" * 9)
    assert list(too_long(tmp_path, most=3)) == [(tmp_path / "room" / "past_limit.py", 4)]
