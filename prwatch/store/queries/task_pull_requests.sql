-- The associations of pull requests with tasks.

-- name: put_task_pull_request
-- Insert or replace. A row that differs only in when it was observed, and in the notes
-- and numbers of that observation, stays untouched.
INSERT INTO task_pull_requests
    (
        task_id, repository_id, pr_number, node_id, observed_at, detached_at, is_past,
        checks_notes, checks_summary, state, updated_at, created_at, closed_at,
        merged_at, title, url, head_ref_oid, head_ref_name, base_ref_name,
        head_repository_id, author, is_draft, merged_by, is_archived, is_base_deleted,
        checks, review, review_decision, mergeable, merge_queue, auto_merge,
        unresolved_threads, requested_reviewers, approvals, comment_mark, ready_since,
        queue_left_at
    )
VALUES
    (
        :task_id, :repository_id, :pr_number, :node_id, :observed_at, :detached_at,
        :is_past, :checks_notes, :checks_summary, :state, :updated_at, :created_at,
        :closed_at, :merged_at, :title, :url, :head_ref_oid, :head_ref_name,
        :base_ref_name, :head_repository_id, :author, :is_draft, :merged_by,
        :is_archived, :is_base_deleted, :checks, :review, :review_decision, :mergeable,
        :merge_queue, :auto_merge, :unresolved_threads, :requested_reviewers,
        :approvals, :comment_mark, :ready_since, :queue_left_at
    )
ON CONFLICT (task_id, repository_id, pr_number) DO UPDATE SET
    node_id = excluded.node_id,
    observed_at = excluded.observed_at,
    detached_at = excluded.detached_at,
    is_past = excluded.is_past,
    checks_notes = excluded.checks_notes,
    checks_summary = excluded.checks_summary,
    state = excluded.state,
    updated_at = excluded.updated_at,
    created_at = excluded.created_at,
    closed_at = excluded.closed_at,
    merged_at = excluded.merged_at,
    title = excluded.title,
    url = excluded.url,
    head_ref_oid = excluded.head_ref_oid,
    head_ref_name = excluded.head_ref_name,
    base_ref_name = excluded.base_ref_name,
    head_repository_id = excluded.head_repository_id,
    author = excluded.author,
    is_draft = excluded.is_draft,
    merged_by = excluded.merged_by,
    is_archived = excluded.is_archived,
    is_base_deleted = excluded.is_base_deleted,
    checks = excluded.checks,
    review = excluded.review,
    review_decision = excluded.review_decision,
    mergeable = excluded.mergeable,
    merge_queue = excluded.merge_queue,
    auto_merge = excluded.auto_merge,
    unresolved_threads = excluded.unresolved_threads,
    requested_reviewers = excluded.requested_reviewers,
    approvals = excluded.approvals,
    comment_mark = excluded.comment_mark,
    ready_since = excluded.ready_since,
    queue_left_at = excluded.queue_left_at
WHERE (
    task_pull_requests.node_id, task_pull_requests.detached_at,
    task_pull_requests.is_past, task_pull_requests.state, task_pull_requests.updated_at,
    task_pull_requests.created_at, task_pull_requests.closed_at,
    task_pull_requests.merged_at, task_pull_requests.title, task_pull_requests.url,
    task_pull_requests.head_ref_oid, task_pull_requests.head_ref_name,
    task_pull_requests.base_ref_name, task_pull_requests.head_repository_id,
    task_pull_requests.author, task_pull_requests.is_draft,
    task_pull_requests.merged_by, task_pull_requests.is_archived,
    task_pull_requests.is_base_deleted, task_pull_requests.checks,
    task_pull_requests.review, task_pull_requests.review_decision,
    task_pull_requests.mergeable, task_pull_requests.merge_queue,
    task_pull_requests.auto_merge, task_pull_requests.unresolved_threads,
    task_pull_requests.requested_reviewers, task_pull_requests.approvals,
    task_pull_requests.comment_mark, task_pull_requests.ready_since,
    task_pull_requests.queue_left_at
) IS DISTINCT FROM (
    excluded.node_id, excluded.detached_at, excluded.is_past, excluded.state,
    excluded.updated_at, excluded.created_at, excluded.closed_at, excluded.merged_at,
    excluded.title, excluded.url, excluded.head_ref_oid, excluded.head_ref_name,
    excluded.base_ref_name, excluded.head_repository_id, excluded.author,
    excluded.is_draft, excluded.merged_by, excluded.is_archived,
    excluded.is_base_deleted, excluded.checks, excluded.review,
    excluded.review_decision, excluded.mergeable, excluded.merge_queue,
    excluded.auto_merge, excluded.unresolved_threads, excluded.requested_reviewers,
    excluded.approvals, excluded.comment_mark, excluded.ready_since,
    excluded.queue_left_at
);

-- name: find_task_pull_request
-- One by its key.
SELECT
    task_pull_requests.*, repositories.owner, repositories.name,
    repositories.node_id AS repository_node_id
FROM task_pull_requests
JOIN repositories ON repositories.id = task_pull_requests.repository_id
WHERE task_pull_requests.task_id = :task_id
    AND task_pull_requests.repository_id = :repository_id
    AND task_pull_requests.pr_number = :pr_number;

-- name: list_of_workspace
-- Of the tasks of a workspace.
SELECT
    task_pull_requests.*, repositories.owner, repositories.name,
    repositories.node_id AS repository_node_id
FROM task_pull_requests
JOIN repositories ON repositories.id = task_pull_requests.repository_id
JOIN tasks ON tasks.id = task_pull_requests.task_id
WHERE tasks.workspace_id = :workspace_id
    AND (tasks.archived_at IS NULL OR CAST(:include_archived AS BOOLEAN))
ORDER BY task_pull_requests.task_id, task_pull_requests.repository_id,
    task_pull_requests.pr_number;

-- name: list_polled
-- Of the active tasks of a workspace, without what the watches of adopted tasks know.
SELECT
    task_pull_requests.*, repositories.owner, repositories.name,
    repositories.node_id AS repository_node_id
FROM task_pull_requests
JOIN repositories ON repositories.id = task_pull_requests.repository_id
JOIN tasks ON tasks.id = task_pull_requests.task_id
WHERE tasks.workspace_id = :workspace_id AND tasks.archived_at IS NULL
    AND (
        tasks.origin <> 'adopted'
        OR EXISTS (SELECT 1 FROM sessions WHERE sessions.task_id = tasks.id)
        OR EXISTS (
            SELECT 1 FROM task_repositories WHERE task_repositories.task_id = tasks.id
        )
        OR NOT EXISTS (
            SELECT 1 FROM pr_watches
            WHERE pr_watches.task_id = task_pull_requests.task_id
                AND pr_watches.repository_id = task_pull_requests.repository_id
                AND pr_watches.pr_number = task_pull_requests.pr_number
                -- With that the row is found by an index.
                AND pr_watches.pr_number <> 0
                AND pr_watches.observed_at IS NOT NULL
        )
    )
ORDER BY task_pull_requests.task_id, task_pull_requests.repository_id,
    task_pull_requests.pr_number;

-- name: list_of_task
-- Of one task.
SELECT
    task_pull_requests.*, repositories.owner, repositories.name,
    repositories.node_id AS repository_node_id
FROM task_pull_requests
JOIN repositories ON repositories.id = task_pull_requests.repository_id
WHERE task_pull_requests.task_id = :task_id
ORDER BY task_pull_requests.repository_id, task_pull_requests.pr_number;

-- name: detach
-- A person said that this pull request is none of the task's.
UPDATE task_pull_requests SET detached_at = :now
WHERE task_id = :task_id AND repository_id = :repository_id
    AND pr_number = :pr_number AND detached_at IS NULL;

-- name: attach
-- Somebody named it again.
UPDATE task_pull_requests SET detached_at = NULL
WHERE task_id = :task_id AND repository_id = :repository_id
    AND pr_number = :pr_number AND detached_at IS NOT NULL;

-- name: remove_watch
-- What is detached is not watched.
DELETE FROM pr_watches
WHERE task_id = :task_id AND repository_id = :repository_id
    AND pr_number = :pr_number AND pr_number <> 0;

-- name: merge_into_repository
-- Two rows of one repository became one: of two readings the newer one stays whole.
INSERT INTO task_pull_requests
    (
        task_id, repository_id, pr_number, node_id, observed_at, detached_at, is_past,
        checks_notes, checks_summary, state, updated_at, created_at, closed_at,
        merged_at, title, url, head_ref_oid, head_ref_name, base_ref_name,
        head_repository_id, author, is_draft, merged_by, is_archived, is_base_deleted,
        checks, review, review_decision, mergeable, merge_queue, auto_merge,
        unresolved_threads, requested_reviewers, approvals, comment_mark, ready_since,
        queue_left_at
    )
SELECT
    task_id, CAST(:survivor AS TEXT), pr_number, node_id, observed_at, detached_at,
    is_past, checks_notes, checks_summary, state, updated_at, created_at, closed_at,
    merged_at, title, url, head_ref_oid, head_ref_name, base_ref_name,
    head_repository_id, author, is_draft, merged_by, is_archived, is_base_deleted,
    checks, review, review_decision, mergeable, merge_queue, auto_merge,
    unresolved_threads, requested_reviewers, approvals, comment_mark, ready_since,
    queue_left_at
FROM task_pull_requests WHERE repository_id = :loser
ON CONFLICT (task_id, repository_id, pr_number) DO UPDATE SET
    node_id = excluded.node_id,
    observed_at = excluded.observed_at,
    detached_at = excluded.detached_at,
    is_past = excluded.is_past,
    checks_notes = excluded.checks_notes,
    checks_summary = excluded.checks_summary,
    state = excluded.state,
    updated_at = excluded.updated_at,
    created_at = excluded.created_at,
    closed_at = excluded.closed_at,
    merged_at = excluded.merged_at,
    title = excluded.title,
    url = excluded.url,
    head_ref_oid = excluded.head_ref_oid,
    head_ref_name = excluded.head_ref_name,
    base_ref_name = excluded.base_ref_name,
    head_repository_id = excluded.head_repository_id,
    author = excluded.author,
    is_draft = excluded.is_draft,
    merged_by = excluded.merged_by,
    is_archived = excluded.is_archived,
    is_base_deleted = excluded.is_base_deleted,
    checks = excluded.checks,
    review = excluded.review,
    review_decision = excluded.review_decision,
    mergeable = excluded.mergeable,
    merge_queue = excluded.merge_queue,
    auto_merge = excluded.auto_merge,
    unresolved_threads = excluded.unresolved_threads,
    requested_reviewers = excluded.requested_reviewers,
    approvals = excluded.approvals,
    comment_mark = excluded.comment_mark,
    ready_since = excluded.ready_since,
    queue_left_at = excluded.queue_left_at
WHERE excluded.observed_at > task_pull_requests.observed_at;

-- name: remove_of_repository
-- What was merged.
DELETE FROM task_pull_requests WHERE repository_id = :loser;
