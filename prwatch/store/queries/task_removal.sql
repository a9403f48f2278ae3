-- A task goes for good, with all that hangs on it, and comes back.

-- name: list_repositories_of
-- Where it works.
SELECT * FROM task_repositories WHERE task_id = :task_id
ORDER BY position, repository_id;

-- name: list_links_of
-- The pull requests that were named for it.
SELECT * FROM pull_request_links WHERE task_id = :task_id
ORDER BY repository_id, pr_number;

-- name: list_sessions_of
-- The runs of work on it.
SELECT * FROM sessions WHERE task_id = :task_id ORDER BY id;

-- name: list_checkouts_of
-- What these have checked out.
SELECT * FROM checkouts
WHERE session_id IN (SELECT id FROM sessions WHERE task_id = :task_id)
ORDER BY session_id, repository_id, worktree_path;

-- name: remove_checkouts_of
-- What its sessions have checked out is forgotten; the files stay.
DELETE FROM checkouts
WHERE session_id IN (SELECT id FROM sessions WHERE task_id = :task_id);

-- name: remove_sessions_of
-- The runs of work on it are forgotten.
DELETE FROM sessions WHERE task_id = :task_id;

-- name: remove_links_of
-- What was named for it is forgotten.
DELETE FROM pull_request_links WHERE task_id = :task_id;

-- name: remove_repositories_of
-- Where it worked is forgotten.
DELETE FROM task_repositories WHERE task_id = :task_id;

-- name: remove_watches_of
-- It watches nothing.
DELETE FROM pr_watches WHERE task_id = :task_id;

-- name: remove_pull_requests_of
-- What it knew of pull requests is forgotten; its events stay.
DELETE FROM task_pull_requests WHERE task_id = :task_id;

-- name: remove_task
-- The task itself.
DELETE FROM tasks WHERE id = :task_id;
