-- Pieces of work.

-- name: list_tasks
-- The tasks of a workspace, by id; archived ones only when asked for.
SELECT * FROM tasks
WHERE workspace_id = :workspace_id
    AND (archived_at IS NULL OR CAST(:include_archived AS BOOLEAN))
ORDER BY id;

-- name: find_task
-- By the name that people and programs give it.
SELECT * FROM tasks
WHERE workspace_id = :workspace_id AND external_id = :external_id;

-- name: add_task
-- A new task; none when the workspace has one of that name.
INSERT INTO tasks
    (
        id, workspace_id, external_id, origin, title, archived_at, person_wrote_at,
        waits_for, created_at
    )
VALUES
    (
        :id, :workspace_id, :external_id, :origin, :title, :archived_at,
        :person_wrote_at, :waits_for, :created_at
    )
ON CONFLICT (workspace_id, external_id) DO NOTHING;

-- name: put_title
-- A new title; an equal one stays untouched.
UPDATE tasks SET title = :title WHERE id = :id AND title <> :title;

-- name: put_origin
-- A new owner; an equal one stays untouched.
UPDATE tasks SET origin = :origin WHERE id = :id AND origin <> :origin;

-- name: put_person_wrote
-- When a person last wrote in a task; it never moves back.
UPDATE tasks SET person_wrote_at = :now
WHERE id = :id AND (person_wrote_at IS NULL OR person_wrote_at < :now);

-- name: put_waits_for
-- What a task waits for, '' for nothing; an equal row stays untouched.
UPDATE tasks SET waits_for = :waits_for WHERE id = :id AND waits_for <> :waits_for;

-- name: archive
-- From active to archived.
UPDATE tasks SET archived_at = :now WHERE id = :id AND archived_at IS NULL;

-- name: unarchive
-- From archived to active.
UPDATE tasks SET archived_at = NULL WHERE id = :id AND archived_at IS NOT NULL;

-- name: remove_watches
-- An archived task watches nothing.
DELETE FROM pr_watches WHERE task_id = :id;

-- name: forget_pull_requests
-- The next association of these pull requests starts afresh.
UPDATE task_pull_requests SET is_past = :is_past WHERE task_id = :id AND NOT is_past;

-- name: get_workspace
-- The workspace of a snapshot.
SELECT id, name FROM workspaces WHERE id = :id;
