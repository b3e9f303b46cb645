-- The schema that holds everything of one library. Words in braces are names, spelt out by psycopg.

-- name: lock_schema
SELECT pg_advisory_lock(:lock);

-- name: library_state
SELECT
    current_database() AS database,
    EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = :schema) AS has_schema,
    to_regclass(format('%I.migration', :schema::text)) IS NOT NULL AS has_library;

-- name: find_old_library
-- Before libraries had a schema of their own they were in the first one of the search path.
SELECT nspname AS schema FROM pg_namespace
WHERE nspname = ANY (current_schemas(FALSE)) AND nspname <> :schema
    AND to_regclass(format('%I.migration', nspname)) IS NOT NULL
    AND to_regclass(format('%I.page', nspname)) IS NOT NULL
    AND to_regclass(format('%I.chunk_words', nspname)) IS NOT NULL
    AND to_regclass(format('%I.embedding_model', nspname)) IS NOT NULL
ORDER BY array_position(current_schemas(FALSE), nspname)
LIMIT 1;

-- name: other_tables
-- What extensions brought along does not count.
SELECT format('%I.%I', nspname, relname) AS name
FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
    AND nspname <> 'information_schema' AND NOT starts_with(nspname, 'pg_')
    AND NOT (nspname = :old_schema::text AND relname = ANY (:own_tables)) IS TRUE
    AND NOT EXISTS (
        SELECT 1 FROM pg_depend
        WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e'
    )
ORDER BY 1;

-- name: make_schema
CREATE SCHEMA IF NOT EXISTS {schema};

-- name: tables_to_move
SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE relkind = 'r' AND nspname = :old_schema AND relname = ANY (:own_tables);

-- name: functions_to_move
SELECT proname AS name
FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
WHERE nspname = :old_schema AND proname = ANY (:own_functions);

-- name: statistics_to_move
SELECT stxname AS name FROM pg_statistic_ext JOIN pg_namespace ON pg_namespace.oid = stxnamespace
WHERE nspname = :old_schema AND stxname = ANY (:own_statistics);

-- name: move_table
ALTER TABLE {old}.{name} SET SCHEMA {schema};

-- name: move_function
ALTER FUNCTION {old}.{name} SET SCHEMA {schema};

-- name: move_statistics
ALTER STATISTICS {old}.{name} SET SCHEMA {schema};

-- name: search_path
-- The extension may be in a schema of its own; without it there is none yet.
SELECT concat_ws(
    ', ', quote_ident(:schema),
    (
        SELECT quote_ident(nspname) FROM pg_extension
        JOIN pg_namespace ON pg_namespace.oid = extnamespace
        WHERE extname = 'vector' AND nspname <> :schema
    )
) AS search_path;

-- name: use_search_path
SELECT set_config('search_path', :search_path, FALSE);

-- name: make_migration_table
CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL);

-- name: applied_version
SELECT coalesce(max(version), 0) AS version FROM migration;

-- name: note_migration
INSERT INTO migration (version, name) VALUES (:version, :name);
