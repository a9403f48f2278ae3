-- What cleaning up looks at.

-- name: list_tasks_of_rows
-- The tasks of which rows of a workspace speak, archived ones too.
SELECT * FROM tasks
WHERE id IN (SELECT task_id FROM review_tasks WHERE workspace_id = :workspace_id)
ORDER BY id;

-- name: list_rows
-- What a workspace's review watches know, removed ones' too, by id.
SELECT * FROM review_tasks WHERE workspace_id = :workspace_id ORDER BY id;

-- name: list_rows_of
-- What is known of one task, by id.
SELECT * FROM review_tasks
WHERE workspace_id = :workspace_id AND task_id = :task_id ORDER BY id;

-- name: list_watches
-- The review watches of a workspace, by id.
SELECT * FROM review_watches WHERE workspace_id = :workspace_id ORDER BY id;

-- name: list_task
-- One task, or none.
SELECT * FROM tasks WHERE id = :task_id;

-- name: hold_watches
-- The review watches of a workspace; an engine with one writer holds them already.
SELECT id FROM review_watches WHERE workspace_id = :workspace_id ORDER BY id;

-- name: hold_watches (postgres)
-- Nobody edits or removes a review watch of the workspace meanwhile.
SELECT id FROM review_watches WHERE workspace_id = :workspace_id ORDER BY id
FOR SHARE;

-- name: hold_task
-- A review task, while it is as it was decided on.
SELECT id FROM tasks
WHERE id = :id AND origin = 'review'
    AND (
        CAST(:is_always AS BOOLEAN)
        OR (person_wrote_at IS NULL AND waits_for = '' AND archived_at IS NULL)
    );

-- name: hold_task (postgres)
-- The same, and nobody changes it or hangs anything on it meanwhile.
SELECT id FROM tasks
WHERE id = :id AND origin = 'review'
    AND (
        CAST(:is_always AS BOOLEAN)
        OR (person_wrote_at IS NULL AND waits_for = '' AND archived_at IS NULL)
    )
FOR UPDATE;

-- name: hold_rows
-- What is known of one task.
SELECT id FROM review_tasks
WHERE workspace_id = :workspace_id AND task_id = :task_id ORDER BY id;

-- name: hold_rows (postgres)
-- The same, and nobody changes it meanwhile.
SELECT id FROM review_tasks
WHERE workspace_id = :workspace_id AND task_id = :task_id ORDER BY id FOR UPDATE;
