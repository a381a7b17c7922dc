-- Candidates of a text search over users: which three characters in a row an address or a subject has, in any case. The index keeps
-- neither texts nor positions, so whoever searches compares the texts of each candidate. A job numbers and indexes new texts, so that
-- provisioning users costs little; a search looks at the users without a number, too.
ALTER TABLE users ADD COLUMN search_number INTEGER;
CREATE UNIQUE INDEX users_numbered ON users (search_number) WHERE search_number IS NOT NULL;
CREATE INDEX users_unnumbered ON users (id) WHERE search_number IS NULL;
CREATE VIRTUAL TABLE user_search
  USING fts5 (text, content = '', contentless_delete = 1, detail = none, tokenize = 'trigram');
CREATE VIRTUAL TABLE user_search_terms USING fts5vocab(user_search, 'row');
INSERT INTO user_search (user_search, rank) VALUES ('automerge', 0);
CREATE TRIGGER users_renamed AFTER UPDATE OF email_key, subject ON users
WHEN OLD.search_number IS NOT NULL AND (NEW.email_key <> OLD.email_key OR NEW.subject <> OLD.subject)
BEGIN
  DELETE FROM user_search WHERE rowid = OLD.search_number;
  UPDATE users SET search_number = NULL WHERE id = NEW.id;
END;
CREATE TRIGGER users_dropped AFTER DELETE ON users WHEN OLD.search_number IS NOT NULL BEGIN
  DELETE FROM user_search WHERE rowid = OLD.search_number;
END;
