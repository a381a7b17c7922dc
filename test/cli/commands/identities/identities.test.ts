// `identities` beyond the golden texts: lists of several pages, and the logins that end with a link.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createInstallation } from "../../../support/in-process.ts";
import { logInOn } from "../../../support/installed/installed-login.ts";

const ISSUER = "https://id.example.org";

test("SSO-33 lists every identity once, over several pages", async () => {
  using workspace = await createInstallation();
  using database = new Database(join(workspace.data, "quartermaster.db"));
  database.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
     INSERT INTO user_identities (user_id, issuer, subject, linked_by, linked_at_ms)
       SELECT 'user-' || (i / 2), 'https://id' || (i % 2) || '.example.org', 's-' || i, 'email', 0 FROM n`,
  );
  const { items, total } = await workspace.json("identities list");
  const subjects = new Set(Object.values(Object(items)).map((item) => Object(item).subject));
  expect({ total, subjects: subjects.size, rows: Object(items).length }).toEqual({
    total: 1001,
    subjects: 1001,
    rows: 1001,
  });
});

test("SSO-33 removing a link ends its logins, and a dry run ends none", async () => {
  using workspace = await createInstallation();
  await logInOn(workspace);
  const rest = `root@example.org --issuer ${ISSUER}`;
  await workspace.json(`identities create ${rest} --subject s --yes`);
  const live = async () => Object((await workspace.json("logins list --user root@example.org")).items).length;
  await workspace.json(`identities remove ${rest} --dry-run`);
  expect(await live()).toBe(2);
  await workspace.json(`identities remove ${rest} --yes`);
  expect(await live()).toBe(0);
});

test("SSO-44 a move lists the users who are left, one to a line, and counts those beyond twenty", async () => {
  using workspace = await createInstallation();
  const emails = Array.from({ length: 22 }, (_, at) => `user-${String(at).padStart(2, "0")}@example.org`);
  await workspace.json(`users create ${emails[0]} --role member`);
  using database = new Database(join(workspace.data, "quartermaster.db"));
  const addUser = database.query(
    `INSERT OR IGNORE INTO users (id, organization_id, subject, email, email_key, role, status, created_at_ms, updated_at_ms)
       SELECT $email, organization_id, $email, $email, $email, role, status, created_at_ms, updated_at_ms
         FROM users WHERE email = $first`,
  );
  const link = database.query(
    `INSERT INTO user_identities (user_id, issuer, subject, linked_by, linked_at_ms)
       SELECT id, $issuer, $email, 'operator', 0 FROM users WHERE email = $email`,
  );
  for (const $email of emails) {
    addUser.run({ $email, $first: emails[0] ?? "" });
    link.run({ $email, $issuer: ISSUER });
  }
  const line = `identities create --from-issuer ${ISSUER} --to-issuer https://new.example.org --by external-id`;
  const { stdout } = await workspace.run(line);
  const left = stdout.split("\n").slice(1, -1);
  expect(left).toEqual([
    "To be linked by hand with identities create:",
    ...emails.slice(0, 20).map((email) => `  ${email}`),
    "  and 2 more: see `left` of --json",
  ]);
  expect(Object((await workspace.json(line)).left)).toHaveLength(22);
});
