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
    (task_id, repository_id, position, branch, head_repository, written_as)
VALUES
    (:task_id, :repository_id, :position, :branch, :head_repository, :written_as)
ON CONFLICT (task_id, repository_id) DO UPDATE SET
    position = excluded.position,
    branch = excluded.branch,
    head_repository = excluded.head_repository,
    written_as = excluded.written_as
WHERE (
    task_repositories.position, task_repositories.branch,
    task_repositories.head_repository, task_repositories.written_as
) IS DISTINCT FROM (
    excluded.position, excluded.branch, excluded.head_repository, excluded.written_as
);

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
-- Insert or replace; an equal row stays untouched.
INSERT INTO pull_request_links (task_id, repository_id, pr_number, written_as)
VALUES (:task_id, :repository_id, :pr_number, :written_as)
ON CONFLICT (task_id, repository_id, pr_number) DO UPDATE SET
    written_as = excluded.written_as
WHERE pull_request_links.written_as <> excluded.written_as;

-- name: remove_link
-- The pull request is no longer named.
DELETE FROM pull_request_links
WHERE task_id = :task_id AND repository_id = :repository_id
    AND pr_number = :pr_number;

-- name: release_link
-- A person names the pull request no longer; an entry may.
DELETE FROM pull_request_links
WHERE task_id = :task_id AND repository_id = :repository_id
    AND pr_number = :pr_number AND written_as = '';

-- name: list_repository_watches
-- The standing adoptions of a workspace.
SELECT * FROM repository_watches WHERE workspace_id = :workspace_id
ORDER BY repository_id, author;

-- name: put_repository_watch
-- Insert or replace; an equal row stays untouched.
INSERT INTO repository_watches
    (workspace_id, repository_id, author, origin, written_as)
VALUES (:workspace_id, :repository_id, :author, :origin, :written_as)
ON CONFLICT (workspace_id, repository_id, author) DO UPDATE SET
    origin = excluded.origin, written_as = excluded.written_as
WHERE (repository_watches.origin, repository_watches.written_as)
    IS DISTINCT FROM (excluded.origin, excluded.written_as);

-- name: remove_repository_watch
-- The adoption ends.
DELETE FROM repository_watches
WHERE workspace_id = :workspace_id AND repository_id = :repository_id
    AND author = :author;
