// GET /admin/package-catalog over HTTP: the bytes, their entity tag, and a change in the next response.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Caller, createTestServer, type TestServer } from "../../../support/server.ts";

const PATH = "/admin/package-catalog";

let site: TestServer;
let admin: Caller;
beforeEach(async () => {
  site = await createTestServer();
  admin = await site.signedIn("admin");
});
afterEach(() => site[Symbol.asyncDispose]());

async function seed(...ids: string[]): Promise<void> {
  const entries = ids.map((id) => ({
    id,
    version: "1",
    source_ref: "https://example.com/a.tar.gz",
    sha256: "a".repeat(64),
  }));
  await site.domain.catalog.seed.apply(site.world.system, {
    bytes: Buffer.from(JSON.stringify(entries)),
    fileName: "catalog.json",
    files: { resolve: (path) => path, open: () => Promise.reject(new Error("no local source here")) },
    prune: true,
  });
}

const get = (headers: Record<string, string> = {}) =>
  site.request("GET", PATH, { token: admin.accessToken, headers });

describe("the package catalog", () => {
  test("is an empty array before the first seed", async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.text()).toBe("[]");
  });

  test("is the same for a browser session, and has a strong tag that changes with the catalog", async () => {
    await seed("b", "a");
    const first = await get();
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[^"]+"$/);
    const body = await first.text();
    expect(JSON.parse(body).map(({ id }: { id: string }) => id)).toEqual(["b", "a"]);
    expect(await (await site.request("GET", PATH, { cookie: admin.cookie })).text()).toBe(body);
    await seed("a", "b");
    expect((await get({ "if-none-match": etag })).status).toBe(200);
    await seed("b", "a");
    expect((await get({ "if-none-match": etag })).status).toBe(304);
  });

  test.each([
    ["the tag", (tag: string) => tag, 304],
    ["a weak form of it", (tag: string) => `W/${tag}`, 304],
    ["a list with it", (tag: string) => `"other", ${tag}`, 304],
    ["any", () => "*", 304],
    ["another", () => '"other"', 200],
    ["it without quotes", (tag: string) => tag.replaceAll('"', ""), 200],
  ])("answers %p in If-None-Match", async (_name, spelled, status) => {
    const etag = (await get()).headers.get("etag") ?? "";
    const response = await get({ "if-none-match": spelled(etag) });
    expect(response.status).toBe(status);
    expect(response.headers.get("etag")).toBe(etag);
    if (status === 304) expect(await response.text()).toBe("");
  });

  test("answers 401 and 403 before it compares a tag", async () => {
    const member = await site.signedIn("member");
    const headers = { "if-none-match": "*" };
    expect((await site.request("GET", PATH, { headers })).status).toBe(401);
    expect((await site.request("GET", PATH, { token: member.accessToken, headers })).status).toBe(403);
  });
});
