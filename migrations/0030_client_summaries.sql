-- Lists of workstations that never read a reported inventory: what they show of it is counted when a report is judged. NULL in rows
-- that were judged before this schema; the job client-verdicts judges them again.
ALTER TABLE client_reports ADD COLUMN harnesses_wanted INTEGER;
ALTER TABLE client_reports ADD COLUMN harnesses_reconciled INTEGER;
ALTER TABLE client_reports ADD COLUMN packages_reported INTEGER;
ALTER TABLE client_reports ADD COLUMN packages_applied INTEGER;
ALTER TABLE client_reports ADD COLUMN harness_versions TEXT;
-- The keys of other orders are derived, so that no report writes them.
ALTER TABLE client_reports ADD COLUMN host_key TEXT GENERATED ALWAYS AS (lower(coalesce(hostname, ''))) VIRTUAL;
-- The three numbers of a version, then releases behind their prereleases.
ALTER TABLE client_reports ADD COLUMN version_key TEXT GENERATED ALWAYS AS (
  format(
    '%010d.%010d.%010d.%d.%s',
    client_version,
    substr(client_version, instr(client_version, '.') + 1),
    substr(
      substr(client_version, instr(client_version, '.') + 1),
      instr(substr(client_version, instr(client_version, '.') + 1), '.') + 1
    ),
    instr(client_version, '-') = 0,
    client_version
  )
) VIRTUAL;
CREATE INDEX client_reports_host ON client_reports (organization_id, host_key, id);
CREATE INDEX client_reports_version ON client_reports (organization_id, version_key, id);

DROP INDEX client_reports_seen;
CREATE INDEX client_reports_seen ON client_reports (
  organization_id,
  last_seen_at_ms,
  id,
  user_id,
  instance_id,
  hostname,
  verdict,
  config_revision,
  client_version,
  platform,
  harness_names,
  harness_versions
);
