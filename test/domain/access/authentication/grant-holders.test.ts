// The cache of grant holders: what it stores for a grant, for which revision, and for how many organizations.
import { expect, test } from "bun:test";
import {
  type GrantHolder,
  GrantHolders,
  ORGANIZATIONS_MAX,
} from "../../../../src/domain/access/authentication/grant-holders.ts";
import { UUID_WORDS, writeUuid } from "../../../../src/platform/uuid-words.ts";

const idAt = (at: number): string => `01940000-0000-7000-8000-${String(at).padStart(12, "0")}`;
const TIMES = { until: 100, now: 1 };

const holder = (more: Partial<GrantHolder> = {}): GrantHolder => ({
  grantId: idAt(9),
  userId: idAt(1),
  loginSessionId: idAt(2),
  organizationId: "organization",
  role: "member",
  subject: 7,
  ...more,
});

function wordsOf(id: string): Uint32Array {
  const words = new Uint32Array(UUID_WORDS);
  writeUuid(id, words);
  return words;
}

const find = (holders: GrantHolders, id: string, revision = 5) => {
  const found = holders.find(wordsOf(id), revision);
  if (!found) return undefined;
  const { grantId, userId, loginSessionId, subject } = found;
  return { ...found, grantId, userId, loginSessionId, subject };
};

test.each(["member", "admin"] as const)(
  "the holder of a grant is found as a %s, only at its revision",
  (role) => {
    const holders = new GrantHolders(2 ** 20);
    holders.put(holder({ role }), { revision: 5, ...TIMES });
    expect(find(holders, idAt(9))).toMatchObject(holder({ role }));
    expect([find(holders, idAt(9), 4), find(holders, idAt(9), 6), find(holders, idAt(8))]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(holders.bytes).toBeGreaterThan(0);
  },
);

test("a revision of more than 32 bits, even a negative one, is compared by its lowest bits", () => {
  const holders = new GrantHolders(2 ** 20);
  holders.put(holder(), { revision: 2 ** 32 - 1, ...TIMES });
  expect(find(holders, idAt(9), 2 ** 32 - 1)).toBeDefined();
});

test("any number of holders is cached, but only of a limited number of organizations", () => {
  const holders = new GrantHolders(2 ** 22);
  const put = (grant: number, organization: number) =>
    holders.put(holder({ grantId: idAt(grant), organizationId: `organization ${organization}` }), {
      revision: 5,
      ...TIMES,
    });
  for (let at = 0; at <= ORGANIZATIONS_MAX; at += 1) put(at, at);
  for (const at of [0, 1, ORGANIZATIONS_MAX - 1])
    expect(find(holders, idAt(at))?.organizationId).toBe(`organization ${at}`);
  expect(find(holders, idAt(ORGANIZATIONS_MAX))).toBeUndefined();
  for (let at = 1_000; at < 1_000 + 2 * ORGANIZATIONS_MAX; at += 1) put(at, at % 2);
  for (const at of [1_000, 1_000 + 2 * ORGANIZATIONS_MAX - 1])
    expect(find(holders, idAt(at))?.organizationId).toBe(`organization ${at % 2}`);
});

test.each([
  ["grant", { grantId: "no UUID" }],
  ["user", { userId: "no UUID" }],
  ["login session", { loginSessionId: "no UUID" }],
])("a holder whose %s has another id is not cached", (_what, more) => {
  const holders = new GrantHolders(2 ** 20);
  holders.put(holder(more), { revision: 5, ...TIMES });
  expect(holders.bytes).toBe(0);
});
