"""The reference of the words for pull requests, compared with the words."""

import pytest

from prwatch.domain.checks_words import STATES, ChecksWord
from prwatch.domain.pull_request import ChecksState
from prwatch.domain.verdict_words import MergeWord, Need, ReviewWord
from tests.test_docs import DOCS, rows, section

PAGE = DOCS / "reference/words.md"


@pytest.mark.parametrize(
    ("title", "words"),
    [
        pytest.param("## Checks", ChecksWord, id="checks"),
        pytest.param("## Reviews", ReviewWord, id="reviews"),
        pytest.param("## Merge", MergeWord, id="merge"),
        pytest.param("## Status", Need, id="status"),
    ],
)
def test_every_word_is_described_in_its_order(title, words):
    described = [row[0] for row in rows(section(PAGE, title))]

    if words is Need:
        assert described == [str(each) for each in words]
    assert sorted(described) == sorted(str(each) for each in words)


def test_a_word_is_said_to_stand_beside_its_verdicts():
    described = {row[0]: row[1] for row in rows(section(PAGE, "## Checks"))}

    for word, states in STATES.items():
        named = {str(state) for state in states if isinstance(state, ChecksState)}
        if len(named) == len(ChecksState):
            assert described[word] == "any verdict"
        else:
            assert described[word].split(", ")[0] in named
