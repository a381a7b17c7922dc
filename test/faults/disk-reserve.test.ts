// A service whose disk another program fills to the last byte: its reserve lets it start, and sign-ins and changes continue. It makes
// the reserve again when there is space.
import { describe, expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RESERVE_BYTES } from "../../src/platform/files/disk-reserve.ts";
import {
  ADMIN_EMAIL,
  ADMIN_PASSWORD,
  prepareInstallation,
} from "../support/installed/prepared-installation.ts";
import { canMount, fill, onSmallDisk } from "../support/installed/small-disk.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/world.ts";

/** An installation, its reserve, and more than FREE_BYTES_MIN. */
const DISK = "128m";
const TOKEN = "a-token-of-the-identity-provider";
const SIGN_INS = 10;

async function signIn({ baseUrl }: RunningService): Promise<number> {
  const response = await fetch(`${baseUrl}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: ADMIN_EMAIL, password: ADMIN_PASSWORD }),
  });
  await response.arrayBuffer();
  return response.status;
}

async function provision({ baseUrl }: RunningService, userName: string): Promise<number> {
  const response = await fetch(`${baseUrl}/scim/v2/Users`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/scim+json" },
    body: JSON.stringify({ schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"], userName }),
  });
  return response.status;
}

const reserveIn = async ({ baseUrl }: RunningService): Promise<number> => {
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(/^quartermaster_disk_reserve_bytes (\d+)$/m.exec(metrics)?.[1]);
};

describe.if(canMount)("SES-41 a service whose disk another program has filled", () => {
  test("starts and continues with its reserve, and creates it again when there is space", async () => {
    const [directory, prepared] = [temporaryDirectory(), temporaryDirectory()];
    await prepareInstallation(join(prepared, "data"));
    writeFileSync(join(prepared, "data", "disk-reserve"), Buffer.alloc(RESERVE_BYTES), { mode: 0o600 });
    const data = join(directory, "data");
    const start = [
      `cp -r '${prepared}/data' '${data}'`,
      `{ head -c ${DISK} /dev/zero >'${directory}/ballast'; exec "$@" 2>'${prepared}/log'; }`,
    ].join(" && ");
    {
      await using service = await startService({
        command: onSmallDisk(directory, DISK, start),
        args: ["--data-dir", data],
        env: { PATH: process.env.PATH ?? "", QUARTERMASTER_SCIM_TOKEN: TOKEN },
      });
      const ballast = join("/proc", String(service.pid), "root", directory, "ballast");
      for (let at = 0; at < SIGN_INS; at += 1) {
        fill(ballast);
        expect(await signIn(service)).toBe(200);
      }
      fill(ballast);
      expect(await provision(service, "ada@example.org")).toBe(201);
      expect(await reserveIn(service)).toBeLessThan(RESERVE_BYTES);
      const log = () => readFileSync(join(prepared, "log"), "utf8");
      rmSync(ballast);
      while (!log().includes("disk.reserve_made")) await Bun.sleep(10); // the file is whole before the log says so
      expect([await reserveIn(service), await signIn(service)]).toEqual([RESERVE_BYTES, 200]);
      expect(log().match(/disk\.reserve_(?:used|made)/g)).toEqual(["disk.reserve_used", "disk.reserve_made"]);
    }
    for (const folder of [directory, prepared]) rmSync(folder, { recursive: true });
  });
});
