"""
The rows of the log of public reports, and where each is a test.

A row is a letter for its field and a number; its test has the row at the beginning of
its id or name. The letters: A quotas, B size and paging, C access, D identity, E nulls,
F checks, G reviews and comments, H mergeability and old servers, I events, J clean-up of review tasks.

Where a report asks for something else than the product promises, the promise holds:

* A5, A8, A15: a limit is an outcome of its own and not a transient failure.
* C6: what an organisation refuses has the class `auth`, in its own scope.
* C10: a suspension lives in memory like every circuit of polling; a restart asks once.
* D18: through REST the reason of a close is not known.
* F12, F17, H3, H6: "optional checks running", "not yet", "stuck" and "unknown" are
  words in `status` and `explain`, and no events.
* H6: an unknown mergeability costs no reading more; intervals do not stretch for it.
* I1, I2: an association is told to lists (`GitHubTaskPRUpdated`), and rings nobody.
* I5: that it runs again is told once too.
* I7: one event; cards are the chat's matter.
* I23: `superseded` is marked or dropped, as the sink says.
"""

from typing import Final

_NUMBERS: Final = {
    "A": "1 2 4 5 7 8 9 10 12 13 15 16 18 19 21 22 23 24",
    "B": "2 5 9 10 11 12 13",
    "C": "2 3 4 6 8 10 11 12 14 15 17 19 20",
    "D": "2 3 4 6 7 8 10 11 14 18 19",
    "E": "1 2 3 4 5 6 7",
    "F": "1 3 4 5 6 7 8 9 10 11 12 14 15 17 19 22 25",
    "G": "1 2 3 6 7 10 11",
    "H": "3 5 6 7 8 9 10 11",
    "I": "1 2 3 4 5 6 7 8 9 13 14 15 17 19 23",
    "J": "2 3 5",
}
ROWS: Final = tuple(
    f"{letter}{number}" for letter, text in _NUMBERS.items() for number in text.split()
)

_CIRCUITS: Final = "tests/simulation/test_review_cleanup_circuits.py"
ELSEWHERE: Final = {
    "A4": "tests/simulation/test_attendance.py::test_five_who_wait_cost_one_request_an_interval",
    "A21": "tests/unit/github/test_request_costs.py::test_a_request_costs_at_most_a_tenth_more_than_its_golden_cost",
    "J3": f"{_CIRCUITS}::test_a_removal_that_fails_is_told_and_tried_again_and_holds_up_no_other",
    "J5": f"{_CIRCUITS}::test_rows_of_a_watch_that_cannot_be_read_are_left_and_others_go",
}
"""Rows whose test stands where the thing itself is tested."""
