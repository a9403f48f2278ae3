"""What is rendered is read again as the same reference."""

import re

from hypothesis import given
from hypothesis import strategies as st

from prwatch.app.command.references import (
    InvalidReference,
    NamedBranch,
    NamedPullRequest,
    NamedRepository,
    NamedWatch,
    parse_reference,
)

OWNERS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,20}", fullmatch=True)
NAMES = st.from_regex(r"[A-Za-z0-9._-]{1,20}", fullmatch=True).filter(
    lambda name: name not in {".", ".."} and not name.endswith(".git")
)
HOSTS = st.sampled_from(["", "github.com", "git.corp.example", "127.0.0.1"])
# git-check-ref-format(1), written a second time and differently.
BRANCHES = st.text(
    st.characters(
        min_codepoint=0x21, exclude_characters="\x7f~^:?*[\\", exclude_categories=["Cs"]
    ),
    min_size=1,
    max_size=40,
).filter(
    lambda name: (
        not name.startswith(("-", "refs/heads/"))
        and not name.endswith((".", "/"))
        and name != "@"
        and not re.search(r"\.\.|@\{|//|(^|/)\.|^/|\.lock(/|\Z)", name)
    )
)
PLACES = {"owner": OWNERS, "name": NAMES, "host": HOSTS}
REFERENCES = st.one_of(
    st.builds(NamedPullRequest, number=st.integers(1, 2**31 - 1), **PLACES),
    st.builds(NamedBranch, branch=BRANCHES, **PLACES),
    st.builds(
        NamedBranch,
        owner=OWNERS,
        name=NAMES,
        branch=BRANCHES,
        head_repository=st.builds("{}/fork-{}".format, OWNERS, NAMES),
    ).filter(lambda b: b.head_repository.lower() != f"{b.owner}/{b.name}".lower()),
    st.builds(NamedRepository, **PLACES),
    st.builds(NamedWatch, st.uuids().map(str)),
)


@given(REFERENCES)
def test_a_rendered_reference_is_read_as_itself(reference):
    assert parse_reference(str(reference)) == reference


@given(st.text())
def test_any_text_is_a_reference_or_refused(text):
    try:
        found = parse_reference(text)
    except InvalidReference:
        return

    assert parse_reference(str(found)) == found
