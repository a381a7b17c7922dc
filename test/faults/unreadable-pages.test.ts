// Database pages that the disk no longer returns while the service runs: the request that needs one gets an error that names the
// cause, and the process continues.
import { expect, test } from "bun:test";
import { readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prepareInstallation } from "../support/installed/prepared-installation.ts";
import { startService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/world.ts";

const TOKEN = "a-token-of-the-identity-provider";
/** the first pages; the tables have many more */
const KEPT_BYTES = 16_384;

test("an unreadable page causes an error response with the cause, and the service continues", async () => {
  const directory = temporaryDirectory();
  const args = ["--data-dir", join(directory, "data")];
  const env = { QUARTERMASTER_SCIM_TOKEN: TOKEN };
  const database = join(directory, "data/quartermaster.db");
  await prepareInstallation(join(directory, "data")); // everything is in the file, and nothing in the write-ahead log
  await using service = await startService({ args, env });
  const whole = readFileSync(database);
  truncateSync(database, KEPT_BYTES);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const response = await fetch(`${service.baseUrl}/scim/v2/Users`, { headers });
  expect([response.status, await response.json()]).toMatchObject([
    503,
    { detail: expect.stringContaining("the database file is damaged") },
  ]);
  expect((await fetch(`${service.baseUrl}/health`)).status).toBe(200);
  writeFileSync(database, whole);
  service.signal("SIGTERM");
  expect(await service.ended()).toBe(0);
  rmSync(directory, { recursive: true });
});
