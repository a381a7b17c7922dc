-- What an access token cannot prove: whether its grant and its user are still active, and who the user is. One look-up reads it at
-- the first sight of each token. The access area owns the view, which shows no more of a user than this.
CREATE VIEW grant_holders AS
SELECT
  grants.id AS grant_id,
  grants.login_session_id,
  grants.revoked_at_ms,
  users.id AS user_id,
  users.organization_id,
  users.subject,
  users.role,
  users.status
FROM grants
JOIN users ON users.id = grants.user_id;
