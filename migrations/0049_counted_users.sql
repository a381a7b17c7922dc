-- The status of provisioning counts these users without reading every row.
CREATE INDEX scim_users_suspended ON scim_users (organization_id) WHERE active = 0;
CREATE INDEX users_cannot_sign_in ON users (organization_id)
WHERE provisioning_source = 'scim' AND status = 'active' AND password_hash IS NULL;
