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

-- name: hold_task
-- A review task is held as it was decided on, so that nobody changes it meanwhile.
UPDATE tasks SET waits_for = waits_for
WHERE id = :id AND origin = 'review'
    AND (
        CAST(:is_always AS BOOLEAN)
        OR (person_wrote_at IS NULL AND waits_for = '' AND archived_at IS NULL)
    );
