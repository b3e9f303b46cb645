-- ── materials ────────────────────────────────────────────────────────────────

-- name: find_material
SELECT material_id FROM material
WHERE owner = :owner AND task = :task AND text_hash = :text_hash;

-- name: use_material
UPDATE material SET used_at = :now WHERE material_id = :material_id;

-- name: material_pieces
SELECT
    ordinal, text,
    CASE WHEN model = :model::text THEN vector::vector::real[] END AS vector
FROM material_piece
WHERE material_id = :material_id ORDER BY ordinal;

-- name: add_material
-- None comes back when another call has kept the same text meanwhile.
INSERT INTO material (owner, task, text_hash, bytes, used_at)
VALUES (:owner, :task, :text_hash, :bytes, :now)
ON CONFLICT (owner, task, text_hash) DO NOTHING
RETURNING material_id;

-- name: add_material_pieces
INSERT INTO material_piece (material_id, ordinal, text)
SELECT :material_id, given.place - 1, given.text
FROM unnest(:pieces::text[]) WITH ORDINALITY AS given (text, place);

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

-- name: put_material_vectors
-- The numbers of all vectors come one after the other.
UPDATE material_piece SET
    model = :model,
    vector = (:numbers::real[])[
        (given.place - 1) * :dimensions + 1 : given.place * :dimensions
    ]::halfvec
FROM unnest(:ordinals::integer[]) WITH ORDINALITY AS given (ordinal, place)
WHERE material_id = :material_id AND material_piece.ordinal = given.ordinal;
