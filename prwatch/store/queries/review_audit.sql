-- What became of review tasks.

-- name: add_audit
-- One more entry; none when it is there.
INSERT INTO review_audit
    (
        id, workspace_id, review_watch_id, owner, name, pr_number, pr_node_id,
        external_id, action, reason, evidence, acted_at, acted_by, snapshot, undo_until
    )
VALUES
    (
        :id, :workspace_id, :review_watch_id, :owner, :name, :pr_number, :pr_node_id,
        :external_id, :action, :reason, :evidence, :acted_at, :acted_by, :snapshot,
        :undo_until
    )
ON CONFLICT (id) DO NOTHING;

-- name: list_audit_of_watch
-- The newest entries of one watch, newest first.
SELECT * FROM review_audit
WHERE workspace_id = :workspace_id AND review_watch_id = :review_watch_id
ORDER BY acted_at DESC, id DESC LIMIT :limit;

-- name: find_last_audit
-- The newest entry of a watch about a pull request.
SELECT * FROM review_audit
WHERE workspace_id = :workspace_id AND review_watch_id = :review_watch_id
    AND pr_node_id = :pr_node_id
ORDER BY acted_at DESC, id DESC LIMIT 1;

-- name: list_audit_of_task
-- The entries about a task of that name, or the one of that id, newest first.
SELECT * FROM review_audit
WHERE workspace_id = :workspace_id AND (external_id = :name OR id = :name)
ORDER BY acted_at DESC, id DESC;

-- name: prune
-- The oldest entries, but for what can be undone still, and the last word on a pull
-- request that was approved: it keeps that from being made again.
DELETE FROM review_audit WHERE id IN (
    SELECT entry.id FROM review_audit AS entry
    WHERE entry.acted_at < :before
        AND (entry.undo_until IS NULL OR entry.undo_until < :now)
        AND NOT (
            entry.action = 'deleted' AND entry.reason = 'pr_approved_by_user'
            AND EXISTS (
                SELECT 1 FROM review_watches
                WHERE review_watches.id = entry.review_watch_id
            )
            AND NOT EXISTS (
                SELECT 1 FROM review_audit AS later
                WHERE later.workspace_id = entry.workspace_id
                    AND later.review_watch_id = entry.review_watch_id
                    AND later.pr_node_id = entry.pr_node_id
                    AND (later.acted_at, later.id) > (entry.acted_at, entry.id)
            )
        )
    ORDER BY entry.acted_at LIMIT :limit
);

-- name: forget_snapshots
-- What restored the first of them is no longer needed.
UPDATE review_audit SET snapshot = '{}', undo_until = NULL
WHERE id IN (
    SELECT entry.id FROM review_audit AS entry
    WHERE entry.undo_until IS NOT NULL AND entry.undo_until < :now
    ORDER BY entry.id LIMIT :limit
);
