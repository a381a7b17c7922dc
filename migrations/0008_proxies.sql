-- Whose pending device logins count together: the counted address and its network, so that neither can take the place of all.
-- Logins from before, and those over a Unix socket without a proxy, have none.
ALTER TABLE device_logins ADD COLUMN counted_address TEXT;
ALTER TABLE device_logins ADD COLUMN counted_network TEXT;
CREATE INDEX device_logins_network ON device_logins (counted_network, expires_at_ms, counted_address)
  WHERE state = 'pending' AND counted_network IS NOT NULL;

-- The last peer that sent a forwarding header and is no trusted proxy: one row at most, for operators.
CREATE TABLE untrusted_proxy (
  id INTEGER PRIMARY KEY CONSTRAINT untrusted_proxy_one CHECK (id = 1),
  peer TEXT,
  header TEXT NOT NULL,
  seen_at_ms INTEGER NOT NULL
) STRICT;
