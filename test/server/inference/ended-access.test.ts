// Running streams of callers who lose access, and keys that the upstream rejects: with real users, logins and keys, from the
// operation to the last byte.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chat, createProxyServer, PREFIX, type ProxyServer } from "../../support/inference/proxy-server.ts";
import { RawClient } from "../../support/inference/raw-client.ts";
import { CHAT } from "../../support/inference/recordings.ts";
import { EVENT_STREAM } from "../../support/inference/upstream.ts";
import type { Caller } from "../../support/server.ts";

let site: ProxyServer;
beforeAll(async () => {
  site = await createProxyServer();
});
afterAll(() => site[Symbol.asyncDispose]());
beforeEach(() => {
  site.models.forget();
  site.rows.length = 0;
});

const FIRST = CHAT.events[0] ?? "";

/** @returns a client of the caller whose stream has started, and is idle */
async function streaming(caller: Caller): Promise<RawClient> {
  const token = await site.tokenOf(caller);
  site.models.script = async (exchange) => {
    await exchange.body();
    await exchange.head(200, EVENT_STREAM);
    await exchange.chunk(FIRST);
  };
  const headers = `Authorization: Bearer ${token}\r\n`;
  const client = RawClient.post(Number(new URL(site.origin).port), PREFIX + CHAT.path, CHAT.request, {
    headers,
  });
  await client.until(({ body }) => String(body) === FIRST);
  return client;
}

/** Changes rows like another process. */
function elsewhere(statement: string, value: string): void {
  using database = new Database(site.world.file);
  database.run(statement, [value]);
}

const own = (path: string) => async (caller: Caller) => {
  const answer = await site.request("POST", path, { token: caller.accessToken });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
};

const ACTS: Readonly<Record<string, (caller: Caller) => unknown>> = {
  "the workstation revokes its gateway session": own("/gateway/session/revoke"),
  "the browser signs out": ({ cookie }) => site.request("POST", "/api/auth/sign-out", { cookie, body: {} }),
  "an administrator revokes the login": ({ loginSessionId }) =>
    site.domain.access.logins.revoke(site.world.system, loginSessionId),
  "an administrator suspends the user": ({ user }) =>
    site.domain.identity.users.setStatus(site.world.system, user.id, "suspended"),
  "an administrator removes the user": ({ user }) =>
    site.domain.identity.users.remove(site.world.system, user.id),
  "another process revokes the session": ({ user }) =>
    elsewhere("UPDATE gateway_sessions SET revoked_at_ms = 1 WHERE user_id = ?", user.id),
  "another process ends the grant": ({ user }) =>
    elsewhere("UPDATE grants SET revoked_at_ms = 1 WHERE user_id = ?", user.id),
  "another process suspends the user": ({ user }) =>
    elsewhere("UPDATE users SET status = 'suspended' WHERE id = ?", user.id),
};

describe("INF-13 a running stream ends soon after", () => {
  test.each(Object.entries(ACTS))("%s", async (_, act) => {
    const bystander = await streaming(await site.signedIn("member"));
    const caller = await site.signedIn("member");
    const client = await streaming(caller);
    await act(caller);
    await client.until(({ isWhole }) => isWhole); // the service's own timer notices
    expect(String(client.body).slice(FIRST.length)).toMatch(
      /^data: \{"error":.*"reason":"inference\.(?:session_revoked|login_ended|user_inactive)".*\}\n\n$/,
    );
    await (await site.models.exchange(1)).closed;
    const rows = site.rows.filter(({ userId }) => userId === caller.user.id);
    expect(rows).toMatchObject([{ outcome: "cut", httpStatus: 200 }]);
    expect([bystander.socket.destroyed, site.forwarding.calls.size]).toEqual([false, 1]);
    client.leave();
    bystander.leave();
    await (await site.models.exchange(0)).closed;
  });
});

test("INF-13 a new key ends no stream", async () => {
  const caller = await site.signedIn("member");
  const client = await streaming(caller);
  await own("/gateway/key/rotate")(caller);
  await site.domain.gateway.keys.attempts?.drain();
  site.forwarding.beat();
  const exchange = await site.models.exchange();
  await exchange.chunk("data: [DONE]\n\n");
  await exchange.lastChunk();
  await client.until(({ isWhole }) => isWhole);
  expect(String(client.body)).toBe(`${FIRST}data: [DONE]\n\n`);
  client.leave();
});

const GONE = JSON.stringify({
  error: { type: "token_not_found_in_db", message: "no such key", code: "401" },
});

describe("INF-29 a key that was deleted at the gateway", () => {
  test("is replaced while its requests wait, and the users see one response each", async () => {
    const caller = await site.signedIn("member");
    const token = await site.tokenOf(caller);
    const deleted = new Set<string | undefined>();
    site.models.script = async (exchange) => {
      await exchange.body();
      const key = exchange.header("authorization");
      if (deleted.size === 0) deleted.add(key); // the key that is in use when the test begins
      await (deleted.has(key) ? exchange.answer(401, GONE) : exchange.answer(200, '{"ok":true}'));
    };
    const answers = await Promise.all([0, 1, 2, 3].map(() => site.send(CHAT.path, chat(token))));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await site.metrics.metrics()).toContain('inference_disowned_total{reason="not_found"}');
    const keys = site.models.exchanges.map((exchange) => exchange.header("authorization"));
    expect(new Set(keys).size).toBe(2);
    expect(keys.length).toBeLessThanOrEqual(8);
    const later = await site.send(CHAT.path, chat(token));
    expect(later.status).toBe(200);
  });
});
