// Administrators manage gateway keys of others through the API, with a real gateway.
import { expect, test } from "bun:test";
import { PER_PAGE_MAX } from "../../../../src/domain/shared/page.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";
import { type Caller, createTestServer } from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const KEYS = "/admin/gateway/keys";

/** A server with gateway mode, an administrator, and members with these names who have a key each. */
const createSite = async (names: readonly string[]) => {
  const server = await createGatewayServer();
  const { accessToken: token } = await server.signedIn("admin");
  const ask = async (method: string, path: string, body?: object) => {
    const response = await server.request(method, path, { token, ...(body && { body }) });
    return { status: response.status, body: await response.json() };
  };
  const members: Caller[] = [];
  for (const name of names) {
    const member = await server.signedIn("member", { email: `${name}@example.com` });
    members.push(member);
    expect((await ask("POST", `${KEYS}/${member.user.id}/ensure`)).body.changed).toBe(true);
  }
  return { ...server, ask, members };
};
const withThree = sharedServer(() => createSite(["ana", "bob", "cem"]));
const emailsOf = ({ body }: { body: { items: { email: string }[] } }) =>
  body.items.map(({ email }) => email.split("@")[0]);

test("pages by key list every key once, by address", async () => {
  const { ask } = await withThree();
  const found: (string | undefined)[] = [];
  let cursor = "";
  do {
    const page = await ask("GET", `${KEYS}?limit=2${cursor}`);
    found.push(...emailsOf(page));
    cursor = page.body.next_cursor === null ? "" : `&cursor=${page.body.next_cursor}`;
  } while (cursor !== "");
  expect(found).toEqual(["ana", "bob", "cem"]);
});

test("filters by user, text, state, problem and expiry", async () => {
  const { ask, members, world, domain } = await withThree();
  const matching = async (query: string) => emailsOf(await ask("GET", `${KEYS}?${query}`));
  expect(await matching(`user_id=${members[1]?.user.id.toUpperCase()}`)).toEqual(["bob"]);
  expect(await matching("q=CEM")).toEqual(["cem"]);
  expect(await matching("state=ready&problem=false")).toEqual(["ana", "bob", "cem"]);
  expect(await matching("state=error")).toEqual([]);
  expect(await matching("problem=true")).toEqual([]);
  const { expiresAtMs } = domain.gateway.directory.show({ id: members[0]?.user.id ?? "", email: "" });
  if (expiresAtMs === null) expect(await matching("expires_within=9999d")).toEqual([]);
  else {
    const days = Math.ceil((expiresAtMs - world.clock.nowMs()) / DAY_MS);
    expect(await matching(`expires_within=${days}d`)).toEqual(["ana", "bob", "cem"]);
    expect(await matching(`expires_within=${days - 1}d`)).toEqual([]);
  }
});

test("an invalid query is refused with all problems at once", async () => {
  const { ask } = await withThree();
  const sent = `state=lost&problem=x&expires_within=soon&cursor=x&limit=${PER_PAGE_MAX + 1}&user_id=1`;
  const { status, body } = await ask("GET", `${KEYS}?${sent}`);
  expect([status, body.reason]).toEqual([400, "gateway_key.invalid"]);
  expect(body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
    "/cursor",
    "/expires_within",
    "/limit",
    "/problem",
    "/state",
    "/user_id",
  ]);
});

test("a key is shown, replaced, revoked and created again, and no response has the credential", async () => {
  await using site = await createSite(["ana"]);
  const path = `${KEYS}/${site.members[0]?.user.id}`;
  const before = await site.ask("GET", path);
  expect(before.body).toMatchObject({ state: "ready", email: "ana@example.com", revocations_pending: 0 });
  const rotated = await site.ask("POST", `${path}/rotate`);
  expect(rotated.body).toMatchObject({ changed: true, key: { state: "ready" } });
  expect(rotated.body.key.external_id).not.toBe(before.body.external_id);
  const revoked = await site.ask("POST", `${path}/revoke`);
  expect(revoked.body).toMatchObject({ changed: true, key: { state: "missing" } });
  expect((await site.ask("POST", `${path}/revoke`)).body.changed).toBe(false);
  const made = await site.ask("POST", `${path}/ensure`, { manual: true });
  expect(made.body.key.state).toBe("ready");
  expect(JSON.stringify([before, rotated, revoked, made])).not.toMatch(/sk-|credential/);
  const reconciled = await site.ask("POST", `${KEYS}/reconcile`);
  expect([reconciled.status, reconciled.body.keys]).toEqual([202, 1]);
});

test("an unknown user is 404, and a server without gateway mode reports that", async () => {
  const { ask } = await withThree();
  expect((await ask("GET", `${KEYS}/01890000-0000-7000-8000-000000000000`)).status).toBe(404);
  expect((await ask("GET", `${KEYS}/no-uuid`)).status).toBe(400);
  await using off = await createTestServer();
  const { accessToken: token, user } = await off.signedIn("admin");
  for (const path of [`${user.id}/ensure`, `${user.id}/rotate`, "reconcile"])
    expect(await (await off.request("POST", `${KEYS}/${path}`, { token })).json()).toMatchObject({
      status: 409,
      reason: "gateway.off",
    });
});
