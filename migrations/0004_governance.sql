-- Policy and client inventory. A revision is never changed; the newest is in force.

CREATE TABLE governance_revisions (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  document TEXT NOT NULL,
  audiences TEXT NOT NULL,
  origin TEXT NOT NULL CONSTRAINT governance_revisions_origin CHECK (origin IN ('bootstrap', 'deployment', 'dashboard', 'operator')),
  author_id TEXT,
  author_label TEXT NOT NULL,
  comment TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX governance_revisions_id ON governance_revisions (id);
CREATE INDEX governance_revisions_newest ON governance_revisions (organization_id, sequence);

-- What the deployment file said last, and where the dashboard said otherwise.
CREATE TABLE governance_deployments (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  baseline TEXT NOT NULL,
  conflicts TEXT NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT;

-- What each workstation reported last. All that lists filter, sort and count by is in one index, so that only the rows shown
-- are read.
CREATE TABLE client_reports (
  id TEXT NOT NULL PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  instance_id TEXT NOT NULL,
  login_session_id TEXT NOT NULL,
  grant_id TEXT,
  hostname TEXT,
  client_version TEXT NOT NULL,
  platform TEXT NOT NULL,
  architecture TEXT,
  config_revision TEXT,
  applied INTEGER NOT NULL,
  files_ok INTEGER NOT NULL,
  verdict TEXT NOT NULL CONSTRAINT client_reports_verdict CHECK (verdict IN ('matches', 'differs', 'unknown')),
  judged_by TEXT NOT NULL,
  harness_names TEXT NOT NULL,
  first_seen_at_ms INTEGER NOT NULL,
  last_seen_at_ms INTEGER NOT NULL,
  error TEXT,
  attempt TEXT,
  reasons TEXT NOT NULL,
  harnesses TEXT NOT NULL,
  packages TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX client_reports_instance ON client_reports (user_id, instance_id);
CREATE INDEX client_reports_seen ON client_reports (
  organization_id,
  last_seen_at_ms,
  id,
  user_id,
  instance_id,
  hostname,
  verdict,
  config_revision,
  harness_names
);
CREATE INDEX client_reports_judged ON client_reports (judged_by);
