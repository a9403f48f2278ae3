-- The canonical watches. A transition takes a row out and puts it back: whoever finds
-- it gone was second, and what meets a sibling merges into it, so that the unique
-- indexes hold without anybody being refused.

-- name: list_watches
-- All of a workspace.
SELECT * FROM pr_watches WHERE workspace_id = :workspace_id ORDER BY id;

-- name: get_watch
-- One by id.
SELECT * FROM pr_watches WHERE id = :id;

-- name: add_searching
-- A new row for a branch; none when the target has one.
INSERT INTO pr_watches
    (
        id, workspace_id, task_id, repository_id, branch, head_repository, pr_number,
        node_id, session_id, revision, fingerprint, searching_since, observed_at, state,
        updated_at, head_ref_oid, is_draft, checks, review, review_decision, mergeable,
        merge_queue, auto_merge, is_archived, comment_mark, announced_checks,
        checks_since, branch_head_oid, last_sign_at, created_at
    )
VALUES
    (
        :id, :workspace_id, :task_id, :repository_id, :branch, :head_repository,
        :pr_number, :node_id, :session_id, :revision, :fingerprint, :searching_since,
        :observed_at, :state, :updated_at, :head_ref_oid, :is_draft, :checks, :review,
        :review_decision, :mergeable, :merge_queue, :auto_merge, :is_archived,
        :comment_mark, :announced_checks, :checks_since, :branch_head_oid,
        :last_sign_at, :created_at
    )
ON CONFLICT (task_id, repository_id, branch) WHERE pr_number = 0 DO NOTHING;

-- name: add_discovered
-- A new row for a pull request; none when the target has one.
INSERT INTO pr_watches
    (
        id, workspace_id, task_id, repository_id, branch, head_repository, pr_number,
        node_id, session_id, revision, fingerprint, searching_since, observed_at, state,
        updated_at, head_ref_oid, is_draft, checks, review, review_decision, mergeable,
        merge_queue, auto_merge, is_archived, comment_mark, announced_checks,
        checks_since, branch_head_oid, last_sign_at, created_at
    )
VALUES
    (
        :id, :workspace_id, :task_id, :repository_id, :branch, :head_repository,
        :pr_number, :node_id, :session_id, :revision, :fingerprint, :searching_since,
        :observed_at, :state, :updated_at, :head_ref_oid, :is_draft, :checks, :review,
        :review_decision, :mergeable, :merge_queue, :auto_merge, :is_archived,
        :comment_mark, :announced_checks, :checks_since, :branch_head_oid,
        :last_sign_at, :created_at
    )
ON CONFLICT (task_id, repository_id, pr_number) WHERE pr_number <> 0 DO NOTHING;

-- name: take_searching
-- Take a searching row out, if it still is what the caller saw.
DELETE FROM pr_watches
WHERE id = :id AND pr_number = 0
    AND repository_id = :repository_id AND branch = :branch
RETURNING *;

-- name: take_discovered
-- Take a discovered row out, if it still is what the caller saw.
DELETE FROM pr_watches
WHERE id = :id AND pr_number <> 0
    AND pr_number = :pr_number AND revision = :revision
RETURNING *;

-- name: take_all_of_repository
-- Take out every row of a repository that turned out to be another one.
DELETE FROM pr_watches WHERE repository_id = :repository_id RETURNING *;

-- name: put_back_searching
-- Put a row in; a sibling keeps its id, the higher revision, and the watermark of
-- whichever was observed last, as one set.
INSERT INTO pr_watches
    (
        id, workspace_id, task_id, repository_id, branch, head_repository, pr_number,
        node_id, session_id, revision, fingerprint, searching_since, observed_at, state,
        updated_at, head_ref_oid, is_draft, checks, review, review_decision, mergeable,
        merge_queue, auto_merge, is_archived, comment_mark, announced_checks,
        checks_since, branch_head_oid, last_sign_at, created_at
    )
VALUES
    (
        :id, :workspace_id, :task_id, :repository_id, :branch, :head_repository,
        :pr_number, :node_id, :session_id, :revision, :fingerprint, :searching_since,
        :observed_at, :state, :updated_at, :head_ref_oid, :is_draft, :checks, :review,
        :review_decision, :mergeable, :merge_queue, :auto_merge, :is_archived,
        :comment_mark, :announced_checks, :checks_since, :branch_head_oid,
        :last_sign_at, :created_at
    )
ON CONFLICT (task_id, repository_id, branch) WHERE pr_number = 0
DO UPDATE SET
    revision = CASE
        WHEN excluded.revision > pr_watches.revision THEN excluded.revision
        ELSE pr_watches.revision
    END,
    last_sign_at = CASE
        WHEN excluded.last_sign_at > pr_watches.last_sign_at THEN excluded.last_sign_at
        ELSE pr_watches.last_sign_at
    END,
    node_id = CASE
        WHEN pr_watches.node_id = '' THEN excluded.node_id ELSE pr_watches.node_id
    END,
    -- The one that arrives was found by that branch just now: the other's may have been
    -- renamed since, or its fork.
    head_repository = CASE
        WHEN excluded.branch = '' THEN pr_watches.head_repository
        ELSE excluded.head_repository
    END,
    branch = CASE
        WHEN excluded.branch = '' THEN pr_watches.branch ELSE excluded.branch
    END,
    (
        fingerprint, searching_since, observed_at, state, updated_at, head_ref_oid,
        is_draft, checks, review, review_decision, mergeable, merge_queue, auto_merge,
        is_archived, comment_mark, announced_checks, checks_since
    ) = (
        SELECT
            newest.fingerprint, newest.searching_since, newest.observed_at,
            newest.state, newest.updated_at, newest.head_ref_oid, newest.is_draft,
            newest.checks, newest.review, newest.review_decision, newest.mergeable,
            newest.merge_queue, newest.auto_merge, newest.is_archived,
            newest.comment_mark, newest.announced_checks, newest.checks_since
        FROM (
            SELECT
                excluded.id, excluded.revision, 1 AS arrived,
                excluded.fingerprint, excluded.searching_since, excluded.observed_at,
                excluded.state, excluded.updated_at, excluded.head_ref_oid,
                excluded.is_draft, excluded.checks, excluded.review,
                excluded.review_decision, excluded.mergeable, excluded.merge_queue,
                excluded.auto_merge, excluded.is_archived, excluded.comment_mark,
                excluded.announced_checks, excluded.checks_since
            UNION ALL
            SELECT
                pr_watches.id, pr_watches.revision, 0,
                pr_watches.fingerprint, pr_watches.searching_since,
                pr_watches.observed_at, pr_watches.state, pr_watches.updated_at,
                pr_watches.head_ref_oid, pr_watches.is_draft, pr_watches.checks,
                pr_watches.review, pr_watches.review_decision, pr_watches.mergeable,
                pr_watches.merge_queue, pr_watches.auto_merge, pr_watches.is_archived,
                pr_watches.comment_mark, pr_watches.announced_checks,
                pr_watches.checks_since
        ) AS newest
        ORDER BY newest.observed_at DESC NULLS LAST, newest.revision DESC,
            CASE WHEN newest.observed_at IS NULL THEN newest.arrived ELSE 0 END,
            newest.id DESC
        LIMIT 1
    )
RETURNING *;

-- name: put_back_discovered
-- Put a row in; a sibling keeps its id, the higher revision, and the watermark of
-- whichever was observed last, as one set.
INSERT INTO pr_watches
    (
        id, workspace_id, task_id, repository_id, branch, head_repository, pr_number,
        node_id, session_id, revision, fingerprint, searching_since, observed_at, state,
        updated_at, head_ref_oid, is_draft, checks, review, review_decision, mergeable,
        merge_queue, auto_merge, is_archived, comment_mark, announced_checks,
        checks_since, branch_head_oid, last_sign_at, created_at
    )
VALUES
    (
        :id, :workspace_id, :task_id, :repository_id, :branch, :head_repository,
        :pr_number, :node_id, :session_id, :revision, :fingerprint, :searching_since,
        :observed_at, :state, :updated_at, :head_ref_oid, :is_draft, :checks, :review,
        :review_decision, :mergeable, :merge_queue, :auto_merge, :is_archived,
        :comment_mark, :announced_checks, :checks_since, :branch_head_oid,
        :last_sign_at, :created_at
    )
ON CONFLICT (task_id, repository_id, pr_number) WHERE pr_number <> 0
DO UPDATE SET
    revision = CASE
        WHEN excluded.revision > pr_watches.revision THEN excluded.revision
        ELSE pr_watches.revision
    END,
    last_sign_at = CASE
        WHEN excluded.last_sign_at > pr_watches.last_sign_at THEN excluded.last_sign_at
        ELSE pr_watches.last_sign_at
    END,
    node_id = CASE
        WHEN pr_watches.node_id = '' THEN excluded.node_id ELSE pr_watches.node_id
    END,
    -- The one that arrives was found by that branch just now: the other's may have been
    -- renamed since, or its fork.
    head_repository = CASE
        WHEN excluded.branch = '' THEN pr_watches.head_repository
        ELSE excluded.head_repository
    END,
    branch = CASE
        WHEN excluded.branch = '' THEN pr_watches.branch ELSE excluded.branch
    END,
    (
        fingerprint, searching_since, observed_at, state, updated_at, head_ref_oid,
        is_draft, checks, review, review_decision, mergeable, merge_queue, auto_merge,
        is_archived, comment_mark, announced_checks, checks_since
    ) = (
        SELECT
            newest.fingerprint, newest.searching_since, newest.observed_at,
            newest.state, newest.updated_at, newest.head_ref_oid, newest.is_draft,
            newest.checks, newest.review, newest.review_decision, newest.mergeable,
            newest.merge_queue, newest.auto_merge, newest.is_archived,
            newest.comment_mark, newest.announced_checks, newest.checks_since
        FROM (
            SELECT
                excluded.id, excluded.revision, 1 AS arrived,
                excluded.fingerprint, excluded.searching_since, excluded.observed_at,
                excluded.state, excluded.updated_at, excluded.head_ref_oid,
                excluded.is_draft, excluded.checks, excluded.review,
                excluded.review_decision, excluded.mergeable, excluded.merge_queue,
                excluded.auto_merge, excluded.is_archived, excluded.comment_mark,
                excluded.announced_checks, excluded.checks_since
            UNION ALL
            SELECT
                pr_watches.id, pr_watches.revision, 0,
                pr_watches.fingerprint, pr_watches.searching_since,
                pr_watches.observed_at, pr_watches.state, pr_watches.updated_at,
                pr_watches.head_ref_oid, pr_watches.is_draft, pr_watches.checks,
                pr_watches.review, pr_watches.review_decision, pr_watches.mergeable,
                pr_watches.merge_queue, pr_watches.auto_merge, pr_watches.is_archived,
                pr_watches.comment_mark, pr_watches.announced_checks,
                pr_watches.checks_since
        ) AS newest
        ORDER BY newest.observed_at DESC NULLS LAST, newest.revision DESC,
            CASE WHEN newest.observed_at IS NULL THEN newest.arrived ELSE 0 END,
            newest.id DESC
        LIMIT 1
    )
RETURNING *;

-- name: search_later
-- What closed before that time is known already.
UPDATE pr_watches SET searching_since = :searching_since
WHERE id = :id AND pr_number = 0
    AND (searching_since IS NULL OR searching_since < :searching_since);

-- name: commit_observation
-- Move the watermark on, if the row still is what the observation was compared with.
UPDATE pr_watches SET
    node_id = :node_id,
    revision = :revision,
    fingerprint = :fingerprint,
    searching_since = :searching_since,
    observed_at = :observed_at,
    state = :state,
    updated_at = :updated_at,
    head_ref_oid = :head_ref_oid,
    is_draft = :is_draft,
    checks = :checks,
    review = :review,
    review_decision = :review_decision,
    mergeable = :mergeable,
    merge_queue = :merge_queue,
    auto_merge = :auto_merge,
    is_archived = :is_archived,
    comment_mark = :comment_mark,
    announced_checks = :announced_checks,
    checks_since = :checks_since
WHERE id = :id AND revision = :before_revision AND pr_number = :before_pr_number;

-- name: touch_searching
-- What a searching row keeps beside its target; an equal row stays untouched.
UPDATE pr_watches SET
    branch_head_oid = :branch_head_oid,
    last_sign_at = :last_sign_at,
    searching_since = :searching_since
WHERE id = :id AND pr_number = 0
    AND (branch_head_oid, last_sign_at, searching_since) IS DISTINCT FROM (
        CAST(:branch_head_oid AS TEXT), CAST(:last_sign_at AS BIGINT),
        CAST(:searching_since AS BIGINT)
    );
