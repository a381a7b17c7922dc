// The queue of password checks satisfies its rules, for any order of arrivals and ends.
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  createPasswordQueue,
  type HashRequester,
  PASSWORD_HASHES_MAX,
} from "../../src/platform/crypto/password-queue.ts";

const requester: fc.Arbitrary<HashRequester> = fc.record({
  account: fc.constantFrom("ada", "bob", "eve"),
  address: fc.constantFrom("192.0.2.1", "192.0.2.2", null),
  network: fc.constantFrom("192.0.2.0/24", null),
  isKnown: fc.boolean(),
});
/** An arrival, or the end of one of the running checks. */
const events = fc.array(fc.oneof(requester, fc.nat(PASSWORD_HASHES_MAX - 1)), { maxLength: 30, size: "max" });

interface Check {
  requester: HashRequester;
  end(): void;
}

/** @returns whether only one of them may run at a time */
const excludeEachOther = (one: HashRequester, other: HashRequester): boolean => {
  if (one.isKnown !== other.isKnown) return false;
  if (one.account === other.account) return true;
  return !one.isKnown && one.address !== null && one.address === other.address;
};

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
};

test("checks that share an account or address never run simultaneously, and no slot stays free while a waiting check may run", async () => {
  await fc.assert(
    fc.asyncProperty(events, async (sequence) => {
      const queued = createPasswordQueue();
      const running: Check[] = [];
      const waiting = new Set<HashRequester>();
      const arrive = (asker: HashRequester): Promise<void> => {
        waiting.add(asker);
        const work = () =>
          new Promise<void>((end) => {
            waiting.delete(asker);
            running.push({ requester: asker, end });
          });
        return queued(work, asker).catch(() => void waiting.delete(asker)); // too many are waiting
      };
      const check = async (): Promise<void> => {
        await settled();
        expect(running.length).toBeLessThanOrEqual(PASSWORD_HASHES_MAX);
        for (const [at, one] of running.entries())
          for (const other of running.slice(at + 1))
            expect(excludeEachOther(one.requester, other.requester)).toBe(false);
        const isFree = (asker: HashRequester) =>
          !running.some((each) => excludeEachOther(each.requester, asker));
        if (running.length < PASSWORD_HASHES_MAX) expect([...waiting].filter(isFree)).toEqual([]);
      };
      const all: Promise<void>[] = [];
      for (const event of sequence) {
        if (typeof event === "number") running.splice(event, 1)[0]?.end();
        else all.push(arrive({ ...event }));
        await check();
      }
      while (running.length > 0) {
        running.shift()?.end();
        await check();
      }
      await Promise.all(all);
      expect(waiting.size).toBe(0);
    }),
    { numRuns: 200 },
  );
});
