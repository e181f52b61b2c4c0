-- The permission mode that the user chose for the session, in the words of the
-- caller; empty where the configuration decides.
ALTER TABLE session ADD COLUMN mode TEXT NOT NULL DEFAULT '';
-- When it was last worked in without a turn that began or ended: one was undone, a
-- job changed, a mode was chosen.
ALTER TABLE session ADD COLUMN touched INTEGER NOT NULL DEFAULT 0;
