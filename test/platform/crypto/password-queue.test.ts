// The order of password checks: few at a time, known browsers first, one of each account and address, in turns.
import { expect, test } from "bun:test";
import {
  createPasswordQueue,
  type HashRequester,
  PASSWORD_BLOCKED_MAX,
  PASSWORD_HASHES_MAX,
  PASSWORD_KNOWN_IN_A_ROW_MAX,
  PASSWORD_QUEUE_MAX,
  PASSWORD_QUEUE_PER_ACCOUNT_MAX,
  PASSWORD_QUEUE_PER_ADDRESS_MAX,
  PASSWORD_QUEUE_PER_NETWORK_MAX,
  PASSWORD_READY_PER_NETWORK_MAX,
} from "../../../src/platform/crypto/password-queue.ts";
import { DomainError } from "../../../src/platform/errors.ts";

/** Lets ready work continue. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

/** A queue whose work ends on the test's command. */
function createWorkspace() {
  const queued = createPasswordQueue();
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const outcomes = new Map<string, Promise<string>>();
  const ask = (name: string, asker?: HashRequester): void => {
    const work = async () => {
      started.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return "done";
    };
    const refused = (error: unknown) => (error instanceof DomainError ? error.reason : String(error));
    outcomes.set(name, queued(work, asker).catch(refused));
  };
  return {
    started,
    ask,
    outcome: (name: string) => outcomes.get(name),
    async end(name: string): Promise<void> {
      await settled();
      ends.get(name)?.();
      await outcomes.get(name);
      await settled();
    },
  };
}

const asker = (
  account: string,
  address: string | null = null,
  network: string | null = null,
): HashRequester => ({
  account,
  address,
  network,
  isKnown: false,
});
const known = (account: string, address = "192.0.2.200"): HashRequester => ({
  account,
  address,
  network: "192.0.2.0/24",
  isKnown: true,
});

test("runs a limited number at a time in order of arrival, also for new requests while others wait", async () => {
  const workspace = createWorkspace();
  for (const name of ["0", "1", "2", "3"]) workspace.ask(name);
  await settled();
  expect(workspace.started).toEqual(["0", "1"]);
  await workspace.end("0");
  workspace.ask("4");
  await settled();
  expect(workspace.started).toEqual(["0", "1", "2"]);
  for (const name of ["1", "2", "3", "4"]) await workspace.end(name);
  expect(workspace.started).toEqual(["0", "1", "2", "3", "4"]);
});

test("guesses at one account from many addresses leave capacity for other accounts", async () => {
  const workspace = createWorkspace();
  for (const at of [1, 2, 3]) workspace.ask(`guess ${at}`, asker("ada", `192.0.2.${at}`));
  workspace.ask("bob", asker("bob", "192.0.2.99"));
  await settled();
  expect(workspace.started).toEqual(["guess 1", "bob"]);
});

test("guesses from one address at many accounts leave capacity for other addresses", async () => {
  const workspace = createWorkspace();
  for (const at of [1, 2, 3]) workspace.ask(`guess ${at}`, asker(`user ${at}`, "192.0.2.1"));
  workspace.ask("bob", asker("bob", "192.0.2.99"));
  await settled();
  expect(workspace.started).toEqual(["guess 1", "bob"]);
});

test("addresses take turns: a single request does not wait for all requests of another address", async () => {
  const workspace = createWorkspace();
  workspace.ask("running 1");
  workspace.ask("running 2");
  for (const at of [1, 2, 3]) workspace.ask(`flood ${at}`, asker(`user ${at}`, "192.0.2.1"));
  workspace.ask("bob", asker("bob", "192.0.2.99"));
  await workspace.end("running 1");
  await workspace.end("flood 1");
  expect(workspace.started).toEqual(["running 1", "running 2", "flood 1", "bob"]);
  for (const name of ["running 2", "bob", "flood 2", "flood 3"]) await workspace.end(name);
  expect(workspace.started.slice(4)).toEqual(["flood 2", "flood 3"]);
});

test("accounts take turns over a local socket", async () => {
  const workspace = createWorkspace();
  workspace.ask("running 1");
  workspace.ask("running 2");
  for (const at of [1, 2]) workspace.ask(`guess ${at}`, asker("ada"));
  workspace.ask("bob", asker("bob"));
  await workspace.end("running 1");
  await workspace.end("guess 1");
  expect(workspace.started).toEqual(["running 1", "running 2", "guess 1", "bob"]);
});

test("forgets an address without waiting requests: its next caller waits no longer than a new one", async () => {
  const workspace = createWorkspace();
  workspace.ask("running 1");
  workspace.ask("running 2");
  workspace.ask("ada before", asker("ada", "192.0.2.1"));
  await workspace.end("running 1");
  await workspace.end("ada before");
  workspace.ask("running 3");
  workspace.ask("bob", asker("bob", "192.0.2.2"));
  workspace.ask("ada", asker("ada", "192.0.2.1"));
  workspace.ask("eve", asker("eve", "192.0.2.3"));
  await workspace.end("running 2");
  await workspace.end("bob");
  await workspace.end("ada");
  expect(workspace.started.slice(3)).toEqual(["running 3", "bob", "ada", "eve"]);
});

/** Occupies both places with work that is unrelated to later callers. */
function busyWorkspace() {
  const workspace = createWorkspace();
  workspace.ask("running 1");
  workspace.ask("running 2");
  return workspace;
}

test("a known browser goes before guesses from many networks at many accounts", async () => {
  const workspace = busyWorkspace();
  for (let at = 0; at < 45; at += 1) workspace.ask(`guess ${at}`, asker(`user ${at}`, `198.51.100.${at}`));
  workspace.ask("bob", known("bob"));
  await workspace.end("running 1");
  expect(workspace.started.slice(2)).toEqual(["bob"]);
  await workspace.end("bob");
  await workspace.end("running 2");
  expect(workspace.started.slice(3)).toEqual(["guess 0", "guess 1"]);
});

test("a known browser does not wait for guesses at its account or from its address", async () => {
  const workspace = createWorkspace();
  workspace.ask("guess", asker("bob", "192.0.2.1"));
  workspace.ask("bob", known("bob", "192.0.2.1"));
  await settled();
  expect(workspace.started).toEqual(["guess", "bob"]);
});

test("known browsers of one account get one place at a time, from any addresses", async () => {
  const workspace = createWorkspace();
  for (const at of [1, 2]) workspace.ask(`ada ${at}`, known("ada", `192.0.2.${at}`));
  workspace.ask("bob", known("bob", "192.0.2.1"));
  await settled();
  expect(workspace.started).toEqual(["ada 1", "bob"]);
});

test(`after ${PASSWORD_KNOWN_IN_A_ROW_MAX} known browsers, another caller has its turn`, async () => {
  const workspace = busyWorkspace();
  const names = Array.from({ length: 2 * PASSWORD_KNOWN_IN_A_ROW_MAX + 1 }, (_, at) => `known ${at}`);
  for (const name of names) workspace.ask(name, known(name));
  for (const at of [1, 2]) workspace.ask(`new ${at}`, asker(`user ${at}`, `192.0.2.${at}`));
  await workspace.end("running 1");
  for (let at = 2; at < 2 + names.length + 1; at += 1) await workspace.end(workspace.started[at] ?? "");
  expect(workspace.started.slice(2)).toEqual([
    ...names.slice(0, PASSWORD_KNOWN_IN_A_ROW_MAX),
    "new 1",
    ...names.slice(PASSWORD_KNOWN_IN_A_ROW_MAX, 2 * PASSWORD_KNOWN_IN_A_ROW_MAX),
    "new 2",
    ...names.slice(2 * PASSWORD_KNOWN_IN_A_ROW_MAX),
  ]);
});

test("a check that waits before all known browsers runs after a limited number of them", async () => {
  const workspace = busyWorkspace();
  workspace.ask("new", asker("eve", "192.0.2.1"));
  const names = Array.from({ length: PASSWORD_KNOWN_IN_A_ROW_MAX + 1 }, (_, at) => `known ${at}`);
  for (const name of names) workspace.ask(name, known(name));
  await workspace.end("running 1");
  for (const name of names.slice(0, PASSWORD_KNOWN_IN_A_ROW_MAX)) await workspace.end(name);
  expect(workspace.started.slice(2)).toEqual([...names.slice(0, PASSWORD_KNOWN_IN_A_ROW_MAX), "new"]);
});

test("work without a caller goes before guesses, like work of known browsers", async () => {
  const workspace = busyWorkspace();
  workspace.ask("guess", asker("eve", "192.0.2.1"));
  workspace.ask("our own");
  await workspace.end("running 1");
  expect(workspace.started.slice(2)).toEqual(["our own"]);
});

test("known browsers that delayed no other request do not count toward the turn of the others", async () => {
  const workspace = busyWorkspace();
  for (let at = 0; at < PASSWORD_KNOWN_IN_A_ROW_MAX; at += 1)
    workspace.ask(`known ${at}`, known(`known ${at}`));
  await workspace.end("running 1");
  for (let at = 0; at + 1 < PASSWORD_KNOWN_IN_A_ROW_MAX; at += 1) await workspace.end(`known ${at}`);
  workspace.ask("new", asker("eve", "192.0.2.1"));
  workspace.ask("bob", known("bob"));
  await workspace.end("running 2");
  expect(workspace.started.at(-1)).toBe("bob");
});

test("guesses at one account from many addresses do not overtake earlier requests", async () => {
  const workspace = busyWorkspace();
  for (const at of [1, 2, 3]) workspace.ask(`guess ${at}`, asker("ada", `192.0.2.${at}`));
  workspace.ask("bob", asker("bob", "192.0.2.99"));
  await workspace.end("running 1");
  await workspace.end("guess 1");
  expect(workspace.started.slice(2)).toEqual(["guess 1", "bob"]);
  for (const name of ["bob", "guess 2"]) await workspace.end(name);
  expect(workspace.started.slice(4)).toEqual(["guess 2", "guess 3"]);
});

test("newcomers do not overtake requests whose account and address are free", async () => {
  const workspace = busyWorkspace();
  for (const at of [1, 2]) workspace.ask(`ada ${at}`, asker("ada", `192.0.2.${at}`));
  await workspace.end("running 1");
  await workspace.end("ada 1");
  workspace.ask("eve", asker("eve", "192.0.2.9"));
  expect(workspace.started.slice(2)).toEqual(["ada 1", "ada 2"]);
});

test("one completion starts every request that it blocked", async () => {
  const workspace = createWorkspace();
  workspace.ask("guess", asker("ada", "192.0.2.1"));
  workspace.ask("of the account", asker("ada", "192.0.2.2"));
  workspace.ask("of the address", asker("bob", "192.0.2.1"));
  await workspace.end("guess");
  expect(workspace.started).toEqual(["guess", "of the account", "of the address"]);
});

test("a queue full of other requests accepts known browsers", async () => {
  const workspace = busyWorkspace();
  for (let at = 0; at < PASSWORD_QUEUE_MAX; at += 1)
    workspace.ask(`guess ${at}`, asker(`user ${at}`, `198.51.100.${at}`));
  workspace.ask("above", asker("eve", "192.0.2.1"));
  workspace.ask("bob", known("bob"));
  expect(await workspace.outcome("above")).toBe("passwords.busy");
  await workspace.end("running 1");
  await workspace.end("bob");
  expect(await workspace.outcome("bob")).toBe("done");
});

test("guesses from all addresses of one network leave capacity for other networks", async () => {
  const workspace = createWorkspace();
  const count = PASSWORD_HASHES_MAX + PASSWORD_QUEUE_PER_NETWORK_MAX;
  for (let at = 0; at < count; at += 1)
    workspace.ask(`guess ${at}`, asker(`user ${at}`, `2001:db8::${at}`, "2001:db8::/48"));
  workspace.ask("bob", asker("bob", "192.0.2.1", "192.0.2.0/24"));
  for (let at = 0; at < PASSWORD_READY_PER_NETWORK_MAX; at += 1)
    await workspace.end(workspace.started[at] ?? "");
  expect(workspace.started).toContain("bob");
});

test("guesses that wait for their own addresses take no place from callers at other addresses", async () => {
  const workspace = createWorkspace();
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"])
    for (let at = 0; at < PASSWORD_QUEUE_PER_ADDRESS_MAX; at += 1)
      workspace.ask(`${address} ${at}`, asker(`user ${address} ${at}`, address));
  workspace.ask("bob", asker("bob", "198.51.100.1"));
  for (let at = 0; at < 5; at += 1) await workspace.end(workspace.started[at] ?? "");
  expect(workspace.started).toContain("bob");
});

test.each([-1, 0, 1])("a limited number of checks waits for others (limit %i)", async (more) => {
  const workspace = createWorkspace();
  const addresses = PASSWORD_HASHES_MAX + PASSWORD_QUEUE_MAX;
  for (let at = 0; at < addresses; at += 1) workspace.ask(`first ${at}`, asker(`user ${at}`, `10.0.0.${at}`));
  const count = PASSWORD_BLOCKED_MAX + more;
  for (let at = 0; at < count; at += 1)
    workspace.ask(`${at}`, asker(`other ${at}`, `10.0.0.${at % addresses}`));
  await settled();
  const last = await Promise.race([workspace.outcome(`${count - 1}`), Promise.resolve("waits")]);
  expect(last).toBe(more > 0 ? "passwords.busy" : "waits");
});

type AskerAt = (at: number) => HashRequester | undefined;

const CAPACITIES: [string, AskerAt, running: number, waiting: number, reason: string][] = [
  [
    "one account",
    (at) => asker("ada", `192.0.2.${at}`),
    1,
    PASSWORD_QUEUE_PER_ACCOUNT_MAX,
    "passwords.crowded",
  ],
  [
    "one address",
    (at) => asker(`user ${at}`, "192.0.2.1"),
    1,
    PASSWORD_QUEUE_PER_ADDRESS_MAX,
    "passwords.crowded",
  ],
  [
    "one network",
    (at) => asker(`user ${at}`, `192.0.2.${at}`, "192.0.2.0/24"),
    PASSWORD_HASHES_MAX,
    PASSWORD_QUEUE_PER_NETWORK_MAX,
    "passwords.crowded",
  ],
  [
    "known browsers of one account",
    (at) => known("ada", `192.0.2.${at}`),
    1,
    PASSWORD_QUEUE_PER_ACCOUNT_MAX,
    "passwords.crowded",
  ],
  [
    "browsers that are not known",
    (at) => asker(`user ${at}`, `192.0.2.${at}`),
    2,
    PASSWORD_QUEUE_MAX,
    "passwords.busy",
  ],
  ["all known browsers", (at) => known(`user ${at}`), 2, PASSWORD_QUEUE_MAX, "passwords.busy"],
  ["work without an asker", () => undefined, 2, PASSWORD_QUEUE_MAX, "passwords.busy"],
];

test.each(CAPACITIES)("limits how many wait for %s", async (_name, askerAt, running, waiting, reason) => {
  const workspace = createWorkspace();
  const capacity = running + waiting;
  for (let at = 0; at < capacity; at += 1) workspace.ask(`${at}`, askerAt(at));
  workspace.ask("above", askerAt(capacity));
  expect(await workspace.outcome("above")).toBe(reason);
  for (let at = 0; at < capacity; at += 1) {
    await workspace.end(`${at}`);
    expect(await workspace.outcome(`${at}`)).toBe("done");
  }
  workspace.ask("later", askerAt(0));
  await settled();
  expect(workspace.started).toHaveLength(capacity + 1);
});

test("a failed task releases its slot", async () => {
  const queued = createPasswordQueue();
  for (let round = 0; round < 5; round += 1) {
    const failing = queued(() => Promise.reject(new Error("bad")), asker("ada", "192.0.2.1"));
    await expect(failing).rejects.toThrow("bad");
  }
  expect(await queued(async () => "done", asker("ada", "192.0.2.1"))).toBe("done");
});
