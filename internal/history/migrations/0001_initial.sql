CREATE TABLE session (
	num        INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	parent     TEXT    NOT NULL,
	title      TEXT    NOT NULL,
	cwd        TEXT    NOT NULL,
	agent      TEXT    NOT NULL,
	dirs       TEXT    NOT NULL,
	created    INTEGER NOT NULL,
	updated    INTEGER NOT NULL,
	generation INTEGER NOT NULL,
	requests   INTEGER NOT NULL DEFAULT 0,
	turns      INTEGER NOT NULL DEFAULT 0,
	pictures   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_updated ON session (updated, id);
CREATE INDEX session_cwd ON session (cwd, updated, id);

CREATE TABLE turn (
	num     INTEGER PRIMARY KEY,
	session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
	seq     INTEGER NOT NULL,
	id      TEXT    NOT NULL,
	created INTEGER NOT NULL,
	stop    TEXT    NOT NULL DEFAULT '',
	usage   TEXT    NOT NULL DEFAULT '',
	request INTEGER NOT NULL DEFAULT 0,
	UNIQUE (session, seq),
	UNIQUE (session, id)
) STRICT;

CREATE TABLE message (
	num   INTEGER PRIMARY KEY,
	turn  INTEGER NOT NULL REFERENCES turn ON DELETE CASCADE,
	seq   INTEGER NOT NULL,
	role  TEXT    NOT NULL,
	parts TEXT    NOT NULL,
	UNIQUE (turn, seq)
) STRICT;

CREATE TABLE envelope (
	message  INTEGER NOT NULL REFERENCES message ON DELETE CASCADE,
	part     INTEGER NOT NULL,
	json     BLOB    NOT NULL,
	hole     INTEGER NOT NULL,
	payload  BLOB    NOT NULL,
	spelling INTEGER NOT NULL,
	PRIMARY KEY (message, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE draft (
	turn INTEGER PRIMARY KEY REFERENCES turn ON DELETE CASCADE,
	body TEXT    NOT NULL
) STRICT;

CREATE TABLE counter (
	session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
	kind    TEXT    NOT NULL,
	last    INTEGER NOT NULL,
	PRIMARY KEY (session, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE blob_ref (
	session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
	digest  BLOB    NOT NULL,
	PRIMARY KEY (session, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE endpoint (
	num  INTEGER PRIMARY KEY,
	name TEXT    NOT NULL UNIQUE
) STRICT;

CREATE TABLE lane (
	num        INTEGER PRIMARY KEY,
	session    INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
	endpoint   INTEGER NOT NULL,
	generation INTEGER NOT NULL,
	UNIQUE (session, endpoint, generation)
) STRICT;

CREATE TABLE ledger (
	lane   INTEGER NOT NULL REFERENCES lane ON DELETE CASCADE,
	handle TEXT    NOT NULL,
	entry  TEXT    NOT NULL,
	PRIMARY KEY (lane, handle)
) STRICT, WITHOUT ROWID;

-- turn has no foreign key: without an index on it every removed turn would
-- read the whole table. Receipts go with their session.
CREATE TABLE receipt (
	session    INTEGER NOT NULL REFERENCES session ON DELETE CASCADE,
	handle     TEXT    NOT NULL,
	request    INTEGER NOT NULL,
	attempt    INTEGER NOT NULL,
	pos        INTEGER NOT NULL,
	turn       INTEGER NOT NULL,
	generation INTEGER NOT NULL,
	route      TEXT    NOT NULL,
	body       TEXT    NOT NULL,
	PRIMARY KEY (session, handle, request, attempt, pos)
) STRICT, WITHOUT ROWID;

CREATE TABLE verdict (
	endpoint INTEGER NOT NULL,
	digest   BLOB    NOT NULL,
	mime     TEXT    NOT NULL,
	accepted INTEGER NOT NULL,
	reason   TEXT    NOT NULL,
	until    INTEGER NOT NULL,
	created  INTEGER NOT NULL,
	PRIMARY KEY (endpoint, digest, mime)
) STRICT, WITHOUT ROWID;

CREATE TABLE evidence (
	endpoint INTEGER NOT NULL,
	kind     TEXT    NOT NULL,
	source   TEXT    NOT NULL,
	answer   TEXT    NOT NULL,
	detail   TEXT    NOT NULL,
	at       INTEGER NOT NULL,
	PRIMARY KEY (endpoint, kind, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE learned (
	endpoint INTEGER NOT NULL,
	name     TEXT    NOT NULL,
	value    INTEGER NOT NULL,
	PRIMARY KEY (endpoint, name)
) STRICT, WITHOUT ROWID;
