// Tests the branding over HTTP: public cacheable reads, and replacement by administrators.
import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { BRANDING_URL_LENGTH_MAX, BrandingSchema } from "../../../src/domain/system/model.ts";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { createTestServer, type TestServer } from "../../support/server.ts";
import { sharedServer } from "../../support/shared.ts";

const sameServer = sharedServer(createTestServer);

const LOGO = "https://cdn.example.com/logo.svg";

async function createAdministration() {
  const server = await sameServer();
  const { accessToken: token } = await server.signedIn("admin");
  const put = (body: unknown) => server.request("PUT", "/admin/branding", { token, body });
  return { ...server, put };
}

const read = ({ request }: TestServer, etag?: string | null) =>
  request("GET", "/branding", { headers: etag ? { "if-none-match": etag } : {} });

test("the branding is public and always has both members", async () => {
  await using server = await createTestServer();
  const response = await read(server);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("cache-control")).toBe("public, no-cache");
  expect(await response.json()).toEqual({ logo_url: null, favicon_url: null });
});

test("answers 304 until the branding changes", async () => {
  const server = await createAdministration();
  const etag = (await read(server)).headers.get("etag");
  expect(etag).toMatch(/^"[0-9a-f]{32}\.[0-9a-f]{8}"$/);
  const unchanged = await read(server, etag);
  expect([unchanged.status, await unchanged.text(), unchanged.headers.get("etag")]).toEqual([304, "", etag]);
  for (const known of [`W/${etag}`, `"other", ${etag}`, "*"])
    expect((await read(server, known)).status).toBe(304);
  await server.put({ logo_url: LOGO });
  const changed = await read(server, etag);
  expect(changed.status).toBe(200);
  expect(changed.headers.get("etag")).not.toBe(etag);
  expect(await changed.json()).toEqual({ logo_url: LOGO, favicon_url: null });
});

test("the next request sees a change by another process", async () => {
  await using server = await createTestServer();
  await read(server);
  const other = openDatabase(server.world.file);
  await using elsewhere = await createTestServer({
    world: { ...server.world, db: other, dispose: () => other.close() },
  });
  await elsewhere.domain.branding.update(server.world.system, { faviconUrl: LOGO });
  expect(await (await read(server)).json()).toEqual({ logo_url: null, favicon_url: LOGO });
});

test("a replacement returns the saved branding and clears omitted members", async () => {
  const server = await createAdministration();
  const response = await server.put({ logo_url: ` ${LOGO} `, favicon_url: LOGO });
  expect(response.status).toBe(200);
  const branding = await response.json();
  expect(Value.Check(BrandingSchema, branding)).toBe(true);
  expect(branding).toEqual({ logo_url: LOGO, favicon_url: LOGO });
  expect(await (await server.put({ logo_url: null })).json()).toEqual({ logo_url: null, favicon_url: null });
  expect(await (await server.put({ favicon_url: " " })).json()).toEqual({
    logo_url: null,
    favicon_url: null,
  });
});

const sized = (length: number): string => LOGO.padEnd(length, "x");

test.each<[body: unknown, status: number]>([
  [{}, 200],
  [{ logo_url: sized(BRANDING_URL_LENGTH_MAX - 1) }, 200],
  [{ logo_url: sized(BRANDING_URL_LENGTH_MAX) }, 200],
  [{ logo_url: sized(BRANDING_URL_LENGTH_MAX + 1) }, 400],
  [{ logo_url: "http://example.com/logo.svg" }, 400],
  [{ logo_url: "javascript:alert(1)" }, 400],
  [{ logo_url: 1 }, 422],
  [{ logo: LOGO }, 422],
])("a replacement within or beyond the limits, %#, is answered with its status", async (body, status) => {
  const server = await createAdministration();
  expect((await server.put(body)).status).toBe(status);
});

test("reports problems of both URLs together, and a refused replacement changes nothing", async () => {
  const server = await createAdministration();
  const response = await server.put({ logo_url: "ftp://example.com", favicon_url: "nowhere" });
  const { errors } = await response.json();
  expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(["/logo_url", "/favicon_url"]);
  expect(await (await read(server)).json()).toEqual({ logo_url: null, favicon_url: null });
});
