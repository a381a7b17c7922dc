// `audit`: its exact output (golden/audit.txt), its files, and its exit code for a log that was tampered with. test/domain/audit
// tests that every kind of tampering is found.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseTime } from "../../../../cli/commands/audit/read.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/platform/clock.ts";
import { expectGolden, type Step } from "../../../support/cli/golden.ts";
import { createInstallation, type Workspace } from "../../../support/in-process.ts";
import { START_MS } from "../../../support/world.ts";

/** An installation with audit entries from three hours. */
async function createBusyInstallation(): Promise<Workspace> {
  const workspace = await createInstallation();
  workspace.clock.advance(HOUR_MS);
  await workspace.json("users create ana@example.org --role member");
  workspace.clock.advance(HOUR_MS);
  await workspace.json("users suspend ana@example.org --yes");
  await workspace.json("users remove ana@example.org --yes");
  workspace.clock.advance(MINUTE_MS);
  return workspace;
}

/** Changes the database directly, like an attacker with access to the file. */
function tamper({ data }: Workspace, sql: string): void {
  using db = new Database(join(data, "quartermaster.db"));
  db.run(sql);
}

/** Replaces digests: they depend on random signing keys. */
const REPLACED = new Map<string | RegExp, string>([
  [/sha256:[0-9a-f]{64}/g, "<digest>"],
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, "<key id, 43 characters long, of a new pair>"],
]);

test("FWD-5 audit forwarding, and audit resend", async () => {
  using workspace = await createBusyInstallation();
  const settings = "--config forward.yaml";
  writeFileSync(
    join(workspace.folder, "forward.yaml"),
    "audit: {forward: {url: 'syslog+tls://logs.example.org'}}\n",
  );
  const run = async (line: string): Promise<Step> => ({ line, ...(await workspace.run(line)) });
  const off = await run("audit forwarding");
  const waiting = `(1, 3, ${START_MS + HOUR_MS}, ${START_MS + 2 * HOUR_MS}, 'audit-receiver answered 503')`;
  const columns = "id, entry_id, delivered_at_ms, failing_since_ms, error";
  tamper(workspace, `INSERT INTO audit_forwarding (${columns}) VALUES ${waiting}`);
  const lines = [
    `audit forwarding ${settings}`,
    `audit forwarding ${settings} --json`,
    `audit resend --after 4 ${settings}`,
    `audit resend --after 3 ${settings}`,
    `audit resend --after 1 ${settings}`,
    `audit resend --after 0 --json`,
    `audit resend --after x`,
  ];
  const steps = [off];
  for (const line of lines) steps.push(await run(line));
  expectGolden("audit-forwarding", steps, new Map([[workspace.folder, "<folder>"]]));
});

test("FWD-5 status shows the entries that wait for the receiver", async () => {
  using workspace = await createBusyInstallation();
  writeFileSync(
    join(workspace.folder, "forward.yaml"),
    "audit: {forward: {url: 'https://localhost:1/logs'}}\n",
  );
  const line = "status --offline-ok --config forward.yaml";
  const { stdout } = await workspace.run(line);
  expect(stdout).toMatch(/^audit forwarding +\d+ entries wait, the oldest for 2h$/m);
  const document = JSON.parse((await workspace.run(`${line} --json`)).stdout);
  expect(document.audit_forwarding).toMatchObject({ last_id: 0, delivered_at: null, error: null });
  expect(document.outside).toContainEqual(
    expect.objectContaining({ name: "audit-receiver", state: "unreachable" }),
  );
});

test("audit", async () => {
  using workspace = await createBusyInstallation();
  const before = [
    "audit list",
    "audit list --action user.update --wide",
    "audit list --since 90m --actor Olga --limit 1 --page 2 --json",
    "audit list --until 2026-01-01T00:30:00Z --target nothing",
    "audit list --since 1h --until 2h",
    "audit list --since yesterday",
    "audit list --until 2026-02-30",
    "audit show 5",
    "audit show 6 --json",
    "audit show 99",
    "audit show last",
    "audit verify",
    "audit verify --json",
    "audit export --after 3",
    "audit export --after 99",
    "audit export --after 3 --out audit.jsonl",
    "audit export --after 5 --out audit.jsonl",
    "audit export --after 5 --out audit-2.jsonl --json",
    "audit export --out nowhere/audit.jsonl",
    "audit export --after x",
  ];
  const after = ["audit verify", "audit verify --json", "audit list --action user.create --limit 1 --json"];
  const steps = await transcript(workspace, before);
  tamper(workspace, "UPDATE audit_entries SET after = 'no JSON' WHERE action = 'user.create' AND id > 3");
  steps.push(...(await transcript(workspace, after)));
  tamper(workspace, "DELETE FROM audit_entries WHERE id >= 3");
  steps.push(...(await transcript(workspace, after.slice(0, 2))));
  tamper(workspace, "DELETE FROM audit_entries");
  tamper(workspace, "DELETE FROM sqlite_sequence");
  steps.push(...(await transcript(workspace, ["audit verify", "audit verify --json"])));
  expectGolden("audit", steps, new Map([[workspace.folder, "<folder>"], ...REPLACED]));
});

async function transcript(workspace: Workspace, lines: readonly string[]): Promise<Step[]> {
  const steps: Step[] = [];
  for (const line of lines) steps.push({ line, ...(await workspace.run(line)) });
  return steps;
}

test("two partial exports equal the whole log, on stdout and in files that only their owner can read", async () => {
  using workspace = await createBusyInstallation();
  const whole = (await workspace.run("audit export")).stdout;
  const entries = whole
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(entries.map(({ id }) => id)).toEqual(entries.map((_, index) => index + 1));
  expect(entries.length).toBeGreaterThan(5);
  const first = join(workspace.folder, "first.jsonl");
  await workspace.run(`audit export --out ${first}`);
  await workspace.json("users create bob@example.org --role member");
  const rest = (await workspace.run(`audit export --after ${entries.length}`)).stdout;
  expect(readFileSync(first, "utf8")).toBe(whole);
  expect(whole + rest).toBe((await workspace.run("audit export --json")).stdout);
  expect(statSync(first).mode & 0o777).toBe(0o600);
});

test("an interrupted export leaves no file", async () => {
  using workspace = await createBusyInstallation();
  const signal = AbortSignal.abort(new Error("interrupted"));
  const { exitCode } = await workspace.run("audit export --out audit.jsonl", { signal });
  expect(exitCode).toBe(1);
  expect(existsSync(join(workspace.folder, "audit.jsonl"))).toBe(false);
  expect((await workspace.run("audit export --out audit.jsonl")).exitCode).toBe(0);
});

test.each([
  ["0m", START_MS],
  ["30m", START_MS - 30 * MINUTE_MS],
  ["12h", START_MS - 12 * HOUR_MS],
  ["7d", START_MS - 7 * DAY_MS],
  ["2025-06-30", Date.UTC(2025, 5, 30)],
  ["2025-06-30T12:00:00+02:00", Date.UTC(2025, 5, 30, 10)],
])("--since %s is understood", (text, timeMs) => {
  expect(parseTime("--since", text, START_MS)).toBe(timeMs);
});
