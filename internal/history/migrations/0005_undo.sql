-- 0 for a turn of the conversation; n for one that the n-th undo took out; -n
-- for the bare row of such a turn in a fork, kept for its receipts.
ALTER TABLE turn ADD COLUMN undone INTEGER NOT NULL DEFAULT 0;
-- In US dollars; NULL is not known.
ALTER TABLE turn ADD COLUMN cost REAL;

-- upto is the seq of the last turn that the text stands for.
CREATE TABLE summary (
	num     INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
	upto    INTEGER NOT NULL,
	turns   INTEGER NOT NULL,
	text    TEXT    NOT NULL,
	model   TEXT    NOT NULL,
	created INTEGER NOT NULL
) STRICT;
CREATE INDEX summary_session ON summary (session);

CREATE TABLE detached (
	session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
	handle  TEXT    NOT NULL,
	PRIMARY KEY (session, handle)
) STRICT, WITHOUT ROWID;

-- Files as turns found and left them. A digest is empty where there was no
-- file; noted is 0 as long as nobody has said what the turn left.
CREATE TABLE checkpoint (
	turn       INTEGER NOT NULL REFERENCES turn ON DELETE CASCADE,
	n          INTEGER NOT NULL,
	path       TEXT    NOT NULL,
	target     TEXT    NOT NULL,
	before     BLOB    NOT NULL,
	mode       INTEGER NOT NULL,
	size       INTEGER NOT NULL,
	noted      INTEGER NOT NULL DEFAULT 0,
	after      BLOB    NOT NULL DEFAULT x'',
	after_mode INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (turn, n)
) STRICT, WITHOUT ROWID;
