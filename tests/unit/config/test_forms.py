import datetime as dt
from pathlib import Path

import pytest

from prwatch.config import forms


@pytest.mark.parametrize(
    ("form", "value", "read"),
    [
        pytest.param(
            forms.duration("1s", "1h"), "1s", dt.timedelta(seconds=1), id="low"
        ),
        pytest.param(
            forms.duration("1s", "1h"), "1h", dt.timedelta(hours=1), id="high"
        ),
        pytest.param(forms.size("4KiB", "1GiB"), "4KiB", 4096, id="size"),
        pytest.param(forms.whole_number(1, 64), 64, 64, id="number"),
        pytest.param(forms.fraction(0.0, 0.5), 0, 0.0, id="whole fraction"),
        pytest.param(forms.fraction(0.0, 0.5), 0.5, 0.5, id="fraction"),
        pytest.param(forms.one_of(("a", "b")), "b", "b", id="word"),
        pytest.param(forms.FLAG, False, False, id="flag"),
        pytest.param(forms.PATH, "~/x", Path("~/x"), id="path"),
        pytest.param(forms.BRANCH, "feature/ä-1", "feature/ä-1", id="branch"),
        pytest.param(forms.FOLDER, "/a b/.c/", "/a b/.c/", id="folder"),
        pytest.param(forms.FOLDER, "/", "/", id="the top as a folder"),
        pytest.param(forms.BRANCH, "fix/#4 a", "fix/#4 a", id="space in a branch"),
        pytest.param(forms.APP_ID, 12345, "12345", id="number of an app"),
        pytest.param(forms.APP_ID, "12345", "12345", id="number of an app as text"),
        pytest.param(forms.APP_ID, "Iv23liAbC", "Iv23liAbC", id="client id"),
        pytest.param(forms.APP_ID, "Iv1.8a61f", "Iv1.8a61f", id="older client id"),
        pytest.param(forms.REPOSITORY, "octo/.github", "octo/.github", id="repository"),
        pytest.param(forms.REPOSITORY, "me_corp/a", "me_corp/a", id="managed user"),
        pytest.param(forms.TEXT, "", "", id="empty title"),
        pytest.param(forms.TASK_ID, "preview:1", "preview:1", id="id of a task"),
        pytest.param(forms.IDENTIFIER, "review:1", "review:1", id="id of a session"),
        pytest.param(forms.ARGUMENT, "a\nb", "a\nb", id="argument of two lines"),
    ],
)
def test_a_value_of_the_form_is_read(form, value, read):
    assert form.read(value) == read


@pytest.mark.parametrize(
    ("form", "value"),
    [
        pytest.param(forms.duration("1s", "1h"), "999ms", id="too short"),
        pytest.param(forms.duration("1s", "1h"), "61m", id="too long"),
        pytest.param(forms.duration("1s", "1h"), 60, id="number for a duration"),
        pytest.param(forms.size("4KiB", "1GiB"), "1B", id="too small"),
        pytest.param(forms.size("4KiB", "1GiB"), 4096, id="number for a size"),
        pytest.param(forms.whole_number(1, 64), 0, id="number too low"),
        pytest.param(forms.whole_number(1, 64), True, id="flag for a number"),
        pytest.param(forms.whole_number(1, 64), 8.0, id="fraction for a number"),
        pytest.param(forms.fraction(0.0, 0.5), 0.51, id="fraction too high"),
        pytest.param(forms.fraction(0.0, 0.5), float("nan"), id="no number"),
        pytest.param(forms.fraction(0.0, 0.5), True, id="flag for a fraction"),
        pytest.param(forms.one_of(("a", "b")), "A", id="other case"),
        pytest.param(forms.one_of(("a", "b")), ["a"], id="array for a word"),
        pytest.param(forms.FLAG, "true", id="text for a flag"),
        pytest.param(forms.FLAG, 1, id="number for a flag"),
        pytest.param(forms.PATH, "", id="empty path"),
        pytest.param(forms.PATH, "a\0b", id="path with NUL"),
        pytest.param(forms.FOLDER, "a/../b", id="folder that leads out"),
        pytest.param(forms.FOLDER, "a//b", id="folder without a name"),
        pytest.param(forms.FOLDER, "a\\b", id="folder of another system"),
        pytest.param(forms.BRANCH, "", id="empty branch"),
        pytest.param(forms.BRANCH, "refs/heads/main", id="full ref"),
        pytest.param(forms.BRANCH, "a ", id="space at the end of a branch"),
        pytest.param(forms.BRANCH, "a..b", id="range for a branch"),
        pytest.param(forms.BRANCH, "-x", id="option for a branch"),
        pytest.param(forms.BRANCH, "a/", id="branch with a slash at its end"),
        pytest.param(forms.APP_ID, 0, id="no number of an app"),
        pytest.param(forms.APP_ID, -1, id="number of an app below zero"),
        pytest.param(forms.APP_ID, 10**5000, id="huge number of an app"),
        pytest.param(forms.APP_ID, -(10**5000), id="huge number below zero"),
        pytest.param(forms.APP_ID, True, id="flag for an app"),
        pytest.param(forms.APP_ID, "my app", id="name of an app"),
        pytest.param(forms.REPOSITORY, "hello", id="no owner"),
        pytest.param(forms.REPOSITORY, "a/b/c", id="three parts"),
        pytest.param(forms.REPOSITORY, "octo/..", id="dots for a repository"),
        pytest.param(forms.REPOSITORY, "octo/he llo", id="space in a repository"),
        pytest.param(forms.REPOSITORY, "octo/hello\n", id="line break at the end"),
        pytest.param(forms.NAME, "a/b", id="slash in a name"),
        pytest.param(forms.TEXT, "a\nb", id="title of two lines"),
        pytest.param(forms.TEXT, "\ud800", id="lone surrogate"),
        pytest.param(forms.IDENTIFIER, "", id="empty id"),
        pytest.param(forms.TASK_ID, "review:octo/hello#1", id="id of a review task"),
        pytest.param(forms.TASK_ID, "review:", id="beginning of one"),
        pytest.param(forms.TASK_ID, "a" * 201, id="too long id of a task"),
        pytest.param(forms.ENVIRONMENT_NAME, "A-B", id="hyphen in a variable"),
        pytest.param(forms.CREDENTIAL_NAME, "../x", id="path for a credential"),
        pytest.param(forms.ARGUMENT, "a\0", id="argument with NUL"),
    ],
)
def test_any_other_value_is_refused(form, value):
    with pytest.raises(ValueError):
        form.read(value)


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/octo/hello",
        "https://github.com/octo/hello.git",
        "https://github.com/octo/hello/pull/3",
        "git@github.com:octo/hello.git",
        "ssh://git@github.com/octo/hello.git",
    ],
)
def test_the_name_is_suggested_for_an_address(address):
    with pytest.raises(ValueError, match=r'^owner/name alone: "octo/hello"$'):
        forms.REPOSITORY.read(address)
