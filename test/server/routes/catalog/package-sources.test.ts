// Package sources over HTTP: who may inspect one, the response, and the text of each refusal.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { SOURCE_REF_CHARACTERS_MAX } from "../../../../src/domain/catalog/model.ts";
import { PUBLIC_SOURCES_DESTINATION } from "../../../../src/domain/catalog/sources/package-sources.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { ANY_PUBLIC_HOST, createOutbound } from "../../../../src/platform/outbound/outbound.ts";
import { tarFile, tarGzOf } from "../../../support/content/tar.ts";
import { createTlsServer, type TlsServer } from "../../../support/network/tls-server.ts";
import { type Caller, createTestServer, type TestServer } from "../../../support/server.ts";

const PATH = "/admin/package-source/inspect";
const ARCHIVE = tarGzOf(tarFile("run", "#!/bin/sh\n"));
const DESTINATION = { name: PUBLIC_SOURCES_DESTINATION, origin: ANY_PUBLIC_HOST, why: "test" };

let host: TlsServer;
let site: TestServer;
let admin: Caller;
beforeAll(async () => {
  host = await createTlsServer(() => new Response(new Uint8Array(ARCHIVE)));
});
afterAll(() => host[Symbol.dispose]());
beforeEach(async () => {
  site = await createTestServer({
    hasConsole: false,
    outbound: createOutbound({ allowed: [DESTINATION], publicHosts: host.hosts }),
  });
  admin = await site.signedIn("admin");
});
afterEach(() => site[Symbol.asyncDispose]());

const inspect = (body: unknown) => site.request("POST", PATH, { token: admin.accessToken, body });

async function refusalOf(response: Response): Promise<unknown> {
  const { status, reason, errors } = await response.json();
  return { status, reason, pointers: errors?.map(({ pointer }: { pointer: string }) => pointer) };
}

describe("a package source", () => {
  test("returns the facts to confirm, and the response is not cached", async () => {
    const response = await inspect({ source_ref: `${host.origin()}/tool.tar.gz` });
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({
      source_ref: `${host.origin()}/tool.tar.gz`,
      artifact_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sha256: sha256Hex(ARCHIVE),
      size_bytes: ARCHIVE.byteLength,
      entries: 1,
      expanded_bytes: expect.any(Number),
      paths: ["run"],
      runtime_downloads: [],
      adapters: {},
    });
  });

  test("can be published as the artifact that was stored for it", async () => {
    const found = await (await inspect({ source_ref: host.origin() })).json();
    const { id } = site.domain.catalog.findArtifact(admin.user.organizationId, found.sha256) ?? {};
    expect(id).toBe(found.artifact_id);
  });

  test("refuses a private address with 400, without host or address in the text", async () => {
    const response = await inspect({ source_ref: "https://10.1.2.3/tool.tar.gz" });
    const problem = await response.json();
    expect(problem).toMatchObject({ status: 400, reason: "outbound.not_public" });
    expect(JSON.stringify(problem)).not.toContain("10.1.2.3");
  });

  test("is refused with 403 and the name of the setting while the setting is off", async () => {
    await using closed = await createTestServer();
    const { accessToken: token } = await closed.signedIn("admin");
    const response = await closed.request("POST", PATH, { token, body: { source_ref: host.origin() } });
    const { status, reason, error } = await response.json();
    expect([status, reason]).toEqual([403, "package_source.closed"]);
    expect(error).toContain("package_sources.public");
  });

  test.each([
    [{}, 400, "package_source.invalid", ["/source_ref"]],
    [{ connection_id: "x" }, 400, "package_source.invalid", ["/repository", "/ref"]],
    [
      { connection_id: "x", repository: "a/b", ref: "main" },
      404,
      "package_source.unknown_connection",
      undefined,
    ],
    [{ source_ref: 1, other: 2 }, 422, "request.invalid", ["/other", "/source_ref"]],
    [{ source_ref: "" }, 422, "request.invalid", ["/source_ref"]],
    [{ source_ref: "github:a/b" }, 400, "package_source.bad_repository", undefined],
  ])("is refused: %p", async (body, status, reason, pointers) => {
    expect(await refusalOf(await inspect(body))).toEqual({ status, reason, pointers });
  });

  test("has a length limit", async () => {
    const sized = (length: number) => `${host.origin()}/`.padEnd(length, "a");
    const statusOf = async (more: number) =>
      (await inspect({ source_ref: sized(SOURCE_REF_CHARACTERS_MAX + more) })).status;
    expect([await statusOf(-1), await statusOf(0), await statusOf(1)]).toEqual([200, 200, 422]);
  });
});

test("the list of repository connections is empty", async () => {
  const response = await site.request("GET", "/admin/package-source/connections", { cookie: admin.cookie });
  expect([response.status, await response.json()]).toEqual([200, []]);
});

test("a member may neither submit a source nor list connections", async () => {
  const { accessToken: token } = await site.signedIn("member");
  host.seen.length = 0;
  const named = await site.request("POST", PATH, { token, body: { source_ref: host.origin() } });
  const listed = await site.request("GET", "/admin/package-source/connections", { token });
  expect([named.status, listed.status, host.seen]).toEqual([403, 403, []]);
});
