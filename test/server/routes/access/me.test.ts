// Tests GET /auth/me. Workstations use it to check that a stored login still works.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { users } from "../../../../src/domain/identity/tables.ts";
import { HOUR_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { createTestServer } from "../../../support/server.ts";
import { START_MS } from "../../../support/world.ts";

test("a workstation reads whose token it holds and when the token expires", async () => {
  await using server = await createTestServer();
  const { user, accessToken } = await server.signedIn("member", { email: "Ada@Example.com" });
  const response = await server.request("GET", "/auth/me", { token: accessToken });
  expect(response.status).toBe(200);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(await response.json()).toEqual({
    id: user.id,
    sub: user.subject,
    email: "ada@example.com",
    org_id: server.world.organizationId,
    role: "member",
    expires_at: START_MS / SECOND_MS + 900,
    current_revision: "none",
  });
});

test("an expiry between two seconds is rounded down", async () => {
  await using server = await createTestServer();
  server.world.clock.advance(999);
  const { cookie } = await server.signedIn("member");
  const answer = await (await server.request("GET", "/auth/me", { cookie })).json();
  expect(answer).toMatchObject({ expires_at: START_MS / SECOND_MS + 43_200 });
});

test("a browser reads when its login session expires, and use extends the session", async () => {
  await using server = await createTestServer();
  const { cookie } = await server.signedIn("admin");
  const expiry = async () =>
    (await (await server.request("GET", "/auth/me", { cookie })).json()).expires_at * SECOND_MS;
  expect(await expiry()).toBe(START_MS + 12 * HOUR_MS);
  server.world.clock.advance(HOUR_MS);
  expect(await expiry()).toBe(START_MS + 13 * HOUR_MS);
});

test("role and address come from the database, not from the token", async () => {
  await using server = await createTestServer();
  const { user, accessToken } = await server.signedIn("member");
  await server.world.db.write((tx) => {
    tx.update(users).set({ role: "admin", email: "new@example.com" }).where(eq(users.id, user.id)).run();
  });
  const answer = await (await server.request("GET", "/auth/me", { token: accessToken })).json();
  expect(answer).toMatchObject({ role: "admin", email: "new@example.com" });
});

test("requires no specific scope", async () => {
  await using server = await createTestServer();
  const { accessToken } = await server.signedIn("member", { scope: "client-status:write" });
  expect((await server.request("GET", "/auth/me", { token: accessToken })).status).toBe(200);
});
