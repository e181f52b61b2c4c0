-- What a session is: '' for a user's and for a fork, else what it works as for
-- its parent.
ALTER TABLE session ADD COLUMN kind TEXT NOT NULL DEFAULT '';
CREATE INDEX session_parent ON session (parent);

CREATE TABLE job (
	num      INTEGER PRIMARY KEY,
	id       TEXT    NOT NULL UNIQUE,
	parent   INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
	session  TEXT    NOT NULL,
	agent    TEXT    NOT NULL,
	title    TEXT    NOT NULL,
	state    TEXT    NOT NULL,
	owner    TEXT    NOT NULL,
	started  INTEGER NOT NULL,
	ended    INTEGER NOT NULL,
	report   TEXT    NOT NULL,
	reported INTEGER NOT NULL
) STRICT;
CREATE INDEX job_parent ON job (parent);
CREATE INDEX job_running ON job (owner) WHERE state = 'running';
