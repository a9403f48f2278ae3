-- The first schema: what is watched, what was seen, and what is to be told.

-- A tenant.
CREATE TABLE workspaces (
    id TEXT COLLATE "C" PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE
);

-- How a workspace reaches GitHub; no secret is kept.
CREATE TABLE connections (
    id TEXT COLLATE "C" PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES workspaces (id),
    source TEXT NOT NULL,
    host TEXT NOT NULL,
    account TEXT NOT NULL,
    generation BIGINT NOT NULL,
    status TEXT NOT NULL
);

-- A repository of one workspace. Names move, so they are not unique.
CREATE TABLE repositories (
    id TEXT COLLATE "C" PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    host TEXT NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    node_id TEXT COLLATE "C" NOT NULL,
    default_branch TEXT NOT NULL,
    parent_node_id TEXT NOT NULL,
    parent_name_with_owner TEXT NOT NULL,
    is_archived BOOLEAN NOT NULL
);

-- A piece of work. archived_at is NULL while it is active, person_wrote_at when a
-- person last wrote in it, waits_for what it waits for ('' for nothing).
CREATE TABLE tasks (
    id TEXT COLLATE "C" PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    external_id TEXT COLLATE "C" NOT NULL,
    origin TEXT NOT NULL,
    title TEXT NOT NULL,
    archived_at BIGINT,
    person_wrote_at BIGINT,
    waits_for TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (workspace_id, external_id)
);

-- A repository that a task works in. written_as, here and below, is its name as a
-- standing entry wrote it: the entry follows the row, and '' says that none wrote it.
CREATE TABLE task_repositories (
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id),
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id),
    position BIGINT NOT NULL,
    branch TEXT COLLATE "C" NOT NULL,
    head_repository TEXT NOT NULL,
    written_as TEXT NOT NULL,
    PRIMARY KEY (task_id, repository_id)
);

-- A pull request that an entry or a person named.
CREATE TABLE pull_request_links (
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id),
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id),
    pr_number BIGINT NOT NULL CHECK (pr_number > 0),
    written_as TEXT NOT NULL,
    PRIMARY KEY (task_id, repository_id, pr_number)
);

-- One run of work on a task.
CREATE TABLE sessions (
    id TEXT COLLATE "C" PRIMARY KEY,
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id),
    external_id TEXT COLLATE "C" NOT NULL,
    state TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    UNIQUE (task_id, external_id)
);

-- The branch that a session has checked out in one repository.
CREATE TABLE checkouts (
    session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions (id),
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id),
    worktree_path TEXT COLLATE "C" NOT NULL,
    branch TEXT COLLATE "C" NOT NULL,
    head_repository TEXT NOT NULL,
    written_as TEXT NOT NULL,
    PRIMARY KEY (session_id, repository_id, worktree_path)
);

-- A standing adoption. repository_id is '' for every repository, so it has no
-- reference.
CREATE TABLE repository_watches (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    repository_id TEXT COLLATE "C" NOT NULL,
    author TEXT COLLATE "C" NOT NULL,
    origin TEXT NOT NULL,
    written_as TEXT NOT NULL,
    PRIMARY KEY (workspace_id, repository_id, author)
);

-- One row a target. state and the columns after it are the watermark: NULL in all
-- of them means none, NULL in one means that it was not observed.
CREATE TABLE pr_watches (
    id TEXT COLLATE "C" PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id),
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id),
    branch TEXT COLLATE "C" NOT NULL,
    head_repository TEXT NOT NULL,
    pr_number BIGINT NOT NULL CHECK (pr_number >= 0),
    node_id TEXT NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL DEFAULT '',
    revision BIGINT NOT NULL CHECK (revision >= 0),
    fingerprint TEXT NOT NULL,
    searching_since BIGINT,
    branch_head_oid TEXT NOT NULL,
    last_sign_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    observed_at BIGINT,
    state TEXT,
    updated_at BIGINT,
    head_ref_oid TEXT,
    is_draft BOOLEAN,
    checks TEXT,
    review TEXT,
    review_decision TEXT,
    mergeable TEXT,
    merge_queue BOOLEAN,
    auto_merge BOOLEAN,
    is_archived BOOLEAN,
    comment_mark TEXT,
    announced_checks TEXT,
    checks_since BIGINT,
    CHECK (pr_number <> 0 OR branch <> '')
);

-- The association of a pull request with a task, with its last known state.
CREATE TABLE task_pull_requests (
    task_id TEXT COLLATE "C" NOT NULL REFERENCES tasks (id),
    repository_id TEXT COLLATE "C" NOT NULL REFERENCES repositories (id),
    pr_number BIGINT NOT NULL CHECK (pr_number > 0),
    node_id TEXT NOT NULL,
    observed_at BIGINT NOT NULL,
    detached_at BIGINT,
    is_past BOOLEAN NOT NULL,
    checks_notes TEXT NOT NULL,
    checks_summary TEXT,
    state TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    closed_at BIGINT,
    merged_at BIGINT,
    title TEXT NOT NULL,
    url TEXT NOT NULL,
    head_ref_oid TEXT NOT NULL,
    head_ref_name TEXT NOT NULL,
    base_ref_name TEXT NOT NULL,
    head_repository_id TEXT NOT NULL,
    author TEXT NOT NULL,
    is_draft BOOLEAN NOT NULL,
    merged_by TEXT,
    is_archived BOOLEAN,
    is_base_deleted BOOLEAN,
    checks TEXT,
    review TEXT,
    review_decision TEXT,
    mergeable TEXT,
    merge_queue BOOLEAN,
    auto_merge BOOLEAN,
    unresolved_threads BIGINT,
    requested_reviewers BIGINT,
    approvals BIGINT,
    comment_mark TEXT,
    ready_since BIGINT,
    queue_left_at BIGINT,
    PRIMARY KEY (task_id, repository_id, pr_number)
);

-- What was said, in the order of its commit for each pull request. History outlives
-- what it speaks of, so nothing here is a reference.
CREATE TABLE events (
    position BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    type TEXT NOT NULL,
    source TEXT NOT NULL,
    subject TEXT NOT NULL,
    time BIGINT NOT NULL,
    workspace_id TEXT COLLATE "C" NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL,
    pr_number BIGINT NOT NULL,
    watch_id TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    head_ref_oid TEXT NOT NULL,
    is_terminal BOOLEAN NOT NULL,
    data TEXT NOT NULL
);

-- One row an event and sink. due_at is the time from which a worker may take the
-- row: its turn while pending, the end of the lease while acquired, NULL once settled.
CREATE TABLE deliveries (
    event_id TEXT COLLATE "C" NOT NULL REFERENCES events (id),
    sink TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL,
    repository_id TEXT COLLATE "C" NOT NULL,
    pr_number BIGINT NOT NULL,
    state TEXT NOT NULL,
    attempt BIGINT NOT NULL CHECK (attempt >= 0),
    first_due_at BIGINT NOT NULL,
    due_at BIGINT,
    lease_token TEXT NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (event_id, sink),
    CHECK ((due_at IS NULL) = (state <> 'pending' AND state <> 'acquired'))
);

-- A limit that was hit, so that a restart does not run into it again.
CREATE TABLE rate_limit_blocks (
    account TEXT COLLATE "C" NOT NULL,
    bucket TEXT COLLATE "C" NOT NULL,
    blocked_until BIGINT NOT NULL,
    PRIMARY KEY (account, bucket)
);

-- A field that a connection cannot read, and so is not asked for. repository is ''
-- for all of them, fingerprint that of the connection when it was learnt.
CREATE TABLE refused_fields (
    connection_id TEXT COLLATE "C" NOT NULL REFERENCES connections (id),
    field TEXT COLLATE "C" NOT NULL,
    repository TEXT COLLATE "C" NOT NULL,
    reason TEXT NOT NULL,
    version TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    learnt_at BIGINT NOT NULL,
    PRIMARY KEY (connection_id, field, repository)
);

-- A folder of a repository whose files say what is watched. tag vouches for the list of
-- its files, for the connection of fingerprint; changed_at is when one last changed.
CREATE TABLE watch_folders (
    id TEXT COLLATE "C" PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    repository TEXT COLLATE "C" NOT NULL,
    branch TEXT COLLATE "C" NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    tag TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    changed_at BIGINT,
    UNIQUE (workspace_id, repository, branch, path)
);

-- One file of such a folder. blob names its newest content, declared is the last that
-- could be read and so counts, problems is a JSON list about the newest.
CREATE TABLE watch_files (
    folder_id TEXT COLLATE "C" NOT NULL REFERENCES watch_folders (id),
    name TEXT COLLATE "C" NOT NULL,
    blob TEXT NOT NULL,
    declared TEXT NOT NULL,
    problems TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (folder_id, name)
);

-- The circuit of such a folder while it is open, for the entry and the connection of
-- fingerprint. A closed one has no row.
CREATE TABLE watch_folder_circuits (
    folder_id TEXT COLLATE "C" PRIMARY KEY REFERENCES watch_folders (id),
    fingerprint TEXT NOT NULL,
    failure_class TEXT NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    failures BIGINT NOT NULL CHECK (failures > 0),
    opened_at BIGINT NOT NULL,
    open_until BIGINT NOT NULL
);

-- A saved search for pull requests that ask for review. repositories and organisations
-- are JSON lists of names, written_as is the file of an entry that declares it, and
-- last_error, incomplete_since and backlog_done_at belong to polling alone.
CREATE TABLE review_watches (
    id TEXT COLLATE "C" PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    name TEXT COLLATE "C" NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('user', 'user_and_teams')),
    repositories TEXT NOT NULL,
    organisations TEXT NOT NULL,
    query TEXT NOT NULL,
    target_login TEXT NOT NULL,
    interval_seconds BIGINT NOT NULL CHECK (interval_seconds > 0),
    policy TEXT NOT NULL CHECK (policy IN ('auto', 'always', 'never')),
    is_enabled BOOLEAN NOT NULL,
    origin TEXT NOT NULL,
    written_as TEXT NOT NULL,
    revision BIGINT NOT NULL CHECK (revision > 0),
    last_error TEXT NOT NULL,
    incomplete_since BIGINT,
    incomplete_reason TEXT NOT NULL
        CHECK (incomplete_reason IN ('', 'failed', 'over_cap', 'left_out', 'unread')),
    backlog_done_at BIGINT,
    created_at BIGINT NOT NULL,
    UNIQUE (workspace_id, name)
);

-- One row a pull request that a review watch knows. task_id is '' while the row only
-- reserves it, review_watch_id is '' once the watch is removed: neither is a reference.
-- policy, target_login and scope are what the watch had then: while it is there its
-- present ones count.
CREATE TABLE review_tasks (
    id TEXT COLLATE "C" PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    review_watch_id TEXT COLLATE "C" NOT NULL,
    policy TEXT NOT NULL CHECK (policy IN ('auto', 'always', 'never')),
    target_login TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('user', 'user_and_teams')),
    owner TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    repository_node_id TEXT NOT NULL,
    pr_number BIGINT NOT NULL CHECK (pr_number > 0),
    pr_node_id TEXT COLLATE "C" NOT NULL,
    task_id TEXT COLLATE "C" NOT NULL,
    reserved_at BIGINT NOT NULL,
    reserved_by TEXT NOT NULL,
    terminal_seen_at BIGINT,
    terminal_evidence TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (workspace_id, review_watch_id, pr_node_id)
);

-- What became of a review task, kept when all else about it is gone. snapshot is what
-- restores it until undo_until. No references: history outlives what it speaks of.
CREATE TABLE review_audit (
    id TEXT COLLATE "C" PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL,
    review_watch_id TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    pr_number BIGINT NOT NULL,
    pr_node_id TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('deleted', 'restored', 'released')),
    reason TEXT NOT NULL,
    evidence TEXT NOT NULL,
    acted_at BIGINT NOT NULL,
    acted_by TEXT NOT NULL CHECK (acted_by IN ('schedule', 'person')),
    snapshot TEXT NOT NULL,
    undo_until BIGINT
);

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
ON events (workspace_id, subject, position) WHERE watch_id = '' AND task_id = '';

CREATE INDEX deliveries_due
ON deliveries (sink, position) WHERE due_at IS NOT NULL;

CREATE INDEX deliveries_order
ON deliveries (sink, task_id, repository_id, pr_number, position)
WHERE due_at IS NOT NULL;

CREATE INDEX review_tasks_task ON review_tasks (task_id);

CREATE INDEX review_audit_pull_request
ON review_audit (workspace_id, review_watch_id, pr_node_id, acted_at);

CREATE INDEX review_audit_time ON review_audit (workspace_id, acted_at);

CREATE INDEX review_audit_age ON review_audit (acted_at);

CREATE INDEX review_audit_undo
ON review_audit (undo_until) WHERE undo_until IS NOT NULL;

-- One row that every writing transaction increments as its last statement: who
-- reads it learns that anything changed without reading anything else.
CREATE TABLE change_counter (changes BIGINT NOT NULL);

INSERT INTO change_counter (changes) VALUES (0);
