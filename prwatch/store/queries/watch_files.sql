-- Folders of watch files, what their files said last, and circuits that are open.

-- name: list_folders
-- The folders of a workspace, by place.
SELECT id, workspace_id, repository, branch, path, tag, fingerprint, changed_at
FROM watch_folders WHERE workspace_id = :workspace_id
ORDER BY repository, branch, path;

-- name: add_folder
-- A folder that is followed from now on; a known one stays untouched.
INSERT INTO watch_folders
    (id, workspace_id, repository, branch, path, tag, fingerprint, changed_at)
VALUES
    (:id, :workspace_id, :repository, :branch, :path, :tag, :fingerprint, :changed_at)
ON CONFLICT (workspace_id, repository, branch, path) DO NOTHING;

-- name: put_folder_reading
-- What vouches for its list of files, and when one last changed; unless it moved on.
UPDATE watch_folders
SET tag = :tag, fingerprint = :fingerprint, changed_at = :changed_at
WHERE id = :id
    AND tag = :old_tag
    AND fingerprint = :old_fingerprint
    AND changed_at IS NOT DISTINCT FROM :old_changed_at;

-- name: has_any
-- Whether a workspace has folders, or what a watch file declared.
SELECT
    EXISTS (SELECT 1 FROM watch_folders WHERE workspace_id = :workspace_id)
    OR EXISTS (
        SELECT 1 FROM tasks
        WHERE workspace_id = :workspace_id
            AND origin = 'watch_file' AND archived_at IS NULL
    )
    OR EXISTS (
        SELECT 1 FROM repository_watches
        WHERE workspace_id = :workspace_id AND origin = 'watch_file'
    )
    OR EXISTS (
        SELECT 1 FROM review_watches
        WHERE workspace_id = :workspace_id AND origin = 'watch_file'
    ) AS found;

-- name: remove_folder
-- A folder that is followed no more.
DELETE FROM watch_folders WHERE id = :id;

-- name: list_files
-- The files of a folder, by name.
SELECT name, blob, declared, problems, changed_at
FROM watch_files WHERE folder_id = :folder_id ORDER BY name;

-- name: put_file
-- What a file said last; an equal row stays untouched.
INSERT INTO watch_files (folder_id, name, blob, declared, problems, changed_at)
VALUES (:folder_id, :name, :blob, :declared, :problems, :changed_at)
ON CONFLICT (folder_id, name) DO UPDATE SET
    blob = excluded.blob,
    declared = excluded.declared,
    problems = excluded.problems,
    changed_at = excluded.changed_at
WHERE (
    watch_files.blob, watch_files.declared, watch_files.problems, watch_files.changed_at
) IS DISTINCT FROM (
    excluded.blob, excluded.declared, excluded.problems, excluded.changed_at
);

-- name: remove_file
-- A file that is there no more.
DELETE FROM watch_files WHERE folder_id = :folder_id AND name = :name;

-- name: remove_files
-- All files of a folder.
DELETE FROM watch_files WHERE folder_id = :folder_id;

-- name: find_circuit
-- The circuit of a folder, if it is not closed.
SELECT fingerprint, failure_class, code, message, failures, opened_at, open_until
FROM watch_folder_circuits WHERE folder_id = :folder_id;

-- name: put_circuit
-- A circuit opens, or stays open for longer.
INSERT INTO watch_folder_circuits
    (
        folder_id, fingerprint, failure_class, code, message, failures, opened_at,
        open_until
    )
VALUES
    (
        :folder_id, :fingerprint, :failure_class, :code, :message, :failures,
        :opened_at, :open_until
    )
ON CONFLICT (folder_id) DO UPDATE SET
    fingerprint = excluded.fingerprint,
    failure_class = excluded.failure_class,
    code = excluded.code,
    message = excluded.message,
    failures = excluded.failures,
    opened_at = excluded.opened_at,
    open_until = excluded.open_until;

-- name: remove_circuit
-- A circuit closes.
DELETE FROM watch_folder_circuits WHERE folder_id = :folder_id;
