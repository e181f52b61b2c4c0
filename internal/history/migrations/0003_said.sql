-- What servers said of themselves, in the words of the package profile.
CREATE TABLE said (
	endpoint INTEGER PRIMARY KEY REFERENCES endpoint ON DELETE CASCADE,
	text     TEXT NOT NULL
) STRICT;
