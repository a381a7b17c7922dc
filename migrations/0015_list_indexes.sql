-- Indexes for lists and counts over many rows. An index that holds what a list orders and filters by keeps SQLite from reading every
-- row of the table.
DROP INDEX users_any_email;
CREATE INDEX users_list ON users (organization_id, email_key, id, status, role, provisioning_source, subject);
CREATE INDEX users_administrators ON users (organization_id, status, id) WHERE role = 'admin';

DROP INDEX invitations_created;
CREATE INDEX invitations_list ON invitations (organization_id, created_at_ms, id, status, role, email_key);
CREATE INDEX invitations_inviter ON invitations (organization_id, inviter_id) WHERE status = 'pending';

-- The table is clustered by user_id, so the index ends with it.
CREATE INDEX gateway_keys_email ON gateway_keys (organization_id, email);
CREATE INDEX gateway_keys_problem ON gateway_keys (problem_code, problem) WHERE problem IS NOT NULL;
