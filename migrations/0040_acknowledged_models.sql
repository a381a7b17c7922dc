-- What was acknowledged of a model, as JSON with `display_name` and `metadata`, so that a change can name the former figures. Null
-- where the model had changed before this column existed.
ALTER TABLE gateway_models ADD COLUMN acknowledged TEXT;

UPDATE gateway_models
SET acknowledged = json_object('display_name', display_name, 'metadata', json(metadata))
WHERE fingerprint = acknowledged_fingerprint;
