// Relative times count from the rendering of a page, not from its request.
import { afterAll, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { MINUTE_MS } from "../../../../src/platform/clock.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin");

test("CON-114 events during the reading of a page are in the past", async () => {
  const pending = site.request("GET", "/console/system", { cookie: admin.cookie });
  await setImmediate();
  site.world.clock.advance(MINUTE_MS / 2);
  const html = await (await pending).text();
  expect(html).toContain("just now");
  expect(html).not.toContain("in less than a minute");
});
