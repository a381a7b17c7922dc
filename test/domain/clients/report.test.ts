// Rules for a report beyond its schema: blank texts, sizes in bytes, and what is stored.
import { describe, expect, spyOn, test } from "bun:test";
import {
  CLIENTS_PER_USER_MAX,
  ENTRY_BYTES_MAX,
  INVENTORY_BYTES_MAX,
} from "../../../src/domain/clients/limits.ts";
import type { ClientStatusReport } from "../../../src/domain/clients/model.ts";
import { readReport } from "../../../src/domain/clients/report.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { createClientsWorld } from "./clients-world.ts";
import { reportedHarness, reportWith, USER } from "./policies.ts";

const REPORTER = { userId: USER, organizationId: "o", loginSessionId: "s", grantId: null };
const read = (members: Partial<ClientStatusReport>) => readReport(REPORTER, reportWith(members));

/** @returns pointers of all problems */
function pointersOf(members: Partial<ClientStatusReport>): string[] {
  try {
    read(members);
    return [];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    expect([error.kind, error.reason]).toEqual(["invalid", "client_report.invalid"]);
    return error.problems.map(({ pointer }) => pointer);
  }
}

const text = (length: number) => "x".repeat(length);
const many = <T>(count: number, entry: T): T[] => Array.from({ length: count }, () => entry);
const packageOf = (bytes: number) => ({ id: text(bytes - '{"id":""}'.length) });

/** About `bytes` as JSON, each entry of the same size. */
function packagesOf(bytes: number) {
  const count = 64;
  const entryBytes = Math.floor((bytes - 2 - (count - 1)) / count);
  const rest = bytes - 2 - (count - 1) - entryBytes * (count - 1);
  return [...many(count - 1, packageOf(entryBytes)), packageOf(rest)];
}

describe("limits in bytes", () => {
  test.each<[string, number, (bytes: number) => Partial<ClientStatusReport>]>([
    ["/packages/1", ENTRY_BYTES_MAX, (bytes) => ({ packages: [{}, packageOf(bytes)] })],
    ["/packages", INVENTORY_BYTES_MAX, (bytes) => ({ packages: packagesOf(bytes) })],
  ])("%s accepts up to %d", (pointer, max, membersOf) => {
    expect(pointersOf(membersOf(max - 1))).toEqual([]);
    expect(pointersOf(membersOf(max))).toEqual([]);
    expect(pointersOf(membersOf(max + 1))).toEqual([pointer]);
  });

  test("count bytes of inventories, not characters", () => {
    expect(read({ packages: packagesOf(INVENTORY_BYTES_MAX) }).packagesText).toHaveLength(
      INVENTORY_BYTES_MAX,
    );
    expect(pointersOf({ packages: [{ id: "ü".repeat(ENTRY_BYTES_MAX / 2) }] })).toEqual(["/packages/0"]);
  });
});

test("an installation and its version must not be blank", () => {
  expect(pointersOf({ instance_id: " \n", client_version: "" })).toEqual(["/instance_id", "/client_version"]);
});

test("a failed reconciliation names harness, revision and error", () => {
  expect(pointersOf({ reconciliation_attempt: { harness: " ", revision: "" }, error: " " })).toEqual([
    "/error",
    "/reconciliation_attempt/harness",
    "/reconciliation_attempt/revision",
  ]);
  expect(pointersOf({ reconciliation_attempt: { harness: "codex", revision: "r" }, error: null })).toEqual([
    "/error",
  ]);
  expect(pointersOf({ reconciliation_attempt: null, error: null })).toEqual([]);
});

test("omitted members have their defaults, and lists are empty", () => {
  const least = { instance_id: "i", client_version: "1", platform: "linux", applied: false, files_ok: false };
  expect(readReport(REPORTER, least)).toMatchObject({
    hostname: null,
    architecture: null,
    configRevision: null,
    error: null,
    attempt: null,
    harnessesText: "[]",
    packagesText: "[]",
    harnessNames: "[]",
  });
  expect(readReport(REPORTER, { ...least, harnesses: null, packages: null }).packagesText).toBe("[]");
});

test("names of harnesses are recognized in every form, sorted, once each", () => {
  const harnesses = ["kimi", { name: "codex" }, { name: 5 }, { nam: "x" }, "codex"];
  expect(read({ harnesses }).harnessNames).toBe('["codex","kimi"]');
});

describe("the record of an installation", () => {
  test("keeps its id and first time, and takes the rest from the last report", async () => {
    await using clients = await createClientsWorld();
    const { clock } = clients.world;
    const firstMs = clock.nowMs();
    await clients.report({ config_revision: "one", error: "x", harnesses: [reportedHarness({ more: [1] })] });
    const [before] = clients.listed();
    clock.advance(1_000);
    await clients.report({ hostname: null, harnesses: ["kimi"], packages: null, files_ok: false });
    expect(clients.listed()).toEqual([
      expect.objectContaining({
        id: before?.id,
        userEmail: "ana@example.org",
        hostname: null,
        configRevision: null,
        error: null,
        filesOk: false,
        harnesses: ["kimi"],
        packages: [],
        firstSeenAtMs: firstMs,
        lastSeenAtMs: firstMs + 1_000,
      }),
    ]);
    expect(before?.harnesses).toEqual([reportedHarness({ more: [1] })]);
  });

  test("exists once for each user of the machine", async () => {
    await using clients = await createClientsWorld();
    await clients.report();
    await clients.report({}, await clients.signedIn("member"));
    expect(clients.listed()).toHaveLength(2);
  });

  test("replaces the one not seen longest if a user has the maximum number", async () => {
    await using clients = await createClientsWorld();
    const report = async (number: number) => {
      clients.world.clock.advance(1);
      await clients.report({ instance_id: `i${number}` });
    };
    for (let number = 1; number <= CLIENTS_PER_USER_MAX; number++) await report(number);
    await clients.report({ instance_id: "other" }, await clients.signedIn("member"));
    const total = () => clients.domain.clients.inventory.list(clients.organizationId, {}).total;
    expect(total()).toBe(CLIENTS_PER_USER_MAX + 1);
    await report(1); // seen again, so another is the oldest
    await report(CLIENTS_PER_USER_MAX + 1);
    expect(total()).toBe(CLIENTS_PER_USER_MAX + 1);
    const isThere = (id: string) =>
      clients.domain.clients.inventory
        .list(clients.organizationId, { q: id })
        .items.some(({ instanceId }) => instanceId === id);
    expect([isThere("i1"), isThere("i2"), isThere("i3")]).toEqual([true, false, true]);
  });
});

test("a revision is prepared at the first report that names it, and not for each workstation", async () => {
  await using clients = await createClientsWorld();
  const config_revision = await clients.publish();
  const find = spyOn(clients.domain.governance.revisions, "find");
  await clients.report({ config_revision });
  expect(find).toHaveBeenCalledTimes(1);
  await clients.report({ config_revision, instance_id: "another" }, await clients.signedIn("member"));
  expect(find).toHaveBeenCalledTimes(1);
});
