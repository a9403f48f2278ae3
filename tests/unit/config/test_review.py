"""Entries of review watches: what they mean, and what is refused."""

import datetime as dt

import pytest

from prwatch.config.loader import load_config
from prwatch.config.review import list_desired_reviews
from prwatch.domain.review_watch import CleanupPolicy, ReviewScope, ReviewSettings
from prwatch.domain.review_watch_plan import DesiredReviewWatch
from prwatch.errors import ConfigError

ENVIRON = {"HOME": "/home/ada"}
WORKSPACE = '[[workspace]]\nname = "acme"\n'
APP = f'{WORKSPACE}app = {{ id = 1, installation = 2, private_key_env = "KEY" }}\n'


def load(reviews, workspace=WORKSPACE):
    return load_config(workspace + reviews, environ=ENVIRON).config


def entry(text="", name="mine"):
    return f'[[workspace.review]]\nname = "{name}"\n{text}\n'


def test_an_entry_means_what_it_says():
    config = load(
        entry()
        + entry(
            'scope = "user_and_teams"\norganisations = ["octo"]\nquery = "label:x"\n'
            'target_login = "ada"\ninterval = "10m"\npolicy = "never"\n'
            "enabled = false",
            name="team",
        )
    )

    assert list_desired_reviews(config) == {
        "acme": (
            DesiredReviewWatch(name="mine"),
            DesiredReviewWatch(
                name="team",
                settings=ReviewSettings(
                    scope=ReviewScope.USER_AND_TEAMS,
                    organisations=("octo",),
                    query="label:x",
                    target_login="ada",
                    interval=dt.timedelta(minutes=10),
                    policy=CleanupPolicy.NEVER,
                    is_enabled=False,
                ),
            ),
        )
    }


@pytest.mark.parametrize(
    ("reviews", "key"),
    [
        pytest.param(entry() + entry(), "workspace[0].review[1].name", id="twice"),
        pytest.param(entry('query = "is:issue"'), "review[0].query", id="query"),
        pytest.param(entry('interval = "30s"'), "review[0].interval", id="interval"),
        pytest.param(entry('policy = "maybe"'), "review[0].policy", id="policy"),
        pytest.param(
            entry('repositories = ["o/r"]\norganisations = ["o"]'),
            "review[0].organisations",
            id="both",
        ),
        pytest.param(
            entry('target_login = "a b"'), "review[0].target_login", id="login"
        ),
    ],
)
def test_each_mistake_is_told_once_with_its_key(reviews, key):
    with pytest.raises(ConfigError) as caught:
        load(reviews)

    (problem,) = caught.value.problems
    assert key in problem


def test_an_app_needs_the_login_of_a_person():
    with pytest.raises(ConfigError, match="target_login"):
        load(entry(), APP)

    assert load(entry('target_login = "ada"'), APP).workspaces[0].reviews
