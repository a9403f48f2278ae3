-- Events on their way to sinks. A delivery may be taken when due_at has come: a pending
-- one at its turn, an acquired one when its lease has ended, a settled one never.

-- name: add_event
-- The event takes its position here, after its watch was moved in this transaction, so
-- that positions of one pull request are in the order of their commits.
INSERT INTO events
    (
        id, type, source, subject, time, workspace_id, task_id, repository_id,
        pr_number, watch_id, revision, head_ref_oid, is_terminal, data
    )
VALUES
    (
        :id, :type, :source, :subject, :time, :workspace_id, :task_id, :repository_id,
        :pr_number, :watch_id, :revision, :head_ref_oid, :is_terminal, :data
    )
ON CONFLICT (id) DO NOTHING
RETURNING position;

-- name: add_delivery
-- The event waits for that sink.
INSERT INTO deliveries
    (
        event_id, sink, position, task_id, repository_id, pr_number, state,
        attempt, first_due_at, due_at, lease_token, error
    )
VALUES
    (
        :event_id, :sink, :position, :task_id, :repository_id, :pr_number, 'pending',
        0, :now, :now, '', ''
    )
ON CONFLICT (event_id, sink) DO NOTHING;

-- name: acquire
-- Take what is due, of each order the first that is not settled.
WITH free AS (
    SELECT d.event_id FROM deliveries AS d
    WHERE d.sink = :sink AND d.due_at <= :now AND NOT EXISTS (
        SELECT 1 FROM deliveries AS earlier
        WHERE earlier.sink = d.sink AND earlier.task_id = d.task_id
            AND earlier.repository_id = d.repository_id
            AND earlier.pr_number = d.pr_number
            AND earlier.due_at IS NOT NULL AND earlier.position < d.position
    )
    ORDER BY d.position
    LIMIT :limit
)
UPDATE deliveries SET
    state = 'acquired', attempt = attempt + 1,
    due_at = :lease_until, lease_token = :lease_token
FROM free
WHERE deliveries.event_id = free.event_id AND deliveries.sink = :sink
RETURNING deliveries.event_id;

-- name: acquire (postgres)
-- The same, passing over what another worker is taking at this moment.
WITH free AS MATERIALIZED (
    SELECT d.event_id FROM deliveries AS d
    WHERE d.sink = :sink AND d.due_at <= :now AND NOT EXISTS (
        SELECT 1 FROM deliveries AS earlier
        WHERE earlier.sink = d.sink AND earlier.task_id = d.task_id
            AND earlier.repository_id = d.repository_id
            AND earlier.pr_number = d.pr_number
            AND earlier.due_at IS NOT NULL AND earlier.position < d.position
    )
    ORDER BY d.position
    LIMIT :limit
    FOR UPDATE SKIP LOCKED
)
UPDATE deliveries SET
    state = 'acquired', attempt = attempt + 1,
    due_at = :lease_until, lease_token = :lease_token
FROM free
WHERE deliveries.event_id = free.event_id AND deliveries.sink = :sink
RETURNING deliveries.event_id;

-- name: list_held
-- What is held under one lease, with the event, and whether the watch has moved on. Of a
-- watch that is gone, the task's pull request keeps the last head.
SELECT
    events.*, deliveries.sink, deliveries.attempt, deliveries.first_due_at,
    deliveries.lease_token,
    CASE
        WHEN events.is_terminal THEN 0
        WHEN coalesce(pr_watches.head_ref_oid, task_pull_requests.head_ref_oid)
            <> events.head_ref_oid THEN 1
        ELSE 0
    END AS is_superseded
FROM deliveries
JOIN events ON events.id = deliveries.event_id
LEFT JOIN pr_watches ON pr_watches.id = events.watch_id
    AND pr_watches.pr_number = events.pr_number
LEFT JOIN task_pull_requests ON task_pull_requests.task_id = events.task_id
    AND task_pull_requests.repository_id = events.repository_id
    AND task_pull_requests.pr_number = events.pr_number
WHERE deliveries.sink = :sink AND deliveries.lease_token = :lease_token
    AND deliveries.state = 'acquired'
    -- With that the rows are found by an index.
    AND deliveries.due_at IS NOT NULL
ORDER BY deliveries.position;

-- name: settle
-- Finish a delivery, if it still is held under that lease.
UPDATE deliveries SET
    state = :state, due_at = :due_at, lease_token = '', error = :error
WHERE event_id = :event_id AND sink = :sink
    AND state = 'acquired' AND lease_token = :lease_token;

-- name: release
-- Give back what was not sent; that attempt does not count.
UPDATE deliveries SET
    state = 'pending', due_at = first_due_at, lease_token = '', attempt = attempt - 1
WHERE sink = :sink AND state = 'acquired' AND lease_token = :lease_token
    AND due_at IS NOT NULL;

-- name: list_lease_tokens
-- Under which leases deliveries of a sink are held.
SELECT DISTINCT lease_token FROM deliveries
WHERE sink = :sink AND state = 'acquired' AND due_at IS NOT NULL;

-- name: next_due_at
-- When the first delivery that may leave is due.
SELECT min(d.due_at) AS due_at FROM deliveries AS d
WHERE d.sink = :sink AND d.due_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM deliveries AS earlier
    WHERE earlier.sink = d.sink AND earlier.task_id = d.task_id
        AND earlier.repository_id = d.repository_id
        AND earlier.pr_number = d.pr_number
        AND earlier.due_at IS NOT NULL AND earlier.position < d.position
);

-- name: has_due
-- Whether one may be taken now. It ends at the first: a long queue costs no more.
SELECT d.event_id FROM deliveries AS d
WHERE d.sink = :sink AND d.due_at <= :now AND NOT EXISTS (
    SELECT 1 FROM deliveries AS earlier
    WHERE earlier.sink = d.sink AND earlier.task_id = d.task_id
        AND earlier.repository_id = d.repository_id
        AND earlier.pr_number = d.pr_number
        AND earlier.due_at IS NOT NULL AND earlier.position < d.position
)
ORDER BY d.position
LIMIT 1;
