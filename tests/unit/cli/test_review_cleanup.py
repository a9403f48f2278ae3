"""`prwatch review cleanup` and `restore` as command lines."""

import pytest

ONE = '[[workspace]]\nname = "acme"\ntoken_env = "TOKEN"\n'


@pytest.fixture
def review(call, tmp_path):
    call.environ["TOKEN"] = "none"
    call.configure(f'state_dir = "{tmp_path}/state"\n{ONE}')
    return lambda *arguments: call("review", *arguments)


def test_an_empty_sweep_deletes_none_and_says_so_in_its_one_shape(review):
    assert review("cleanup").out == "0 review tasks removed\n"
    assert review("cleanup", "--json").value == {"deleted": 0}
    assert review("cleanup", "--dry-run", "--json").value == {"plan": []}
    assert review("cleanup", "--dry-run").out == ""


def test_what_does_not_exist_is_named(review):
    assert "there is no review watch mine" in review("cleanup", "mine").err
    assert "nothing to restore of review:octo/hello#1" in (
        review("restore", "review:octo/hello#1").err
    )
