-- How many places of a draft differ from the revision that it began from, so that every page of the console can say it.
-- null for drafts that were last saved by an older version of the service
ALTER TABLE policy_drafts ADD COLUMN changes INTEGER;
