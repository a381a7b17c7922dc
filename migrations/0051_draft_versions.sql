-- A draft, or a package that is being added, begins above the version that a removed one had, so that no form that was made from the
-- removed one changes it.
CREATE TABLE policy_draft_versions (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
  removed INTEGER NOT NULL
) STRICT;
CREATE TRIGGER policy_drafts_removed AFTER DELETE ON policy_drafts BEGIN
  INSERT INTO policy_draft_versions (organization_id, removed) VALUES (OLD.organization_id, OLD.version)
  ON CONFLICT (organization_id) DO UPDATE SET removed = max(removed, excluded.removed);
END;
CREATE TRIGGER package_additions_removed AFTER DELETE ON package_additions BEGIN
  INSERT INTO policy_draft_versions (organization_id, removed) VALUES (OLD.organization_id, OLD.version)
  ON CONFLICT (organization_id) DO UPDATE SET removed = max(removed, excluded.removed);
END;
