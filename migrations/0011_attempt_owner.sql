-- Who holds the lease of an attempt: the service, whose death the lock of the data directory proves, or a command beside it.
ALTER TABLE gateway_keys ADD COLUMN recovering_by TEXT CONSTRAINT gateway_keys_recovering_by CHECK (recovering_by IN ('service', 'command'));
