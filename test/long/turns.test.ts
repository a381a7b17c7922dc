// The service keeps responding while it receives the largest accepted content: the built executable, and the turns of its event
// loop in processor time of its main thread.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BULK_REQUEST, SCIM_BASE_PATH } from "../../src/domain/scim/wire.ts";
import { CHECKPOINT_PAGES } from "../../src/platform/database/checkpoints.ts";
import { openConnection } from "../../src/platform/database/connection.ts";
import { SCIM_BYTES_MAX } from "../../src/server/scim/body.ts";
import { userAt } from "../bench/scim/scim-plan.ts";
import { largePackages, largePolicyJson, largePolicyYaml } from "../support/content/large-content.ts";
import { addManyRows } from "../support/content/many-rows.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { type Turns, watchTurns } from "../support/turns.ts";

/** A fraction of the largest content keeps the test fast. `bun run bench content` sends all of it. */
const POLICY_BYTES = 120_000;
const ENTRIES = 1_200;
const PACKAGES_BYTES = 80_000;
/** The goal is 20; a shared machine and code that is not compiled yet add to it. Without steps the same work takes 400 and more. */
const TURN_MS_MAX = 150;
const LIMIT_MS = 120_000;
const PASSWORD = "correct horse battery";
const SCIM = { token: "a-token-of-the-identity-provider-of-this-test", requests_burst: 10_000 };
/** Users with all their attributes; about 700 fit in one request. */
const BULK_USERS = 200;

let folder: string;
let turns: Turns;
let service: RunningService;
let cookie: string;
let catalog: string;
let config: string;
let settings: object;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
  turns = watchTurns(folder);
  config = join(folder, "config.yaml");
  catalog = join(folder, "catalog.json");
  writeFileSync(catalog, "[]");
  settings = {
    bootstrap: { admin_password: PASSWORD },
    catalog: { file: catalog },
    scim: SCIM,
  };
  writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
  service = await startService({
    args: ["--data-dir", join(folder, "data"), "--config", config],
    env: turns.env,
  });
  const response = await fetch(`${service.baseUrl}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: "admin@example.com", password: PASSWORD }),
  });
  cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
}, LIMIT_MS);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function ask(method: string, path: string, body?: object) {
  const response = await fetch(`${service.baseUrl}${path}`, {
    method,
    headers: { cookie, origin: service.baseUrl, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect([method, path, response.status, response.status === 200 ? "" : text]).toEqual([
    method,
    path,
    200,
    "",
  ]);
  return JSON.parse(text);
}

/** @returns the bytes that the main thread of the service has written to sockets and files */
const writtenBytes = (): number =>
  Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${service.pid}/task/${service.pid}/io`, "utf8"))?.[1]);

test(
  "a thread of the executable copies a full log into the database file, not the thread that answers",
  async () => {
    const file = join(folder, "data", "quartermaster.db");
    const logBytes = CHECKPOINT_PAGES * 4_096;
    {
      using connection = openConnection(file, { withoutCheckpoints: true });
      connection.run("CREATE TABLE filler (text TEXT)");
      connection.run(`INSERT INTO filler VALUES (hex(randomblob(${logBytes / 2})))`);
      connection.run("DROP TABLE filler");
    }
    const [sizeBytes, before] = [statSync(file).size, writtenBytes()];
    await ask("PUT", "/admin/branding", { logo_url: null, favicon_url: "https://example.com/icon.png" });
    while (statSync(file).size < sizeBytes + logBytes) await Bun.sleep(5);
    expect(writtenBytes() - before).toBeLessThan(logBytes / 4);
  },
  LIMIT_MS,
);

const CONFIG = "/admin/governance-config";

/** Without steps, the longest of the lists below takes 300 ms and more with this many users and workstations. */
const ROWS = 100_000;

test(
  "turns stay short while administrators read and search long lists",
  async () => {
    {
      using connection = openConnection(join(folder, "data", "quartermaster.db"), {});
      addManyRows(connection, { count: ROWS, nowMs: Date.now() });
    }
    const lists = [
      `users?page=${ROWS / 100}&per_page=100`,
      "users?q=nobody",
      "users?role=admin",
      "users/options",
      `client-status?page=${ROWS / 100}&per_page=100`,
      "client-status?q=user-0",
      "client-status?harness=kimi",
      "client-status/facets?user_q=nobody",
      `invitations?page=${ROWS / 100}&per_page=100`,
      "invitations?q=nobody",
    ];
    for (const list of lists) {
      const turnMs = await turns.longest(() => ask("GET", `/admin/${list}`));
      expect({ list, turnMs, isShort: turnMs < TURN_MS_MAX }).toEqual({ list, turnMs, isShort: true });
    }
  },
  LIMIT_MS,
);

test(
  "turns stay short while large policies are published and read",
  async () => {
    const publish = async (path: string, content: object) => {
      const { revision } = await ask("GET", CONFIG);
      return await turns.longest(() => ask("PUT", path, { base_revision: revision, ...content }));
    };
    const longest = {
      yaml: await publish(CONFIG, { managed_yaml: largePolicyYaml(POLICY_BYTES, ENTRIES) }),
      json: await publish(CONFIG, { managed_yaml: largePolicyJson(2 * ENTRIES) }),
      variants: await publish("/admin/governance-extensions", {
        packages: largePackages("variants", PACKAGES_BYTES),
      }),
      read: await turns.longest(() => ask("GET", CONFIG)),
      exported: await turns.longest(() => ask("GET", "/admin/blue-config/export")),
    };
    for (const [what, turnMs] of Object.entries(longest))
      expect({ what, turnMs, isShort: turnMs < TURN_MS_MAX }).toEqual({ what, turnMs, isShort: true });
  },
  LIMIT_MS,
);

test(
  "turns stay short while a large catalog file is reloaded",
  async () => {
    const file = { package_catalog: { packages: largePackages("variants", PACKAGES_BYTES) } };
    writeFileSync(catalog, `${JSON.stringify(file)}  # no JSON`);
    const turnMs = await turns.longest(async () => {
      service.signal("SIGHUP");
      await service.logged("catalog.reloaded");
    });
    expect({ turnMs, isShort: turnMs < TURN_MS_MAX }).toEqual({ turnMs, isShort: true });
  },
  LIMIT_MS,
);

test(
  "turns stay short while a large configuration file is reloaded and exported",
  async () => {
    const policy = largePolicyYaml(POLICY_BYTES, ENTRIES).replaceAll(/^/gm, " ");
    // The warning about an unknown group is the last line that a reload logs.
    const scim = { ...SCIM, group_role_mappings: { Nobody: "admin" } };
    const top = Object.entries({ ...settings, scim }).map(
      ([key, value]) => `${key}: ${JSON.stringify(value)}\n`,
    );
    writeFileSync(config, `${top.join("")}governance:\n${policy}\n`);
    const longest = {
      reload: await turns.longest(async () => {
        service.signal("SIGHUP");
        await service.logged("scim.mapping");
      }),
      exported: await turns.longest(() => ask("GET", "/admin/blue-config/export")),
    };
    for (const [what, turnMs] of Object.entries(longest))
      expect({ what, turnMs, isShort: turnMs < TURN_MS_MAX }).toEqual({ what, turnMs, isShort: true });
  },
  LIMIT_MS,
);

/** The limit of the requirement; without steps the same body took 80 and more. */
const REFUSAL_MB_MAX = 64;

test(
  "turns stay short, and memory small, while a group of 16 MiB is refused",
  async () => {
    const bytesMax = SCIM_BYTES_MAX["scim-group"];
    const [head, tail] = ['{"displayName":"Everybody","members":[', '{"value":"nobody"}]}'];
    const entries: string[] = [];
    for (let left = bytesMax - head.length - tail.length; left > 0; left -= entries.at(-1)?.length ?? left)
      entries.push(`{"value":"01980000-0000-7000-8000-${String(entries.length).padStart(12, "0")}"},`);
    const body = `${head}${entries.slice(0, -1).join("")}${tail}`;
    const status = (field: string): number =>
      Number(
        new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(
          readFileSync(`/proc/${service.pid}/status`, "utf8"),
        )?.[1],
      ) / 1_024;
    const responses: number[] = [];
    const turnMs = await turns.longest(async () => {
      writeFileSync(`/proc/${service.pid}/clear_refs`, "5"); // resets the peak
      const beforeMb = status("VmRSS");
      const response = await fetch(`${service.baseUrl}${SCIM_BASE_PATH}/Groups`, {
        method: "POST",
        headers: { authorization: `Bearer ${SCIM.token}`, "content-type": "application/scim+json" },
        body,
      });
      await response.text();
      responses.push(response.status, status("VmHWM") - beforeMb);
    });
    const [code, growthMb = Number.NaN] = responses;
    expect({ code, isSmall: growthMb < REFUSAL_MB_MAX, growthMb }).toEqual({
      code: 400,
      isSmall: true,
      growthMb,
    });
    expect({ turnMs, isShort: turnMs < TURN_MS_MAX }).toEqual({ turnMs, isShort: true });
  },
  LIMIT_MS,
);

test(
  "turns stay short while an identity provider creates many users in one request",
  async () => {
    const Operations = Array.from({ length: BULK_USERS }, (_, at) => ({
      method: "POST",
      path: "/Users",
      bulkId: `user${at}`,
      data: userAt(at),
    }));
    const body = JSON.stringify({ schemas: [BULK_REQUEST], Operations });
    const statuses: string[] = [];
    const turnMs = await turns.longest(async () => {
      const response = await fetch(`${service.baseUrl}${SCIM_BASE_PATH}/Bulk`, {
        method: "POST",
        headers: { authorization: `Bearer ${SCIM.token}`, "content-type": "application/scim+json" },
        body,
      });
      const { Operations: outcomes }: { Operations: { status: string }[] } = JSON.parse(
        await response.text(),
      );
      statuses.push(...outcomes.map(({ status }) => status));
    });
    expect(statuses).toEqual(Array(BULK_USERS).fill("201"));
    expect({ turnMs, isShort: turnMs < TURN_MS_MAX }).toEqual({ turnMs, isShort: true });
  },
  LIMIT_MS,
);
