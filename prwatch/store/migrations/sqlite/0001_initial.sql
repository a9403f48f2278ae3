-- The first schema: what is watched, what was seen, and what is to be told.

-- A tenant.
CREATE TABLE workspaces (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- How a workspace reaches GitHub; no secret is kept.
CREATE TABLE connections (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL UNIQUE REFERENCES workspaces (id),
    source TEXT NOT NULL,
    host TEXT NOT NULL,
    account TEXT NOT NULL,
    generation INTEGER NOT NULL,
    status TEXT NOT NULL
) STRICT;

-- A repository of one workspace. Names move, so they are not unique.
CREATE TABLE repositories (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    host TEXT NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    node_id TEXT NOT NULL,
    default_branch TEXT NOT NULL,
    parent_node_id TEXT NOT NULL,
    parent_name_with_owner TEXT NOT NULL,
    is_archived INTEGER NOT NULL CHECK (is_archived IN (0, 1))
) STRICT;

-- A piece of work. archived_at is NULL while it is active.
CREATE TABLE tasks (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    external_id TEXT NOT NULL,
    origin TEXT NOT NULL,
    title TEXT NOT NULL,
    archived_at INTEGER,
    created_at INTEGER NOT NULL,
    UNIQUE (workspace_id, external_id)
) STRICT;

-- A repository that a task works in. written_as, here and below, is its name as a
-- standing entry wrote it: the entry follows the row, and '' says that none wrote it.
CREATE TABLE task_repositories (
    task_id TEXT NOT NULL REFERENCES tasks (id),
    repository_id TEXT NOT NULL REFERENCES repositories (id),
    position INTEGER NOT NULL,
    branch TEXT NOT NULL,
    head_repository TEXT NOT NULL,
    written_as TEXT NOT NULL,
    PRIMARY KEY (task_id, repository_id)
) STRICT;

-- A pull request that an entry or a person named.
CREATE TABLE pull_request_links (
    task_id TEXT NOT NULL REFERENCES tasks (id),
    repository_id TEXT NOT NULL REFERENCES repositories (id),
    pr_number INTEGER NOT NULL CHECK (pr_number > 0),
    written_as TEXT NOT NULL,
    PRIMARY KEY (task_id, repository_id, pr_number)
) STRICT;

-- One run of work on a task.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY NOT NULL,
    task_id TEXT NOT NULL REFERENCES tasks (id),
    external_id TEXT NOT NULL,
    state TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    UNIQUE (task_id, external_id)
) STRICT;

-- The branch that a session has checked out in one repository.
CREATE TABLE checkouts (
    session_id TEXT NOT NULL REFERENCES sessions (id),
    repository_id TEXT NOT NULL REFERENCES repositories (id),
    worktree_path TEXT NOT NULL,
    branch TEXT NOT NULL,
    head_repository TEXT NOT NULL,
    written_as TEXT NOT NULL,
    PRIMARY KEY (session_id, repository_id, worktree_path)
) STRICT;

-- A standing adoption. repository_id is '' for every repository, so it has no
-- reference.
CREATE TABLE repository_watches (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    repository_id TEXT NOT NULL,
    author TEXT NOT NULL,
    origin TEXT NOT NULL,
    written_as TEXT NOT NULL,
    PRIMARY KEY (workspace_id, repository_id, author)
) STRICT;

-- One row a target. state and the columns after it are the watermark: NULL in all
-- of them means none, NULL in one means that it was not observed.
CREATE TABLE pr_watches (
    id TEXT PRIMARY KEY NOT NULL,
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    task_id TEXT NOT NULL REFERENCES tasks (id),
    repository_id TEXT NOT NULL REFERENCES repositories (id),
    branch TEXT NOT NULL,
    head_repository TEXT NOT NULL,
    pr_number INTEGER NOT NULL CHECK (pr_number >= 0),
    node_id TEXT NOT NULL,
    session_id TEXT NOT NULL DEFAULT '',
    revision INTEGER NOT NULL CHECK (revision >= 0),
    fingerprint TEXT NOT NULL,
    searching_since INTEGER,
    branch_head_oid TEXT NOT NULL,
    last_sign_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    observed_at INTEGER,
    state TEXT,
    updated_at INTEGER,
    head_ref_oid TEXT,
    is_draft INTEGER CHECK (is_draft IN (0, 1)),
    checks TEXT,
    review TEXT,
    review_decision TEXT,
    mergeable TEXT,
    merge_queue INTEGER CHECK (merge_queue IN (0, 1)),
    auto_merge INTEGER CHECK (auto_merge IN (0, 1)),
    is_archived INTEGER CHECK (is_archived IN (0, 1)),
    comment_mark TEXT,
    announced_checks TEXT,
    checks_since INTEGER,
    CHECK (pr_number <> 0 OR branch <> '')
) STRICT;

-- The association of a pull request with a task, with its last known state.
CREATE TABLE task_pull_requests (
    task_id TEXT NOT NULL REFERENCES tasks (id),
    repository_id TEXT NOT NULL REFERENCES repositories (id),
    pr_number INTEGER NOT NULL CHECK (pr_number > 0),
    node_id TEXT NOT NULL,
    observed_at INTEGER NOT NULL,
    detached_at INTEGER,
    is_past INTEGER NOT NULL CHECK (is_past IN (0, 1)),
    checks_notes TEXT NOT NULL,
    checks_summary TEXT,
    state TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    closed_at INTEGER,
    merged_at INTEGER,
    title TEXT NOT NULL,
    url TEXT NOT NULL,
    head_ref_oid TEXT NOT NULL,
    head_ref_name TEXT NOT NULL,
    base_ref_name TEXT NOT NULL,
    head_repository_id TEXT NOT NULL,
    author TEXT NOT NULL,
    is_draft INTEGER NOT NULL CHECK (is_draft IN (0, 1)),
    merged_by TEXT,
    is_archived INTEGER CHECK (is_archived IN (0, 1)),
    is_base_deleted INTEGER CHECK (is_base_deleted IN (0, 1)),
    checks TEXT,
    review TEXT,
    review_decision TEXT,
    mergeable TEXT,
    merge_queue INTEGER CHECK (merge_queue IN (0, 1)),
    auto_merge INTEGER CHECK (auto_merge IN (0, 1)),
    unresolved_threads INTEGER,
    requested_reviewers INTEGER,
    approvals INTEGER,
    comment_mark TEXT,
    ready_since INTEGER,
    queue_left_at INTEGER,
    PRIMARY KEY (task_id, repository_id, pr_number)
) STRICT;

-- What was said, in the order of its commit for each pull request. History outlives
-- what it speaks of, so nothing here is a reference.
CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    source TEXT NOT NULL,
    subject TEXT NOT NULL,
    time INTEGER NOT NULL,
    workspace_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    repository_id TEXT NOT NULL,
    pr_number INTEGER NOT NULL,
    watch_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    head_ref_oid TEXT NOT NULL,
    is_terminal INTEGER NOT NULL CHECK (is_terminal IN (0, 1)),
    data TEXT NOT NULL
) STRICT;

-- One row an event and sink. due_at is the time from which a worker may take the
-- row: its turn while pending, the end of the lease while acquired, NULL once settled.
CREATE TABLE deliveries (
    event_id TEXT NOT NULL REFERENCES events (id),
    sink TEXT NOT NULL,
    position INTEGER NOT NULL,
    task_id TEXT NOT NULL,
    repository_id TEXT NOT NULL,
    pr_number INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt >= 0),
    first_due_at INTEGER NOT NULL,
    due_at INTEGER,
    lease_token TEXT NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (event_id, sink),
    CHECK ((due_at IS NULL) = (state <> 'pending' AND state <> 'acquired'))
) STRICT;

-- A limit that was hit, so that a restart does not run into it again.
CREATE TABLE rate_limit_blocks (
    account TEXT NOT NULL,
    bucket TEXT NOT NULL,
    blocked_until INTEGER NOT NULL,
    PRIMARY KEY (account, bucket)
) STRICT;

-- A field that a connection cannot read, and so is not asked for. repository is ''
-- for all of them, fingerprint that of the connection when it was learnt.
CREATE TABLE refused_fields (
    connection_id TEXT NOT NULL REFERENCES connections (id),
    field TEXT NOT NULL,
    repository TEXT NOT NULL,
    reason TEXT NOT NULL,
    version TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    learnt_at INTEGER NOT NULL,
    PRIMARY KEY (connection_id, field, repository)
) STRICT;

CREATE UNIQUE INDEX repositories_node_id
ON repositories (workspace_id, node_id) WHERE node_id <> '';

CREATE INDEX repositories_name
ON repositories (workspace_id, lower(owner), lower(name));

CREATE UNIQUE INDEX pr_watches_searching
ON pr_watches (task_id, repository_id, branch) WHERE pr_number = 0;

CREATE UNIQUE INDEX pr_watches_discovered
ON pr_watches (task_id, repository_id, pr_number) WHERE pr_number <> 0;

CREATE INDEX pr_watches_workspace ON pr_watches (workspace_id);

CREATE INDEX events_time ON events (time);

CREATE INDEX events_pull_request ON events (repository_id, pr_number, position);

CREATE INDEX events_notices
ON events (workspace_id, subject, position) WHERE watch_id = '';

CREATE INDEX deliveries_due
ON deliveries (sink, position) WHERE due_at IS NOT NULL;

CREATE INDEX deliveries_order
ON deliveries (sink, task_id, repository_id, pr_number, position)
WHERE due_at IS NOT NULL;
