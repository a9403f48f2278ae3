-- What review watches left behind.

-- name: put_left_policy
-- The policy of the rows of a task without a watch; an equal row stays untouched.
UPDATE review_tasks SET policy = :policy
WHERE workspace_id = :workspace_id AND task_id = :task_id AND review_watch_id = ''
    AND policy <> :policy;

-- name: forget_reservation
-- One without a task, as it was when it was looked at.
DELETE FROM review_tasks
WHERE id = :id AND task_id = '' AND reserved_at = :reserved_at
    AND reserved_by = :reserved_by;

-- name: remove_left
-- The rows of a task without a watch, also those that cannot be understood.
DELETE FROM review_tasks
WHERE workspace_id = :workspace_id AND task_id = :task_id AND review_watch_id = '';

-- name: list_audit_of_removed
-- The newest entries of review watches that are gone, newest first.
SELECT * FROM review_audit AS entry
WHERE entry.workspace_id = :workspace_id AND NOT EXISTS (
    SELECT 1 FROM review_watches WHERE review_watches.id = entry.review_watch_id
)
ORDER BY entry.acted_at DESC, entry.id DESC LIMIT :limit;
