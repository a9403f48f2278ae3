-- The record of what was said, and what became of it at each sink.

-- name: list_events
-- In the order of their positions, after one of them. '' and 0 leave a filter out.
SELECT * FROM events
WHERE position > :after_position
    AND (workspace_id = :workspace_id OR CAST(:workspace_id AS TEXT) = '')
    AND (task_id = :task_id OR CAST(:task_id AS TEXT) = '')
    AND (repository_id = :repository_id OR CAST(:repository_id AS TEXT) = '')
    AND (pr_number = :pr_number OR CAST(:pr_number AS BIGINT) = 0)
    AND (type = :type OR CAST(:type AS TEXT) = '')
ORDER BY position
LIMIT :limit;

-- name: list_newest_events
-- The newest of those, in the order of their positions.
SELECT * FROM (
    SELECT * FROM events
    WHERE position > :after_position
        AND (workspace_id = :workspace_id OR CAST(:workspace_id AS TEXT) = '')
        AND (task_id = :task_id OR CAST(:task_id AS TEXT) = '')
        AND (repository_id = :repository_id OR CAST(:repository_id AS TEXT) = '')
        AND (pr_number = :pr_number OR CAST(:pr_number AS BIGINT) = 0)
        AND (type = :type OR CAST(:type AS TEXT) = '')
    ORDER BY position DESC
    LIMIT :limit
) AS newest
ORDER BY position;

-- name: list_newest_of_pull_request
-- The newest of one type about one pull request, in the order of their positions.
SELECT * FROM (
    SELECT * FROM events
    WHERE repository_id = :repository_id AND pr_number = :pr_number AND type = :type
    ORDER BY position DESC
    LIMIT :limit
) AS newest
ORDER BY position;

-- name: get_event
-- One by id.
SELECT * FROM events WHERE id = :id;

-- name: list_deliveries
-- Where an event stands at each sink.
SELECT sink, state, attempt, first_due_at, due_at, error FROM deliveries
WHERE event_id = :event_id ORDER BY sink;

-- name: retry
-- From dead to pending, with a new time to give up, by hand.
UPDATE deliveries SET
    state = 'pending', attempt = 0, first_due_at = :now, due_at = :now, error = ''
WHERE event_id = :event_id AND state = 'dead'
    AND (sink = :sink OR CAST(:sink AS TEXT) = '');

-- name: retry_dead
-- The same for the oldest of all dead ones, up to a bound.
UPDATE deliveries SET
    state = 'pending', attempt = 0, first_due_at = :now, due_at = :now, error = ''
FROM (
    SELECT d.event_id, d.sink FROM deliveries AS d
    WHERE d.state = 'dead' AND (d.sink = :sink OR CAST(:sink AS TEXT) = '')
    ORDER BY d.position, d.sink
    LIMIT :limit
) AS dead
WHERE deliveries.event_id = dead.event_id AND deliveries.sink = dead.sink
    AND deliveries.state = 'dead';

-- name: count_deliveries
-- How many stand where.
SELECT sink, state, count(*) AS deliveries FROM deliveries
GROUP BY sink, state ORDER BY sink, state;

-- name: list_prunable
-- Events that nobody waits for any more. A dead delivery keeps its event longer. The
-- rows of a sink that is gone never settle, so at the later age all go.
SELECT events.id FROM events
WHERE events.time < :delivered_before AND (
    events.time < :dead_before OR NOT EXISTS (
        SELECT 1 FROM deliveries
        WHERE deliveries.event_id = events.id
            AND (deliveries.due_at IS NOT NULL OR deliveries.state = 'dead')
    )
)
ORDER BY events.time, events.id
LIMIT :limit;

-- name: remove_deliveries
-- Of an event that goes.
DELETE FROM deliveries WHERE event_id = :id;

-- name: remove_event
-- The event itself.
DELETE FROM events WHERE id = :id;

-- name: find_last_notice
-- What was last told about the watching itself, by its subject.
SELECT * FROM events
WHERE workspace_id = :workspace_id AND subject = :subject AND watch_id = ''
    AND task_id = ''
ORDER BY position DESC
LIMIT 1;

-- name: list_last_notices
-- The last one of each subject of a workspace.
SELECT e.* FROM events AS e
WHERE e.workspace_id = :workspace_id AND e.watch_id = '' AND e.task_id = ''
    AND NOT EXISTS (
        SELECT 1 FROM events AS later
        WHERE later.workspace_id = e.workspace_id AND later.subject = e.subject
            AND later.watch_id = '' AND later.task_id = ''
            AND later.position > e.position
    )
ORDER BY e.subject;
