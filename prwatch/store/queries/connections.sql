-- Workspaces and how they reach GitHub.

-- name: list_workspaces
-- All of them, by name.
SELECT id, name FROM workspaces ORDER BY name;

-- name: find_workspace
-- The workspace of that name.
SELECT id, name FROM workspaces WHERE name = :name;

-- name: add_workspace
-- A new workspace; none when the name is taken.
INSERT INTO workspaces (id, name) VALUES (:id, :name)
ON CONFLICT (name) DO NOTHING;

-- name: find_connection
-- The one connection of a workspace.
SELECT id, workspace_id, source, host, account, generation, status
FROM connections WHERE workspace_id = :workspace_id;

-- name: put_connection
-- The connection of a workspace as it is now; its id stays. Equal rows stay untouched.
INSERT INTO connections
    (id, workspace_id, source, host, account, generation, status)
VALUES
    (:id, :workspace_id, :source, :host, :account, :generation, :status)
ON CONFLICT (workspace_id) DO UPDATE SET
    source = excluded.source,
    host = excluded.host,
    account = excluded.account,
    generation = excluded.generation,
    status = excluded.status
WHERE (
    connections.source, connections.host, connections.account,
    connections.generation, connections.status
) IS DISTINCT FROM (
    excluded.source, excluded.host, excluded.account,
    excluded.generation, excluded.status
);

-- name: put_account
-- Who pays for a connection; an equal row, or one of a new token, stays untouched.
UPDATE connections SET account = :account
WHERE id = :id AND generation = :generation AND account <> :account;
