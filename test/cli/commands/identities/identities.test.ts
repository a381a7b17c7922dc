// `identities` beyond what the golden texts show: lists of several pages, and the logins that end with a link.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createInstallation } from "../../../support/in-process.ts";
import { logInOn } from "../../../support/installed/installed-login.ts";

const ISSUER = "https://id.example.org";

test("SSO-33 lists every identity once, over several pages", async () => {
  using bench = await createInstallation();
  using database = new Database(join(bench.data, "quartermaster.db"));
  database.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
     INSERT INTO user_identities (user_id, issuer, subject, linked_by, linked_at_ms)
       SELECT 'user-' || (i / 2), 'https://id' || (i % 2) || '.example.org', 's-' || i, 'email', 0 FROM n`,
  );
  const { items, total } = await bench.json("identities list");
  const subjects = new Set(Object.values(Object(items)).map((item) => Object(item).subject));
  expect({ total, subjects: subjects.size, rows: Object(items).length }).toEqual({
    total: 1001,
    subjects: 1001,
    rows: 1001,
  });
});

test("SSO-33 a removed link ends the logins that it gave, and a dry run ends none", async () => {
  using bench = await createInstallation();
  await logInOn(bench);
  const rest = `root@example.org --issuer ${ISSUER}`;
  await bench.json(`identities create ${rest} --subject s --yes`);
  const live = async () => Object((await bench.json("logins list --user root@example.org")).items).length;
  await bench.json(`identities remove ${rest} --dry-run`);
  expect(await live()).toBe(2);
  await bench.json(`identities remove ${rest} --yes`);
  expect(await live()).toBe(0);
});
