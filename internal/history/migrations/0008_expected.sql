-- What a turn is about to leave of a file, noted before it writes; NULL where that
-- is not known, empty for no file.
ALTER TABLE checkpoint ADD COLUMN expected BLOB;
