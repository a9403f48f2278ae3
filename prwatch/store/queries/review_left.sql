-- What review watches left behind.

-- name: hold_leaving
-- Nothing to hold: there is one writer.
SELECT id FROM workspaces WHERE id = :workspace_id;

-- name: hold_leaving (postgres)
-- One review watch of a workspace at a time leaves what it knows: two may leave one row.
SELECT id FROM workspaces WHERE id = :workspace_id FOR NO KEY UPDATE;

-- name: list_some_of_watch
-- The first of one watch that is to be removed, in the order in which all hold them.
SELECT * FROM review_tasks
WHERE workspace_id = :workspace_id AND review_watch_id = :review_watch_id
ORDER BY pr_node_id LIMIT :limit;

-- name: list_some_of_watch (postgres)
-- The same, and nobody gives a reservation its task meanwhile.
SELECT * FROM review_tasks
WHERE workspace_id = :workspace_id AND review_watch_id = :review_watch_id
ORDER BY pr_node_id LIMIT :limit FOR UPDATE;

-- name: find_left
-- The one of a pull request.
SELECT * FROM review_tasks
WHERE workspace_id = :workspace_id AND review_watch_id = ''
    AND pr_node_id = :pr_node_id;

-- name: list_present
-- Which of two tasks are there.
SELECT id FROM tasks WHERE id = :one OR id = :other;

-- name: leave
-- Its watch is removed: it keeps what that had.
UPDATE review_tasks SET
    review_watch_id = '', policy = :policy, target_login = :target_login, scope = :scope
WHERE id = :id;

-- name: put_left
-- Under what one without a watch is swept; an equal row stays untouched.
UPDATE review_tasks SET
    policy = :policy, target_login = :target_login, scope = :scope
WHERE id = :id
    AND (policy <> :policy OR target_login <> :target_login OR scope <> :scope);

-- name: put_left_policy
-- The policy of the rows of a task without a watch; an equal row stays untouched.
UPDATE review_tasks SET policy = :policy
WHERE workspace_id = :workspace_id AND task_id = :task_id AND policy <> :policy
    AND NOT EXISTS (
        SELECT 1 FROM review_watches
        WHERE review_watches.id = review_tasks.review_watch_id
    );

-- name: forget_reservation
-- One without a task, as it was when it was looked at.
DELETE FROM review_tasks
WHERE id = :id AND task_id = '' AND reserved_at = :reserved_at
    AND reserved_by = :reserved_by;

-- name: remove_left
-- The rows of a task without a watch, also those that cannot be understood.
DELETE FROM review_tasks
WHERE workspace_id = :workspace_id AND task_id = :task_id AND NOT EXISTS (
    SELECT 1 FROM review_watches
    WHERE review_watches.id = review_tasks.review_watch_id
);

-- name: list_audit_of_removed
-- The newest entries of review watches that are gone, newest first.
SELECT * FROM review_audit AS entry
WHERE entry.workspace_id = :workspace_id AND NOT EXISTS (
    SELECT 1 FROM review_watches WHERE review_watches.id = entry.review_watch_id
)
ORDER BY entry.acted_at DESC, entry.id DESC LIMIT :limit;
