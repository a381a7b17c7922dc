-- Models that the gateway offers or offered, as its provisioner listed them. `metadata` is JSON. While a model is offered,
-- `unavailable_since_ms` is null, and it was last seen by the last refresh that succeeded.
CREATE TABLE gateway_models (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  display_name TEXT,
  metadata TEXT,
  fingerprint TEXT NOT NULL,
  acknowledged_fingerprint TEXT NOT NULL,
  first_seen_at_ms INTEGER NOT NULL,
  last_seen_at_ms INTEGER NOT NULL,
  unavailable_since_ms INTEGER,
  PRIMARY KEY (organization_id, id)
) STRICT;

-- How refreshing went, one row for each organization. `discovery_supported` is null until a provisioner answered.
CREATE TABLE gateway_model_sync (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  refreshed_at_ms INTEGER NOT NULL,
  succeeded_at_ms INTEGER,
  source_revision TEXT,
  problem TEXT,
  problem_at_ms INTEGER,
  discovery_supported INTEGER
) STRICT, WITHOUT ROWID;
