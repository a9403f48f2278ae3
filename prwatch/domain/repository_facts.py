"""How a stored repository follows what GitHub says about it now."""

from dataclasses import replace

from prwatch.domain.pull_request import UNOBSERVED, Observed, RepositoryName
from prwatch.domain.reference import RepositoryFacts
from prwatch.domain.task import Repository


def follow_name(
    stored: Repository, shown: RepositoryName, *, is_archived: Observed[bool]
) -> Repository:
    """
    Return the repository under the name and identity that an answer shows.

    Another node id than the stored one is another repository under an old name: it
    changes nothing here.
    """
    if stored.node_id and shown.node_id and stored.node_id != shown.node_id:
        return stored
    return replace(
        stored,
        owner=shown.owner or stored.owner,
        name=shown.name or stored.name,
        node_id=shown.node_id or stored.node_id,
        is_archived=stored.is_archived if is_archived is UNOBSERVED else is_archived,
    )


def follow_facts(stored: Repository, facts: RepositoryFacts) -> Repository:
    """Return the repository with everything that GitHub says about itself."""
    followed = follow_name(stored, facts.repository, is_archived=facts.is_archived)
    if followed.node_id != facts.repository.node_id:
        return stored
    parent = facts.parent
    return replace(
        followed,
        default_branch=facts.default_branch or stored.default_branch,
        parent_node_id=parent.node_id if parent else "",
        parent_name_with_owner=parent.name_with_owner if parent else "",
    )
