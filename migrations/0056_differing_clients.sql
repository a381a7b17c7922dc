-- The list of workstations that need attention read every report to find those few. This index has only them, with the columns of
-- all filters, in the order of time.
CREATE INDEX client_reports_differing ON client_reports (
  organization_id,
  last_seen_at_ms,
  id,
  user_id,
  instance_id,
  hostname,
  config_revision,
  client_version,
  platform,
  harness_names
) WHERE verdict = 'differs';
