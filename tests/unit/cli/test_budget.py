"""`prwatch budget`: what it prints of a forecast."""

import pytest

from prwatch.cli.budget import draw_bar

CONFIG = """
state_dir = "{state}"
[[workspace]]
name = "acme"
token_env = "ACME_TOKEN"
[[workspace.watch]]
repository = "octo/hello"
pull_request = 12
"""


@pytest.fixture
def prwatch(call, tmp_path):
    call.configure(CONFIG.format(state=tmp_path / "state"))
    return call


def test_a_forecast_is_told_in_words_and_tables(prwatch):
    called = prwatch("budget")

    assert called.code == 0
    for line in (
        "No daemon runs; this follows from the store and the configuration.",
        "github.com, environment variable ACME_TOKEN: acme",
        "  1 pull request (1 idle)",
        "  a quiet cycle costs 1 point in 1 request",
        "  no change is older than 75 s; what only a full reading shows, 16 min 15 s",
        "Of 5,000 points an hour (assumed) 750 are kept for people, and others use 0.",
    ):
        assert line in called.out.splitlines()
    assert "from 3,2" in called.out


def test_what_would_give_way_is_told(prwatch):
    out = prwatch("budget", "--watches", "30000").out

    assert "  30,000 pull requests (30,000 idle)" in out.splitlines()
    assert "the budget of 5,000 points an hour does not hold 60 s for 30,000" in out
    assert "(further)" in out


def test_the_same_is_an_object_for_programs(prwatch):
    value = prwatch("budget", "--json").value

    (account,) = value["accounts"]
    assert (value["running"], account["hour"]["points"]) == (False, 64.0)


def test_a_number_of_watches_is_a_number(prwatch):
    assert prwatch("budget", "--watches", "many").code == 2
    assert prwatch("budget", "--watches", "-1").code == 2


@pytest.mark.parametrize(
    ("share", "bar"),
    [
        pytest.param(0, "░" * 20, id="nothing"),
        pytest.param(0.5, "█" * 10 + "░" * 10, id="half"),
        pytest.param(3.0, "█" * 20, id="too much"),
    ],
)
def test_a_bar_is_full_at_the_whole_budget(share, bar):
    assert draw_bar(share) == bar
