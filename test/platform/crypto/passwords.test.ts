import { expect, test } from "bun:test";
import { PASSWORD_HASHES_MAX, PASSWORD_QUEUE_MAX } from "../../../src/platform/crypto/password-queue.ts";
import { createPasswords, PASSWORD_COST } from "../../../src/platform/crypto/passwords.ts";
import { Secret } from "../../../src/platform/secret.ts";

const FAST = { memoryKib: 8, passes: 1 };

test("a password matches its own hash and no other", async () => {
  const passwords = createPasswords({ cost: FAST });
  const hash = await passwords.hash(new Secret("correct horse"));
  expect(await passwords.verify(new Secret("correct horse"), hash)).toBe(true);
  expect(await passwords.verify(new Secret("Correct horse"), hash)).toBe(false);
});

test("hashes are argon2id with the specified cost and their own salt", async () => {
  const passwords = createPasswords();
  const hash = await passwords.hash(new Secret("correct horse"));
  expect(hash).toStartWith(`$argon2id$v=19$m=${PASSWORD_COST.memoryKib},t=${PASSWORD_COST.passes},p=1$`);
  expect(await passwords.hash(new Secret("correct horse"))).not.toBe(hash);
});

test("a password typed with other code points for the same characters matches", async () => {
  const passwords = createPasswords({ cost: FAST });
  const hash = await passwords.hash(new Secret("caf\u00e9"));
  expect(await passwords.verify(new Secret("cafe\u0301"), hash)).toBe(true);
});

test("checking a missing account costs as much as an existing one", async () => {
  const passwords = createPasswords({ cost: { memoryKib: 32_768, passes: 4 } });
  const hash = await passwords.hash(new Secret("correct horse"));
  const timed = async (known: string | undefined) => {
    const startedAt = Bun.nanoseconds();
    expect(await passwords.verify(new Secret("wrong horse"), known)).toBe(false);
    return Bun.nanoseconds() - startedAt;
  };
  const ratios: number[] = [];
  for (let round = 0; round < 5; round += 1) ratios.push((await timed(undefined)) / (await timed(hash)));
  const median = ratios.sort((one, other) => one - other)[2] ?? 0;
  expect(median).toBeGreaterThan(0.4); // an early return would take a thousandth
});

test("immediately refuses work beyond the queue and completes the rest", async () => {
  const passwords = createPasswords({ cost: FAST });
  const capacity = PASSWORD_HASHES_MAX + PASSWORD_QUEUE_MAX;
  const all = await Promise.allSettled(
    Array.from({ length: capacity + 1 }, () => passwords.verify(new Secret("x"), undefined)),
  );
  const refused = all.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(1);
  expect(refused[0]).toMatchObject({ reason: { kind: "unavailable", reason: "passwords.busy" } });
  expect(await passwords.verify(new Secret("x"), undefined)).toBe(false);
});

test("a failed verification releases its slot", async () => {
  const passwords = createPasswords({ cost: FAST });
  for (let round = 0; round < PASSWORD_HASHES_MAX; round += 1) {
    await expect(passwords.verify(new Secret("x"), "not a hash")).rejects.toThrow();
  }
  expect(await passwords.verify(new Secret("x"), undefined)).toBe(false);
});
