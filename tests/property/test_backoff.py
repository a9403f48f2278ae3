import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from prwatch.domain.backoff import Backoff

SECONDS = st.floats(min_value=0.001, max_value=10_000)
CHANCE = st.floats(min_value=0, max_value=1)


@st.composite
def backoffs(draw):
    first, second = sorted((draw(SECONDS), draw(SECONDS)))
    return Backoff(
        base=dt.timedelta(seconds=first),
        factor=draw(st.floats(min_value=1, max_value=100)),
        cap=dt.timedelta(seconds=second),
        jitter=draw(CHANCE),
    )


@given(backoffs(), st.integers(1, 5000), CHANCE)
def test_a_later_attempt_never_waits_less(backoff, attempt, chance):
    assert backoff.delay(attempt, chance) <= backoff.delay(attempt + 1, chance)


@given(backoffs(), st.integers(1, 5000), CHANCE)
def test_a_wait_stays_between_the_base_and_the_spread_cap(backoff, attempt, chance):
    longest = backoff.cap * (1 + backoff.jitter)

    assert backoff.base <= backoff.delay(attempt, chance) <= longest
