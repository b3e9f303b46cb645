-- Questions to users and directives from them. Every statement names the owner.

-- name: add_question
INSERT INTO question (
    question_id, owner, text, replies, state, user_name, agent, key_hint, asker, asked_at, expires_at
) VALUES (
    :question_id, :owner, :text, :replies, :state, :user, :agent, :key_hint, :asker, :asked_at,
    :expires_at
);

-- name: take_up_question
-- The newest of these words that is open, or whose answer nobody was given.
UPDATE question SET
    asker = :asker,
    replies = :replies,
    expires_at = CASE WHEN state = 'pending' THEN :expires_at ELSE expires_at END
WHERE number = (
    SELECT max(number) FROM question
    WHERE owner = :owner AND text = :text AND delivered_at IS NULL
        AND (answer IS NOT NULL OR (state = 'pending' AND expires_at > :now))
)
RETURNING *;

-- name: get_question
SELECT * FROM question WHERE question_id = :question_id AND owner = :owner;

-- name: expire_questions
UPDATE question SET state = 'expired'
WHERE owner = :owner AND state = 'pending' AND expires_at <= :now;

-- name: has_overdue_questions
SELECT EXISTS (
    SELECT 1 FROM question WHERE owner = :owner AND state = 'pending' AND expires_at <= :now
) AS is_any;

-- name: list_open_questions
SELECT * FROM question WHERE owner = :owner AND state = 'pending' ORDER BY number LIMIT :limit;

-- name: list_closed_questions
SELECT * FROM question WHERE owner = :owner AND state <> 'pending'
ORDER BY number DESC LIMIT :limit;

-- name: search_closed_questions
SELECT * FROM question
WHERE owner = :owner AND state <> 'pending'
    -- sqlite: AND instr(lower(text || ' ' || coalesce(answer, '') || ' ' || coalesce(agent, '')), :matching) > 0
    -- postgres: AND strpos(lower(text || ' ' || coalesce(answer, '') || ' ' || coalesce(agent, '')), :matching) > 0
    AND (
        CAST(:before AS text) IS NULL
        OR number < (SELECT number FROM question WHERE question_id = :before AND owner = :owner)
    )
ORDER BY number DESC LIMIT :limit;

-- name: answer_question
-- The time of an open question may be over without anyone having noted it: the server was down.
UPDATE question SET
    state = CASE
        WHEN state <> 'pending' THEN state WHEN expires_at <= :now THEN 'expired' ELSE 'answered'
    END,
    answer = :answer,
    answered_at = :now
WHERE question_id = :question_id AND owner = :owner AND answer IS NULL;

-- name: close_question
UPDATE question SET state = :state
WHERE question_id = :question_id AND owner = :owner AND state = 'pending';

-- name: deliver_answer
UPDATE question SET delivered_at = :now
WHERE question_id = :question_id AND owner = :owner
    AND answer IS NOT NULL AND delivered_at IS NULL;

-- name: has_late_answers
SELECT EXISTS (
    SELECT 1 FROM question
    WHERE owner = :owner AND answer IS NOT NULL AND delivered_at IS NULL
        AND (asker = '' OR asker = :asker)
        AND (state <> 'answered' OR answered_at < :answered_before)
) AS is_any;

-- name: take_late_answers
UPDATE question SET delivered_at = :now
WHERE number IN (
    SELECT number FROM question
    WHERE owner = :owner AND answer IS NOT NULL AND delivered_at IS NULL
        AND (asker = '' OR asker = :asker)
        AND (state <> 'answered' OR answered_at < :answered_before)
    ORDER BY number LIMIT :limit
    -- postgres: FOR UPDATE SKIP LOCKED
)
RETURNING *;

-- name: add_directive
-- It comes before all that wait.
INSERT INTO directive (
    directive_id, owner, content, task_id, state, user_name, key_hint, created_at, consumed_at,
    position
) VALUES (
    :directive_id, :owner, :content, :task_id, :state, :user, :key_hint, :created_at, :consumed_at,
    (SELECT coalesce(max(position), 0) + 1 FROM directive WHERE owner = :owner)
);

-- name: edit_directive
UPDATE directive SET content = :content, task_id = :task_id
WHERE directive_id = :directive_id AND owner = :owner AND state = 'pending';

-- name: place_directive
UPDATE directive SET position = :position
WHERE directive_id = :directive_id AND owner = :owner AND state = 'pending';

-- name: list_waiting_directives
-- The number decides between two that came in the same moment and have one position.
SELECT * FROM directive WHERE owner = :owner AND state = 'pending'
ORDER BY position DESC, number DESC LIMIT :limit;

-- name: list_delivered_directives
SELECT * FROM directive WHERE owner = :owner AND state = 'consumed'
ORDER BY consumed_at DESC, number DESC LIMIT :limit;

-- name: take_directive
-- One that another call is just taking is as good as taken.
UPDATE directive SET state = 'consumed', consumed_at = :now
WHERE number = (
    SELECT number FROM directive
    WHERE owner = :owner AND state = 'pending'
        AND (CAST(:task_id AS text) IS NULL OR task_id = :task_id)
    ORDER BY position DESC, number DESC LIMIT 1
    -- postgres: FOR UPDATE SKIP LOCKED
)
RETURNING *;

-- name: delete_directive
DELETE FROM directive WHERE directive_id = :directive_id AND owner = :owner;

-- name: delete_directives
DELETE FROM directive WHERE owner = :owner;

-- name: add_directive_template
INSERT INTO directive_template (owner, content, task_id)
SELECT :owner, :content, :task_id
WHERE NOT EXISTS (
    SELECT 1 FROM directive_template
    WHERE owner = :owner AND content = :content AND task_id = :task_id
);

-- name: list_directive_templates
SELECT * FROM directive_template WHERE owner = :owner ORDER BY number DESC LIMIT :limit;

-- name: delete_directive_template
DELETE FROM directive_template WHERE number = :number AND owner = :owner;

-- name: people_revision
SELECT coalesce(max(revision), 0) AS revision FROM people_revision WHERE owner = :owner;

-- name: bump_people_revision
INSERT INTO people_revision (owner, revision) VALUES (:owner, 1)
ON CONFLICT (owner) DO UPDATE SET revision = people_revision.revision + 1;
