-- Repositories, and the merge of two rows that are one repository.

-- name: list_repositories
-- All of a workspace.
SELECT * FROM repositories WHERE workspace_id = :workspace_id ORDER BY id;

-- name: get_repository
-- One by our own id.
SELECT * FROM repositories WHERE id = :id;

-- name: find_by_name
-- By name, as GitHub compares names. A name may have moved: the row whose node id is
-- known comes first, then the newest.
SELECT * FROM repositories
WHERE workspace_id = :workspace_id
    AND lower(owner) = lower(:owner) AND lower(name) = lower(:name)
ORDER BY CASE WHEN node_id <> '' THEN 0 ELSE 1 END, id DESC
LIMIT 1;

-- name: find_by_node_id
-- By GitHub's identity.
SELECT * FROM repositories
WHERE workspace_id = :workspace_id AND node_id = :node_id AND node_id <> '';

-- name: add_repository
-- A new row; none when the workspace has the node id, or, without one, the name.
INSERT INTO repositories
    (
        id, workspace_id, host, owner, name, node_id, default_branch,
        parent_node_id, parent_name_with_owner, is_archived
    )
SELECT
    CAST(:id AS TEXT), CAST(:workspace_id AS TEXT), CAST(:host AS TEXT),
    CAST(:owner AS TEXT), CAST(:name AS TEXT), CAST(:node_id AS TEXT),
    CAST(:default_branch AS TEXT), CAST(:parent_node_id AS TEXT),
    CAST(:parent_name_with_owner AS TEXT), CAST(:is_archived AS BOOLEAN)
WHERE NOT EXISTS (
    SELECT 1 FROM repositories
    WHERE repositories.workspace_id = :workspace_id
        AND lower(repositories.owner) = lower(:owner)
        AND lower(repositories.name) = lower(:name)
        AND (repositories.node_id = '' OR CAST(:node_id AS TEXT) = '')
)
ON CONFLICT (workspace_id, node_id) WHERE node_id <> '' DO NOTHING;

-- name: lock_workspace
-- Nothing to lock: there is one writer.
SELECT id FROM workspaces WHERE id = :workspace_id;

-- name: lock_workspace (postgres)
-- Let one transaction at a time give node ids to the repositories of a workspace.
SELECT id FROM workspaces WHERE id = :workspace_id FOR NO KEY UPDATE;

-- name: put_facts
-- What GitHub says about the repository; an equal row stays untouched.
UPDATE repositories SET
    host = :host, owner = :owner, name = :name, node_id = :node_id,
    default_branch = :default_branch, parent_node_id = :parent_node_id,
    parent_name_with_owner = :parent_name_with_owner, is_archived = :is_archived
WHERE id = :id AND (
    host, owner, name, node_id, default_branch,
    parent_node_id, parent_name_with_owner, is_archived
) IS DISTINCT FROM (
    CAST(:host AS TEXT), CAST(:owner AS TEXT), CAST(:name AS TEXT),
    CAST(:node_id AS TEXT), CAST(:default_branch AS TEXT),
    CAST(:parent_node_id AS TEXT), CAST(:parent_name_with_owner AS TEXT),
    CAST(:is_archived AS BOOLEAN)
);

-- name: remove_repository
-- The row that was merged away.
DELETE FROM repositories WHERE id = :id;

-- name: copy_task_repositories
-- The survivor keeps its own branch, and takes the other's where it has none. Of two
-- written names a former one is kept: the present one is found without it.
INSERT INTO task_repositories
    (task_id, repository_id, position, branch, head_repository, written_as)
SELECT task_id, CAST(:survivor AS TEXT), position, branch, head_repository, written_as
FROM task_repositories WHERE repository_id = :loser
ON CONFLICT (task_id, repository_id) DO UPDATE SET
    branch = CASE
        WHEN task_repositories.branch = '' THEN excluded.branch ELSE task_repositories.branch
    END,
    head_repository = CASE
        WHEN task_repositories.branch = '' THEN excluded.head_repository
        ELSE task_repositories.head_repository
    END,
    written_as = CASE
        WHEN excluded.written_as = '' THEN task_repositories.written_as
        WHEN task_repositories.written_as = '' THEN excluded.written_as
        WHEN lower(task_repositories.written_as) = lower(CAST(:present AS TEXT))
            THEN excluded.written_as
        ELSE task_repositories.written_as
    END;

-- name: remove_task_repositories
-- What was copied.
DELETE FROM task_repositories WHERE repository_id = :loser;

-- name: copy_links
-- Links differ in nothing but the name that an entry wrote.
INSERT INTO pull_request_links (task_id, repository_id, pr_number, written_as)
SELECT task_id, CAST(:survivor AS TEXT), pr_number, written_as
FROM pull_request_links WHERE repository_id = :loser
ON CONFLICT (task_id, repository_id, pr_number) DO UPDATE SET
    written_as = CASE
        WHEN excluded.written_as = '' THEN pull_request_links.written_as
        WHEN pull_request_links.written_as = '' THEN excluded.written_as
        WHEN lower(pull_request_links.written_as) = lower(CAST(:present AS TEXT))
            THEN excluded.written_as
        ELSE pull_request_links.written_as
    END;

-- name: remove_links
-- What was copied.
DELETE FROM pull_request_links WHERE repository_id = :loser;

-- name: copy_checkouts
-- The survivor keeps its own branch, and takes the other's where it has none.
INSERT INTO checkouts
    (session_id, repository_id, worktree_path, branch, head_repository, written_as)
SELECT
    session_id, CAST(:survivor AS TEXT), worktree_path, branch, head_repository,
    written_as
FROM checkouts WHERE repository_id = :loser
ON CONFLICT (session_id, repository_id, worktree_path) DO UPDATE SET
    branch = CASE
        WHEN checkouts.branch = '' THEN excluded.branch ELSE checkouts.branch
    END,
    head_repository = CASE
        WHEN checkouts.branch = '' THEN excluded.head_repository
        ELSE checkouts.head_repository
    END,
    written_as = CASE
        WHEN excluded.written_as = '' THEN checkouts.written_as
        WHEN checkouts.written_as = '' THEN excluded.written_as
        WHEN lower(checkouts.written_as) = lower(CAST(:present AS TEXT))
            THEN excluded.written_as
        ELSE checkouts.written_as
    END;

-- name: remove_checkouts
-- What was copied.
DELETE FROM checkouts WHERE repository_id = :loser;

-- name: copy_repository_watches
-- The survivor's own watch of that author wins.
INSERT INTO repository_watches
    (workspace_id, repository_id, author, origin, written_as)
SELECT workspace_id, CAST(:survivor AS TEXT), author, origin, written_as
FROM repository_watches WHERE repository_id = :loser
ON CONFLICT (workspace_id, repository_id, author) DO UPDATE SET
    written_as = CASE
        WHEN excluded.written_as = '' THEN repository_watches.written_as
        WHEN repository_watches.written_as = '' THEN excluded.written_as
        WHEN lower(repository_watches.written_as) = lower(CAST(:present AS TEXT))
            THEN excluded.written_as
        ELSE repository_watches.written_as
    END;

-- name: remove_repository_watches
-- What was copied.
DELETE FROM repository_watches WHERE repository_id = :loser;

-- name: move_events
-- History follows the repository.
UPDATE events SET repository_id = :survivor WHERE repository_id = :loser;

-- name: move_deliveries
-- What waits keeps its turn among the deliveries of its pull request.
UPDATE deliveries SET repository_id = :survivor WHERE repository_id = :loser;
