-- Which pull requests review watches know, and the task of each.

-- name: list_review_tasks
-- Those of a workspace, by id: all, or those of one watch.
SELECT * FROM review_tasks
WHERE workspace_id = :workspace_id
    AND (CAST(:review_watch_id AS TEXT) = '' OR review_watch_id = :review_watch_id)
ORDER BY id;

-- name: list_known
-- The pull requests of which a watch has a task; a reservation is none.
SELECT pr_node_id FROM review_tasks
WHERE workspace_id = :workspace_id AND review_watch_id = :review_watch_id
    AND task_id <> '';

-- name: list_of_pull_request
-- The tasks that a workspace's watches have of a pull request, the oldest first.
SELECT tasks.* FROM review_tasks
INNER JOIN tasks ON tasks.id = review_tasks.task_id
WHERE review_tasks.workspace_id = :workspace_id
    AND review_tasks.pr_node_id = :pr_node_id
ORDER BY review_tasks.id;

-- name: list_others_of_task
-- Rows in which a task is one of another pull request.
SELECT id FROM review_tasks
WHERE task_id = :task_id AND pr_node_id <> :pr_node_id;

-- name: find_review_task
-- The one of a watch and a pull request.
SELECT * FROM review_tasks
WHERE workspace_id = :workspace_id AND review_watch_id = :review_watch_id
    AND pr_node_id = :pr_node_id;

-- name: add_review_task
-- One as it is, such as one that is restored; none when there is one.
INSERT INTO review_tasks
    (
        id, workspace_id, review_watch_id, policy, target_login, scope, owner, name,
        repository_node_id, pr_number, pr_node_id, task_id, reserved_at, reserved_by,
        terminal_seen_at, terminal_evidence, created_at
    )
VALUES
    (
        :id, :workspace_id, :review_watch_id, :policy, :target_login, :scope, :owner,
        :name, :repository_node_id, :pr_number, :pr_node_id, :task_id, :reserved_at,
        :reserved_by, :terminal_seen_at, :terminal_evidence, :created_at
    )
ON CONFLICT (workspace_id, review_watch_id, pr_node_id) DO NOTHING;

-- name: hold_searched
-- The watch that is searched; an engine with one writer holds it already.
SELECT id FROM review_watches WHERE id = :id;

-- name: hold_searched (postgres)
-- The same: whoever removes it goes first, or waits and sees what was reserved.
SELECT id FROM review_watches WHERE id = :id FOR KEY SHARE;

-- name: reserve
-- For whoever is first, while the watch is enabled and as it was when it was searched.
INSERT INTO review_tasks
    (
        id, workspace_id, review_watch_id, policy, target_login, scope, owner, name,
        repository_node_id, pr_number, pr_node_id, task_id, reserved_at, reserved_by,
        terminal_seen_at, terminal_evidence, created_at
    )
SELECT
    CAST(:id AS TEXT), review_watches.workspace_id, review_watches.id,
    review_watches.policy, review_watches.target_login, review_watches.scope,
    CAST(:owner AS TEXT), CAST(:name AS TEXT),
    CAST(:repository_node_id AS TEXT), CAST(:pr_number AS BIGINT),
    CAST(:pr_node_id AS TEXT), '', CAST(:reserved_at AS BIGINT),
    CAST(:reserved_by AS TEXT), NULL, '{}', CAST(:reserved_at AS BIGINT)
FROM review_watches
WHERE review_watches.id = :review_watch_id
    AND review_watches.revision = :revision AND review_watches.is_enabled
ON CONFLICT (workspace_id, review_watch_id, pr_node_id) DO NOTHING;

-- name: take_over
-- A reservation that a crash left behind, also before a clock was set back, for
-- somebody else, while the watch is enabled and as it was when it was searched. What
-- is to be left of it is of the watch as it is now.
UPDATE review_tasks SET
    reserved_at = :reserved_at,
    reserved_by = :reserved_by,
    policy = review_watches.policy,
    target_login = review_watches.target_login,
    scope = review_watches.scope
FROM review_watches
WHERE review_watches.id = :review_watch_id
    AND review_watches.revision = :revision AND review_watches.is_enabled
    AND review_tasks.workspace_id = :workspace_id
    AND review_tasks.review_watch_id = :review_watch_id
    AND review_tasks.pr_node_id = :pr_node_id AND review_tasks.task_id = ''
    AND (
        review_tasks.reserved_at <= :stale_before
        OR review_tasks.reserved_at >= :odd_after
    );

-- name: hold_joined
-- A task that a reservation is to join; an engine with one writer holds it already.
SELECT id FROM tasks WHERE id = :task_id;

-- name: hold_joined (postgres)
-- The same: whoever removes it goes first, or waits.
SELECT id FROM tasks WHERE id = :task_id FOR KEY SHARE;

-- name: assign
-- The task of a reservation that is still held.
UPDATE review_tasks SET task_id = :task_id
WHERE workspace_id = :workspace_id AND review_watch_id = :review_watch_id
    AND pr_node_id = :pr_node_id AND task_id = '' AND reserved_by = :reserved_by;

-- name: release
-- A reservation that is still held is given back.
DELETE FROM review_tasks
WHERE workspace_id = :workspace_id AND review_watch_id = :review_watch_id
    AND pr_node_id = :pr_node_id AND task_id = '' AND reserved_by = :reserved_by;

-- name: put_terminal
-- That the work was seen to be done, first or no longer; an equal row stays untouched.
UPDATE review_tasks SET
    terminal_seen_at = :terminal_seen_at, terminal_evidence = :terminal_evidence
WHERE id = :id AND (
    terminal_seen_at IS DISTINCT FROM :terminal_seen_at
    OR terminal_evidence <> :terminal_evidence
);

-- name: remove_review_task
-- It is forgotten; its task is left as it is.
DELETE FROM review_tasks WHERE id = :id;
