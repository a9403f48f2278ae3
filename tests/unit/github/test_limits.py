import datetime as dt

import anyio
import pytest

from prwatch.domain.rate_limit import LimitChange, LimitTransition
from prwatch.errors import RateLimited, ReserveKept
from prwatch.github.exchange import Exchange
from prwatch.github.limits import Limits
from prwatch.github.reserve import keep_reserve
from prwatch.github.tracker_book import TrackerBook
from tests.github_answers import NOW, StillClock

HOST = "github.com"
MINUTE = dt.timedelta(minutes=1)


def limits(book=None, *, payer="", is_fixed=False, clock=None, host=HOST):
    return Limits(
        clock or StillClock(), book=book, host=host, payer=payer, is_fixed=is_fixed
    )


def answer(status=200, message="", *, at=NOW, remaining=None, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if remaining is not None:
        named |= {
            "x-ratelimit-limit": "5000",
            "x-ratelimit-remaining": str(remaining),
            "x-ratelimit-reset": str(int((at + MINUTE * 30).timestamp())),
        }
    return Exchange(
        status=status,
        headers=named,
        message=message,
        received_at=at,
        asked_bucket="core",
    )


def refusal(at=NOW, seconds="60", request="A:1"):
    message = f"You have exceeded a secondary rate limit. Request {request}."
    return answer(403, message, at=at, retry_after=seconds)


def test_tokens_of_one_user_on_one_host_share_a_tracker_once_that_is_known():
    book = TrackerBook(StillClock())
    one, other, stranger = limits(book), limits(book), limits(book)
    elsewhere = limits(book, host="ghe.example")
    one.observe(answer(remaining=4000))
    other.observe(answer(remaining=3000))
    one.tracker.add_blocks([("search", NOW + MINUTE * 2)])
    other.tracker.add_blocks([("search", NOW + MINUTE)])

    for each, payer in ((one, "user/7"), (other, "user/7"), (stranger, "user/8")):
        each.observe(answer(), payer)
    elsewhere.observe(answer(), "user/7")

    assert one.tracker is other.tracker
    assert len({id(each.tracker) for each in (one, stranger, elsewhere)}) == 3
    assert one.payer == other.payer == "user/7"
    assert one.budgets["core"].remaining == 3000
    assert one.blocked_until("search") == NOW + MINUTE * 2


def test_a_stored_payer_is_found_without_an_answer():
    book = TrackerBook(StillClock())
    known = limits(book, payer="user/7")
    learnt = limits(book)

    learnt.learn_payer("user/7")

    assert known.tracker is learnt.tracker


def test_a_token_of_another_user_leaves_the_tracker_of_the_old_one_as_it_is():
    book = TrackerBook(StillClock())
    replaced, other = limits(book, payer="user/7"), limits(book, payer="user/7")
    other.observe(answer(remaining=4000))

    replaced.observe(answer(remaining=10), "user/8")

    assert replaced.payer == "user/8"
    assert replaced.budgets["core"].remaining == 10
    assert other.budgets["core"].remaining == 4000


def test_an_answer_that_names_nobody_changes_nothing():
    ours = limits(payer="user/7")
    tracker = ours.tracker

    ours.observe(answer(), "")

    assert (ours.payer, ours.tracker) == ("user/7", tracker)


def test_a_replaced_token_begins_without_a_payer_and_an_installation_stays():
    replaced = limits(payer="user/7")
    installation = limits(payer="installation/9", is_fixed=True)
    for each in (replaced, installation):
        each.tracker.add_blocks([("core", NOW + MINUTE)])

    for each in (replaced, installation):
        each.forget()
    installation.learn_payer("user/1")

    assert (replaced.payer, dict(replaced.blocks)) == ("", {})
    assert installation.payer == "installation/9"
    assert set(installation.blocks) == {"core"}


async def test_the_reserve_binds_polling_and_its_tasks_but_nobody_else():
    book = TrackerBook(StillClock(), reserve=0.15)
    ours = limits(book)
    ours.observe(answer(remaining=700))
    refused = []

    async def ask():
        try:
            ours.check("core")
        except ReserveKept as error:
            refused.append(error)

    ours.check("core")
    with keep_reserve():
        with pytest.raises(ReserveKept):
            ours.check("core")
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
    ours.check("core")

    assert len(refused) == 1
    assert [each.reason for each in ours.describe()] == ["reserve"]


class Worker:
    """Asks through its own token's limits, and notes when it is on its way."""

    def __init__(self, book, clock, replies):
        self.book = book
        self.clock = clock
        self.replies = replies
        self.sent = 0
        self.in_flight = 0
        self.most = 0
        self.refused = 0

    async def ask(self, ours, bucket="core"):
        try:
            async with ours.passage(bucket):
                self.sent += 1
                self.in_flight += 1
                self.most = max(self.most, self.in_flight)
                reply = self.replies.pop(0) if self.replies else answer()
                for _ in range(30):
                    await anyio.lowlevel.checkpoint()
                self.in_flight -= 1
                if isinstance(reply, Exception):
                    raise reply
                ours.observe(reply)
        except RateLimited:
            self.refused += 1
        except OSError:
            pass


@pytest.mark.parametrize(
    ("replies", "sent", "refused", "most"),
    [
        pytest.param([], 8, 0, 7, id="the others follow a good answer"),
        pytest.param([refusal()], 1, 7, 1, id="and stay after a refusal"),
        pytest.param(
            [answer(502), OSError("broken"), refusal()], 3, 5, 1, id="the next one probes after no answer"
        ),
    ],
)  # fmt: skip
async def test_after_a_shared_wait_one_request_probes(replies, sent, refused, most):
    clock = StillClock()
    book = TrackerBook(clock)
    tokens = [limits(book, payer="user/7", clock=clock) for _ in range(4)]
    tokens[0].observe(refusal())
    clock.time += MINUTE
    worker = Worker(book, clock, replies)

    async with anyio.create_task_group() as group:
        for each in tokens * 2:
            group.start_soon(worker.ask, each)

    assert (worker.sent, worker.refused, worker.most) == (sent, refused, most)


async def test_requests_without_a_wait_before_them_go_together():
    worker = Worker(None, None, [])
    ours = limits()

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(worker.ask, ours)

    assert worker.most == 8


async def test_a_bucket_that_was_blocked_lets_the_others_go_together():
    clock = StillClock()
    ours = limits(clock=clock)
    ours.tracker.add_blocks([("core", NOW + MINUTE)])
    clock.time += MINUTE
    worker = Worker(None, None, [])

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(worker.ask, ours, "graphql")

    assert worker.most == 4


def test_a_hundred_refusals_are_one_change_and_the_end_of_them_another():
    clock = StillClock()
    ours = limits(clock=clock)
    news = []

    for number in range(100):
        ours.observe(refusal(clock.time, request=f"A:{number}"))
        news += ours.take_transitions()
        clock.time += MINUTE
        news += ours.take_transitions()
    until = clock.time
    ours.observe(answer(at=clock.time))
    news += ours.take_transitions()

    assert news == [
        LimitTransition("secondary", LimitChange.EXHAUSTED, NOW + MINUTE),
        LimitTransition("secondary", LimitChange.RECOVERED),
    ]
    assert until == NOW + MINUTE * 100


def test_every_token_of_an_account_is_told_of_its_limit():
    book = TrackerBook(StillClock())
    one, other = limits(book, payer="user/7"), limits(book, payer="user/7")

    one.observe(answer(remaining=0))

    expected = LimitTransition(
        "core", LimitChange.EXHAUSTED, NOW + MINUTE * 30 + dt.timedelta(seconds=2)
    )
    assert one.take_transitions() == other.take_transitions() == [expected]
    assert one.take_transitions() == []


def test_a_token_that_leaves_a_limited_account_has_recovered():
    ours = limits(payer="user/7")
    ours.observe(refusal())
    ours.take_transitions()

    ours.forget()

    assert ours.take_transitions() == [
        LimitTransition("secondary", LimitChange.RECOVERED)
    ]


def test_what_an_earlier_process_told_is_told_again_only_when_it_ends():
    ours = limits()
    ours.tracker.add_blocks([("core", NOW + MINUTE)])

    ours.remember_told(["core", "graphql"])

    assert ours.take_transitions() == [
        LimitTransition("graphql", LimitChange.RECOVERED)
    ]
