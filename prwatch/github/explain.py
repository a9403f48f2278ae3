"""Reads one pull request with everything that its verdicts are made of."""

import datetime as dt
from dataclasses import replace
from typing import Final

import msgspec

from prwatch.domain.explanation import Explanation, explain_checks
from prwatch.domain.outcome import Found, Outcome
from prwatch.domain.pull_request import UNOBSERVED
from prwatch.domain.reference import PullRequestReference
from prwatch.domain.verdict import pick_last_opinions
from prwatch.github.checks import split_contexts
from prwatch.github.details import UNKNOWN_STATE, name_lost, read_detail
from prwatch.github.graph import NULL, Graph, is_null
from prwatch.github.normalize import Detail, build_reading, build_review
from prwatch.github.omission import explain_omitted, study_faults
from prwatch.github.rest import Rest
from prwatch.github.wire import DETAIL, decode

PLACE: Final = ("repository", "pullRequest")
_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Explainer:
    """Explains single pull requests with one credential. It remembers nothing."""

    def __init__(self, graph: Graph, rest: Rest, *, settle: dt.timedelta) -> None:
        self._graph = graph
        self._rest = rest
        self._settle = settle

    async def explain(self, reference: PullRequestReference) -> Outcome[Explanation]:
        """
        Read through GraphQL, which also knows what is required.

        Raises:
            ProviderError: the request failed as a whole.
        """
        capabilities = self._graph.capabilities
        answer = await self._graph.ask(
            "Explain",
            {
                "owner": reference.owner,
                "name": reference.name,
                "number": reference.number,
            },
            without=capabilities.omit(reference.place, is_test=True),
        )
        faults = answer.map_faults([PLACE])
        study_faults(capabilities, faults, {PLACE: reference.place})
        members = decode(_MEMBERS, answer.get("repository")) or {}
        raw = members.get("pullRequest", NULL)
        if is_null(raw):
            return faults.explain_null(PLACE)
        lost = explain_omitted(capabilities, answer.without, reference.place)
        detail = await read_detail(
            self._graph,
            decode(DETAIL, raw),
            lost | name_lost(faults, PLACE),
            repository=reference.place,
            more_contexts="MoreExplainedContexts",
        )
        if not isinstance(detail, Detail):
            return detail
        try:
            explanation = _build(detail, answer.observed_at, self._settle)
        except ValueError:
            return UNKNOWN_STATE
        if explanation.observation.requested_reviewers in (0, UNOBSERVED):
            return Found(explanation)
        # GraphQL tells a team's name only to tokens that may read organisations.
        asked = await self._rest.list_asked(reference)
        return Found(replace(explanation, asked=asked))

    async def explain_by_rest(
        self, reference: PullRequestReference
    ) -> Outcome[Explanation]:
        """
        Read through REST, which knows neither workflows nor what is required.

        Raises:
            ProviderError: the failure is about more than this pull request.
        """
        return await self._rest.explain(reference)


def _build(
    detail: Detail, observed_at: dt.datetime, settle: dt.timedelta
) -> Explanation:
    reading = build_reading(detail, observed_at=observed_at, settle=settle)
    observation = reading.observation
    checks = opinions = None
    if observation.checks is not UNOBSERVED and detail.contexts is not None:
        checks = explain_checks(*split_contexts(detail.contexts))
    if observation.review is not UNOBSERVED and detail.reviews is not None:
        opinions = pick_last_opinions(build_review(each) for each in detail.reviews)
    return Explanation(
        observation=observation,
        checks=checks,
        opinions=opinions,
        asked=() if observation.requested_reviewers == 0 else None,
    )
