-- How many workstations of each user have reported, so that a list of users without one reads no reports. Reports of a known
-- workstation write nothing here.
ALTER TABLE users ADD COLUMN workstations INTEGER NOT NULL DEFAULT 0;
UPDATE users SET workstations = (SELECT count(*) FROM client_reports WHERE user_id = users.id);
CREATE INDEX users_without_workstation ON users (
  organization_id,
  email_key,
  id,
  status,
  role,
  provisioning_source,
  subject
) WHERE workstations = 0;
CREATE TRIGGER client_reports_of_user_added AFTER INSERT ON client_reports BEGIN
  UPDATE users SET workstations = workstations + 1 WHERE id = NEW.user_id;
END;
CREATE TRIGGER client_reports_of_user_removed AFTER DELETE ON client_reports BEGIN
  UPDATE users SET workstations = workstations - 1 WHERE id = OLD.user_id;
END;
