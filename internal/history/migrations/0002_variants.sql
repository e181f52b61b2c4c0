-- A cache of what was cut from originals. Its blobs are no references: what is
-- lost is cut again.
CREATE TABLE variant (
	original BLOB    NOT NULL,
	bounds   TEXT    NOT NULL,
	digest   BLOB    NOT NULL,
	mime     TEXT    NOT NULL,
	size     INTEGER NOT NULL,
	width    INTEGER NOT NULL,
	height   INTEGER NOT NULL,
	at       INTEGER NOT NULL,
	PRIMARY KEY (original, bounds)
) STRICT, WITHOUT ROWID;
CREATE INDEX variant_at ON variant (at);

-- When a limit was learned. Those of before have run out and are learned anew.
ALTER TABLE learned ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
