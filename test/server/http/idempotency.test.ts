// Idempotency-Key on requests that create something (API-4): created once, answered with the same response, bounded and sealed.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import {
  KEY_CHARACTERS_MAX,
  RESPONSE_RETENTION_MS,
  RESPONSES_PER_CALLER_MAX,
} from "../../../src/domain/idempotency/service.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { createTestServer } from "../../support/server.ts";
import { sharedServer } from "../../support/shared.ts";

const sameServer = sharedServer(createTestServer);

const KEY = "8e03978e-40d5-43e8-bc93-6894a57f9324";

async function createAdministration() {
  const server = await sameServer();
  const admin = await server.signedIn("admin", { email: "admin@example.com" });
  const post = (path: string, { key, body, cookie = admin.cookie }: Posted) =>
    server.request("POST", path, {
      cookie,
      ...(body && { body }),
      headers: key === undefined ? {} : { "idempotency-key": key },
    });
  const invite = (key: string | undefined, email = "ben@example.com", cookie?: string) =>
    post("/admin/invitations", { key, body: { email, role: "member" }, ...(cookie && { cookie }) });
  const rows = () =>
    server.world.db.read.all<{ total: number }>(sql`SELECT count(*) AS total FROM idempotent_answers`)[0]
      ?.total;
  return { ...server, admin, post, invite, rows };
}

interface Posted {
  key?: string | undefined;
  body?: object;
  cookie?: string;
}

const outcomeOf = async (response: Response): Promise<string> =>
  response.ok ? String(response.status) : `${response.status} ${(await response.json()).reason}`;

test("the same key and body return the same response and create one invitation", async () => {
  const server = await createAdministration();
  const [first, second] = await Promise.all([server.invite(KEY), server.invite(KEY)]);
  const answer = await first.json();
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(await second.json()).toEqual(answer);
  server.world.clock.advance(RESPONSE_RETENTION_MS - 1);
  const { cookie } = await server.signInAgain(server.admin.user);
  expect(await (await server.invite(KEY, undefined, cookie)).json()).toEqual(answer);
  expect((await (await server.request("GET", "/admin/invitations", { cookie })).json()).total).toBe(1);
});

test("a repetition returns the original link, even after the invitation got another one", async () => {
  const server = await createAdministration();
  const answer = await (await server.invite(KEY)).json();
  const path = `/admin/invitations/${answer.id}/regenerate`;
  const renewed = await (await server.post(path, { key: "renewal" })).json();
  expect(renewed.invitation_url).not.toBe(answer.invitation_url);
  expect(await (await server.post(path, { key: "renewal" })).json()).toEqual(renewed);
  expect(await (await server.invite(KEY)).json()).toEqual(answer);
  const unkeyed = await (await server.post(path, {})).json();
  expect(unkeyed.invitation_url).not.toBe(renewed.invitation_url);
});

test("a repetition returns the token of an identity provider, which is shown once", async () => {
  const server = await createAdministration();
  const create = (label: string) => server.post("/admin/scim/tokens", { key: KEY, body: { label } });
  const answer = await (await create("entra")).json();
  expect(answer.token).toStartWith("qm");
  expect(await (await create("entra")).json()).toEqual(answer);
  expect(await outcomeOf(await create("okta"))).toBe("422 idempotency.key_reused");
  expect(await outcomeOf(await server.post("/admin/scim/tokens", { body: { label: "entra" } }))).toBe(
    "409 scim_token.label_taken",
  );
});

test("a repetition returns the original link to set a password, which still works", async () => {
  const server = await createAdministration();
  const { user } = await server.signedIn("member", { email: "ben@example.com" });
  const { user: other } = await server.signedIn("member", { email: "eve@example.com" });
  const create = (id: string, key?: string) => server.post(`/admin/users/${id}/password-link`, { key });
  const responses = await Promise.all([create(user.id, KEY), create(user.id, KEY)]);
  const [first, second] = await Promise.all(responses.map(async (answer) => await answer.json()));
  expect(responses.map(({ status }) => status)).toEqual([201, 201]);
  expect(second).toEqual(first);
  const token = new Secret(new URL(first.password_url).searchParams.get("token") ?? "");
  expect(server.domain.identity.passwordLinks.getUser(token).id).toBe(user.id);
  expect(await outcomeOf(await create(other.id, KEY))).toBe("422 idempotency.key_reused");
  expect((await (await create(user.id)).json()).password_url).not.toBe(first.password_url);
  await server.domain.identity.users.update(server.world.system, user.id, { status: "suspended" });
  expect(await outcomeOf(await create(user.id, KEY))).toBe("409 user.suspended");
});

test("the same key with another body or operation is refused and creates nothing", async () => {
  const server = await createAdministration();
  const { id } = await (await server.invite(KEY)).json();
  expect(await outcomeOf(await server.invite(KEY, "eve@example.com"))).toBe("422 idempotency.key_reused");
  const renewal = await server.post(`/admin/invitations/${id}/regenerate`, { key: KEY });
  expect(await outcomeOf(renewal)).toBe("422 idempotency.key_reused");
  expect(server.rows()).toBe(1);
});

test("keys are separate per caller", async () => {
  const server = await createAdministration();
  const other = await server.signedIn("admin", { email: "other@example.com" });
  await server.invite(KEY);
  expect(await outcomeOf(await server.invite(KEY, "eve@example.com", other.cookie))).toBe("201");
  expect(await outcomeOf(await server.invite(KEY, undefined, other.cookie))).toBe(
    "422 idempotency.key_reused",
  );
});

test("refusals are not stored", async () => {
  const server = await createAdministration();
  expect(await outcomeOf(await server.invite(KEY, "admin@example.com"))).toBe("409 user.exists");
  expect(server.rows()).toBe(0);
  expect(await outcomeOf(await server.invite(KEY))).toBe("201");
});

test("a key can be reused after its response expires, and the cleanup job deletes the response", async () => {
  const server = await createAdministration();
  const { id } = await (await server.invite(KEY)).json();
  server.world.clock.advance(RESPONSE_RETENTION_MS);
  const again = await server.signInAgain(server.admin.user);
  expect((await (await server.invite(KEY, undefined, again.cookie)).json()).id).not.toBe(id);
  server.world.clock.advance(RESPONSE_RETENTION_MS);
  expect(await server.domain.idempotency.sweep(new AbortController().signal)).toBe(1);
  expect(server.rows()).toBe(0);
});

const KEYS: [what: string, key: string, outcome: string][] = [
  ["of no character", "", "400 idempotency.key_invalid"],
  ["of one character", "k", "201"],
  ["of the most characters less one", "k".repeat(KEY_CHARACTERS_MAX - 1), "201"],
  ["of the most characters", "k".repeat(KEY_CHARACTERS_MAX), "201"],
  ["with one more character", "k".repeat(KEY_CHARACTERS_MAX + 1), "400 idempotency.key_invalid"],
  ["with a space", "two keys", "400 idempotency.key_invalid"],
  ["beyond ASCII", "k\u00e9y", "400 idempotency.key_invalid"],
];
test.each(KEYS)("a key %s", async (_, key, outcome) => {
  const server = await createAdministration();
  expect(await outcomeOf(await server.invite(key))).toBe(outcome);
});

const AMOUNTS: [kept: number, outcome: string][] = [
  [RESPONSES_PER_CALLER_MAX - 2, "201"],
  [RESPONSES_PER_CALLER_MAX - 1, "201"],
  [RESPONSES_PER_CALLER_MAX, "429 idempotency.too_many_keys"],
];
test.each(AMOUNTS)(
  "a service with %d stored responses answers another request with a key: %s",
  async (kept, outcome) => {
    const server = await createAdministration();
    const expiresAtMs = server.world.clock.nowMs() + 5_000;
    await server.world.db.write((tx) => {
      tx.run(sql`INSERT INTO idempotent_answers WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${kept})
      SELECT 'row ' || i, ${server.admin.user.id}, 'x', 'x', ${expiresAtMs} FROM n`);
    });
    const response = await server.invite(KEY);
    if (response.status === 429) expect(response.headers.get("retry-after")).toBe("5");
    expect(await outcomeOf(response)).toBe(outcome);
  },
);

test("the stored link is encrypted and remains readable after the encryption key is replaced", async () => {
  const server = await createAdministration();
  const answer = await (await server.invite(KEY)).json();
  const token = new URL(answer.invitation_url).searchParams.get("token") ?? "";
  const { directory, system } = server.world;
  const files = readdirSync(directory).filter((name) => name.startsWith("quartermaster.db"));
  const bytes = Buffer.concat(files.map((name) => readFileSync(join(directory, name))));
  expect([token.length, bytes.includes(token), bytes.includes(KEY)]).toEqual([43, false, false]);
  await server.domain.sealingKeys.rotate(system);
  await server.domain.sealingKeys.rewrap(system, new AbortController().signal);
  const [old, active] = server.domain.sealingKeys.list();
  expect([old?.secrets.idempotent_answers, active?.secrets.idempotent_answers]).toEqual([0, 1]);
  expect(await (await server.invite(KEY)).json()).toEqual(answer);
});
