"""`prwatch events` and `status` after something was said."""

import pytest

from tests.hubs import get_environ, open_hub, write_config

REFUSING = '[[sink]]\nname = "no"\nkind = "command"\nargv = ["/bin/false"]\n'


@pytest.fixture
def prwatch(call, tmp_path):
    """A caller whose pull request was read once; the one delivery is dead."""
    with open_hub() as (_, api_url):
        call.environ.update(get_environ())
        call.configure(write_config(api_url, tmp_path / "state", REFUSING))
        call("watch", "add", "octo/hello#12")
        call("watch", "check", "octo/hello#12")
        yield call


def test_an_event_is_shown_in_words_and_as_a_line(prwatch):
    words = prwatch("events", "tail").out.splitlines()
    event = prwatch("events", "tail", "--json").value
    shown = prwatch("events", "show", event["id"]).out.splitlines()
    value = prwatch("events", "show", event["id"], "--json").value

    assert words[0].endswith("GitHubTaskPRUpdated  acme/octo/hello#12/octo/hello#12")
    assert words[1] == f"  associated: none yet → 12  ({event['id']})"
    assert shown[:2] == [event["id"], "acme/octo/hello#12/octo/hello#12"]
    assert shown[-1].split()[:3] == ["no", "dead", "1"]
    assert value["event"] == event
    assert [each["state"] for each in value["deliveries"]] == ["dead"]


def test_dead_deliveries_are_sent_again(prwatch):
    event_id = prwatch("events", "tail", "--json").value["id"]

    one = prwatch("events", "retry", event_id)
    none = prwatch("events", "retry", "--dead", "--sink", "no")

    assert (one.out, none.out) == (
        "1 dead delivery will be sent again\n",
        "no delivery is dead\n",
    )


def test_the_status_tells_of_verdicts_and_deliveries(prwatch):
    lines = prwatch("status").out.splitlines()

    assert lines[0] == "No daemon runs."
    assert lines[1].startswith("This is what the store knows; its newest fact is ")
    assert "1 open" in lines[3]
    assert lines[-1].split() == ["no", "0", "0", "0", "0", "1"]
