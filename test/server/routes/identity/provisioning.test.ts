// Operations of administrators on provisioning through the API, and the tokens that they create for identity providers.
import { afterAll, expect, test } from "bun:test";
import { addProvisionedGroup, addProvisionedUser } from "../../../support/content/provisioned-rows.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const { accessToken: token, actor } = await site.signedIn("admin");
const world = { ...site.world, organizationId: actor.organizationId };
const ask = async (method: string, path: string, body?: object) => {
  const response = await site.request(method, path, { token, ...(body && { body }) });
  return { status: response.status, body: response.status === 204 ? undefined : await response.json() };
};

test("groups are listed by name, and one has a page of its members", async () => {
  const ana = await addProvisionedUser(world, "ana@example.com");
  const bob = await addProvisionedUser(world, "bob@example.com");
  const id = await addProvisionedGroup(world, "Engineering", { members: [ana, bob] });
  await addProvisionedGroup(world, "Sales");
  const list = await ask("GET", "/admin/groups?q=ENG");
  expect(list.body).toMatchObject({
    total: 1,
    items: [{ id, display_name: "Engineering", member_count: 2 }],
  });
  const one = await ask("GET", `/admin/groups/${id.toUpperCase()}?per_page=1`);
  expect(one.body).toMatchObject({ id, members: { total: 2, items: [{ user_name: "ana@example.com" }] } });
});

test.each([
  ["/admin/groups?page=0", 400],
  ["/admin/groups?q=%00", 400],
  ["/admin/groups/x", 400],
  ["/admin/groups/00000000-0000-4000-8000-000000000000", 404],
  ["/admin/groups/00000000-0000-4000-8000-000000000000?page=x", 404],
])("%s answers %d", async (path, status) => {
  expect((await ask("GET", path)).status).toBe(status);
});

test("a token is shown once, admits a provider, and is refused after it was revoked", async () => {
  const expires = new Date(site.world.clock.nowMs() + 86_400_000).toISOString();
  const made = await ask("POST", "/admin/scim/tokens", {
    label: "entra",
    profile: "entra",
    expires_at: expires,
  });
  expect([made.status, made.body.scim_token.label, made.body.scim_token.profile]).toEqual([
    201,
    "entra",
    "entra",
  ]);
  const { id } = made.body.scim_token;
  const provider = async () =>
    (await site.request("GET", "/scim/v2/Users", { token: made.body.token })).status;
  expect(await provider()).toBe(200);
  const listed = await ask("GET", "/admin/scim/tokens");
  expect(listed.body.tokens.map((one: { id: string }) => one.id)).toContain(id);
  expect(JSON.stringify(listed.body)).not.toContain(made.body.token);
  expect((await ask("POST", "/admin/scim/tokens", { label: "entra" })).status).toBe(409);
  for (const _ of [1, 2]) expect((await ask("DELETE", `/admin/scim/tokens/${id}`)).status).toBe(204);
  expect(await provider()).toBe(401);
});

test("every problem of a new token is named at once", async () => {
  const parameters = { label: " -", profile: "other", expires_at: "2020-02-30" };
  const { status, body } = await ask("POST", "/admin/scim/tokens", parameters);
  expect([status, body.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
    400,
    ["/label", "/expires_at", "/profile"],
  ]);
});

test.each(["x", "entra"])("a token is revoked by its id only, not by %s", async (id) => {
  expect((await ask("DELETE", `/admin/scim/tokens/${id}`)).status).toBe(400);
});

test("the token of the configuration is refused with its remedy", async () => {
  const { status, body } = await ask("DELETE", "/admin/scim/tokens/configured");
  expect([status, body.reason]).toEqual([409, "scim_token.configured"]);
});

test("the state has counts, tokens without secrets, refused requests and warnings", async () => {
  const { body } = await ask("GET", "/admin/scim/status");
  expect(body).toMatchObject({ users: 2, suspended_users: 0, groups: 2 });
  for (const name of ["tokens", "refusals", "warnings"]) expect(body[name]).toBeArray();
});
