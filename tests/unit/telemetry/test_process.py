import os
from pathlib import Path

import pytest

from prwatch.telemetry.process import count_open_files, read_resident_bytes


def test_this_process_has_memory_and_open_files():
    with Path(os.devnull).open() as one:
        assert one
        before = count_open_files()
        with Path(os.devnull).open() as other:
            assert other
            assert count_open_files() == before + 1
    assert read_resident_bytes() > 1024 * 1024


@pytest.mark.parametrize("text", [None, "", "1", "1 x"])
def test_where_nobody_says_it_nothing_is_said(tmp_path, text):
    if text is not None:
        (tmp_path / "statm").write_text(text)

    assert (read_resident_bytes(tmp_path), count_open_files(tmp_path)) == (None, None)
