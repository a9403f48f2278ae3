import pytest

from prwatch.sinks.command_environment import build_environment
from tests.deliveries import EVENT_ID, make_delivery, make_event

HEAD = {
    "PRWATCH_EVENT_ID": EVENT_ID,
    "PRWATCH_EVENT_TYPE": "GitHubPRFeedback",
    "PRWATCH_EVENT_SOURCE": "prwatch:test",
    "PRWATCH_EVENT_SUBJECT": "acme/T-1/octo/hello#12",
    "PRWATCH_EVENT_TIME": "2026-11-30T12:00:00.123456Z",
    "PRWATCH_EVENT_WORKSPACE": "acme",
    "PRWATCH_EVENT_TASK": "T-1",
    "PRWATCH_EVENT_SESSION": "S-1",
    "PRWATCH_EVENT_REPOSITORY": "octo/hello",
    "PRWATCH_EVENT_NUMBER": "12",
    "PRWATCH_EVENT_URL": "https://github.com/octo/hello/pull/12",
    "PRWATCH_EVENT_TITLE": "Say hello",
    "PRWATCH_EVENT_STATE": "OPEN",
    "PRWATCH_EVENT_FIELDS": "checks",
    "PRWATCH_EVENT_REVISION": "7",
    "PRWATCH_EVENT_SUPERSEDED": "false",
}


def test_the_head_of_the_event_is_in_variables():
    assert build_environment({}, make_delivery()) == HEAD


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "HOME",
        "LANG",
        "LC_ALL",
        "XDG_RUNTIME_DIR",
        "DBUS_SESSION_BUS_ADDRESS",
        "DISPLAY",
    ],
)
def test_what_a_session_needs_is_passed_on(name):
    environ = build_environment({name: "value"}, make_delivery())

    assert environ == {**HEAD, name: "value"}


@pytest.mark.parametrize(
    "name",
    [
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "PRWATCH_DATABASE_URL",
        "PRWATCH_EVENT_ID",
        "WEBHOOK_SECRET",
        "MY_OWN_NAME_FOR_IT",
        "CREDENTIALS_DIRECTORY",
        "NOTIFY_SOCKET",
        "SSH_AUTH_SOCK",
        "LD_PRELOAD",
        "PYTHONPATH",
    ],
)
def test_nothing_else_of_ours_is_passed_on(name):
    assert build_environment({name: "hidden"}, make_delivery()) == HEAD


def test_several_fields_are_listed_and_a_moved_head_is_said():
    data = {"changes": [{"field": "state"}, {"field": "checks"}]}
    delivery = make_delivery(event=make_event(data=data), is_superseded=True)

    environ = build_environment({}, delivery)

    assert environ["PRWATCH_EVENT_FIELDS"] == "state,checks"
    assert environ["PRWATCH_EVENT_SUPERSEDED"] == "true"


def test_a_terminal_event_is_never_superseded():
    event = make_event(is_terminal=True)

    environ = build_environment({}, make_delivery(event=event, is_superseded=True))

    assert environ["PRWATCH_EVENT_SUPERSEDED"] == "false"


def test_what_an_event_does_not_have_is_empty():
    environ = build_environment({}, make_delivery(event=make_event(data={})))

    empty = {name for name, value in environ.items() if not value}
    assert empty == {
        f"PRWATCH_EVENT_{name}"
        for name in (
            *("WORKSPACE", "TASK", "SESSION", "REPOSITORY"),
            *("URL", "TITLE", "STATE", "FIELDS"),
        )
    }


def test_a_title_that_no_variable_can_hold_is_cleaned():
    data = {"pull_request": {"title": "a\0b\udc80c\nd"}}

    environ = build_environment({}, make_delivery(event=make_event(data=data)))

    assert environ["PRWATCH_EVENT_TITLE"] == "ab?c\nd"


def test_a_value_that_no_program_could_start_with_is_cut():
    data = {"pull_request": {"title": "t" * 1_000_000}}

    environ = build_environment({}, make_delivery(event=make_event(data=data)))

    assert environ["PRWATCH_EVENT_TITLE"] == "t" * 4096
