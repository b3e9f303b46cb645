-- Questions to users and directives from them. Every statement names the owner.

-- name: add_question
INSERT INTO question (
    question_id, owner, text, state, user_name, agent, key_hint, asked_at, expires_at
) VALUES (
    %(question_id)s, %(owner)s, %(text)s, %(state)s, %(user)s, %(agent)s, %(key_hint)s, %(asked_at)s, %(expires_at)s
);

-- name: get_question
SELECT * FROM question WHERE question_id = %(question_id)s AND owner = %(owner)s;

-- name: expire_questions
UPDATE question SET state = 'expired'
WHERE owner = %(owner)s AND state = 'pending' AND expires_at <= %(now)s;

-- name: has_overdue_questions
SELECT EXISTS (
    SELECT 1 FROM question WHERE owner = %(owner)s AND state = 'pending' AND expires_at <= %(now)s
) AS found;

-- name: list_open_questions
SELECT * FROM question WHERE owner = %(owner)s AND state = 'pending' ORDER BY number LIMIT %(limit)s;

-- name: list_closed_questions
SELECT * FROM question WHERE owner = %(owner)s AND state <> 'pending'
ORDER BY number DESC LIMIT %(limit)s;

-- name: answer_question
-- The time of an open question may be over without anyone having noted it: the server was down.
UPDATE question SET
    state = CASE
        WHEN state <> 'pending' THEN state WHEN expires_at <= %(now)s THEN 'expired' ELSE 'answered'
    END,
    answer = %(answer)s,
    answered_at = %(now)s
WHERE question_id = %(question_id)s AND owner = %(owner)s AND answer IS NULL;

-- name: close_question
UPDATE question SET state = %(state)s
WHERE question_id = %(question_id)s AND owner = %(owner)s AND state = 'pending';

-- name: deliver_answer
UPDATE question SET delivered_at = %(now)s
WHERE question_id = %(question_id)s AND owner = %(owner)s
    AND answer IS NOT NULL AND delivered_at IS NULL;

-- name: has_late_answers
SELECT EXISTS (
    SELECT 1 FROM question
    WHERE owner = %(owner)s AND answer IS NOT NULL AND delivered_at IS NULL
        AND (state <> 'answered' OR answered_at < %(answered_before)s)
) AS found;

-- name: take_late_answers
UPDATE question SET delivered_at = %(now)s
WHERE number IN (
    SELECT number FROM question
    WHERE owner = %(owner)s AND answer IS NOT NULL AND delivered_at IS NULL
        AND (state <> 'answered' OR answered_at < %(answered_before)s)
    ORDER BY number LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
RETURNING *;

-- name: add_directive
INSERT INTO directive (
    directive_id, owner, content, task_id, state, user_name, key_hint, created_at
) VALUES (
    %(directive_id)s, %(owner)s, %(content)s, %(task_id)s, %(state)s, %(user)s, %(key_hint)s, %(created_at)s
);

-- name: list_waiting_directives
SELECT * FROM directive WHERE owner = %(owner)s AND state = 'pending'
ORDER BY number DESC LIMIT %(limit)s;

-- name: list_delivered_directives
SELECT * FROM directive WHERE owner = %(owner)s AND state = 'consumed'
ORDER BY consumed_at DESC, number DESC LIMIT %(limit)s;

-- name: take_directive
-- The number tells the order, not the time: two directives may have come in one microsecond.
UPDATE directive SET state = 'consumed', consumed_at = %(now)s
WHERE number = (
    SELECT number FROM directive
    WHERE owner = %(owner)s AND state = 'pending' AND (%(task_id)s::text IS NULL OR task_id = %(task_id)s)
    ORDER BY number DESC LIMIT 1
    -- One that another call is just taking is as good as taken.
    FOR UPDATE SKIP LOCKED
)
RETURNING *;

-- name: delete_directive
DELETE FROM directive WHERE directive_id = %(directive_id)s AND owner = %(owner)s;

-- name: delete_directives
DELETE FROM directive WHERE owner = %(owner)s;

-- name: people_revision
SELECT coalesce(max(revision), 0) AS revision FROM people_revision WHERE owner = %(owner)s;

-- name: bump_people_revision
INSERT INTO people_revision (owner, revision) VALUES (%(owner)s, 1)
ON CONFLICT (owner) DO UPDATE SET revision = people_revision.revision + 1;
