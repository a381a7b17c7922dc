// Captured sessions of the real service on a full disk, or when it is killed at any moment: nothing partial is kept, everything
// else continues, and the client's plain retry succeeds.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BODY_WHOLE_MS } from "../../src/domain/sessions/limits.ts";
import { sectionOf } from "../domain/governance/governance-world.ts";
import { productCommand } from "../support/cli/executable.ts";
import { announcementOf } from "../support/content/sessions.ts";
import {
  ADMIN_EMAIL,
  ADMIN_PASSWORD,
  prepareInstallation,
} from "../support/installed/prepared-installation.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/world.ts";

const MEBIBYTE = 1024 * 1024;
const ROUNDS = 3;
/** each round kills at a later point of the upload */
const STEP_MS = 12;

const directory = temporaryDirectory();
const data = join(directory, "data");
beforeAll(() => prepareInstallation(data));
afterAll(() => rmSync(directory, { recursive: true }));

/** @param wrap runs the product, whose arguments follow, in a shell */
async function start(wrap = 'exec "$@"'): Promise<RunningService> {
  const config = join(directory, "quartermaster.yaml");
  const presign_url = "https://control.example.com/session-uploads/presign";
  const governance = sectionOf({ session_upload: { presign_url }, allowed_harnesses: ["codex"] });
  writeFileSync(config, JSON.stringify({ governance }));
  return await startService({
    command: ["sh", "-c", wrap, "sh", ...productCommand()],
    args: ["--data-dir", data, "--config", config],
    env: { PATH: process.env.PATH ?? "" },
  });
}

async function signIn({ baseUrl }: RunningService): Promise<Record<string, string>> {
  const response = await fetch(`${baseUrl}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: ADMIN_EMAIL, password: ADMIN_PASSWORD }),
  });
  return { cookie: response.headers.get("set-cookie")?.split(";")[0] ?? "" };
}

interface Site {
  service: RunningService;
  headers: Record<string, string>;
}

async function presign({ service, headers }: Site, bytes: Uint8Array): Promise<Response> {
  return await fetch(`${service.baseUrl}/session-uploads/presign`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(announcementOf(bytes)),
  });
}

/** Uploads and completes as the client does. @returns statuses and reasons; the first one that is not a success comes last */
async function handIn(site: Site, bytes: Uint8Array<ArrayBuffer>): Promise<readonly unknown[]> {
  const announced = await presign(site, bytes);
  const { upload_url, headers, complete_url, reason } = await announced.json();
  if (announced.status !== 200) return [announced.status, reason];
  if (upload_url === null) return [200];
  const stored = await fetch(upload_url, { method: "PUT", headers, body: bytes });
  if (stored.status !== 204) return [200, stored.status, (await stored.json()).reason];
  const completed = await fetch(site.service.baseUrl + complete_url, {
    method: "POST",
    headers: site.headers,
  });
  return [200, stored.status, completed.status];
}

/** Different bytes each time. */
const filled = (size: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(size);
  crypto.getRandomValues(bytes.subarray(0, 64));
  return bytes;
};

const partialFiles = (): string[] =>
  ["sessions", "artifacts"].flatMap((folder) =>
    readdirSync(join(data, folder)).filter((name) => name.startsWith("put-")),
  );

/** @returns complete artifacts whose file is missing or has another size */
function lies(): unknown[] {
  using database = new Database(join(data, "quartermaster.db"), { readonly: true });
  const rows = database
    .query<{ place: string; size_bytes: number }, []>(
      "SELECT place, size_bytes FROM session_artifacts WHERE status = 'complete'",
    )
    .all();
  return rows.filter(({ place, size_bytes: size }) => {
    const found = statSync(join(data, "sessions", "sha256", place.slice(0, 2), place), {
      throwIfNoEntry: false,
    });
    return found?.size !== size;
  });
}

describe("SES-41 SES-57 a service whose disk is full", () => {
  let site: Site;
  beforeAll(async () => {
    const service = await start(`trap '' XFSZ && exec "$@"`);
    site = { service, headers: await signIn(service) };
  });
  afterAll(() => site.service[Symbol.asyncDispose]());

  test("refuses the upload, keeps no part of it, answers everything else, and recovers by itself", async () => {
    const bytes = filled(12 * MEBIBYTE);
    limitFiles(site.service.pid, String(8 * MEBIBYTE));
    expect(await handIn(site, bytes)).toEqual([200, 503, "artifact.disk_full"]);
    expect(partialFiles()).toEqual([]);
    expect((await signIn(site.service)).cookie).not.toBe("");
    const policy = await fetch(`${site.service.baseUrl}/admin/governance-config`, { headers: site.headers });
    expect(policy.status).toBe(200);
    limitFiles(site.service.pid, "unlimited");
    expect(await handIn(site, bytes)).toEqual([200, 204, 200]);
  });
});

describe("SES-57 a service that is killed", () => {
  test(
    "leaves no partial upload at any moment, and the retry succeeds",
    async () => {
      let interrupted = 0;
      let former: Uint8Array<ArrayBuffer> | undefined;
      for (let round = 0; round <= ROUNDS; round += 1) {
        await using service = await start();
        const site = { service, headers: await signIn(service) };
        expect([partialFiles(), lies()]).toEqual([[], []]);
        if (former) {
          const [, ...more] = await handIn(site, former);
          if (more.length > 0) interrupted += 1;
          expect(more.length === 0 ? [204, 200] : more).toEqual([204, 200]);
          expect(await handIn(site, former)).toEqual([200]);
        }
        former = filled(4 * MEBIBYTE + round);
        const work = handIn(site, former).catch(() => {}); // the service ends in the meantime
        await Promise.race([work, Bun.sleep(round * STEP_MS)]);
        service.signal("SIGKILL");
        await service.ended();
        await work;
        // As an import leaves it when it is killed with its process.
        writeFileSync(join(data, "artifacts", `put-${service.pid}-00000000-${crypto.randomUUID()}`), "half");
      }
      expect(interrupted).toBeGreaterThan(0);
    },
    BODY_WHOLE_MS,
  );
});

/** The soft limit on the size of the files that a process writes. */
function limitFiles(pid: number, bytes: string): void {
  const { status, stderr } = spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
  if (status !== 0) throw new Error(String(stderr));
}
