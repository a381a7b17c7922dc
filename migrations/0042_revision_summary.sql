-- What a revision changed, in a few words, so that the history need not read documents. Null for revisions from before this column
-- existed.
ALTER TABLE governance_revisions ADD COLUMN summary TEXT;
