-- ── materials ────────────────────────────────────────────────────────────────

-- name: find_material
SELECT material_id FROM material
WHERE owner = %(owner)s AND task = %(task)s AND text_hash = %(text_hash)s;

-- name: use_material
UPDATE material SET used_at = %(now)s WHERE material_id = %(material_id)s;

-- name: material_pieces
SELECT
    ordinal, text,
    CASE WHEN model = %(model)s::text THEN vector::vector::real[] END AS vector
FROM material_piece
WHERE material_id = %(material_id)s ORDER BY ordinal;

-- name: add_material
-- None comes back when another call has kept the same text meanwhile.
INSERT INTO material (owner, task, text_hash, bytes, used_at)
VALUES (%(owner)s, %(task)s, %(text_hash)s, %(bytes)s, %(now)s)
ON CONFLICT (owner, task, text_hash) DO NOTHING
RETURNING material_id;

-- name: add_material_pieces
INSERT INTO material_piece (material_id, ordinal, text)
SELECT %(material_id)s, given.place - 1, given.text
FROM unnest(%(pieces)s::text[]) WITH ORDINALITY AS given (text, place);

-- name: drop_unused_materials
-- Those used last stay, as many as fit; the newest stays even when it alone is too large.
DELETE FROM material WHERE material_id IN (
    SELECT material_id FROM (
        SELECT
            material_id,
            sum(bytes) OVER (ORDER BY used_at DESC, material_id DESC) AS bytes_so_far,
            row_number() OVER (ORDER BY used_at DESC, material_id DESC) AS place
        FROM material WHERE owner = %(owner)s
    ) AS counted
    WHERE bytes_so_far > %(max_bytes)s AND place > 1
);

-- name: put_material_vectors
-- The numbers of all vectors come one after the other.
UPDATE material_piece SET
    model = %(model)s,
    vector = (%(numbers)s::real[])[
        (given.place - 1) * %(dimensions)s + 1 : given.place * %(dimensions)s
    ]::halfvec
FROM unnest(%(ordinals)s::integer[]) WITH ORDINALITY AS given (ordinal, place)
WHERE material_id = %(material_id)s AND material_piece.ordinal = given.ordinal;
