import dataclasses

import pytest

from prwatch.domain.connection import Connection

CONNECTION = Connection(
    id="c1", workspace_id="w1", source="gh:github.com", host="github.com", status="ok"
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("source", "env:GITHUB_TOKEN"),
        ("host", "git.example"),
        ("id", "c2"),
        ("generation", 2),
        ("status", "suspended"),
    ],
)
def test_the_fingerprint_changes_with_each_fact(name, value):
    changed = dataclasses.replace(CONNECTION, **{name: value})

    assert changed.fingerprint != CONNECTION.fingerprint


def test_the_fingerprint_stays_when_it_is_learnt_who_pays():
    learnt = dataclasses.replace(CONNECTION, account="user/1")

    assert learnt.fingerprint == CONNECTION.fingerprint


def test_facts_do_not_run_into_each_other():
    one = dataclasses.replace(CONNECTION, source="a", host="b\n1:c")
    two = dataclasses.replace(CONNECTION, source="a\n1:b", host="c")

    assert one.fingerprint != two.fingerprint
