// The audit log through the API. test/domain/audit tests what verification finds, and what filters match.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { FILTER_LENGTH_MAX } from "../../../../src/domain/audit/reading/log-query.ts";
import { WALK_ROWS } from "../../../../src/domain/audit/verification.ts";
import { createTestServer } from "../../../support/server.ts";

/** A server with this number of entries about targets 1, 2, 3 and so on, of which pairs share a time, and an administrator. */
async function createLoggedServer(entries: number) {
  const server = await createTestServer();
  const { world } = server;
  const { accessToken: token, user } = await server.signedIn("admin");
  for (let number = 1; number <= entries; number += 1) {
    await world.db.write((tx) =>
      world.audit.record(tx, { actor: world.system, action: "branding.update", target: String(number) }),
    );
    if (number % 2 === 0) world.clock.advance(1_000);
  }
  const ask = async (method: string, path: string) => {
    const response = await server.request(method, path, { token });
    return { status: response.status, body: await response.json() };
  };
  return { ...server, ask, token, user };
}

test("pages by key list every matching entry once, newest first", async () => {
  await using server = await createLoggedServer(5);
  const targets: string[] = [];
  let path = "/admin/audit?action=branding.update&limit=2";
  for (let pages = 1; ; pages += 1) {
    const { body } = await server.ask("GET", path);
    targets.push(...body.items.map(({ target }: { target: string }) => target));
    if (body.next_cursor === null) {
      expect(pages).toBe(3);
      break;
    }
    path = `/admin/audit?action=branding.update&limit=2&cursor=${body.next_cursor}`;
  }
  expect(targets).toEqual(["5", "4", "3", "2", "1"]);
});

test("filters by actor, target and time, and names the user who is the target", async () => {
  await using server = await createLoggedServer(4);
  const { items } = (await server.ask("GET", `/admin/audit?target=${server.user.id}&action=user.create`))
    .body;
  expect(items).toMatchObject([{ target: server.user.id, target_name: server.user.email }]);
  const at = (await server.ask("GET", "/admin/audit?target=3")).body.items[0].at;
  const since = await server.ask("GET", `/admin/audit?actor=TEST&since=${at}&action=branding.update`);
  expect(since.body.items.map(({ target }: { target: string }) => target)).toEqual(["4", "3"]);
  expect((await server.ask("GET", "/admin/audit?until=2020-01-01")).body).toEqual({
    items: [],
    next_cursor: null,
  });
});

test("an invalid query is refused with all problems at once", async () => {
  await using server = await createLoggedServer(0);
  const long = "x".repeat(FILTER_LENGTH_MAX + 1);
  const sent = `actor=${long}&action=${long.slice(1)}&since=yesterday&until=2026-02-30&cursor=7&limit=101`;
  const { status, body } = await server.ask("GET", `/admin/audit?${sent}`);
  expect([status, body.reason]).toEqual([400, "audit.invalid"]);
  expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
    "/actor",
    "/since",
    "/until",
    "/cursor",
    "/limit",
  ]);
  const crossed = await server.ask("GET", "/admin/audit?since=2026-02-01&until=2026-01-01");
  expect(crossed.body.errors).toEqual([{ pointer: "/until", detail: "until must be later than since" }]);
  expect((await server.ask("GET", "/admin/audit.jsonl?after=x")).body.reason).toBe("audit.invalid");
});

test("one entry is shown with its neighbors in the chain", async () => {
  await using server = await createLoggedServer(3);
  const [{ id }] = (await server.ask("GET", "/admin/audit?target=2")).body.items;
  const { status, body } = await server.ask("GET", `/admin/audit/${id}`);
  expect([status, body.target]).toEqual([200, "2"]);
  expect([body.previous.id, body.next.id]).toEqual([id - 1, id + 1]);
  expect(body.previous.digest).toBe(body.previous_digest);
  expect((await server.ask("GET", "/admin/audit/1")).body.previous).toBeNull();
  expect((await server.ask("GET", `/admin/audit/${id + 1}`)).body.next).toBeNull();
  for (const unknown of ["999999", "0", "-1", "x", "1e3", "9".repeat(40)])
    expect((await server.ask("GET", `/admin/audit/${unknown}`)).body).toMatchObject({
      status: 404,
      reason: "audit.not_found",
    });
});

test("a verification reports whether the log is intact, and the places where it is not", async () => {
  await using server = await createLoggedServer(2);
  const both = await Promise.all([1, 2].map(() => server.ask("POST", "/admin/audit/verify")));
  for (const { body } of both) expect(body).toMatchObject({ verified: true, removed: 0, break: null });
  using db = new Database(server.world.file);
  db.run("UPDATE audit_entries SET target = 'x' WHERE target = '2'");
  const { status, body } = await server.ask("POST", "/admin/audit/verify");
  expect([status, body.verified, body.break.kind, body.break.entry.target]).toEqual([
    200,
    false,
    "altered",
    "x",
  ]);
});

test("the export has one line for each entry, and continues after an id", async () => {
  await using server = await createLoggedServer(WALK_ROWS + 1);
  const linesAfter = async (query: string) => {
    const response = await server.request("GET", `/admin/audit.jsonl${query}`, { token: server.token });
    expect(response.headers.get("content-type")).toBe("application/jsonl");
    return (await response.text()).split("\n").slice(0, -1);
  };
  const all = await linesAfter("");
  expect(all.map((line) => JSON.parse(line).id)).toEqual(all.map((_, index) => index + 1));
  expect(await linesAfter(`?after=${all.length - 2}`)).toEqual(all.slice(-2));
  const left = await server.request("GET", "/admin/audit.jsonl", { token: server.token });
  await left.body?.cancel(); // a caller that disconnects ends the reading
});
