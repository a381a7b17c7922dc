// Which addresses share a counter, and that every budget by address uses it.
import { expect, test } from "bun:test";
import { countedAddress, countedNetwork } from "../../../../src/domain/access/budgets/counted-address.ts";
import type { Actor } from "../../../../src/domain/shared/actor.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { actorOf, createLoginWorld, refusalOf, requestLogin } from "../login-world.ts";

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["255.255.255.255", "255.255.255.255"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::FFFF:c000:0207", "192.0.2.7"],
  ["0:0:0:0:0:ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8::1", "2001:db8::"],
  ["2001:db8:0:0:ffff:ffff:ffff:ffff", "2001:db8::"],
  ["2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::"],
  ["2001:DB8:1:2:3:4:5:6", "2001:db8:1:2::"],
  ["2001:db8:1:2::", "2001:db8:1:2::"],
  ["2001:db8:1:3::", "2001:db8:1:3::"],
  ["2001:db8:1:2:3:4:192.0.2.7", "2001:db8:1:2::"],
  ["1::", "1::"],
  ["::1", "::"],
  ["fe80::1", "fe80::"],
  ["fe80::2%eth0", "fe80::"],
  ["fe80::3%br-lan.100", "fe80::"],
  ["fe80::4%", "fe80::"],
])("%p is counted as %p", (address, counted) => {
  expect(countedAddress(address)).toBe(counted);
});

test.each([
  "",
  "garbage",
  "%",
  "%eth0",
  "garbage%eth0",
  "2001:db8::1::2",
  "2001:db8::/64",
  "[::1]",
  "1.2.3.4:80",
  "127.1",
  "010.1.2.3",
])("%p is not an address and is counted unchanged", (text) => {
  expect(countedAddress(text)).toBe(text);
});

test.each([
  ["192.0.2.7", "192.0.2.0/24"],
  ["::ffff:192.0.2.7", "192.0.2.0/24"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
  ["fe80::2%eth0", "fe80::/48"],
  ["garbage", "garbage"],
])("%p is in the network %p", (address, network) => {
  expect(countedNetwork(address)).toBe(network);
});

const [FIRST, SAME, OTHER] = ["2001:db8:0:1::1", "2001:db8:0:1:a:b:c:d", "2001:db8:0:2::1"];

/** @returns the results of attempts from three addresses; the first two belong to one caller */
async function attempts(act: (address: string) => Promise<unknown>): Promise<unknown[]> {
  const outcomes = [];
  for (const address of [FIRST, SAME, OTHER]) outcomes.push(await refusalOf(act(address)));
  return outcomes;
}

test("one host has one budget for device logins across its addresses", async () => {
  await using world = await createLoginWorld({ limits: { deviceCodesPerAddress: 1 } });
  const outcomes = await attempts((address) => requestLogin(world, { address }));
  expect(outcomes).toEqual(["fine", "access.too_many_attempts", "fine"]);
});

test("one host has one budget for guesses of user codes across its addresses", async () => {
  await using world = await createLoginWorld({ limits: { userCodeGuessesPerAddress: 1 } });
  const actor = (address: string): Actor => ({ ...actorOf(world.user), address });
  const outcomes = await attempts((address) =>
    world.deviceLogins.claimByUserCode(actor(address), "ABCD2345"),
  );
  expect(outcomes).toEqual([
    "device_login.unavailable",
    "access.too_many_attempts",
    "device_login.unavailable",
  ]);
});

test("one host has one budget for guesses of passwords across its addresses", async () => {
  await using world = await createLoginWorld();
  let account = 0;
  const guess = (address: string): Promise<unknown> => {
    account += 1;
    const email = `nobody${account}@example.com`;
    return world.sessions.signIn({ email, password: new Secret("wrong"), address, userAgent: null });
  };
  for (let left = world.limits.passwordGuessesPerAddress; left > 1; left -= 1) await refusalOf(guess(FIRST));
  expect(await attempts(guess)).toEqual([
    "access.sign_in_failed",
    "access.too_many_attempts",
    "access.sign_in_failed",
  ]);
});
