// Whose password is checked next: few at once, known browsers first, one of each account and address, in turns.
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

/** A queue whose work ends when the test says so. */
function createBench() {
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

test("runs a limited number at once in order of arrival, also when newcomers meet waiting requests", async () => {
  const bench = createBench();
  for (const name of ["0", "1", "2", "3"]) bench.ask(name);
  await settled();
  expect(bench.started).toEqual(["0", "1"]);
  await bench.end("0");
  bench.ask("4");
  await settled();
  expect(bench.started).toEqual(["0", "1", "2"]);
  for (const name of ["1", "2", "3", "4"]) await bench.end(name);
  expect(bench.started).toEqual(["0", "1", "2", "3", "4"]);
});

test("guesses at one account from many addresses leave capacity for other accounts", async () => {
  const bench = createBench();
  for (const at of [1, 2, 3]) bench.ask(`guess ${at}`, asker("ada", `192.0.2.${at}`));
  bench.ask("bob", asker("bob", "192.0.2.99"));
  await settled();
  expect(bench.started).toEqual(["guess 1", "bob"]);
});

test("guesses from one address at many accounts leave capacity for other addresses", async () => {
  const bench = createBench();
  for (const at of [1, 2, 3]) bench.ask(`guess ${at}`, asker(`user ${at}`, "192.0.2.1"));
  bench.ask("bob", asker("bob", "192.0.2.99"));
  await settled();
  expect(bench.started).toEqual(["guess 1", "bob"]);
});

test("addresses take turns: a single request does not wait for all requests of another address", async () => {
  const bench = createBench();
  bench.ask("running 1");
  bench.ask("running 2");
  for (const at of [1, 2, 3]) bench.ask(`flood ${at}`, asker(`user ${at}`, "192.0.2.1"));
  bench.ask("bob", asker("bob", "192.0.2.99"));
  await bench.end("running 1");
  await bench.end("flood 1");
  expect(bench.started).toEqual(["running 1", "running 2", "flood 1", "bob"]);
  for (const name of ["running 2", "bob", "flood 2", "flood 3"]) await bench.end(name);
  expect(bench.started.slice(4)).toEqual(["flood 2", "flood 3"]);
});

test("accounts take turns over a local socket", async () => {
  const bench = createBench();
  bench.ask("running 1");
  bench.ask("running 2");
  for (const at of [1, 2]) bench.ask(`guess ${at}`, asker("ada"));
  bench.ask("bob", asker("bob"));
  await bench.end("running 1");
  await bench.end("guess 1");
  expect(bench.started).toEqual(["running 1", "running 2", "guess 1", "bob"]);
});

test("forgets an address without waiting requests: its next caller waits no longer than a new one", async () => {
  const bench = createBench();
  bench.ask("running 1");
  bench.ask("running 2");
  bench.ask("ada before", asker("ada", "192.0.2.1"));
  await bench.end("running 1");
  await bench.end("ada before");
  bench.ask("running 3");
  bench.ask("bob", asker("bob", "192.0.2.2"));
  bench.ask("ada", asker("ada", "192.0.2.1"));
  bench.ask("eve", asker("eve", "192.0.2.3"));
  await bench.end("running 2");
  await bench.end("bob");
  await bench.end("ada");
  expect(bench.started.slice(3)).toEqual(["running 3", "bob", "ada", "eve"]);
});

/** Occupies both places with work that is unrelated to later callers. */
function busyBench() {
  const bench = createBench();
  bench.ask("running 1");
  bench.ask("running 2");
  return bench;
}

test("a known browser goes before guesses from many networks at many accounts", async () => {
  const bench = busyBench();
  for (let at = 0; at < 45; at += 1) bench.ask(`guess ${at}`, asker(`user ${at}`, `198.51.100.${at}`));
  bench.ask("bob", known("bob"));
  await bench.end("running 1");
  expect(bench.started.slice(2)).toEqual(["bob"]);
  await bench.end("bob");
  await bench.end("running 2");
  expect(bench.started.slice(3)).toEqual(["guess 0", "guess 1"]);
});

test("a known browser does not wait for guesses at its account or from its address", async () => {
  const bench = createBench();
  bench.ask("guess", asker("bob", "192.0.2.1"));
  bench.ask("bob", known("bob", "192.0.2.1"));
  await settled();
  expect(bench.started).toEqual(["guess", "bob"]);
});

test("known browsers of one account get one place at a time, whatever their addresses", async () => {
  const bench = createBench();
  for (const at of [1, 2]) bench.ask(`ada ${at}`, known("ada", `192.0.2.${at}`));
  bench.ask("bob", known("bob", "192.0.2.1"));
  await settled();
  expect(bench.started).toEqual(["ada 1", "bob"]);
});

test(`after ${PASSWORD_KNOWN_IN_A_ROW_MAX} known browsers, another caller has its turn`, async () => {
  const bench = busyBench();
  const names = Array.from({ length: 2 * PASSWORD_KNOWN_IN_A_ROW_MAX + 1 }, (_, at) => `known ${at}`);
  for (const name of names) bench.ask(name, known(name));
  for (const at of [1, 2]) bench.ask(`new ${at}`, asker(`user ${at}`, `192.0.2.${at}`));
  await bench.end("running 1");
  for (let at = 2; at < 2 + names.length + 1; at += 1) await bench.end(bench.started[at] ?? "");
  expect(bench.started.slice(2)).toEqual([
    ...names.slice(0, PASSWORD_KNOWN_IN_A_ROW_MAX),
    "new 1",
    ...names.slice(PASSWORD_KNOWN_IN_A_ROW_MAX, 2 * PASSWORD_KNOWN_IN_A_ROW_MAX),
    "new 2",
    ...names.slice(2 * PASSWORD_KNOWN_IN_A_ROW_MAX),
  ]);
});

test("a check that waits before all known browsers runs after a limited number of them", async () => {
  const bench = busyBench();
  bench.ask("new", asker("eve", "192.0.2.1"));
  const names = Array.from({ length: PASSWORD_KNOWN_IN_A_ROW_MAX + 1 }, (_, at) => `known ${at}`);
  for (const name of names) bench.ask(name, known(name));
  await bench.end("running 1");
  for (const name of names.slice(0, PASSWORD_KNOWN_IN_A_ROW_MAX)) await bench.end(name);
  expect(bench.started.slice(2)).toEqual([...names.slice(0, PASSWORD_KNOWN_IN_A_ROW_MAX), "new"]);
});

test("work without an asker goes before guesses, as that of known browsers does", async () => {
  const bench = busyBench();
  bench.ask("guess", asker("eve", "192.0.2.1"));
  bench.ask("our own");
  await bench.end("running 1");
  expect(bench.started.slice(2)).toEqual(["our own"]);
});

test("known browsers that nobody waited behind do not count towards the turn of the others", async () => {
  const bench = busyBench();
  for (let at = 0; at < PASSWORD_KNOWN_IN_A_ROW_MAX; at += 1) bench.ask(`known ${at}`, known(`known ${at}`));
  await bench.end("running 1");
  for (let at = 0; at + 1 < PASSWORD_KNOWN_IN_A_ROW_MAX; at += 1) await bench.end(`known ${at}`);
  bench.ask("new", asker("eve", "192.0.2.1"));
  bench.ask("bob", known("bob"));
  await bench.end("running 2");
  expect(bench.started.at(-1)).toBe("bob");
});

test("guesses at one account from many addresses do not overtake earlier requests", async () => {
  const bench = busyBench();
  for (const at of [1, 2, 3]) bench.ask(`guess ${at}`, asker("ada", `192.0.2.${at}`));
  bench.ask("bob", asker("bob", "192.0.2.99"));
  await bench.end("running 1");
  await bench.end("guess 1");
  expect(bench.started.slice(2)).toEqual(["guess 1", "bob"]);
  for (const name of ["bob", "guess 2"]) await bench.end(name);
  expect(bench.started.slice(4)).toEqual(["guess 2", "guess 3"]);
});

test("newcomers do not overtake requests whose account and address are free", async () => {
  const bench = busyBench();
  for (const at of [1, 2]) bench.ask(`ada ${at}`, asker("ada", `192.0.2.${at}`));
  await bench.end("running 1");
  await bench.end("ada 1");
  bench.ask("eve", asker("eve", "192.0.2.9"));
  expect(bench.started.slice(2)).toEqual(["ada 1", "ada 2"]);
});

test("one completion starts every request that it blocked", async () => {
  const bench = createBench();
  bench.ask("guess", asker("ada", "192.0.2.1"));
  bench.ask("of the account", asker("ada", "192.0.2.2"));
  bench.ask("of the address", asker("bob", "192.0.2.1"));
  await bench.end("guess");
  expect(bench.started).toEqual(["guess", "of the account", "of the address"]);
});

test("a queue full of other requests accepts known browsers", async () => {
  const bench = busyBench();
  for (let at = 0; at < PASSWORD_QUEUE_MAX; at += 1)
    bench.ask(`guess ${at}`, asker(`user ${at}`, `198.51.100.${at}`));
  bench.ask("above", asker("eve", "192.0.2.1"));
  bench.ask("bob", known("bob"));
  expect(await bench.outcome("above")).toBe("passwords.busy");
  await bench.end("running 1");
  await bench.end("bob");
  expect(await bench.outcome("bob")).toBe("done");
});

test("guesses from all addresses of one network leave capacity for other networks", async () => {
  const bench = createBench();
  const count = PASSWORD_HASHES_MAX + PASSWORD_QUEUE_PER_NETWORK_MAX;
  for (let at = 0; at < count; at += 1)
    bench.ask(`guess ${at}`, asker(`user ${at}`, `2001:db8::${at}`, "2001:db8::/48"));
  bench.ask("bob", asker("bob", "192.0.2.1", "192.0.2.0/24"));
  for (let at = 0; at < PASSWORD_READY_PER_NETWORK_MAX; at += 1) await bench.end(bench.started[at] ?? "");
  expect(bench.started).toContain("bob");
});

test("guesses that wait for their own addresses take no place from a caller of another one", async () => {
  const bench = createBench();
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5"])
    for (let at = 0; at < PASSWORD_QUEUE_PER_ADDRESS_MAX; at += 1)
      bench.ask(`${address} ${at}`, asker(`user ${address} ${at}`, address));
  bench.ask("bob", asker("bob", "198.51.100.1"));
  for (let at = 0; at < 5; at += 1) await bench.end(bench.started[at] ?? "");
  expect(bench.started).toContain("bob");
});

test.each([-1, 0, 1])("a limited number of checks waits for others (limit %i)", async (more) => {
  const bench = createBench();
  const addresses = PASSWORD_HASHES_MAX + PASSWORD_QUEUE_MAX;
  for (let at = 0; at < addresses; at += 1) bench.ask(`first ${at}`, asker(`user ${at}`, `10.0.0.${at}`));
  const count = PASSWORD_BLOCKED_MAX + more;
  for (let at = 0; at < count; at += 1) bench.ask(`${at}`, asker(`other ${at}`, `10.0.0.${at % addresses}`));
  await settled();
  const last = await Promise.race([bench.outcome(`${count - 1}`), Promise.resolve("waits")]);
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
  const bench = createBench();
  const capacity = running + waiting;
  for (let at = 0; at < capacity; at += 1) bench.ask(`${at}`, askerAt(at));
  bench.ask("above", askerAt(capacity));
  expect(await bench.outcome("above")).toBe(reason);
  for (let at = 0; at < capacity; at += 1) {
    await bench.end(`${at}`);
    expect(await bench.outcome(`${at}`)).toBe("done");
  }
  bench.ask("later", askerAt(0));
  await settled();
  expect(bench.started).toHaveLength(capacity + 1);
});

test("a failed task releases its slot", async () => {
  const queued = createPasswordQueue();
  for (let round = 0; round < 5; round += 1) {
    const failing = queued(() => Promise.reject(new Error("bad")), asker("ada", "192.0.2.1"));
    await expect(failing).rejects.toThrow("bad");
  }
  expect(await queued(async () => "done", asker("ada", "192.0.2.1"))).toBe("done");
});
