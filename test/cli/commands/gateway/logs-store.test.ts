// INF-48: `gateway logs export --store` to the object store of the configuration, on the file of a request log without a service.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { createInstallation, type Workspace } from "../../../support/in-process.ts";
import { rowOf } from "../../../support/inference/request-rows.ts";
import { logOn, userOn } from "../../../support/installed/installed-requests.ts";
import { createS3Server, type S3Server, TEST_KEYS } from "../../../support/object-store/s3-server.ts";
import { START_MS } from "../../../support/world.ts";

const LINE = "gateway logs export --jsonl --store --config store.yaml";
const FOLDER = "s3://sessions/team/request-logs";
const FILE = `${FOLDER}/requests-2026-01-01.jsonl`;

let workspace: Workspace;
let store: S3Server;
beforeAll(async () => {
  workspace = await createInstallation();
  workspace.clock.set(START_MS + DAY_MS);
  store = createS3Server({ nowMs: () => workspace.clock.nowMs() });
  logOn(
    workspace,
    [1, 2].map((number) => rowOf(number, { userId: userOn(workspace) })),
  );
  writeFileSync(join(workspace.folder, "id"), TEST_KEYS.accessKeyId, { mode: 0o600 });
  writeFileSync(join(workspace.folder, "secret"), TEST_KEYS.secretAccessKey, { mode: 0o600 });
});
beforeEach(() => {
  configure("sessions");
  store.buckets.get("sessions")?.clear();
  store.instead = undefined;
  store.seen.length = 0;
});
afterAll(async () => {
  workspace[Symbol.dispose]();
  await store[Symbol.asyncDispose]();
});

function configure(bucket: string): void {
  const s3 = { endpoint: store.origin, bucket, prefix: "team/" };
  const keys = { access_key_id_file: "id", secret_access_key_file: "secret" };
  writeFileSync(join(workspace.folder, "store.yaml"), JSON.stringify({ blobs: { s3: { ...s3, ...keys } } }));
}

const keys = () => [...(store.buckets.get("sessions")?.keys() ?? [])];

describe("INF-48 gateway logs export --store", () => {
  test("writes completed days, and a repeated export continues", async () => {
    const dryRun = await workspace.json(`${LINE} --dry-run`);
    expect(dryRun).toEqual({
      dry_run: true,
      folder: FOLDER,
      days: [
        { day: "2026-01-01", file: FILE, rows: null, state: "due" },
        { day: "2026-01-02", file: null, rows: null, state: "open" },
      ],
      gaps: [],
    });
    expect(store.seen.map((line) => line.split(" ")[0])).toEqual(["HEAD", "HEAD"]);
    expect(await workspace.json(LINE)).toMatchObject({
      days: [{ file: FILE, rows: 2, state: "written" }, {}],
    });
    expect(keys()).toEqual(["team/request-logs/requests-2026-01-01.jsonl"]);
    const { bytes } = store.buckets.get("sessions")?.get(keys()[0] ?? "") ?? {};
    const ids = Buffer.from(bytes ?? [])
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual([rowOf(1).id, rowOf(2).id]);
    expect(await workspace.json(LINE)).toMatchObject({
      days: [{ file: FILE, rows: null, state: "kept" }, {}],
    });
    expect(await workspace.json(`${LINE} --replace`)).toMatchObject({ days: [{ rows: 2 }, {}] });
  });

  test("writes Parquet", async () => {
    await workspace.json(LINE.replace("--jsonl", "--parquet"));
    expect(keys()).toEqual(["team/request-logs/requests-2026-01-01.parquet"]);
  });

  test("reports why it cannot write, and does not repeat a refused request", async () => {
    store.instead = ({ method }) => (method === "PUT" ? new Response("", { status: 403 }) : undefined);
    const refused = await workspace.run(LINE);
    expect([refused.exitCode, refused.stderr]).toEqual([
      6,
      expect.stringContaining("the object store refused the request: status 403"),
    ]);
    expect(store.seen.filter((line) => line.startsWith("PUT"))).toHaveLength(1);
    store.instead = () => new Response("", { status: 503 });
    const down = await workspace.run(LINE);
    expect([down.exitCode, down.stderr]).toEqual([
      6,
      expect.stringContaining("the object store is not available: status 503"),
    ]);
    configure("absent");
    store.instead = undefined;
    const absent = await workspace.run(LINE);
    expect([absent.exitCode, absent.stderr]).toEqual([6, expect.stringContaining("status 404 NoSuchBucket")]);
    expect(keys()).toEqual([]);
  });

  test("needs a configured store, and one place", async () => {
    const unset = await workspace.run("gateway logs export --jsonl --store");
    expect([unset.exitCode, unset.stderr]).toEqual([
      2,
      expect.stringContaining("no object store is configured"),
    ]);
    for (const places of ["", " --store --out ."])
      expect(await workspace.run(`gateway logs export --jsonl${places} --config store.yaml`)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining("choose one destination for the files"),
      });
  });
});

test("INF-48 export --dry-run writes no file", async () => {
  expect(await workspace.run("gateway logs export --jsonl --out . --dry-run")).toMatchObject({
    stdout: `Would export 1 days to ${workspace.folder}\nnot over yet: 2026-01-02\nNo changes made.\n`,
  });
});
