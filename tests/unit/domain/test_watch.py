from dataclasses import replace

import pytest

from tests.readings import NOON, at, make_watch, make_watermark

WATCH = make_watch()
MARK = make_watermark(updated_at=at(-60), observed_at=at(-30))


@pytest.mark.parametrize(
    ("fields", "moved_at"),
    [
        pytest.param({"watermark": None}, at(-9), id="never read"),
        pytest.param({"pr_number": 0, "watermark": MARK}, at(-9), id="searching"),
        pytest.param({"revision": 1}, at(-60), id="seen but once: GitHub knows"),
        pytest.param({"revision": 2}, at(-30), id="seen to move"),
        pytest.param(
            {"revision": 2, "watermark": replace(MARK, updated_at=NOON)},
            NOON,
            id="GitHub's time is later",
        ),
    ],
)
def test_when_something_last_moved_follows_from_stored_times(fields, moved_at):
    watch = replace(
        WATCH, **{"watermark": MARK, "pr_number": 12, "last_sign_at": at(-9), **fields}
    )

    assert watch.moved_at == moved_at
