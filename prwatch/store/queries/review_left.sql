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
