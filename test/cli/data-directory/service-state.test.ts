// The running service writes a state file for commands. Commands ignore the file of a killed service.
import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { runHere } from "../../support/in-process.ts";
import { prepareInstallation } from "../../support/installed/prepared-installation.ts";
import { startService } from "../../support/running-service.ts";
import { temporaryDirectory } from "../../support/world.ts";

const directory = temporaryDirectory();
afterAll(() => rmSync(directory, { recursive: true }));
const data = join(directory, "data");
const file = placesIn(data).service;

const start = (...more: string[]) => startService({ args: ["--data-dir", data, ...more] });

let invited = 0;
const invite = (...more: string[]) => {
  invited += 1;
  const line = `users invite user${invited}@example.org --role member --json --data-dir ${data}`;
  return runHere([...line.split(" "), ...more], { cwd: directory });
};
const linkOf = ({ stdout }: { stdout: string }): string => String(JSON.parse(stdout).invitation_url);

test("links have the origin of the running service; the state of a killed service is ignored", async () => {
  const token = "a-token-for-metrics-that-nobody-sees";
  writeFileSync(join(directory, "token"), token, { mode: 0o600 });
  await prepareInstallation(data);
  const killed = await start("--metrics-token-file", join(directory, "token"));
  expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
  const text = readFileSync(file, "utf8");
  expect(JSON.parse(text)).toMatchObject({ origin: killed.baseUrl, settings: { data_dir: data } });
  expect(text).not.toContain(token);
  expect(linkOf(await invite())).toStartWith(`${killed.baseUrl}/`);
  const other = "https://qm.example.org";
  expect(linkOf(await invite("--server-public-url", other))).toStartWith(`${other}/`);

  await killed[Symbol.asyncDispose](); // SIGKILL
  expect(existsSync(file)).toBe(true);
  const refused = await invite();
  expect(refused.exitCode).toBe(2);
  expect(JSON.parse(refused.stderr)).toMatchObject({ reason: "config.public_url_missing" });

  await using next = await start();
  expect(linkOf(await invite())).toStartWith(`${next.baseUrl}/`);
  next.signal("SIGTERM");
  expect(await next.ended()).toBe(0);
  expect(existsSync(file)).toBe(false);
});
