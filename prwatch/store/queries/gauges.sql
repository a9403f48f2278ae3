-- What the store says of itself: how much waits, and how large its tables are.

-- name: count_waiting
-- How many deliveries of a sink are not settled.
SELECT count(*) AS waiting FROM deliveries
WHERE sink = :sink AND due_at IS NOT NULL;

-- name: find_oldest
-- Since when the first of them waits.
SELECT first_due_at FROM deliveries
WHERE sink = :sink AND due_at IS NOT NULL
ORDER BY position
LIMIT 1;

-- name: count_dead
-- How many deliveries were given up.
SELECT count(*) AS dead FROM deliveries WHERE state = 'dead';

-- name: count_watches
-- How many watches each workspace has.
SELECT workspace_id, count(*) AS watches FROM pr_watches GROUP BY workspace_id;

-- name: measure_tables
-- How many rows each table has, and how long a row is, by a look at some of them: the
-- length of its texts, and eight bytes for what is a number.
SELECT
    'workspaces' AS name,
    (SELECT count(*) FROM workspaces) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(id) + length(name) AS size
            FROM workspaces
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'connections' AS name,
    (SELECT count(*) FROM connections) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(id) + length(workspace_id) + length(source)
                + length(host) + length(account) + length(status) + 8 AS size
            FROM connections
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'repositories' AS name,
    (SELECT count(*) FROM repositories) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(id) + length(workspace_id) + length(host)
                + length(owner) + length(name) + length(node_id)
                + length(default_branch) + length(parent_node_id)
                + length(parent_name_with_owner) + 8 AS size
            FROM repositories
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'tasks' AS name,
    (SELECT count(*) FROM tasks) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(id) + length(workspace_id) + length(external_id)
                + length(origin) + length(title) + 8 AS size
            FROM tasks
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'task_repositories' AS name,
    (SELECT count(*) FROM task_repositories) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(task_id) + length(repository_id) + length(branch)
                + length(head_repository) + length(written_as) + 8 AS size
            FROM task_repositories
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'pull_request_links' AS name,
    (SELECT count(*) FROM pull_request_links) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(task_id) + length(repository_id) + length(written_as)
                + 8 AS size
            FROM pull_request_links
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'sessions' AS name,
    (SELECT count(*) FROM sessions) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(id) + length(task_id) + length(external_id)
                + length(state) + 8 AS size
            FROM sessions
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'checkouts' AS name,
    (SELECT count(*) FROM checkouts) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(session_id) + length(repository_id)
                + length(worktree_path) + length(branch)
                + length(head_repository) + length(written_as) AS size
            FROM checkouts
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'repository_watches' AS name,
    (SELECT count(*) FROM repository_watches) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(workspace_id) + length(repository_id) + length(author)
                + length(origin) + length(written_as) AS size
            FROM repository_watches
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'pr_watches' AS name,
    (SELECT count(*) FROM pr_watches) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(id) + length(workspace_id) + length(task_id)
                + length(repository_id) + length(branch)
                + length(head_repository) + length(node_id)
                + length(session_id) + length(fingerprint)
                + length(branch_head_oid) + 64 AS size
            FROM pr_watches
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'task_pull_requests' AS name,
    (SELECT count(*) FROM task_pull_requests) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(task_id) + length(repository_id) + length(node_id)
                + length(checks_notes) + length(state) + length(title)
                + length(url) + length(head_ref_oid) + length(head_ref_name)
                + length(base_ref_name) + length(head_repository_id)
                + length(author) + 80 AS size
            FROM task_pull_requests
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'events' AS name,
    (SELECT count(*) FROM events) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(id) + length(type) + length(source) + length(subject)
                + length(workspace_id) + length(task_id)
                + length(repository_id) + length(watch_id)
                + length(head_ref_oid) + length(data) + 40 AS size
            FROM events
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'deliveries' AS name,
    (SELECT count(*) FROM deliveries) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(event_id) + length(sink) + length(task_id)
                + length(repository_id) + length(state) + length(lease_token)
                + length(error) + 32 AS size
            FROM deliveries
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'rate_limit_blocks' AS name,
    (SELECT count(*) FROM rate_limit_blocks) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(account) + length(bucket) + 8 AS size
            FROM rate_limit_blocks
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'refused_fields' AS name,
    (SELECT count(*) FROM refused_fields) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(connection_id) + length(field) + length(repository)
                + length(reason) + length(version) + length(fingerprint) + 8 AS size
            FROM refused_fields
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'watch_folders' AS name,
    (SELECT count(*) FROM watch_folders) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(id) + length(workspace_id) + length(repository)
                + length(branch) + length(path) + length(tag) + length(fingerprint)
                + 8 AS size
            FROM watch_folders
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'watch_files' AS name,
    (SELECT count(*) FROM watch_files) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(folder_id) + length(name) + length(blob)
                + length(declared) + length(problems) + 8 AS size
            FROM watch_files
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'watch_folder_circuits' AS name,
    (SELECT count(*) FROM watch_folder_circuits) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(folder_id) + length(fingerprint)
                + length(failure_class) + length(code) + length(message) + 24 AS size
            FROM watch_folder_circuits
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'review_watches' AS name,
    (SELECT count(*) FROM review_watches) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(id) + length(workspace_id) + length(name) + length(scope)
                + length(repositories) + length(organisations) + length(query)
                + length(target_login) + length(policy) + length(origin)
                + length(written_as) + length(last_error) + 49 AS size
            FROM review_watches
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'review_tasks' AS name,
    (SELECT count(*) FROM review_tasks) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(id) + length(workspace_id) + length(review_watch_id)
                + length(policy) + length(owner) + length(name)
                + length(repository_node_id) + length(pr_node_id)
                + length(task_id) + length(reserved_by)
                + length(terminal_evidence) + 32 AS size
            FROM review_tasks
            LIMIT 100
        ) AS sample
    ) AS row_bytes
UNION ALL
SELECT
    'review_audit' AS name,
    (SELECT count(*) FROM review_audit) AS row_count,
    (
        SELECT CAST(coalesce(avg(size), 0) AS BIGINT) FROM (
            SELECT
                length(id) + length(workspace_id) + length(review_watch_id)
                + length(owner) + length(name) + length(pr_node_id)
                + length(external_id) + length(action) + length(reason)
                + length(evidence) + length(acted_by) + length(snapshot) + 24 AS size
            FROM review_audit
            LIMIT 100
        ) AS sample
    ) AS row_bytes;
