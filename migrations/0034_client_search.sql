-- Candidates of a text search over workstations: which three characters in a row a host name or an instance id has, in any case. The
-- index keeps neither texts nor positions, so whoever searches compares the texts of each candidate. Reports that keep their host
-- name write nothing here.
CREATE TABLE client_search_entries (
  number INTEGER PRIMARY KEY,
  client_id TEXT NOT NULL UNIQUE
) STRICT;
CREATE VIRTUAL TABLE client_search
  USING fts5 (text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram');
INSERT INTO client_search_entries (client_id) SELECT id FROM client_reports;
INSERT INTO client_search (rowid, text)
SELECT e.number, coalesce(r.hostname, '') || char(10) || r.instance_id
FROM client_search_entries e JOIN client_reports r ON r.id = e.client_id;
CREATE TRIGGER client_reports_listed AFTER INSERT ON client_reports BEGIN
  INSERT INTO client_search_entries (client_id) VALUES (NEW.id);
  INSERT INTO client_search (rowid, text)
  SELECT number, coalesce(NEW.hostname, '') || char(10) || NEW.instance_id
  FROM client_search_entries WHERE client_id = NEW.id;
END;
CREATE TRIGGER client_reports_renamed AFTER UPDATE OF hostname, instance_id ON client_reports
WHEN NEW.hostname IS NOT OLD.hostname OR NEW.instance_id <> OLD.instance_id
BEGIN
  DELETE FROM client_search WHERE rowid = (SELECT number FROM client_search_entries WHERE client_id = OLD.id);
  INSERT INTO client_search (rowid, text)
  SELECT number, coalesce(NEW.hostname, '') || char(10) || NEW.instance_id
  FROM client_search_entries WHERE client_id = NEW.id;
END;
CREATE TRIGGER client_reports_unlisted AFTER DELETE ON client_reports BEGIN
  DELETE FROM client_search WHERE rowid = (SELECT number FROM client_search_entries WHERE client_id = OLD.id);
  DELETE FROM client_search_entries WHERE client_id = OLD.id;
END;
