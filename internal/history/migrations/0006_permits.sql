-- What users allowed for good, by project folder, in the words of the caller.
CREATE TABLE permit (
	folder  TEXT    NOT NULL,
	rule    TEXT    NOT NULL,
	created INTEGER NOT NULL,
	PRIMARY KEY (folder, rule)
) STRICT, WITHOUT ROWID;

-- A cache of what models said about pictures, by the SHA-256 of the question.
-- The blobs are no references.
CREATE TABLE description (
	picture  BLOB    NOT NULL,
	hash     BLOB    NOT NULL,
	question TEXT    NOT NULL,
	model    TEXT    NOT NULL,
	text     TEXT    NOT NULL,
	at       INTEGER NOT NULL,
	PRIMARY KEY (picture, hash)
) STRICT;
CREATE INDEX description_at ON description (at);
