-- How far the revision in force had arrived, over time: counts of workstations only.
CREATE TABLE rollout_samples (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  revision_id TEXT NOT NULL,
  sampled_at_ms INTEGER NOT NULL,
  current INTEGER NOT NULL,
  outdated INTEGER NOT NULL,
  attention INTEGER NOT NULL,
  PRIMARY KEY (organization_id, revision_id, sampled_at_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX rollout_samples_sampled ON rollout_samples (sampled_at_ms);
