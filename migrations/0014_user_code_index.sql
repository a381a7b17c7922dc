-- The index of user codes holds the beginning of each hash. Hashes fall on pages at random, and every page that a commit touches
-- is written: of an index a fifth as large, that is less. 48 bits tell the logins apart; a new login whose beginning is taken
-- draws another code.
DROP INDEX device_logins_user_code;
CREATE UNIQUE INDEX device_logins_user_code ON device_logins (substr(user_code_hash, 1, 12));
