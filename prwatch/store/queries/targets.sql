-- What a task works in: repositories with branches, and named pull requests.

-- name: list_task_repositories
-- Of the tasks of a workspace, in the order of their position.
SELECT task_repositories.* FROM task_repositories
JOIN tasks ON tasks.id = task_repositories.task_id
WHERE tasks.workspace_id = :workspace_id
    AND (tasks.archived_at IS NULL OR CAST(:include_archived AS BOOLEAN))
ORDER BY task_repositories.task_id, task_repositories.position,
    task_repositories.repository_id;

-- name: put_task_repository
-- Insert or replace; an equal row stays untouched.
INSERT INTO task_repositories
    (task_id, repository_id, position, branch, head_repository)
VALUES
    (:task_id, :repository_id, :position, :branch, :head_repository)
ON CONFLICT (task_id, repository_id) DO UPDATE SET
    position = excluded.position,
    branch = excluded.branch,
    head_repository = excluded.head_repository
WHERE (
    task_repositories.position, task_repositories.branch,
    task_repositories.head_repository
) IS DISTINCT FROM (excluded.position, excluded.branch, excluded.head_repository);

-- name: remove_task_repository
-- The task no longer works there.
DELETE FROM task_repositories
WHERE task_id = :task_id AND repository_id = :repository_id;

-- name: list_links
-- Of the tasks of a workspace.
SELECT pull_request_links.* FROM pull_request_links
JOIN tasks ON tasks.id = pull_request_links.task_id
WHERE tasks.workspace_id = :workspace_id
    AND (tasks.archived_at IS NULL OR CAST(:include_archived AS BOOLEAN))
ORDER BY pull_request_links.task_id, pull_request_links.repository_id,
    pull_request_links.pr_number;

-- name: put_link
-- A link is there or not.
INSERT INTO pull_request_links (task_id, repository_id, pr_number)
VALUES (:task_id, :repository_id, :pr_number)
ON CONFLICT (task_id, repository_id, pr_number) DO NOTHING;

-- name: remove_link
-- The pull request is no longer named.
DELETE FROM pull_request_links
WHERE task_id = :task_id AND repository_id = :repository_id
    AND pr_number = :pr_number;

-- name: list_repository_watches
-- The standing adoptions of a workspace.
SELECT * FROM repository_watches WHERE workspace_id = :workspace_id
ORDER BY repository_id, author;

-- name: put_repository_watch
-- Insert or replace; an equal row stays untouched.
INSERT INTO repository_watches (workspace_id, repository_id, author, origin)
VALUES (:workspace_id, :repository_id, :author, :origin)
ON CONFLICT (workspace_id, repository_id, author) DO UPDATE SET
    origin = excluded.origin
WHERE repository_watches.origin <> excluded.origin;

-- name: remove_repository_watch
-- The adoption ends.
DELETE FROM repository_watches
WHERE workspace_id = :workspace_id AND repository_id = :repository_id
    AND author = :author;
