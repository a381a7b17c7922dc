// The text search for users: the index changes which rows are read, never which are found.
import { describe, expect, test } from "bun:test";
import { eq, type SQL, sql } from "drizzle-orm";
import { emailKey, USER_SEARCH_CANDIDATES_MAX, type User } from "../../../../src/domain/identity/model.ts";
import { users } from "../../../../src/domain/identity/tables.ts";
import { STEP_ROWS } from "../../../../src/domain/shared/page-steps.ts";
import { sha256Hex } from "../../../../src/platform/ids.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { createIdentityWorld, type IdentityWorld } from "../../../support/identity-world.ts";

const never = new AbortController().signal;

/** Adds users as rows, because enrollment hashes passwords. */
const addUsers = (world: IdentityWorld, emails: readonly string[]): Promise<void> =>
  world.db.write((tx) => {
    for (const email of emails) {
      const row = { id: world.ids.uuid(), subject: world.ids.uuid(), organizationId: world.organizationId };
      const times = { createdAtMs: 0, updatedAtMs: 0 };
      tx.insert(users)
        .values({ ...row, ...times, email, emailKey: emailKey(email), role: "member", status: "active" })
        .run();
    }
  }, "user_rows");

const index = ({ identity }: IdentityWorld): Promise<number> => identity.searchIndex.add(never);

const emailsOf = (list: readonly User[]): string[] => list.map(({ email }) => email);
const found = ({ identity, organizationId }: IdentityWorld, q: string): string[] =>
  emailsOf(identity.users.list(organizationId, { q, perPage: 500, isWalk: true }).items);
const proposed = ({ identity, organizationId }: IdentityWorld, q: string): string[] =>
  emailsOf(runSynchronously(identity.users.searchOptions(organizationId, { q })));

const ODD = [
  "ann.o'neill@example.com",
  "50%_*^-'{x}@example.com",
  "日本語の人@例え.example",
  "STRAẞE.İé@example.com",
  "x@a.example",
];

describe.each([true, false])("the search, its index being filled: %p,", (isFilled) => {
  test("finds literal text of any length and case in addresses and subjects", async () => {
    await using world = await createIdentityWorld();
    await addUsers(world, ODD);
    if (isFilled) expect(await index(world)).toBe(ODD.length);
    for (const email of ODD) {
      const characters = [...email];
      for (const length of [1, 2, 3, 4, 7]) {
        for (let at = 0; at + length <= characters.length; at++) {
          const q = characters.slice(at, at + length).join("");
          expect([q, found(world, q)]).toEqual([q, expect.arrayContaining([email])]);
          expect([q, proposed(world, q)]).toEqual([q, expect.arrayContaining([email])]);
        }
      }
    }
    const { items } = world.identity.users.list(world.organizationId, {});
    for (const { subject, email } of items) {
      expect(found(world, subject.slice(-12).toUpperCase())).toEqual([email]);
      expect(proposed(world, subject.slice(-12))).toEqual([]);
    }
    expect(found(world, "ann example")).toEqual([]);
    expect([found(world, "%_*"), found(world, "'{")]).toEqual([[ODD[1] ?? ""], [ODD[1] ?? ""]]);
  });
});

test("follows changed addresses and removed users, before and after the job", async () => {
  await using world = await createIdentityWorld();
  await addUsers(world, ["former@example.com", "other@example.com"]);
  await index(world);
  const [user] = world.identity.users.list(world.organizationId, { q: "former" }).items;
  const change = { email: "renamed@example.com", emailKey: "renamed@example.com" };
  await world.setUser(user?.id ?? "", change);
  expect([found(world, "former"), found(world, "renamed")]).toEqual([[], [change.email]]);
  expect(await index(world)).toBe(1);
  expect([found(world, "former"), found(world, "renamed")]).toEqual([[], [change.email]]);
  await world.db.write(
    (tx) =>
      tx
        .delete(users)
        .where(eq(users.id, user?.id ?? ""))
        .run(),
    "user_rows",
  );
  expect(found(world, "renamed")).toEqual([]);
  await world.identity.searchIndex.optimize(never);
  const { read } = world.db;
  const blocks = read.all<{ block: Uint8Array }>(sql`SELECT block FROM user_search_data`);
  expect(blocks.map(({ block }) => Buffer.from(block).toString("latin1")).join()).toContain("her");
  for (const part of ["for", "orm", "ren", "nam"])
    expect(blocks.some(({ block }) => Buffer.from(block).includes(part))).toBe(false);
});

test("another change of a user writes nothing into the index", async () => {
  await using world = await createIdentityWorld();
  await addUsers(world, ["ann@example.com"]);
  await index(world);
  const [user] = world.identity.users.list(world.organizationId, {}).items;
  await world.setUser(user?.id ?? "", { status: "suspended", emailKey: "ann@example.com" });
  expect(await index(world)).toBe(0);
});

describe("among many users", () => {
  async function many(count: number): Promise<IdentityWorld> {
    const world = await createIdentityWorld();
    const names = Array.from({ length: count }, (_, at) => `worker-${at}@example.com`);
    await addUsers(world, [...names, "rare@example.com"]);
    await index(world);
    return world;
  }

  const stepsOf = ({ identity, organizationId }: IdentityWorld, q: string) => {
    const { users: directory } = identity;
    const steps = [
      directory.listInSteps(organizationId, { q }),
      directory.searchOptions(organizationId, { q }),
      directory.colleagues(organizationId, { q, of: "", limit: 5 }),
      directory.commonNames(organizationId, { q, isAmong: () => sql`true`, selectedId: undefined }),
      directory.idsWithAddressLike(organizationId, { q, limit: 5 }),
    ];
    return steps.map((of) => {
      let count = 0;
      for (;;) {
        const { done, value } = of.next();
        if (done) return { count, found: "items" in value ? value.items.length : value.length };
        count++;
      }
    });
  };

  test("a search reads as much among twice as many users", async () => {
    await using few = await many(STEP_ROWS);
    await using twice = await many(2 * STEP_ROWS);
    for (const q of ["rare@", "RA"]) {
      expect(stepsOf(few, q)).toEqual(stepsOf(twice, q));
      expect(stepsOf(twice, q).map((step) => step.found)).toEqual([1, 1, 1, 1, 1]);
    }
  });

  test("a page of few results equals that of a full scan", async () => {
    await using world = await many(1_200);
    const { identity, organizationId } = world;
    const read = (query: { q?: string; page: number; status?: string }) =>
      identity.users.list(organizationId, { perPage: 100, ...query });
    const all = [1, 2, 3].flatMap((page) =>
      emailsOf(identity.users.list(organizationId, { page, perPage: 500, isWalk: true }).items),
    );
    const wanted = all.filter((email) => email.includes("worker-11"));
    const pages = [1, 2].map((page) => read({ q: "WORKER-11", page }));
    expect(pages.flatMap(({ items }) => emailsOf(items))).toEqual(wanted);
    expect(pages.map(({ total }) => total)).toEqual([wanted.length, wanted.length]);
    const [first] = pages[0]?.items ?? [];
    const after = identity.users.list(organizationId, { q: "worker-11", perPage: 3, after: first });
    expect(emailsOf(after.items)).toEqual(wanted.slice(1, 4));
    expect(read({ q: "worker-11", page: 1, status: "suspended" }).total).toBe(0);
  });

  test("above the limit of candidates every user is looked at, and the total is exact", async () => {
    for (const count of [-1, 0, 1].map((beside) => USER_SEARCH_CANDIDATES_MAX + beside)) {
      await using world = await many(count);
      const search = world.identity.users.list(world.organizationId, { q: "worker-", perPage: 100 });
      expect([search.total, search.items.length]).toEqual([count, 100]);
    }
  });

  test("more waiting users than the limit of candidates are found", async () => {
    await using world = await createIdentityWorld();
    const count = USER_SEARCH_CANDIDATES_MAX + 1;
    await addUsers(
      world,
      Array.from({ length: count }, (_, at) => `worker-${at}@example.com`),
    );
    expect(found(world, "worker-1999@")).toHaveLength(1);
    expect(world.identity.users.list(world.organizationId, { q: "worker-" }).total).toBe(count);
  });
});

/** The index may have this many parts; without merging, each batch of 100 users adds one. */
const PARTS_MAX = 20;

test("a COMMIT never merges the index by itself, and the job keeps its parts few", async () => {
  await using world = await createIdentityWorld();
  const emails = Array.from({ length: 4_000 }, (_, at) => `${sha256Hex(`user ${at}`)}@example.com`);
  await addUsers(world, emails);
  await index(world);
  const one = (query: SQL): unknown => world.db.read.values(query)[0]?.[0];
  expect(one(sql`SELECT v FROM user_search_config WHERE k = 'automerge'`)).toBe(0);
  expect(one(sql`SELECT v FROM user_search_config WHERE k = 'crisismerge'`)).toBeGreaterThan(PARTS_MAX);
  expect(one(sql`SELECT count(DISTINCT id >> 37) FROM user_search_data WHERE id > 10`)).toBeLessThan(
    PARTS_MAX,
  );
  expect(found(world, emails.at(-1)?.slice(0, 20) ?? "")).toEqual(emails.slice(-1));
});
