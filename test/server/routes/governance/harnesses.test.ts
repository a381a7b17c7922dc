// GET /harness-metadata over HTTP: the registry for workstations and dashboards.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { HarnessMetadata } from "../../../../src/domain/governance/document/harness-metadata.ts";
import { BUILT_IN, type HarnessesInForce } from "../../../../src/domain/harnesses/harness-facts.ts";
import { createTestServer, type TestServer } from "../../../support/server.ts";

let site: TestServer;
let token: string;
let facts: HarnessesInForce;
beforeEach(async () => {
  facts = BUILT_IN;
  site = await createTestServer({ readHarnesses: () => facts });
  token = (await site.signedIn("member", { scope: "governance:read" })).accessToken;
});
afterEach(() => site[Symbol.asyncDispose]());

const get = (headers: Record<string, string> = {}) =>
  site.request("GET", "/harness-metadata", { token, headers });

test("a member reads every harness in the published order", async () => {
  const response = await get();
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  const body: unknown = await response.json();
  expect(Value.Errors(HarnessMetadata, body).First()).toBeUndefined();
  expect(body).toMatchObject({
    contract_version: 3,
    harnesses: [{ key: "codex" }, { key: "claude" }, { key: "kimi" }, { key: "opencode" }],
  });
});

test("answers 304 to a caller with the current entity tag", async () => {
  const etag = (await get()).headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[^"]+"$/);
  const unchanged = await get({ "if-none-match": etag });
  expect(unchanged.status).toBe(304);
  expect(await unchanged.text()).toBe("");
});

test("a reload changes the facts and their entity tag", async () => {
  const etag = (await get()).headers.get("etag") ?? "";
  const source = { file: "agents.yaml", sha256: "0".repeat(64), signer: "1".repeat(64) };
  facts = { extension: { kimi: { verified_before: "2.0.0-0", generations: [] } }, source };
  expect((await get({ "if-none-match": etag })).status).toBe(304);
  site.domain.harnesses.reload();
  const response = await get({ "if-none-match": etag });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    harnesses: [{}, {}, { key: "kimi", generations: [{ verified_before: "2.0.0-0" }] }, {}],
  });
});
