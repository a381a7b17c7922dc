// `gateway logs` and `gateway usage` on the file of a request log, without a service.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import type { Gap } from "../../../../src/domain/inference/log/model.ts";
import { GROUP_ROWS } from "../../../../src/domain/inference/log/parquet.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/platform/clock.ts";
import { productCommand, SHORT_LIVED } from "../../../support/cli/executable.ts";
import { createInstallation, type Workspace } from "../../../support/in-process.ts";
import { rowOf } from "../../../support/inference/request-rows.ts";
import { logOn, userOn } from "../../../support/installed/installed-requests.ts";
import { START_MS } from "../../../support/world.ts";

const DAYS = [
  rowOf(1, { occurredAtMs: START_MS }),
  rowOf(2, { occurredAtMs: START_MS + HOUR_MS, model: "claude-5" }),
  rowOf(3, { occurredAtMs: START_MS + DAY_MS, branch: "red\u001b[31m" }),
  rowOf(4, { occurredAtMs: START_MS + 2 * DAY_MS }),
];

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const part of stream) {
    const lines = (rest + new TextDecoder().decode(part)).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

let workspace: Workspace;
let root: string;
beforeAll(async () => {
  workspace = await createInstallation();
  workspace.clock.set(START_MS + 2 * DAY_MS + HOUR_MS);
  root = userOn(workspace);
  const gap: Gap = { fromMs: START_MS + 5, toMs: START_MS + 9, count: 7, cause: "disk_full" };
  logOn(
    workspace,
    DAYS.map((row) => ({ ...row, userId: root })),
    [gap],
  );
});
afterAll(() => workspace[Symbol.dispose]());

describe("INF-48 gateway logs", () => {
  test("list shows requests newest first, with the address of the user, and warns of gaps", async () => {
    const { stdout, stderr, exitCode } = await workspace.run("gateway logs list --wide");
    expect(exitCode).toBe(0);
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(5);
    expect(lines[1]).toContain("2026-01-03T00:00:00.000Z  root@example.org");
    expect(stdout).not.toContain("\u001b");
    expect(stderr).toBe(
      "warning: 7 rows from 2026-01-01T00:00:00.005Z to 2026-01-01T00:00:00.009Z were dropped: disk_full\n",
    );
  });

  test("CON-79 summary counts by hour or day, and by model or user", async () => {
    const { stdout } = await workspace.run("gateway logs summary");
    expect(stdout.trim().split("\n")).toHaveLength(4);
    expect(stdout).toMatch(/^2026-01-01 +2 /m);
    expect((await workspace.run("gateway logs summary --by user")).stdout).toMatch(/^root@example.org +4 /m);
    const { stdout: json } = await workspace.run("gateway logs summary --model claude-5 --by model --json");
    expect(JSON.parse(json)).toMatchObject({ totals: { requests: 1 }, groups: [{ model: "claude-5" }] });
    expect((await workspace.run("gateway logs summary --bucket week")).exitCode).toBe(2);
  });

  test("list has the filters of the API, and names invalid values", async () => {
    const { items, total } = await workspace.json(
      "gateway logs list --user root@example.org --model claude-5",
    );
    expect([total, items]).toMatchObject([1, [{ id: rowOf(2).id, user_email: "root@example.org" }]]);
    expect(await workspace.json("gateway logs list --from 2026-01-02 --to 2026-01-02")).toMatchObject({
      total: 1,
    });
    const wrong = await workspace.run("gateway logs list --from 2026-01-02 --to 2026-01-01");
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      2,
      expect.stringContaining("--to must not be before --from"),
    ]);
    const twice = await workspace.run("gateway usage --from yesterday --to 2026-02-30");
    expect(twice.stderr).toContain(
      "--from must be a day such as 2026-01-31; --to must be a day such as 2026-01-31",
    );
  });

  test("list without a log is empty, and creates no file", async () => {
    using empty = await createInstallation();
    expect(await empty.json("gateway logs list")).toMatchObject({ items: [], total: 0 });
    expect(existsSync(join(empty.data, "request-logs.db"))).toBe(false);
  });

  test("tail begins with the latest requests and continues until it is interrupted", async () => {
    using own = await createInstallation();
    const today = { occurredAtMs: Date.now() }; // the child process uses the time of the machine
    const rowsOf = (...numbers: number[]) => numbers.map((number) => rowOf(number, today));
    logOn(own, [rowOf(5), ...rowsOf(1, 4), rowOf(2, { ...today, outcome: null })]);
    const args = ["gateway", "logs", "tail", "--json", "--limit", "2", "--data-dir", own.data];
    await using child = Bun.spawn([...productCommand(), ...args], {
      stdout: "pipe",
      stderr: "pipe",
      env: SHORT_LIVED,
    });
    const printed: string[] = [];
    for await (const line of linesOf(child.stdout)) {
      printed.push(JSON.parse(line).id);
      if (printed.length === 1) logOn(own, rowsOf(2, 3));
      if (printed.length === 3) child.kill("SIGINT");
    }
    expect(await new Response(child.stderr).text()).toBe("");
    expect(printed.sort()).toEqual([rowOf(2).id, rowOf(3).id, rowOf(4).id]);
    expect(await child.exited).toBe(0);
  });

  test("tail shows why a request was refused", async () => {
    using own = await createInstallation();
    const refused = { outcome: "refused", httpStatus: 502, refusal: "inference.upstream_redirect" } as const;
    logOn(own, [rowOf(1), rowOf(2, refused)]);
    const { stdout } = await own.run("gateway logs tail --no-follow");
    expect(stdout.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/ 200 {2}complete .* out$/),
      expect.stringMatching(/ 502 {2}refused .* out {2}inference\.upstream_redirect$/),
    ]);
  });

  test("export writes a file for each completed day, and a repeated export continues", async () => {
    const folder = join(workspace.folder, "logs");
    mkdirSync(folder);
    const line = "gateway logs export --jsonl --out logs";
    writeFileSync(join(folder, "requests-2026-01-02.jsonl"), "kept\n");
    expect(await workspace.json(line)).toEqual({
      folder,
      days: [
        { day: "2026-01-01", file: join(folder, "requests-2026-01-01.jsonl"), rows: 2, state: "written" },
        { day: "2026-01-02", file: join(folder, "requests-2026-01-02.jsonl"), rows: null, state: "kept" },
        { day: "2026-01-03", file: null, rows: null, state: "open" },
      ],
      gaps: [
        { from: "2026-01-01T00:00:00.005Z", to: "2026-01-01T00:00:00.009Z", count: 7, cause: "disk_full" },
      ],
    });
    expect(readdirSync(folder).sort()).toEqual(["requests-2026-01-01.jsonl", "requests-2026-01-02.jsonl"]);
    const first = join(folder, "requests-2026-01-01.jsonl");
    const rows = readFileSync(first, "utf8")
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text));
    expect(rows.map(({ id }) => id)).toEqual([rowOf(1).id, rowOf(2).id]);
    expect(rows[0]).toMatchObject({ user_email: "root@example.org", input_tokens: 1000 });
    expect(statSync(first).mode & 0o777).toBe(0o600);
    const again = await workspace.json(`${line} --replace --from 2026-01-02 --to 2026-01-02`);
    expect(again.days).toMatchObject([{ day: "2026-01-02", rows: 1, state: "written" }]);
  });

  test("export writes Parquet with the same rows, in row groups", async () => {
    using own = await createInstallation();
    own.clock.set(START_MS + DAY_MS);
    mkdirSync(join(own.folder, "logs"));
    const rows = Array.from({ length: GROUP_ROWS + 5 }, (_, number) => rowOf(number));
    logOn(own, [
      ...rows,
      rowOf(GROUP_ROWS + 5, { model: null, dirty: null, httpStatus: null, upstreamCost: null }),
    ]);
    const both = {
      "--parquet": await own.json("gateway logs export --out logs --parquet"),
      "--jsonl": await own.json("gateway logs export --out logs --jsonl"),
    };
    expect(both["--parquet"].days).toMatchObject([
      { rows: GROUP_ROWS + 6, state: "written" },
      { state: "open" },
    ]);
    const path = join(own.folder, "logs", "requests-2026-01-01");
    const file = await asyncBufferFromFile(`${path}.parquet`);
    const found = await parquetReadObjects({ file });
    const lines = readFileSync(`${path}.jsonl`, "utf8")
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text));
    const plain = (_: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value);
    expect(JSON.parse(JSON.stringify(found, plain))).toEqual(lines);
    expect((await parquetMetadataAsync(file)).row_groups).toHaveLength(2);
  });

  test("export leaves a day open while one of its requests runs, for at most a day", async () => {
    using own = await createInstallation();
    mkdirSync(join(own.folder, "logs"));
    logOn(own, [rowOf(1, { outcome: null })]);
    const stateOf = async () => (await own.json("gateway logs export --jsonl --out logs")).days;
    own.clock.set(START_MS + DAY_MS + HOUR_MS);
    expect(await stateOf()).toMatchObject([{ state: "open" }, { state: "open" }]);
    own.clock.set(START_MS + 2 * DAY_MS);
    expect(await stateOf()).toMatchObject([{ state: "written" }, {}, {}]);
  });

  test("export refuses to guess the format and the folder", async () => {
    expect(await workspace.run("gateway logs export --out logs")).toMatchObject({ exitCode: 2 });
    expect(await workspace.run("gateway logs export --out logs --jsonl --parquet")).toMatchObject({
      exitCode: 2,
    });
    const missing = await workspace.run("gateway logs export --jsonl --out missing");
    expect(missing.stderr).toContain("missing");
    expect(missing.exitCode).not.toBe(0);
  });
});

test("INF-56 gateway usage of a period without requests is empty", async () => {
  const { stdout, stderr, exitCode } = await workspace.run("gateway usage --by model");
  expect([stdout, stderr, exitCode]).toEqual(["", "no usage in this period\n", 0]);
  expect(await workspace.json("gateway usage --by day --from 2026-01-01")).toMatchObject({
    from: "2026-01-01",
    to: "2026-01-03",
    group_by: "day",
    items: [],
  });
});
