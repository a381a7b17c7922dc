// Erasing a person with rows in every table: no table identifies the person afterwards, the rows of others are kept, and the audit
// log stays valid.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { REDACTED_MAX } from "../../../src/domain/audit/redactions.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { reasonOf } from "../../support/identity-world.ts";
import { SCIM_TOKEN } from "../../support/server.ts";
import {
  ANA,
  createErasureWorld,
  dumpOf,
  type ErasureWorld,
  HOST,
  INVITED,
  JULIANA,
  OTHER_HOST,
  tablesNaming,
} from "./erasure-world.ts";

const erase = ({ domain, operator }: ErasureWorld, reference = ANA) =>
  domain.erasure.erase(operator, domain.erasure.find(operator, reference));

/** Lets the gateway confirm pending revocations. */
const revokeUpstream = ({ domain }: ErasureWorld) =>
  domain.gateway.reconciler?.run(new AbortController().signal);

const brokenOf = async ({ domain }: ErasureWorld) => (await domain.auditLog.verify()).broken;

const totalIn = ({ world }: ErasureWorld, table: string): number => {
  using db = new Database(world.file, { readonly: true });
  return db.query<{ total: number }, []>(`SELECT count(*) AS total FROM ${table}`).get()?.total ?? 0;
};

test("before, every table with personal data names the person", async () => {
  await using site = await createErasureWorld();
  expect(tablesNaming(site.world, site.ana.user, HOST)).toEqual([
    "audit_entries",
    "authenticator_apps",
    "client_reports",
    "console_lists",
    "console_views",
    "device_logins",
    "expected_identities",
    "gateway_keys",
    "gateway_sessions",
    "governance_revisions",
    "grants",
    "idempotent_answers",
    "inference_usage",
    "invitations",
    "login_sessions",
    "package_additions",
    "passkeys",
    "password_links",
    "policy_drafts",
    "recovery_codes",
    "scim_refusals",
    "scim_tokens",
    "sign_in_attempts",
    "user_identities",
    "users",
  ]);
});

/** Removed by the removal of the user, which comes first. */
const factorsGone = { authenticator_apps: 0, passkeys: 0, recovery_codes: 0 };

test("afterwards no table names the person, once the gateway has revoked the key", async () => {
  await using site = await createErasureWorld();
  const { rows } = await erase(site);
  expect(rows).toEqual({
    ...factorsGone,
    clients: 1,
    console_lists: 1,
    console_views: 1,
    device_logins: expect.any(Number),
    captured_sessions: 0,
    session_shares: 0,
    expected_identities: 1,
    gateway_sessions: 1,
    grants: 1,
    idempotent_answers: 1,
    invitations: 0,
    login_sessions: 1,
    package_additions: 1,
    policy_drafts: 1,
    policy_revisions: 1,
    request_log_rows: 1,
    scim_refusals: 1,
    scim_tokens: 1,
    usage_sums: 1,
    user_identities: 1,
    users: 1,
    waiting_gateway_revocations: 1,
  });
  expect(tablesNaming(site.world, site.ana.user, HOST)).toEqual(["gateway_revocations"]);
  await revokeUpstream(site);
  expect(tablesNaming(site.world, site.ana.user, HOST)).toEqual([]);
  expect(await brokenOf(site)).toBeUndefined();
  const { items } = await site.domain.requestLogs.list({});
  expect(items).toEqual([]);
});

test("the sums of an erased person are kept without a user, so that the totals stay", async () => {
  await using site = await createErasureWorld();
  await erase(site);
  using db = new Database(site.world.file, { readonly: true });
  const sums = db.query("SELECT user_id, model, requests, input_tokens FROM inference_usage").all();
  expect(sums).toEqual([{ user_id: "", model: "gpt-5", requests: 1, input_tokens: 1000 }]);
});

test("an address that contains the erased one keeps its rows", async () => {
  await using site = await createErasureWorld();
  const { juliana } = site;
  const before = tablesNaming(site.world, juliana.user, OTHER_HOST);
  await erase(site);
  expect(tablesNaming(site.world, juliana.user, OTHER_HOST)).toEqual(before);
  expect(dumpOf(site.world).governance_revisions).toContain(`asked for it, ${JULIANA} agreed`);
  const response = await site.request("GET", "/me/logins", { token: juliana.accessToken });
  expect(response.status).toBe(200);
});

test("the person's tokens and browser are refused immediately", async () => {
  await using site = await createErasureWorld();
  const { accessToken: token, cookie } = site.ana;
  expect((await site.request("GET", "/me/logins", { token })).status).toBe(200);
  await erase(site);
  expect((await site.request("GET", "/me/logins", { token })).status).toBe(401);
  expect((await site.request("GET", "/me/logins", { cookie })).status).toBe(401);
});

test("one pseudonym replaces the person in the audit log, and creating it requires the sealing key", async () => {
  await using site = await createErasureWorld();
  const { pseudonym, auditEntries } = await erase(site);
  expect(pseudonym).toMatch(/^erased-[0-9a-f]{16}$/);
  const { items } = site.domain.auditLog.list(site.operator.organizationId, { perPage: 100 });
  const redacted = items.filter(({ redactedBy }) => redactedBy !== null);
  expect(redacted).toHaveLength(auditEntries);
  const [erasure] = items.filter(({ action }) => action === "user.erase");
  expect(erasure).toMatchObject({ target: pseudonym, actorLabel: "olga", redactedBy: null });
  expect(redacted.filter(({ redactedBy }) => redactedBy !== erasure?.id)).toEqual([]);
  const acted = items.filter(({ actorId }) => actorId === pseudonym);
  expect(acted.length).toBeGreaterThan(3);
  for (const entry of acted) expect(entry).toMatchObject({ actorLabel: pseudonym, address: null });
  const removed = items.find(({ action }) => action === "client.remove");
  expect(JSON.parse(removed?.before ?? "")).toMatchObject({ user_id: pseudonym, hostname: pseudonym });
});

test("entries about the person's actions still name their targets", async () => {
  await using site = await createErasureWorld();
  const { domain, ana, juliana } = site;
  await domain.identity.users.setRole(ana.actor, juliana.user.id, "admin");
  const { pseudonym } = await erase(site);
  const [entry] = domain.auditLog.list(ana.user.organizationId, { action: "user.update" }).items;
  expect(entry).toMatchObject({ actorLabel: pseudonym, target: juliana.user.id });
  expect(JSON.parse(entry?.after ?? "")).toMatchObject({ email: JULIANA });
});

test("a plan counts the affected rows and changes nothing", async () => {
  await using site = await createErasureWorld();
  const { domain, operator } = site;
  const before = dumpOf(site.world);
  const planned = await domain.erasure.plan(operator, domain.erasure.find(operator, ANA));
  expect(dumpOf(site.world)).toEqual(before);
  const erased = await erase(site);
  expect(planned.pseudonym).toBe(erased.pseudonym);
  const factors = { authenticator_apps: 1, passkeys: 1, recovery_codes: 10 };
  expect(planned.rows).toMatchObject({ ...erased.rows, ...factors, device_logins: expect.any(Number) });
  expect(erased.auditEntries).toBeGreaterThanOrEqual(planned.auditEntries);
});

test("a removed person can be erased once", async () => {
  await using site = await createErasureWorld();
  const { domain, operator, ana } = site;
  await domain.identity.users.remove(operator, ana.user.id);
  expect(await erase(site, ana.user.id)).toMatchObject({ rows: { users: 1 } });
  expect(await reasonOf(() => erase(site))).toBe("erasure.nothing_found");
  expect(await reasonOf(() => erase(site, ana.user.id))).toBe("user.not_found");
});

test("an address with only an invitation is erased; other invitations stay", async () => {
  await using site = await createErasureWorld();
  const erased = await erase(site, INVITED.toUpperCase());
  expect(erased).toMatchObject({ rows: { invitations: 1 }, auditEntries: 1 });
  const { idempotent_answers: _sealed, ...tables } = dumpOf(site.world);
  expect(JSON.stringify(tables)).not.toContain(INVITED);
  expect(await brokenOf(site)).toBeUndefined();
});

test("the present holder of the address keeps it, also in entries that name only the address", async () => {
  await using site = await createErasureWorld();
  const { domain, operator, ana } = site;
  await domain.identity.users.remove(operator, ana.user.id);
  using db = new Database(site.world.file);
  db.run(`INSERT INTO users SELECT 'heir', organization_id, 'heir', email, email_key, 'member', 'active', 0, 'local', NULL, 1, 1, 0, NULL
    FROM users WHERE id = '${ana.user.id}'`);
  await erase(site, ana.user.id);
  const naming = tablesNaming(site.world, { ...ana.user, email: "no address" }, HOST);
  expect(naming).toEqual(["gateway_revocations"]);
  expect(dumpOf(site.world).users).toContain(ANA);
  expect(dumpOf(site.world).scim_tokens).toContain(ANA);
});

test.each([
  ["a stranger's address", "nobody@example.org", "erasure.nothing_found"],
  ["no address", "@", "user.not_found"],
  ["an unknown id", "01890000-0000-7000-8000-000000000000", "user.not_found"],
])("%s is refused", async (_name, reference, reason) => {
  await using site = await createErasureWorld();
  expect(await reasonOf(() => erase(site, reference))).toBe(reason);
});

test("a person who may not be removed may not be erased: protected and managed users, the last administrator", async () => {
  await using site = await createErasureWorld();
  const { domain, operator, ana, root, juliana } = site;
  using db = new Database(site.world.file);
  db.run(`UPDATE users SET protected = 1 WHERE id = '${juliana.user.id}'`);
  db.run(`UPDATE users SET provisioning_source = 'scim' WHERE id = '${ana.user.id}'`);
  expect(await reasonOf(() => erase(site, JULIANA))).toBe("user.protected");
  expect(await reasonOf(() => erase(site))).toBe("user.managed");
  db.run(`UPDATE users SET role = 'member' WHERE id <> '${root.user.id}'`);
  expect(await reasonOf(() => erase(site, root.user.email))).toBe("user.last_administrator");
  expect(domain.identity.users.list(operator.organizationId, { status: "active" }).total).toBe(3);
});

/** This many entries about Ana, recorded by the operator. */
const recordAbout = ({ world, operator, ana }: ErasureWorld, entries: number): Promise<void> =>
  world.db.write((tx) => {
    const targets = Array.from({ length: entries }, () => ana.user.id);
    world.audit.recordAll(tx, { actor: operator, action: "user.unlock", targets });
  });

test.each([REDACTED_MAX - 1, REDACTED_MAX, REDACTED_MAX + 1])(
  "%d entries are redacted, in batches up to the limit",
  async (count) => {
    await using site = await createErasureWorld();
    await site.domain.identity.users.remove(site.operator, site.ana.user.id);
    const wanted = site.domain.erasure.find(site.operator, ANA);
    const { auditEntries: others } = await site.domain.erasure.plan(site.operator, wanted);
    await recordAbout(site, count - others);
    expect(await erase(site)).toMatchObject({ auditEntries: count });
    const { items } = site.domain.auditLog.list(site.operator.organizationId, { action: "user.erase" });
    expect(items).toHaveLength(Math.ceil(count / REDACTED_MAX));
    expect(await brokenOf(site)).toBeUndefined();
  },
);

test("two erasures may redact one entry and retention may remove it; the log stays verifiable throughout", async () => {
  await using site = await createErasureWorld();
  const { domain, ana, juliana, world, operator } = site;
  await domain.identity.users.setRole(ana.actor, juliana.user.id, "admin");
  await erase(site, JULIANA);
  await erase(site);
  await revokeUpstream(site);
  expect(tablesNaming(world, ana.user, HOST)).toEqual([]);
  expect(await brokenOf(site)).toBeUndefined();
  world.clock.advance(20 * DAY_MS);
  await recordAbout(site, 1);
  world.clock.advance(20 * DAY_MS);
  await domain.auditLog.forget(operator, { retentionDays: 30, signal: new AbortController().signal });
  expect(totalIn(site, "audit_redactions")).toBe(0);
  expect(await domain.auditLog.verify()).toMatchObject({ entries: 2, broken: undefined });
});

test("an erasure that retention has not reached confirms removed entries", async () => {
  await using site = await createErasureWorld();
  const { domain, world, operator } = site;
  world.clock.advance(20 * DAY_MS);
  await erase(site);
  world.clock.advance(20 * DAY_MS);
  await domain.auditLog.forget(operator, { retentionDays: 30, signal: new AbortController().signal });
  expect(totalIn(site, "audit_redactions")).toBeGreaterThan(0);
  expect(await brokenOf(site)).toBeUndefined();
});

const REDACTED = "(SELECT max(entry_id) FROM audit_redactions)";
const UNTOUCHED = "(SELECT max(id) FROM audit_entries WHERE redacted_by IS NULL AND action <> 'user.erase')";
const TAMPERED: readonly [string, string[], string][] = [
  [
    "a redacted entry with other content",
    [`UPDATE audit_entries SET action = 'x' WHERE id = ${REDACTED}`],
    "altered",
  ],
  [
    "a redacted entry with its own digest",
    [`UPDATE audit_redactions SET digest = 'x' WHERE entry_id = ${REDACTED}`],
    "altered",
  ],
  [
    "a redacted entry without names",
    [`UPDATE audit_entries SET redacted_by = NULL WHERE id = ${REDACTED}`],
    "altered",
  ],
  [
    "an entry that no erasure redacted",
    [
      `UPDATE audit_entries SET redacted_by = 1 WHERE id = ${UNTOUCHED}`,
      `INSERT INTO audit_redactions SELECT id, 1, digest FROM audit_entries WHERE id = ${UNTOUCHED}`,
    ],
    "altered",
  ],
  [
    "an entry that names a future erasure",
    [
      "UPDATE audit_entries SET redacted_by = 999999 WHERE id = 1",
      "INSERT INTO audit_redactions SELECT id, 999999, digest FROM audit_entries WHERE id = 1",
    ],
    "altered",
  ],
  [
    "a redaction that was added to an erasure",
    [
      "UPDATE audit_entries SET redacted_by = (SELECT max(erasure_id) FROM audit_redactions) WHERE id = 1",
      "INSERT INTO audit_redactions SELECT id, redacted_by, digest FROM audit_entries WHERE id = 1",
    ],
    "redactions_altered",
  ],
  [
    "a redaction that was removed",
    ["DELETE FROM audit_redactions WHERE entry_id = (SELECT min(entry_id) FROM audit_redactions)"],
    "altered",
  ],
];

test.each(TAMPERED)("after an erasure, %s is found", async (_name, statements, kind) => {
  await using site = await createErasureWorld();
  await erase(site);
  expect(await brokenOf(site)).toBeUndefined();
  using db = new Database(site.world.file);
  for (const statement of statements) db.run(statement);
  expect(await brokenOf(site)).toMatchObject({ kind });
});

test("a person that an identity provider removed can be erased, with all provisioned names", async () => {
  await using site = await createErasureWorld();
  const headers = { "content-type": "application/scim+json" };
  const schemas = ["urn:ietf:params:scim:schemas:core:2.0:User"];
  const named = { schemas, externalId: "ext-77", displayName: "Dana Doe" };
  const emails = (value: string) => [{ value, primary: true }];
  const send = (method: string, path: string, body?: object) =>
    site.request(method, path, { token: SCIM_TOKEN, headers, ...(body && { body }) });
  const first = { ...named, userName: "dana.login", emails: emails("dana@example.org") };
  const { id } = await (await send("POST", "/scim/v2/Users", first)).json();
  const second = { ...named, userName: "DanaNew", emails: emails("Dana.New@Example.org") };
  expect((await send("PUT", `/scim/v2/Users/${id}`, second)).status).toBe(200);
  expect((await send("DELETE", `/scim/v2/Users/${id}`)).status).toBe(204);
  await erase(site, "dana.new@example.org");
  const dump = JSON.stringify(dumpOf(site.world));
  expect(dump).not.toMatch(/dana[.@n ]|ext-77/i);
  expect(dump).not.toContain(id);
  expect(await brokenOf(site)).toBeUndefined();
});

test("the pseudonym also replaces the author of a cached revision", async () => {
  await using site = await createErasureWorld();
  const { domain, operator } = site;
  expect(domain.governance.revisions.inForce(operator.organizationId).authorLabel).toBe(ANA);
  const { pseudonym } = await erase(site);
  expect(domain.governance.revisions.inForce(operator.organizationId)).toMatchObject({
    authorId: null,
    authorLabel: pseudonym,
  });
});
