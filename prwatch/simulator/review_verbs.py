"""What people say about a pull request: reviews, requests, comments, threads."""

import datetime as dt

from prwatch.simulator.entities import (
    Account,
    Comment,
    PullRequest,
    Review,
    ReviewRequestedEvent,
    ReviewThread,
)
from prwatch.simulator.state import WorldState


class ReviewVerbs(WorldState):
    """The moves of reviewers and commenters."""

    def submit_review(
        self,
        pull_request: PullRequest,
        author: str,
        state: str = "APPROVED",
        *,
        submitted_at: dt.datetime | None = None,
    ) -> Review:
        """
        Review it: APPROVED, CHANGES_REQUESTED or COMMENTED.

        An opinion answers a request for that reviewer's review, and for that of a team
        of theirs.
        """
        now = submitted_at or self.now()
        account = self.find_account(author) or self.put_account(author)
        review = Review(self.next_id(), account, state, now, now, pull_request.head)
        pull_request.reviews += (review,)
        if state != "COMMENTED":
            for asked in pull_request.requested_reviewers:
                if asked is account or author.lower() in asked.members:
                    self._withdraw(pull_request, asked)
        self.touch(pull_request)
        return review

    def dismiss_review(self, pull_request: PullRequest, review: Review) -> None:
        """Dismiss a review: it stays in the list, under another state."""
        review.state = "DISMISSED"
        review.updated_at = self.now()
        self.touch(pull_request)

    def request_review(
        self, pull_request: PullRequest, reviewer: str, *, kind: str = "User"
    ) -> None:
        """Ask a `User`, `Bot` or `Team` (by its slug) for a review."""
        account = self.put_account(reviewer, kind)
        self._withdraw(pull_request, account)
        pull_request.requested_reviewers += (account,)
        event = ReviewRequestedEvent(self.next_id(), account, self.now())
        pull_request.review_requested_events += (event,)
        self.touch(pull_request)

    def join_team(self, team: str, login: str) -> None:
        """Make a user a member of a team, by its slug."""
        account = self.put_account(team, "Team")
        account.members |= {login.lower()}

    def withdraw_review_request(self, pull_request: PullRequest, reviewer: str) -> None:
        """Ask no longer."""
        for account in pull_request.requested_reviewers:
            if account.login == reviewer:
                self._withdraw(pull_request, account)
        self.touch(pull_request)

    def comment(
        self,
        pull_request: PullRequest,
        author: str,
        body: str = "",
        *,
        created_at: dt.datetime | None = None,
    ) -> Comment:
        """Write a comment into the conversation."""
        now = created_at or self.now()
        account = self.find_account(author) or self.put_account(author)
        comment = Comment(self.next_id(), account, now, now, body)
        pull_request.comments += (comment,)
        self.touch(pull_request)
        return comment

    def edit_comment(
        self, pull_request: PullRequest, comment: Comment, body: str
    ) -> None:
        """Edit a comment. It keeps its time of creation."""
        comment.body = body
        comment.updated_at = self.now()
        self.touch(pull_request)

    def open_thread(self, pull_request: PullRequest, author: str) -> ReviewThread:
        """Comment on a line. It arrives with a review that only comments."""
        review = self.submit_review(pull_request, author, "COMMENTED")
        at = review.submitted_at
        first = Comment(self.next_id(), review.author, at, at)
        thread = ReviewThread(self.next_id(), (first,))
        pull_request.review_threads += (thread,)
        return thread

    def resolve_thread(self, thread: ReviewThread, *, by: str = "octocat") -> None:
        """Resolve it. The pull request's update time does not move."""
        thread.is_resolved = True
        thread.resolved_by = self.find_account(by) or self.put_account(by)

    def _withdraw(self, pull_request: PullRequest, account: Account) -> None:
        pull_request.requested_reviewers = tuple(
            asked for asked in pull_request.requested_reviewers if asked is not account
        )
