-- Texts that callers paste.

-- name: find_material
SELECT material_id FROM material
WHERE owner = :owner AND task = :task AND text_hash = :text_hash;

-- name: use_material
UPDATE material SET used_at = :now WHERE material_id = :material_id;

-- name: material_pieces
SELECT ordinal, text, CASE WHEN model = CAST(:model AS text) THEN vector END AS vector FROM material_piece
WHERE material_id = :material_id ORDER BY ordinal;

-- name: add_material
-- Returns nothing when another call has kept the same text meanwhile.
INSERT INTO material (owner, task, text_hash, bytes, used_at)
VALUES (:owner, :task, :text_hash, :bytes, :now)
ON CONFLICT DO NOTHING
RETURNING material_id;

-- name: add_material_piece
INSERT INTO material_piece (material_id, ordinal, text) VALUES (:material_id, :ordinal, :text);

-- name: drop_unused_materials
-- Those used last stay, as many as fit; the newest stays even when it alone is too large.
DELETE FROM material WHERE material_id IN (
    SELECT material_id FROM (
        SELECT
            material_id,
            sum(bytes) OVER (ORDER BY used_at DESC, material_id DESC) AS bytes_so_far,
            row_number() OVER (ORDER BY used_at DESC, material_id DESC) AS place
        FROM material WHERE owner = :owner
    ) AS counted
    WHERE bytes_so_far > :max_bytes AND place > 1
);

-- name: put_material_vector
UPDATE material_piece SET model = :model, vector = :vector
WHERE material_id = :material_id AND ordinal = :ordinal;
