import datetime as dt

import pytest

from prwatch.domain.watch_file import (
    MAX_FILE_BYTES,
    MAX_FILES,
    ListedFile,
    WatchFile,
    WatchFolder,
    plan_reading,
    settle_files,
    show_name,
)

NOON = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)


def listed(name="a.toml", **changes):
    return ListedFile(**{"name": name, "blob": "new", "size_bytes": 9, **changes})


def stored(name="a.toml", **changes):
    values = {"name": name, "blob": "old", "declared": "x", "changed_at": NOON}
    return WatchFile(**{**values, **changes})


def by_name(*files):
    return {each.name: each for each in files}


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({}, "octo/team:/"),
        ({"path": "a/b", "branch": "main"}, "octo/team@main:a/b"),
    ],
)
def test_a_folder_is_told_by_its_place(changes, place):
    folder = WatchFolder(id="f", workspace_id="w", repository="octo/team", **changes)

    assert folder.place == place


def test_only_files_with_another_content_are_fetched_in_the_order_of_their_names():
    entries = [
        listed("b.YAML"),
        listed("a.toml"),
        listed("same.yml", blob="old"),
        listed("README.md"),
        listed("folder.toml", is_file=False),
    ]
    before = by_name(stored("same.yml"), stored("gone.toml"), stored("a.toml"))

    plan = plan_reading(entries, before)

    assert [each.name for each in plan.wanted] == ["a.toml", "b.YAML"]
    assert plan.refused == {}
    assert plan.gone == ("gone.toml",)


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(listed(".toml"), id="hidden"),
        pytest.param(listed("a/b.toml"), id="path"),
        pytest.param(listed("a\x1b.toml"), id="control"),
        pytest.param(listed("a\u202e.toml"), id="direction"),
        pytest.param(listed("a\ufffd.toml"), id="no UTF-8"),
        pytest.param(listed(is_link=True), id="submodule"),
        pytest.param(listed(is_link=True, is_file=False), id="symbolic link"),
        pytest.param(listed(f"{'x' * 96}.toml"), id="long"),
        pytest.param(listed(size_bytes=MAX_FILE_BYTES + 1), id="huge"),
    ],
)
def test_what_cannot_be_used_is_refused_and_not_fetched(entry):
    plan = plan_reading([entry], {})

    assert plan.wanted == ()
    assert list(plan.refused) == [entry.name]


@pytest.mark.parametrize(
    ("name", "shown"), [("a é.toml", "a é.toml"), ("a\x1b.toml", r"'a\x1b.toml'")]
)
def test_a_name_is_told_without_what_steers_a_terminal(name, shown):
    assert show_name(name) == shown


def test_files_beyond_the_bound_are_refused_by_name():
    entries = [listed(f"{number:03}.toml") for number in range(MAX_FILES + 1)]

    plan = plan_reading(entries, {})

    assert len(plan.wanted) == MAX_FILES
    assert list(plan.refused) == [f"{MAX_FILES:03}.toml"]


def test_a_file_that_is_gone_is_taken_out_beside_what_was_read():
    before = by_name(stored("a.toml"), stored("b.toml"))
    read = by_name(stored("c.toml", blob="new"))

    settled = settle_files(before, read, ["a.toml"])

    assert list(settled) == ["b.toml", "c.toml"]


def test_a_file_that_is_gone_stays_while_a_new_one_cannot_be_read():
    before = by_name(stored("a.toml"))
    broken = stored("b.toml", blob="new", declared="", problems=("b.toml:1:1: no",))

    first = settle_files(before, by_name(broken), ["a.toml"])
    second = settle_files(first, {}, ["a.toml"])
    mended = settle_files(first, by_name(stored("b.toml")), ["a.toml"])

    assert (first["a.toml"].blob, first["a.toml"].declared) == ("", "x")
    assert first["a.toml"].problems == (
        "a.toml: is gone, and kept until b.toml can be read",
    )
    assert second == first
    assert list(mended) == ["b.toml"]


LONG = f"{'x' * 96}.toml"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (listed(".yamllint.yml"), "it begins with a dot"),
        (listed(LONG), "it is longer than 100 characters"),
        (listed("a\ufffd.toml"), "it is not UTF-8"),
        (
            listed("a\u202e.toml"),
            "it holds a slash or a character that cannot be shown",
        ),
        (listed("b.toml", is_link=True), "is a link, which is not followed"),
        (
            listed("b.toml", is_link=True, is_file=False),
            "is a link, which is not followed",
        ),
        (
            listed("b.toml", size_bytes=MAX_FILE_BYTES + 1),
            f"is longer than {MAX_FILE_BYTES} bytes",
        ),
    ],
)
def test_a_file_that_is_never_read_as_it_is_says_why_and_holds_nothing(entry, told):
    before, name = stored("a.toml"), entry.name
    plan = plan_reading([entry], by_name(before))
    (_, reason) = plan.refused[name]
    refused = stored(name, blob="", declared="", problems=(reason,))
    held = stored("a.toml", blob="", problems=("a.toml: is gone, and kept",))
    again = plan_reading([entry], by_name(held, refused))

    settled = settle_files(by_name(before), by_name(refused), plan.gone, plan.unusable)
    later = settle_files(by_name(held, refused), {}, again.gone, again.unusable)

    assert told in reason
    assert list(settled) == list(later) == [name]


def test_a_file_that_is_read_once_others_are_fewer_holds_what_is_gone():
    entries = [listed(f"{number:03}.toml") for number in range(MAX_FILES + 1)]
    before = by_name(stored("a.toml"))
    plan = plan_reading(entries, before)
    left = f"{MAX_FILES:03}.toml"
    refused = stored(left, blob="", declared="", problems=("is left out",))

    settled = settle_files(before, by_name(refused), plan.gone, plan.unusable)

    assert list(plan.refused) == [left]
    assert list(settled) == [left, "a.toml"]


def test_an_old_file_with_mistakes_keeps_nothing_else():
    broken = stored("b.toml", declared="", problems=("b.toml:1:1: no",))

    settled = settle_files(by_name(stored("a.toml"), broken), {}, ["a.toml"])

    assert list(settled) == ["b.toml"]


def test_a_file_that_never_declared_anything_is_not_kept():
    empty = stored("a.toml", declared="")
    broken = stored("b.toml", declared="", problems=("b.toml:1:1: no",))

    assert list(settle_files(by_name(empty), by_name(broken), ["a.toml"])) == ["b.toml"]
